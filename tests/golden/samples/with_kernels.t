Kernels and samples of one run: the levels of the whole GPU are there whatever can be said of single kernels, no level is
above the one that holds it, and the bars add up to the window.

  $ show() {
  >   gpufathom analyze "$1" --format json > answer.json 2> said
  >   echo "exit $?"
  >   jq -r '.levels[] | select(.value != null and .unit == "ratio") |
  >     "\(.id) \(.low * 1000 | round / 10) \(.high * 1000 | round / 10)"' answer.json
  >   jq -r '.devices[] | "bars leave \(.span_ns - ([.waterfall[].ns] | add)), idle causes \(.idle_ns - ([.idle[].ns] | add))",
  >     "parts leave \([.waterfall[] | select(.parts != []) | .ns - ([.parts[].ns] | add)] | add)"' answer.json
  >   jq -e '[.levels[] | {(.id): .value}] | add | ."gpu.busy" >= ."sm.active" and ."sm.active" >= ."issue.active" and
  >     ."sm.active" >= ."tensor.active"' answer.json
  > }

3-D U-Net, a kernel every 70 us under samples of 1 ms: too few samples to tell kernels apart.

  $ for name in unet3d_1khz unet3d_5khz device_launches; do gunzip -c $TESTDIR/$name.gpf.gz > $name.gpf; done
  $ show unet3d_1khz.gpf
  exit 0
  gpu.busy 93.8 94
  gpu.kernel_time 93.8 94
  sm.active 67.8 67.8
  issue.active 25.7 25.7
  tensor.active 8.3 8.3
  sm.occupancy 31.6 31.6
  dram.active 18.4 18.4
  bars leave 0, idle causes 0
  parts leave 0
  true
  $ jq -r '.findings[].id' answer.json
  no_channels_last
  small_grids
  room_in_memory
  unresolved_kernels

At 5 kHz each kernel has its own:

  $ show unet3d_5khz.gpf
  exit 0
  gpu.busy 92.6 94.6
  gpu.kernel_time 92.6 94.6
  sm.active 66.9 66.9
  issue.active 25.2 25.2
  tensor.active 8.4 8.4
  sm.occupancy 30.9 30.9
  dram.active 18.2 18.2
  bars leave 0, idle causes 0
  parts leave 0
  true
  $ jq -r '.match | "\(.verdict) \(.matched) of \(.trace_kernels), \(.report_kernels) kernels with rates"' answer.json
  good 3015 of 3015, 106 kernels with rates

A kernel that launches kernels: the recording has only the outer ones. What the samples show beyond them is named, is not
idle, and nothing is advised on what looks like idle time.

  $ show device_launches.gpf
  exit 1
  gpu.busy 94.2 94.2
  gpu.kernel_time 55 55.1
  sm.active 39.6 39.6
  issue.active 18.7 18.7
  tensor.active 0 0
  sm.occupancy 4.9 4.9
  dram.active 0 0
  bars leave 0, idle causes 0
  parts leave 0
  true
  $ gpufathom device_launches.gpf --full 2> /dev/null | sed -n '/^Call tree/,$p'
  Call tree                           device time by module and operator, from 1 %
                                      time    share      idle    energy
    window                        300.0 ms  100.0 %  135.0 ms   59.45 J
     other                        300.0 ms  100.0 %  135.0 ms   59.45 J
      parent                      164.9 ms   55.0 %      0 ns   41.85 J
      idle, unexplained gap       123.8 ms   41.3 %  123.8 ms   16.13 J
      idle, host synchronization  7.077 ms    2.4 %  7.077 ms  922.3 mJ
    Of the idle time here 117.7 ms is work that was not recorded: in which gaps is
    not known.
  $ cat said
  gpufathom: device_launches.gpf: incomplete result: 1 x work_not_recorded: GPU 1: its samples show work 99 % of the time, and recorded kernels and copies explain 59 %: 118 ms of work is not in the capture, most of it after parent. No other process held memory on it, so that it is kernels that the device launches by itself (dynamic parallelism, graphs launched from kernels) or another context of the same process, which were not recorded
  $ jq -r '.devices[] | "\(.unrecorded_ns) of \(.span_ns)"' answer.json
  117727955 of 299962432
  $ jq -r '.findings[].id' answer.json
  small_grids
  unrecorded_work
  unresolved_kernels
