Complaints name the file and go to standard error; standard output stays empty.

  $ gpufathom analyze no-such-file.json >out; echo "exit $?"
  gpufathom: no-such-file.json: * (glob)
  exit 1
  $ wc -c <out
  0

Wrong usage ends with 2.

  $ gpufathom analyze --format pdf x.json >/dev/null 2>&1
  [2]
  $ gpufathom analyze --rows -1 x.json >/dev/null 2>&1
  [2]

A capture file is a database, which cannot be written to standard output.

  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz -o -
  gpufathom: -o -: a capture file is no stream: give it a name (see gpufathom import --help)
  [2]
