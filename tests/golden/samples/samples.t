Recordings without kernels, and logs of what watched a GPU: the same ladder from samples alone. Bars in ASCII, so that
they can be read here:

  $ export LC_ALL=C COLUMNS=80

ResNet-50 on an H200, recorded from beside since the program started:

  $ gpufathom analyze $EXAMPLES/resnet50_recorded.gpf --window stable --full | sed '/^Recommendations/,/^$/d; /^More/,$d; /^Readings/,$d'
  resnet50_recorded.gpf                        NVIDIA H200, steady period, 2.500 s
  GPU active 99.0 % of the time; tensor pipes active 11.5 % of the time. Largest
  loss: stalled, 1.009 s (40.4 %).
  
  Utilization by level                                            share of 2.500 s
    GPU active                ########################################      99.0 %
    SM active                 ###############################               78.7 %
    issue slot utilization    ###########                                   26.8 %
    tensor pipe active        #####                                         11.5 %
    achieved occupancy        #################                             42.4 %
    DRAM throughput           ##############                                34.1 %
  
  Time breakdown                                           parts add up to 2.500 s
    GPU idle                  #                               23.81 ms       1.0 %
    idle SMs                  ######                          509.5 ms      20.4 %
    stalled                         ###########                1.009 s      40.4 %
    non-tensor instructions                    ########       670.0 ms      26.8 %
    tensor pipe active                                 ###    287.3 ms      11.5 %
  
  Over time                                             2.500 s from left to right
    GPU active         ########*#######################################     99.0 %
    SM active          ++++++++++++++++++++++++++++++++++++++++++++++++     78.7 %
    issue slot util.   ................................................     26.8 %
    tensor pipe active ________________________________________________     11.5 %
    DRAM throughput    ::::::::::::::::::::::::::::::::::::::::::::::::     34.1 %
    power              *******#**************##*##############**####***      564 W
    program's CPU      ################################################ 0.98 cores
    The activity of GPU 0 repeats every 16.54 ms (correlation 0.83): 9.330 J each.
  

  $ gpufathom analyze $EXAMPLES/resnet50_recorded.gpf --full | sed -n '/ecommendations$/,/^$/p; /^Caveats$/,/^$/p; /^Readings/,/^Energy breakdown/p'
  Recommendations
    1. While kernels run, warps are resident and none is eligible 41 % of the
       time: they wait for memory, barriers or each other, and DRAM throughput is
       not the limit. More warps, or more independent instructions in each, hide
       latency; record --kernels shows which kernels stall. [up to 1.736 s,
       36.5 %]
       stalled 1.736 s of 4.262 s busy; memory bandwidth 34 % while kernels run;
       achieved occupancy 43 %
    2. The GPU is idle 10 % of the time. Its processes keep about one core busy: a
       single thread that prepares or launches work is the likely bottleneck.
       Record with --kernels to see what the host does meanwhile. [up to 499.2 ms,
       10.5 %]
       idle 499 ms of 4.762 s; the program's processes use 0.95 CPU cores
    3. At most 2.9 % of GPU memory is used: a larger batch, or several programs on
       one GPU, would fit.
       4.4 of 150.8 GB
  
  Caveats
    - The window includes time before or after the GPU's activity was steady, such
      as loading, compilation and warm-up; --window stable excludes it.
      steady for 2.5 s of 4.762 s; 2 s before; 262 ms after
  
  Readings
    reading                     mean      lowest      highest
    NVML utilization          83.1 %      11.0 %      100.0 %
    DRAM read            933.34 GB/s       0 B/s    2.19 TB/s
    DRAM written         549.13 GB/s       0 B/s  900.53 GB/s
    PCIe to GPU           122.7 MB/s       0 B/s   289.3 MB/s
    PCIe from GPU          33.5 MB/s   13.8 MB/s    87.6 MB/s
    power                      508 W       170 W        602 W
    power, 1 s average         468 W       126 W        571 W
    power of the memory         83 W        45 W        101 W
    SM clock                1980 MHz    1980 MHz     1980 MHz
    memory clock            3201 MHz    3201 MHz     3201 MHz
    temperature                 52 C        42 C         56 C
    GPU memory used          3.74 GB     1.25 GB      4.40 GB
    L2 accesses              101 G/s        0 /s      154 G/s
    L1 accesses             51.8 G/s        0 /s      115 G/s
    L1 hits                 10.6 G/s        0 /s     52.1 G/s
    program's CPU         0.95 cores  0.70 cores   0.99 cores
    program's memory         1.35 GB    817.2 MB      1.41 GB
  
  Energy breakdown                             energy counter, counts from samples

Where the terminal has them, block characters tell eighths; here as digits.

  $ LC_ALL=C.UTF-8 gpufathom analyze $EXAMPLES/resnet50_recorded.gpf --window stable --full |
  >   LC_ALL=C.UTF-8 sed -n '/^Time breakdown/,/^Readings/{y/▏▎▍▌▋▊▉▁▂▃▄▅▆▇█/123456712345678/;p;}'
  Time breakdown                                           parts add up to 2.500 s
    GPU idle                  2                               23.81 ms       1.0 %
    idle SMs                  888886                          509.5 ms      20.4 %
    stalled                         888888888882               1.009 s      40.4 %
    non-tensor instructions                    88888884       670.0 ms      26.8 %
    tensor pipe active                                8882    287.3 ms      11.5 %
  
  Over time                                             2.500 s from left to right
    GPU active         888888887888888888888888888888888888888888888888     99.0 %
    SM active          666666666666666666666666666666666666666666666666     78.7 %
    issue slot util.   222222222222222222222222222222222222222222222222     26.8 %
    tensor pipe active 111111111111111111111111111111111111111111111111     11.5 %
    DRAM throughput    333333333333333333333333333333333333333333333333     34.1 %
    power              777777787777777777777788788888888888888778888777      564 W
    program's CPU      888888888888888888888888888888888888888888888888 0.98 cores
    The activity of GPU 0 repeats every 16.54 ms (correlation 0.83): 9.330 J each.
  
  Readings

A program whose GPU waits for its host, in numbers; the parts sum to the window.

  $ gpufathom analyze $EXAMPLES/mnist_recorded.gpf --format json -o mnist.json
  $ jq -c '.window | [.kind, .duration_ns], [.step_source]' mnist.json
  ["all",3052017991]
  ["none"]
  $ jq -c '.devices[] | [.span_ns, .busy_ns + .idle_ns, ([.waterfall[].ns] | add), ([.idle[].ns] | add) == .idle_ns]' mnist.json
  [3052017991,3052017991,3052017991,true]
  $ jq -c '.findings[] | [.id, .gain_ns]' mnist.json
  ["gpu_idle",1556535422]
  ["sms_without_work",687516081]
  ["room_in_memory",null]
  $ jq -c '.samples | [.bucket_ns, .idle_devices, (.devices[] | .source, .samples, (.readings | length), (.readings[0].values | length))]' mnist.json
  [12716742,0,"pm_sampling",3052,22,240]

An oracle in SQL: the mean of a level over the window, weighted by time.

  $ gpufathom query $EXAMPLES/mnist_recorded.gpf --format csv "select sum(value * duration_ns) / sum(duration_ns) as mean from counter_samples where metric = 'gpu.busy' and start_ns >= $(jq .window.start_ns mnist.json) and start_ns + duration_ns <= $(jq .window.end_ns mnist.json)"
  mean
  0.49014011469970187
  $ jq '.levels[0].value' mnist.json
  0.48999795313274114

Parts of it: a span, the steady part, and what cannot be asked for.

  $ gpufathom analyze $EXAMPLES/mnist_recorded.gpf --window 2s:3s | head -2
  mnist_recorded.gpf                            NVIDIA H200, chosen range, 1.000 s
  GPU active 0.2 % of the time; tensor pipes active <0.1 % of the time. Largest
  $ gpufathom analyze $EXAMPLES/mnist_recorded.gpf --window stable --full | head -2
  mnist_recorded.gpf                           NVIDIA H200, steady period, 3.000 s
  GPU active 49.1 % of the time; tensor pipes active 2.2 % of the time. Largest
  $ gpufathom analyze $EXAMPLES/mnist_recorded.gpf --window step:3 2>&1 | sed "s,$EXAMPLES/,,"
  gpufathom: mnist_recorded.gpf: --window step:3: the capture has no kernels and therefore no steps (use all, stable or START:END, or record with --kernels)
  $ gpufathom analyze $EXAMPLES/mnist_recorded.gpf --window 60s:70s 2>&1 | sed "s,$EXAMPLES/,,"
  gpufathom: mnist_recorded.gpf: --window 60s:70s: no device activity in it (the device was traced for 10388840049 ns after its first activity)

A log of nvidia-smi or NVML knows the first rung only, and says so.

  $ gpufathom analyze $EXAMPLES/power_mixed.csv.gz --full | sed -n '1,/^Readings/p'
  power_mixed.csv.gz                                   GPU, active period, 46.58 s
  GPU active 13.3 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time, 40.38 s (86.7 %).
  
  Recommendations
    1. The GPU is idle 87 % of the time. Record with --kernels to see what the
       host does meanwhile. [up to 40.38 s, 86.7 %]
       idle 40.38 s of 46.58 s
  
  Caveats
    - The window includes time before or after the GPU's activity was steady, such
      as loading, compilation and warm-up; --window stable excludes it.
      steady for 40 s of 46.58 s; 6.5 s before; 78 ms after
    - Only NVML utilization is known: it says that some kernel ran, on one SM or
      on all. Utilization by level needs hardware counters: run the program under
      gpufathom record.
      utilization 13 % of the time
  
  Utilization by level                                            share of 46.58 s
    GPU active                #####                                         13.3 %
    no data for SM active, issue slot utilization, tensor pipe active: NVML
    utilization says that a kernel ran, not how much of the GPU it used; gpufathom
    record samples it from hardware counters
  
  Time breakdown                                           parts add up to 46.58 s
    GPU idle                  ########################         40.38 s      86.7 %
    no counters                                       ####     6.200 s      13.3 %
  
  Over time                                             46.58 s from left to right
    NVML utilization   -*+***-       _*__             ___       _   ___     13.3 %
    power              =++*++:.._____.*.._____________......____.......      160 W
  
  Readings

DCGM's log, with its profiling fields:

  $ cat > dcgm.txt <<'DMON'
  > #Entity   GRACT  SMACT  SMOCC  TENSO  DRAMA  POWER
  > ID
  > GPU 0     0.900  0.700  0.300  0.200  0.500  300.0
  > GPU 0     0.700  0.500  0.100  0.000  0.300  200.0
  > GPU 0     0.800  0.600  0.200  0.100  0.400  250.0
  > DMON
  $ gpufathom analyze dcgm.txt --full | sed '/^Recommendations/,/^$/d; /^More/,$d; /^Readings/,$d'
  dcgm.txt                                             GPU, active period, 3.000 s
  GPU active 80.0 % of the time; tensor pipes active 10.0 % of the time. Largest
  loss: idle time, 600.0 ms (20.0 %).
  
  Utilization by level                                            share of 3.000 s
    GPU active                ################################              80.0 %
    SM active                 ########################                      60.0 %
    tensor pipe active        ####                                          10.0 %
    achieved occupancy        ########                                      20.0 %
    DRAM throughput           ################                              40.0 %
    no data for issue slot utilization: DCGM does not export it, or its field was
    not logged; gpufathom record samples it from hardware counters
  
  Time breakdown                                           parts add up to 3.000 s
    GPU idle                  ######                          600.0 ms      20.0 %
    idle SMs                        ######                    600.0 ms      20.0 %
    tensor pipe active                   ###                  300.0 ms      10.0 %
    no counters                             ##############     1.500 s      50.0 %
  
  Over time                                             3.000 s from left to right
    GPU active         ****************++++++++++++++++++++++++++++++++     80.0 %
    SM active          ++++++++++++++++----------------================     60.0 %
    tensor pipe active ................                ________________     10.0 %
    DRAM throughput    ----------------................::::::::::::::::     40.0 %
  

A gap is unknown, not idle: levels are intervals.

  $ cat > gap.csv <<'CSV'
  > timestamp, index, name, utilization.gpu [%], power.draw [W]
  > 2026/11/21 10:00:00.000, 0, NVIDIA H200, 50 %, 300 W
  > 2026/11/21 10:00:10.000, 0, NVIDIA H200, 50 %, 300 W
  > 2026/11/21 10:00:20.000, 0, NVIDIA H200, 50 %, 300 W
  > 2026/11/21 10:10:00.000, 0, NVIDIA H200, 50 %, 300 W
  > 2026/11/21 10:10:10.000, 0, NVIDIA H200, 50 %, 300 W
  > CSV
  $ gpufathom analyze gap.csv --format json | jq -c '.devices[] | [.span_ns, .busy_ns], (.idle[] | [.cause, .ns]), (.levels[0] | [.value, .low, .high, .coverage])'
  [610000000000,15000000000]
  ["not_recorded",15000000000]
  ["no_samples",580000000000]
  [0.02459016393442623,0.02459016393442623,0.9754098360655737,0.04918032786885246]

A single moment is no span.

  $ head -2 gap.csv > one.csv; gpufathom analyze one.csv --full
  gpufathom: one.csv: no span of time in which a GPU was sampled (record for longer)
  [1]

Two recordings side by side: bars instead of layers; a run beside itself, by the steps found in its samples.

  $ gpufathom compare $EXAMPLES/resnet50_recorded.gpf $EXAMPLES/mnist_recorded.gpf --full
       run                    device       steps   window    energy    speed
    A  resnet50_recorded.gpf  NVIDIA H200    151  2.500 s  1.395 kJ    1.00x
    B  mnist_recorded.gpf     NVIDIA H200      0  3.000 s   775.1 J  no data
  
  Not judged: steps of resnet50_recorded.gpf (by samples) cannot be compared with
  those of mnist_recorded.gpf (by recording): mark the steps of all.
  Other differences: source of the steps (A period of the device's activity, B
  none).
  Not every run has steps: the times are those of the whole windows and compare
  only when these contain the same work.
  
  Utilization by level
    level                        A       B
    GPU active              99.0 %  49.1 %
    SM active               78.7 %  26.5 %
    issue slot utilization  26.8 %  11.4 %
    tensor pipe active      11.5 %   2.2 %
    achieved occupancy      42.4 %  10.0 %
    DRAM throughput         34.1 %   5.2 %
  
  Time breakdown
    part                            A         B      B - A
    GPU idle                 23.81 ms   1.526 s   +1.503 s
    stalled                   1.009 s  387.3 ms  -622.2 ms
    non-tensor instructions  670.0 ms  342.6 ms  -327.3 ms
    tensor pipe active       287.3 ms  66.35 ms  -220.9 ms
    idle SMs                 509.5 ms  677.4 ms  +167.9 ms
    total                     2.500 s   3.000 s  +500.0 ms
  $ gpufathom compare $EXAMPLES/resnet50_recorded.gpf $EXAMPLES/resnet50_recorded.gpf --format json | jq -c '.per, (.runs[0] | [.steps, .step_source, .time_ns]), ([.time[].ns[0]] | add), ([.time[].change_ns[1]] | add)'
  "step"
  [151,"period of the device's activity",16556291]
  16556291
  0

Exports hold the samples.

  $ gpufathom export $EXAMPLES/mnist_recorded.gpf --csv tables --perfetto -o trace.pftrace && ls tables && wc -l < tables/counter_samples.csv && test -s trace.pftrace
  analyzed_window.csv
  counter_samples.csv
  devices.csv
  findings.csv
  idle_causes.csv
  levels.csv
  metadata.csv
  quality.csv
  waterfall.csv
  135450
