Every kernel of every step has its partner, in order:

  $ match() { gpufathom analyze $EXAMPLES/$1 --counters $EXAMPLES/$2 $3 $4 --format json 2>/dev/null | jq -c '.match | del(.confidence)'; }
  $ match resnet50_amp_eager_b64.json.gz resnet50_amp_eager_b64.ncu.csv.gz
  {"trace_kernels":2679,"report_kernels":893,"matched":2679,"ambiguous":0,"trace_only":0,"report_only":0,"verdict":"good","note":"Every kernel of the trace and of the report is matched, in order; the report was applied to 3 steps of the trace.","copies_of_report":3}
  $ match resnet50_amp_eager_b64.json.gz resnet50_amp_eager_b64.ncu.csv.gz --window step:10
  {"trace_kernels":893,"report_kernels":893,"matched":893,"ambiguous":0,"trace_only":0,"report_only":0,"verdict":"good","note":"Every kernel of the trace and of the report is matched, in order; the report was applied to the trace once.","copies_of_report":1}
  $ match lenet_train_b64.json.gz lenet_train_b64.ncu-rep.gz
  {"trace_kernels":150,"report_kernels":50,"matched":150,"ambiguous":0,"trace_only":0,"report_only":0,"verdict":"good","note":"Every kernel of the trace and of the report is matched, in order; the report was applied to 3 steps of the trace.","copies_of_report":3}
  $ match lenet_train_b64.json.gz lenet_train_b64.details.ncu.csv.gz
  {"trace_kernels":150,"report_kernels":50,"matched":150,"ambiguous":0,"trace_only":0,"report_only":0,"verdict":"good","note":"Every kernel of the trace and of the report is matched, in order; the report was applied to 3 steps of the trace.","copies_of_report":3}

A report of another program says so, also one that was joined into a capture file:

  $ gpufathom import $EXAMPLES/bert_amp_eager_b32.json.gz $EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz -o joined.gpf > out
  $ gpufathom joined.gpf 2> words | sed -n '/^Incomplete/,/^$/p'; cat words
  Incomplete: no counters: the report in it does not belong to this trace
  
  gpufathom: joined.gpf: incomplete result: no counters: the report in it does not belong to this trace
  $ gpufathom analyze $EXAMPLES/bert_amp_eager_b32.json.gz --counters $EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz 2>&1 > out | sed 's#[^ ]*/##g'
  gpufathom: bert_amp_eager_b32.json.gz: incomplete result: no counters: the report resnet50_amp_eager_b64.ncu.csv.gz does not belong to this trace

  $ match bert_amp_eager_b32.json.gz resnet50_amp_eager_b64.ncu.csv.gz
  {"trace_kernels":3252,"report_kernels":893,"matched":0,"ambiguous":0,"trace_only":3252,"report_only":893,"verdict":"different_program","note":"The report belongs to another program: 15 of its 78 kernel names occur in the trace, and only 1 of 3252 trace kernels would match. Its counters are not used.","copies_of_report":0}
  $ match lenet_train_b64.json.gz resnet50_amp_eager_b64.ncu.csv.gz
  {"trace_kernels":150,"report_kernels":893,"matched":0,"ambiguous":0,"trace_only":150,"report_only":893,"verdict":"different_program","note":"The report belongs to another program: 13 of its 78 kernel names occur in the trace, and only 3 of 150 trace kernels would match. Its counters are not used.","copies_of_report":0}
