The name of -o chooses the format, and the file appears whole or not at all.

  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz -o answer.json
  $ jq -r .schema answer.json
  gpufathom.analysis/1
  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz --format json | cmp - answer.json
  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz -o no-such-directory/answer.json
  gpufathom: no-such-directory/answer.json: cannot be written: No such file or directory (does the folder exist?)
  [1]
  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz -o .
  gpufathom: .: is a directory (-o requires a file name)
  [1]
  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz -o /dev/full
  gpufathom: /dev/full: cannot be written: No space left on device
  [1]
  $ ls
  answer.json

The keys that others rely on; more may be added.

  $ jq -r 'def keys_of: paths(scalars or . == []) | map(if type == "number" then "[]" else . end) | join("."); [keys_of] | unique | .[]' answer.json >keys
  $ for key in source.path source.format source.framework source.events source.bytes window.kind window.start_ns window.end_ns window.duration_ns \
  >   window.steps.[].index window.steps.[].start_ns window.steps.[].duration_ns devices.[].id devices.[].name devices.[].span_ns devices.[].busy_ns \
  >   devices.[].kernel_busy_ns devices.[].kernel_time_sum_ns devices.[].gpu_events devices.[].kernels devices.[].idle_ns devices.[].idle.[].cause \
  >   devices.[].idle.[].ns levels.[].id levels.[].unit match.trace_kernels match.report_kernels match.matched match.ambiguous match.trace_only \
  >   match.report_only findings.[].id findings.[].text findings.[].evidence; do grep -qxF "$key" keys || echo "missing: $key"; done
  $ jq -c '[has("quality", "runtime", "layers", "kernels")], (.levels[] | select(.id == "tensor.issue") | [.value, .low, .high])' answer.json
  [true,true,true,true]
  [null,null,null]

An answer that is not whole is given, says so, and ends with 1.

  $ zcat $EXAMPLES/lenet_inf_b1.json.gz | head -c 300000 >cut.json
  $ gpufathom analyze cut.json >answer.txt
  gpufathom: cut.json: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 300000)
  [1]
  $ grep -c "^Incomplete: " answer.txt
  1

A counter report that is none, and a trace that is none.

  $ cp $EXAMPLES/lenet_inf_b1.json.gz trace.json.gz
  $ gpufathom analyze trace.json.gz --counters trace.json.gz
  gpufathom: trace.json.gz: contains no kernel counters (--counters requires a report of Nsight Compute: .ncu-rep, or its CSV from `ncu --import FILE --csv --page raw`)
  [1]
