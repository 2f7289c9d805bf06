Every verb gives one value of one quantity: their default window is the same, and so is any that is asked for.

  $ one-value $EXAMPLES/resnet50_amp_eager_b64.json.gz
  window                      149491177  analyze, page, export, query, compare, work, whatif, path, ranks
  steps                               3  analyze, page, export, query, compare, work, whatif, path
  step                         49830392  analyze, page, compare, whatif
  kernel_time                  45224637  analyze, page, export, query, work
  launch_bound                 83179388  analyze, page, export, query
  kernels                          2679  analyze, page, export, query
  launch_bound_of_a_step       27726463  compare, of a step
  kernel_time_of_a_step        15074878  compare, of a step
  $ one-value $EXAMPLES/lenet_train_b64.json.gz
  window                       10402728  analyze, page, export, query, compare, work, whatif, path, ranks
  steps                               3  analyze, page, export, query, compare, work, whatif, path
  step                          3467576  analyze, page, compare, whatif
  kernel_time                    708128  analyze, page, export, query, work
  launch_bound                  6005005  analyze, page, export, query
  kernels                           150  analyze, page, export, query
  launch_bound_of_a_step        2001669  compare, of a step
  kernel_time_of_a_step          236043  compare, of a step
  $ one-value $EXAMPLES/resnet50_amp_eager_b64.json.gz --window step:11
  window                       56164629  analyze, page, export, query, compare, work, whatif, path, ranks
  steps                               1  analyze, page, export, query, compare, work, whatif, path
  step                         56164629  analyze, page, compare, whatif
  kernel_time                  15077970  analyze, page, export, query, work
  launch_bound                 32629784  analyze, page, export, query
  kernels                           893  analyze, page, export, query
  launch_bound_of_a_step       32629784  compare, of a step
  kernel_time_of_a_step        15077970  compare, of a step

Each answer says what it is of.

  $ T=$EXAMPLES/resnet50_amp_eager_b64.json.gz
  $ gpufathom work $T | head -1
  resnet50_amp_eager_b64.json.gz                                 3 steps, 149.5 ms
  $ gpufathom whatif $T --without sync | head -3
  A step takes 49.83 ms (3 steps, 149.5 ms). From the end of one step's GPU work
  to the end of the next it is 50.41 ms, without profiler overhead about 33.28 ms
  (21.52 ms to 48.54 ms).
  $ gpufathom query $T "select count(*) from analyzed_steps" | tail -1
  (analysis of 3 steps, 149.5 ms)
  $ gpufathom path $T | head -1
  resnet50_amp_eager_b64.json.gz                                 3 steps, 149.5 ms
  $ gpufathom ranks $T | head -1
  1 rank, 0 shared collectives over 148.5 ms (whole captures)
  $ gpufathom compare $T $T --format json | jq -c '.runs[] | [.window, .steps]'
  ["steps",3]
  ["steps",3]
