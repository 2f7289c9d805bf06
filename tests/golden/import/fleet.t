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

MIG instances. DCGM tells their GPU's power of each: it counts once, for the GPU. Instances of other
GPUs and machines have the same numbers. GPU 1 is whole.

  $ cat > scrape.py <<'END'
  > import os
  > os.mkdir("mig")
  > for second in (0, 15, 30):
  >     lines = []
  >     for host, gpu, instances in (("n1", 0, ((1, 0.8), (2, 0.2))), ("n1", 1, ()), ("n2", 0, ((1, 0.4),))):
  >         of = f'gpu="{gpu}",UUID="GPU-{host}-{gpu}",modelName="NVIDIA A100-SXM4-80GB",Hostname="{host}"'
  >         for part, active in instances or (("", 0.1),):
  >             labels = of + (f',GPU_I_PROFILE="3g.40gb",GPU_I_ID="{part}",pod="pod-{part}"' if part else "")
  >             lines += [f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} {active}", f"DCGM_FI_DEV_POWER_USAGE{{{labels}}} {300 + 100 * gpu}",
  >                       f"DCGM_FI_DEV_FB_USED{{{labels}}} {10 * (part or 5)}", f"DCGM_FI_DEV_GPU_UTIL{{{labels}}} 0"]
  >     open(f"mig/{second:02}.prom", "w").write("\n".join(lines) + "\n")
  >     os.utime(f"mig/{second:02}.prom", (1790000000 + second, 1790000000 + second))
  > END
  $ python3 scrape.py
  $ gpufathom query mig "select d.name, metric, min(value) as least, max(value) as most, count(*) as readings from counter_samples join devices d on device = d.row group by d.row, metric"
  name                         metric           least      most  readings
  GPU 0, MIG instance 1        gpu.busy           0.8       0.8         3
  GPU 0, MIG instance 1        memory.used   10485760  10485760         3
  NVIDIA A100-SXM4-80GB        power.module       300       300         3
  GPU 0, MIG instance 2        gpu.busy           0.2       0.2         3
  GPU 0, MIG instance 2        memory.used   20971520  20971520         3
  NVIDIA A100-SXM4-80GB        gpu.busy           0.1       0.1         3
  NVIDIA A100-SXM4-80GB        memory.used   52428800  52428800         3
  NVIDIA A100-SXM4-80GB        monitor.gpu          0         0         3
  NVIDIA A100-SXM4-80GB        power.module       400       400         3
  GPU 0, MIG instance 1 on n2  gpu.busy           0.4       0.4         3
  GPU 0, MIG instance 1 on n2  memory.used   10485760  10485760         3
  NVIDIA A100-SXM4-80GB        power.module       300       300         3
  (12 rows)
  $ gpufathom query mig "select key, value from metadata where key like 'pod%'" --format csv
  key,value
  pod.1000,pod-1
  pod.1001,pod-2
  pod.1002,pod-1
  $ gpufathom query mig "select code, detail, count from quality where code <> 'no_timestamps'" --format csv
  code,detail,count
  line_not_read,"power, energy, clocks and temperatures told of MIG instances are those of their whole GPUs: they count once, for the GPU",9
  no_reading,DCGM does not measure GPU_UTIL and MEM_COPY_UTIL of MIG instances: no data,9
  $ gpufathom energy mig | grep kJ
    NVIDIA A100-SXM4-80GB: 9.000 kJ in 30.00 s, 300.0 W.
    NVIDIA A100-SXM4-80GB: 12.00 kJ in 30.00 s, 400.0 W.
    NVIDIA A100-SXM4-80GB: 9.000 kJ in 30.00 s, 300.0 W.
  $ gpufathom analyze mig | sed -n '1,4p'
  mig
  GPU 0, MIG instance 1, GPU 0, MIG insta.. A100-SXM4-80GB, active period, 45.00 s
  GPUs active 37.5 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time, 112.5 s (62.5 %).

Instances beside their whole GPU, which says the same again; another GPU's instances are told.

  $ cat > both.prom <<'END'
  > DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0"} 0.5
  > DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1"} 0.9
  > DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1"} 0.7
  > DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-a",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1"} 0.3
  > DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-b",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1"} 0.2
  > END
  $ gpufathom query both.prom "select d.name, metric, value from counter_samples join devices d on device = d.row"
  name                       metric    value
  NULL                       gpu.busy    0.5
  GPU 1, MIG instance 1      gpu.busy    0.7
  GPU GPU-a, MIG instance 1  gpu.busy    0.3
  GPU GPU-b, MIG instance 1  gpu.busy    0.2
  (4 rows)
  $ gpufathom query both.prom "select code, detail, count from quality where code <> 'no_timestamps'" --format csv
  code,detail,count
  line_not_read,readings of MIG instances are ignored: those of their GPUs contain the same work and power,1

nvidia_gpu_exporter tells levels of instances and not of their GPU. Memory is told of both.

  $ cat > smi.prom <<'END'
  > nvidia_smi_gpu_info{uuid="a",index="0",name="NVIDIA A100-SXM4-80GB"} 1
  > nvidia_smi_power_draw_watts{uuid="a"} 300
  > nvidia_smi_memory_used_bytes{uuid="a"} 3000
  > nvidia_smi_mig_memory_used_bytes{uuid="a",gpu_instance_id="1"} 1000
  > nvidia_smi_mig_sm_activity_ratio{uuid="a",gpu_instance_id="1"} 0.9
  > nvidia_smi_mig_memory_used_bytes{uuid="a",gpu_instance_id="2"} 2000
  > nvidia_smi_mig_sm_activity_ratio{uuid="a",gpu_instance_id="2"} 0.1
  > END
  $ gpufathom query smi.prom "select d.name, metric, value from counter_samples join devices d on device = d.row where metric not like '%info'"
  name                       metric         value
  NVIDIA A100-SXM4-80GB      power.average    300
  NVIDIA A100-SXM4-80GB      memory.used     3000
  GPU GPU-a, MIG instance 1  sm.active_any    0.9
  GPU GPU-a, MIG instance 2  sm.active_any    0.1
  (4 rows)
  $ gpufathom query smi.prom "select code, detail, count from quality where code <> 'no_timestamps'" --format csv
  code,detail,count
  line_not_read,readings of MIG instances are ignored: those of their GPUs contain the same work and power,2
