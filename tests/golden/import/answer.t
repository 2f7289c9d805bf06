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

Who asks for it and gets none is told why; the capture is whole.

  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz $EXAMPLES/lenet_train_b64.base.ncu.csv.gz -o two.gpf --answer > /dev/null
  gpufathom: two.gpf: keeps no answer: only that of one file is kept
  $ XDG_STATE_HOME=/dev/null gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o no_key.gpf --answer > /dev/null
  gpufathom: no_key.gpf: keeps no answer: no key of yours to sign it with: gpufathom/key in XDG_STATE_HOME, or in ~/.local/state, cannot be made or is not yours alone
  $ gpufathom import $EXAMPLES/mnist_recorded.gpf -o samples.gpf --answer > /dev/null
  gpufathom: samples.gpf: keeps no answer: only that of a trace without samples is kept
