A capture file says as much as what it was made from.

  $ gpufathom import $EXAMPLES/lenet_train_b64.auto.ncu.csv.gz -o a.gpf > /dev/null
  $ gpufathom import a.gpf -o b.gpf > /dev/null
  $ for t in report_kernels kernel_counters; do gpufathom query a.gpf --format csv "select * from $t" > a; gpufathom query b.gpf --format csv "select * from $t" | cmp - a; done

A trace with its counter report gives the same analysis from the capture file as from the files themselves.

  $ t=$EXAMPLES/lenet_train_b64.json.gz; r=$EXAMPLES/lenet_train_b64.auto.ncu.csv.gz
  $ gpufathom import $r $t -o t.gpf | sed 's/: .*/:/'
  t.gpf:
    609 host operations, 202 runtime calls,
    162 device activities, 50 report kernels, 0 samples
  $ gpufathom analyze $t --counters $r --format json | jq 'del(.source.path, .counters_source)' > direct.json
  $ gpufathom analyze t.gpf --format json | jq 'del(.source.path, .counters_source)' | cmp - direct.json
  $ gpufathom query t.gpf "select value from metadata where key like 'joined%' or key = 'imported_from'" | sed 's/.*examples/examples/'
  value
  examples/lenet_train_b64.auto.ncu.csv.gz
  (1 row)
  $ gpufathom import $t $EXAMPLES/lenet_inf_b1.json.gz -o two.gpf 2>&1 | sed 's/[^ ]*examples/examples/g'
  gpufathom: examples/lenet_inf_b1.json.gz: is a second trace: a capture contains one run (import examples/lenet_train_b64.json.gz and this into captures of their own; compare takes several)

What cannot be written or read ends with 1, and no file is left behind.

  $ gpufathom import $EXAMPLES/lenet_train_b64.auto.ncu.csv.gz -o no/such.gpf
  gpufathom: no/such.gpf: cannot be written: No such file or directory (does the folder exist?)
  [1]
  $ gpufathom import none.json -o c.gpf
  gpufathom: none.json: no such file
  [1]
  $ ls *.gpf | wc -l
  3
  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz 2>/dev/null
  [2]

A device's number of SMs is its product's where the recorder does not say it.

  $ gpufathom query --format csv "$EXAMPLES/resnet50_fp32_b512_energy.gpf.gz" "select name, sm_count from devices" 2> /dev/null
  name,sm_count
  NVIDIA H200,132
  [1]
