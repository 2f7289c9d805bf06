What a cluster's monitors keep. A scrape of an exporter is one instant:

  $ cat > now.prom <<'END'
  > # HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
  > # TYPE DCGM_FI_DEV_POWER_USAGE gauge
  > DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1",pod="job-0"} 612.5
  > DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 100
  > DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 0
  > DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 129931554972
  > END
  $ gpufathom query now.prom "select metric, value from counter_samples"
  $ gpufathom query now.prom "select code, detail from quality"

A folder of scrapes is a log:

  $ mkdir log && for second in 00 15 30 45; do sed "s/612.5/6$second/; s/ACTIVE\(.*\) 0$/ACTIVE\1 0.$second/" now.prom > log/$second.prom && touch -d "2026-11-20 12:00:$second" log/$second.prom; done
  $ gpufathom analyze log

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
  $ gpufathom query range.json "select metric, count(*) as readings, avg(value) as mean from counter_samples group by metric"

System metrics of Weights & Biases, and amd-smi's log:

  $ printf '_runtime,_timestamp,system.gpu.0.gpu,system.gpu.0.powerWatts,system.gpu.1.powerWatts\n0.5,1790000000.5,25,100,\n15.5,1790000015.5,50,300,\n' > system.csv
  $ gpufathom query system.csv "select start_ns, duration_ns, metric, value from counter_samples"
  $ printf "'CTRL' + 'C' to stop watching output:\ntimestamp,gpu,gfx_activity,socket_power\n1786553852,0,80,700\n\ntimestamp,gpu,gfx_activity,socket_power\n1786553853,0,90,710\n" > amd.csv
  $ gpufathom query amd.csv "select start_ns, metric, value from counter_samples"
