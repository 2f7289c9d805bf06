A capture file says as much as what it was made from.

  $ gpufathom import $EXAMPLES/lenet_train_b64.auto.ncu.csv.gz -o a.gpf > /dev/null
  $ gpufathom import a.gpf -o b.gpf > /dev/null
  $ for t in report_kernels kernel_counters; do gpufathom query a.gpf --format csv "select * from $t" > a; gpufathom query b.gpf --format csv "select * from $t" | cmp - a; done

What cannot be written or read ends with 1, and no file is left behind.

  $ gpufathom import $EXAMPLES/lenet_train_b64.auto.ncu.csv.gz -o no/such.gpf
  gpufathom: no/such.gpf: cannot be opened: unable to open database file (does the directory exist, and may you write there?)
  [1]
  $ gpufathom import none.json -o c.gpf
  gpufathom: none.json: no such file
  [1]
  $ ls *.gpf | wc -l
  2
  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz 2>/dev/null
  [2]
