A file keeps the answer, which is the one that its rows give. The key that signs it is the user's alone.

  $ export XDG_STATE_HOME=$PWD
  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o rows.gpf --no-answer | grep -c answer
  0
  [1]
  $ ls -d gpufathom
  ls: cannot access 'gpufathom': No such file or directory
  [2]
  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o kept.gpf | sed 's/.*B, //;q'
  with its answer
  $ gpufathom analyze kept.gpf > kept.txt
  $ gpufathom analyze rows.gpf | sed 's/rows.gpf/kept.gpf/' | diff kept.txt -
  $ gpufathom analyze kept.gpf --format json > kept.json
  $ gpufathom analyze rows.gpf --format json | sed 's/rows.gpf/kept.gpf/' | cmp kept.json -
  $ stat -c %a gpufathom/key
  600

A trace and a user make one file; without the answer it is the same for every user.

  $ cp kept.gpf one.gpf && gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o kept.gpf > /dev/null && cmp one.gpf kept.gpf
  $ cp rows.gpf one.gpf && gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o rows.gpf --no-answer > /dev/null && cmp one.gpf rows.gpf

Where no answer can be kept, the capture is whole, and nothing is said.

  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz $EXAMPLES/lenet_train_b64.base.ncu.csv.gz -o two.gpf | grep -c answer
  0
  [1]
  $ gpufathom import $EXAMPLES/mnist_recorded.gpf -o samples.gpf | grep -c answer
  0
  [1]
  $ for home in /dev/null nowhere ''; do XDG_STATE_HOME=$home HOME=/dev/null gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o none.gpf | grep -c answer; done
  0
  0
  0
  [1]
  $ gpufathom analyze none.gpf | sed 's/none.gpf/kept.gpf/' | diff kept.txt -
