What a cluster's monitors keep. A scrape of an exporter is one instant:

  $ cat > now.prom <<'END'
  > # HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
  > # TYPE DCGM_FI_DEV_POWER_USAGE gauge
  > DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1",pod="job-0"} 612.5
  > DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1",hpc_job="4711"} 100
  > DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 0
  > DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 129931554972
  > END
  $ gpufathom query now.prom "select metric, value from counter_samples"
  metric               value
  power.average        612.5
  monitor.gpu              1
  energy.module  1.29932e+08
  (3 rows)
  $ gpufathom query now.prom "select * from metadata where key like 'pod%' or key like 'job%'"
  row  key    value
    0  pod.0  job-0
    1  job.0  4711
  (2 rows)
  $ gpufathom query now.prom "select code, detail from quality"
  code           detail
  no_reading     profiling counters of 0 while th..er profiler held them): no data
  no_timestamps  a scrape is one instant, taken a..rometheus, for means and energy
  (2 rows)
  (texts are shortened to fit; --format csv or json gives them whole)

A folder of scrapes is a log:

  $ mkdir log && for second in 00 15 30 45; do sed "s/612.5/6$second/; s/ACTIVE\(.*\) 0$/ACTIVE\1 0.$second/" now.prom > log/$second.prom && touch -d "2026-11-20 12:00:$second" log/$second.prom; done
  $ gpufathom analyze log
  log                                NVIDIA H100 80GB HBM3, active period, 45.00 s
  GPU active 30.0 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time, 31.50 s (70.0 %).
  
  Recommendations
    1. The GPU is idle 70 % of the time. Record with --kernels to see what the
       host does meanwhile. [up to 31.50 s, 70.0 %]
  
  Caveats
    - The window includes time before or after the GPU's activity was steady, such
      as loading, compilation and warm-up; --window stable excludes it.
  
  Utilization by level                                            share of 45.00 s
    GPU active                \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88                                  30.0 % (esc)
    no data for SM active, issue slot utilization, tensor pipe active: DCGM does
    not export it, or its field was not logged; gpufathom record samples it from
    hardware counters
  
  More with --full: time breakdown, levels over time, readings, energy, data
  quality. As a page: -o page.html.

A range of Prometheus, with a reading that is missing and one that is no number:

  $ python3 - <<'PY'
  > import json
  > series = lambda name, gpu, values: {"metric": {"__name__": name, "gpu": gpu, "Hostname": "n1", "modelName": "NVIDIA H100 80GB HBM3"}, "values": [[1790000000 + at, value] for at, value in values]}
  > json.dump({"status": "success", "data": {"resultType": "matrix", "result": [
  >     series("DCGM_FI_DEV_POWER_USAGE", "0", [(0, "600"), (15, "620"), (30.0, "610"), (60, "630")]),
  >     series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0", [(0, "0.9"), (15, "0.8"), (30, "NaN"), (60, "0.7")]),
  >     series("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "0", [(0, "1000000000"), (60, "1036975000")])]}}, open("range.json", "w"))
  > PY
  $ gpufathom analyze range.json
  range.json                         NVIDIA H100 80GB HBM3, active period, 90.00 s
  GPU active 80.0 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time, 18.00 s (20.0 %).
  
  Recommendations
    1. The GPU is idle 20 % of the time. Record with --kernels to see what the
       host does meanwhile. [up to 18.00 s, 20.0 %]
  
  Caveats
    - The window includes time before or after the GPU's activity was steady, such
      as loading, compilation and warm-up; --window stable excludes it.
  
  Utilization by level                                            share of 90.00 s
    GPU active                \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88              80.0 % (esc)
    no data for SM active, issue slot utilization, tensor pipe active: DCGM does
    not export it, or its field was not logged; gpufathom record samples it from
    hardware counters
  
  More with --full: time breakdown, levels over time, readings, energy, data
  quality. As a page: -o page.html.
  $ gpufathom query range.json "select metric, count(*) as readings, avg(value) as mean from counter_samples group by metric"
  metric         readings         mean
  energy.module         2  1.01849e+06
  gpu.busy              3          0.8
  power.module          4          615
  (3 rows)

System metrics of Weights & Biases, and amd-smi's log:

  $ printf '_runtime,_timestamp,system.gpu.0.gpu,system.gpu.0.powerWatts,system.gpu.1.powerWatts\n0.5,1790000000.5,25,100,\n15.5,1790000015.5,50,300,\n' > system.csv
  $ gpufathom query system.csv "select start_ns, duration_ns, metric, value from counter_samples"
             start_ns  duration_ns  metric        value
  1789999985500000000  15000000000  monitor.gpu    0.25
  1790000000500000000  15000000000  monitor.gpu     0.5
  1790000000500000000            0  power.module    100
  1790000015500000000            0  power.module    300
  (4 rows)
  $ printf "'CTRL' + 'C' to stop watching output:\ntimestamp,gpu,gfx_activity,socket_power\n1786553852,0,80,700\n\ntimestamp,gpu,gfx_activity,socket_power\n1786553853,0,90,710\n" > amd.csv
  $ gpufathom query amd.csv "select start_ns, metric, value from counter_samples"
             start_ns  metric        value
  1786553852000000000  monitor.gpu     0.8
  1786553852000000000  power.module    700
  1786553853000000000  monitor.gpu     0.9
  1786553853000000000  power.module    710
  (4 rows)
