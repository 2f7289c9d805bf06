A file that keeps the answer gives the one that its rows give. The key that signs it is the user's alone.

  $ export XDG_STATE_HOME=$PWD
  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o kept.gpf --answer | sed 's/.*B, //'
  with its answer
  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o rows.gpf > /dev/null
  $ gpufathom analyze kept.gpf > kept.txt
  $ gpufathom analyze rows.gpf | sed 's/rows.gpf/kept.gpf/' | diff kept.txt -
  $ gpufathom analyze kept.gpf --format json > kept.json
  $ gpufathom analyze rows.gpf --format json | sed 's/rows.gpf/kept.gpf/' | cmp kept.json -
  $ stat -c %a gpufathom/key
  600

A recording with samples keeps none.

  $ gpufathom import $EXAMPLES/mnist_recorded.gpf -o recorded.gpf --answer | sed 's/.*B, //'
  without its answer
