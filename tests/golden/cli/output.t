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
