A Perfetto trace goes to a file or a pipe, the same bytes each time.

  $ gpufathom export $EXAMPLES/lenet_train_b64.json.gz --counters $EXAMPLES/lenet_train_b64.base.ncu.csv.gz --perfetto -o trace.pftrace
  $ gpufathom export $EXAMPLES/lenet_train_b64.json.gz --counters $EXAMPLES/lenet_train_b64.base.ncu.csv.gz --perfetto | cmp - trace.pftrace

One CSV file a table; what is not known is an empty cell.

  $ gpufathom export $EXAMPLES/lenet_inf_b1.json.gz --csv tables
  $ ls tables
  activities.csv
  analyzed_steps.csv
  analyzed_window.csv
  api_calls.csv
  device_annotations.csv
  devices.csv
  findings.csv
  host_ops.csv
  idle_causes.csv
  idle_pieces.csv
  kernels.csv
  layer_types.csv
  layers.csv
  levels.csv
  metadata.csv
  threads.csv
  waterfall.csv
  $ head -2 tables/devices.csv
  id,name,uuid,vendor,compute_major,compute_minor,sm_count,memory_bytes,max_threads_per_sm,registers_per_sm,shared_bytes_per_sm,clock_khz
  0,NVIDIA H200,,nvidia,9,0,132,150109880320,2048,65536,233472,
  $ head -2 tables/idle_causes.csv
  cause,ns,gaps
  host_other,1128346,43
  $ head -3 tables/idle_pieces.csv
  device,start_ns,duration_ns,cause,operator,next_activity
  0,1795187789808353572,227624,host_other,<built-in method conv2d of type object at 0x7f185133e180>,0
  0,1795187789808581196,89598,launch_bound,aten::cudnn_convolution,0
  $ awk -F, 'NR > 1 { n += $3 } END { print n }' tables/idle_pieces.csv; awk -F, 'NR > 1 { n += $2 } END { print n }' tables/idle_causes.csv
  2304396
  2304396
  $ python3 -c 'import csv; rows = list(csv.DictReader(open("tables/activities.csv"))); print(len(rows), rows[0]["kind"], repr(rows[0]["bytes"]))'
  45 kernel ''

What was exported is for a viewer: of three traces one was read, as damaged, before it said so.

  $ for capture in lenet_train_b64 lenet_graphs_b1 resnet50_amp_eager_b64; do
  >   gpufathom export $EXAMPLES/$capture.json.gz --perfetto -o again.pftrace; gpufathom analyze again.pftrace
  > done
  gpufathom: again.pftrace: cannot be read: it is a Perfetto trace that `gpufathom export` made (it is for ui.perfetto.dev: give the capture that it was made from; gpufathom help formats lists what is read)
  gpufathom: again.pftrace: cannot be read: it is a Perfetto trace that `gpufathom export` made (it is for ui.perfetto.dev: give the capture that it was made from; gpufathom help formats lists what is read)
  gpufathom: again.pftrace: cannot be read: it is a Perfetto trace that `gpufathom export` made (it is for ui.perfetto.dev: give the capture that it was made from; gpufathom help formats lists what is read)
  [1]

Something to export must be named.

  $ gpufathom export $EXAMPLES/lenet_inf_b1.json.gz >/dev/null 2>&1
  [2]
