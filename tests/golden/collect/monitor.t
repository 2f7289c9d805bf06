The monitor over fake driver libraries: every value has a known answer.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE=
  $ gpufathom monitor --once | sed 's/^.* driver/HOST  driver/; s/20[0-9-]* [0-9:]* UTC/TIME/; s/ [0-9][0-9][0-9]   40/ WWW   40/; /^        1 /d'
  HOST  driver 580.159.04  TIME
  GPU    name            GPU   SM issue   TC occup. DRAM     W    C  memory
  0      H200             75   60     -   25     30   40   WWW   40  12.0/140G
    GPU 0: clocks throttled by sw_power_cap
    %, averages since the last reading; levels from gpm.

Levels of MIG instances; the whole GPU has none then.

  $ GPUFATHOM_FAKE=mig=1 gpufathom monitor --once --format json | jq -c '.gpus[] | [.index, .instance, .source, .missing, .values["sm.active_any"], .values["memory.used"]]'
  [0,"","nvml","levels are per MIG instance",null,12884901888]
  [0,"1/0","gpm","",0.6,5368709120]
  [0,"2/0","gpm","",0.6,5368709120]

Eight GPUs, and a choice of them.

  $ export GPUFATHOM_FAKE=gpus=8
  $ gpufathom monitor --once --format csv --devices 1,6-7 | cut -d, -f3,4,5,7,8,9,10,11
  gpu,uuid,instance,gpu.busy,sm.active_any,issue.active,tensor.active,sm.occupancy
  1,GPU-00000000-0000-0000-0000-000000000001,,0.75,0.6,,0.25,0.3
  6,GPU-00000000-0000-0000-0000-000000000006,,0.75,0.6,,0.25,0.3
  7,GPU-00000000-0000-0000-0000-000000000007,,0.75,0.6,,0.25,0.3
  $ gpufathom monitor --once --devices 8
  gpufathom: there is no device 8 (this machine has devices 0 to 7)
  [1]
  $ gpufathom monitor --once --devices first
  gpufathom: 'first' names no device (give numbers as nvidia-smi counts, ranges such as 0-3, or UUIDs)
  [1]

At the shortest interval no reading is without levels.

  $ GPUFATHOM_FAKE= gpufathom monitor --interval 0.1 --count 10 --format json | jq -r '.gpus[0].missing' | sort | uniq -c | tr -d " "
  10

Before Hopper there is no GPM, and no level is invented.

  $ GPUFATHOM_FAKE=gpm=0 gpufathom monitor --once --format json | jq -c '.gpus[] | [.source, .missing, .values["sm.active_any"], .values["monitor.gpu"]]'
  ["nvml","GPM needs Hopper or newer: try --source pm",null,0.91]

Counters give issue slots too, where the user may read them.

  $ gpufathom monitor --once --source pm --format json | jq -c '.gpus[0] | [.source, .missing, (.values["issue.active"] > 0.15 and .values["issue.active"] < 0.3)]'
  ["pm_sampling","",true]
  $ GPUFATHOM_FAKE=permission=0 gpufathom monitor --once --source pm
  gpufathom: GPU 0: counters cannot be listed: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35) (run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d))
  [1]

A GPU that fell off the bus.

  $ GPUFATHOM_FAKE=lost_after=0.1 gpufathom monitor --once --format json | jq -c '.gpus[] | [.missing, .values["power.module"], .values["sm.active_any"]]'
  ["the GPU is lost",null,null]

No driver, and a driver that does not answer.

  $ GPUFATHOM_FAKE=init=18 gpufathom monitor --once
  gpufathom: the NVIDIA driver does not answer: Driver/library version mismatch (reboot, or reload the nvidia kernel module: library and module are of different versions)
  [1]
  $ GPUFATHOM_FAKE=init=9 gpufathom monitor --once
  gpufathom: the NVIDIA driver does not answer: Driver Not Loaded (load the nvidia kernel module)
  [1]
  $ GPUFATHOM_LIBRARY_PATH=/nowhere gpufathom monitor --once
  gpufathom: no NVIDIA driver on this machine: libnvidia-ml.so.1 cannot be loaded (install the driver, or give a container access to the GPU)
  [1]

For Prometheus: our own names, and those of dcgm-exporter.

  $ export GPUFATHOM_FAKE=
  $ gpufathom monitor --once --format openmetrics | grep -E '^(# TYPE )?gpufathom_(sm_active_any|power_module|energy|gpu_busy|gpu_info)|EOF' | sed -E 's/(joules_total|seconds_total|module_watts)(\{.*\}) .*/\1\2 VALUE/'
  gpufathom_gpu_info{gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000",name="NVIDIA H200",driver="580.159.04",source="gpm"} 1
  # TYPE gpufathom_gpu_busy_ratio gauge
  gpufathom_gpu_busy_ratio{gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000"} 0.75
  # TYPE gpufathom_gpu_busy_seconds counter
  gpufathom_gpu_busy_seconds_total{gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000"} VALUE
  # TYPE gpufathom_sm_active_any_ratio gauge
  gpufathom_sm_active_any_ratio{gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000"} 0.6
  # TYPE gpufathom_sm_active_any_seconds counter
  gpufathom_sm_active_any_seconds_total{gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000"} VALUE
  # TYPE gpufathom_power_module_watts gauge
  gpufathom_power_module_watts{gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000"} VALUE
  # TYPE gpufathom_energy_module_joules counter
  gpufathom_energy_module_joules_total{gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000"} VALUE
  # EOF
  $ gpufathom monitor --once --format openmetrics --dcgm-names | grep -E 'PROF_(SM_ACTIVE|PIPE_TENSOR)|ENERGY' | sed -E 's/Hostname="[^"]*"/Hostname="H"/; s/(CONSUMPTION\{.*\}) .*/\1 VALUE/'
  # TYPE DCGM_FI_PROF_PIPE_TENSOR_ACTIVE gauge
  # HELP DCGM_FI_PROF_PIPE_TENSOR_ACTIVE Ratio of cycles the tensor (HMMA) pipe is active.
  DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu="0",UUID="GPU-00000000-0000-0000-0000-000000000000",device="nvidia0",modelName="NVIDIA H200",Hostname="H",DCGM_FI_DRIVER_VERSION="580.159.04"} 0.25
  # TYPE DCGM_FI_PROF_SM_ACTIVE gauge
  # HELP DCGM_FI_PROF_SM_ACTIVE The ratio of cycles an SM has at least 1 warp assigned.
  DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-00000000-0000-0000-0000-000000000000",device="nvidia0",modelName="NVIDIA H200",Hostname="H",DCGM_FI_DRIVER_VERSION="580.159.04"} 0.6
  # TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION unknown
  # HELP DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION Total energy consumption since boot (in mJ).
  DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-00000000-0000-0000-0000-000000000000",device="nvidia0",modelName="NVIDIA H200",Hostname="H",DCGM_FI_DRIVER_VERSION="580.159.04"} VALUE

A process may call itself anything: no page breaks, no terminal obeys.

  $ export GPUFATHOM_FAKE=
  $ python3 -c 'import time; open("/proc/self/comm", "wb").write(b"\xc3\xa9\"\\\n\x1b[2J\xc3"); open("named", "w"); time.sleep(20)' & pid=$!
  $ while [ ! -e named ]; do sleep 0.1; done
  $ GPUFATHOM_FAKE=pid=$pid gpufathom monitor --once --format openmetrics | grep process_memory | grep -o 'process=.*'
  process="\xc3\xa9\\"\\\\??[2J\xef\xbf\xbd"} 11811160064 (esc)
  $ GPUFATHOM_FAKE=pid=$pid gpufathom monitor --once --format json | jq '.gpus[0].processes[0].name'
  "\xc3\xa9\\"\\\\??[2J\xef\xbf\xbd" (esc)
  $ GPUFATHOM_FAKE=pid=$pid gpufathom monitor --once | grep -A 1 H200 | tail -1 | sed "s/$pid/PID/"
          PID \xc3\xa9"\\??[2J\xef\xbf\xbd  11.81 GB (esc)
  $ kill $pid

Addresses that cannot be served on.

  $ for address in '' abc :99999 127.0.0.1: 192.0.2.1:0 nowhere.invalid:0; do gpufathom monitor --once --serve "$address"; done
  gpufathom: '' is not an address to serve on (give ADDR:PORT, such as 127.0.0.1:9400 or :9400)
  gpufathom: 'abc' is not an address to serve on (give ADDR:PORT, such as 127.0.0.1:9400 or :9400)
  gpufathom: ':99999' is not an address to serve on (give ADDR:PORT, such as 127.0.0.1:9400 or :9400)
  gpufathom: '127.0.0.1:' is not an address to serve on (give ADDR:PORT, such as 127.0.0.1:9400 or :9400)
  gpufathom: cannot listen on 192.0.2.1:0: Cannot assign requested address (is the port taken, or the address not this machine's?)
  gpufathom: cannot listen on nowhere.invalid:0: nobody knows that name (is the port taken, or the address not this machine's?)
  [1]

Short forms of --format:

  $ gpufathom monitor --once --json | jq -r .schema
  gpufathom.monitor/1
  $ gpufathom monitor --once --csv | head -1 | cut -d, -f1-3
  time_ns,host,gpu
  $ gpufathom doctor --json | jq -r .schema
  gpufathom.doctor/1

Whose a process is, as labels; and how long a GPU has been held while nothing ran on it.

  $ SLURM_JOB_ID=77 SLURM_STEP_ID=1 SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=8 SLURM_JOB_USER=ada sleep 20 & pid=$!
  $ sleep 0.2; GPUFATHOM_FAKE=pid=$pid gpufathom monitor --once --format openmetrics | grep -o 'process="sleep",job_id.*'
  process="sleep",job_id="77",job_rank="3",job_scheduler="slurm",job_step="1",job_user="ada",job_world_size="8"} 1
  $ kill $pid
  $ gpufathom monitor --once --format openmetrics | grep -c '^gpufathom_held_idle_seconds{'
  1

Health: what wakes an operator up, under our names and those of dcgm-exporter's default list.

  $ export GPUFATHOM_FAKE=xid=79
  $ gpufathom monitor --once | grep XID | sed 's/at [0-9:]*/at TIME/'
    GPU 0: XID 79 (the GPU fell off the bus), 1 time, last at TIME UTC
  $ gpufathom monitor --once --json | jq -c '.gpus[0] | [(.xids[] | .code, .count), .totals["xid.errors"], .values["temperature.memory"]]'
  [79,1,1,55]
  $ gpufathom monitor --once --format openmetrics | grep -E '^gpufathom_(xid|rows|pcie_replays|temperature_memory|monitor_..coder)' | sed 's/{.*}//'
  gpufathom_temperature_memory_celsius 55
  gpufathom_xid_last_code 79
  gpufathom_xid_errors_total 1
  gpufathom_pcie_replays_total 3
  gpufathom_rows_remapped_correctable_total 2
  gpufathom_rows_remapped_uncorrectable_total 1
  gpufathom_rows_remap_pending 0
  gpufathom_rows_remap_failed 0
  gpufathom_monitor_encoder_ratio 0.2
  gpufathom_monitor_decoder_ratio 0.05
  $ gpufathom monitor --once --format openmetrics --dcgm-names | sed -n 's/^\(DCGM_FI_[A-Z_]*\){.*} /\1 /p' | sed -E 's/(CONSUMPTION|POWER_USAGE) .*/\1 W/'
  DCGM_FI_PROF_GR_ENGINE_ACTIVE 0.75
  DCGM_FI_PROF_PIPE_TENSOR_ACTIVE 0.25
  DCGM_FI_PROF_SM_OCCUPANCY 0.3
  DCGM_FI_PROF_DRAM_ACTIVE 0.4
  DCGM_FI_PROF_SM_ACTIVE 0.6
  DCGM_FI_DEV_FB_USED 12288
  DCGM_FI_PROF_PCIE_RX_BYTES 209715200
  DCGM_FI_PROF_PCIE_TX_BYTES 104857600
  DCGM_FI_PROF_NVLINK_RX_BYTES 0
  DCGM_FI_PROF_NVLINK_TX_BYTES 0
  DCGM_FI_DEV_POWER_USAGE W
  DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION W
  DCGM_FI_DEV_SM_CLOCK 1965
  DCGM_FI_DEV_MEM_CLOCK 3201
  DCGM_FI_DEV_GPU_TEMP 40
  DCGM_FI_DEV_MEMORY_TEMP 55
  DCGM_FI_DEV_XID_ERRORS 79
  DCGM_FI_DEV_PCIE_REPLAY_COUNTER 3
  DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS 2
  DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS 1
  DCGM_FI_DEV_ROW_REMAP_FAILURE 0
  DCGM_FI_DEV_GPU_UTIL 91
  DCGM_FI_DEV_MEM_COPY_UTIL 30
  DCGM_FI_DEV_ENC_UTIL 20
  DCGM_FI_DEV_DEC_UTIL 5
  DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL 0
  DCGM_FI_DEV_FB_FREE 131072
  $ gpufathom monitor --once --csv | cut -d, -f28-
  temperature.memory,monitor.encoder,monitor.decoder,xid.last,xid.errors,pcie.replays,rows.remapped_correctable,rows.remapped_uncorrectable,rows.remap_pending,rows.remap_failed
  55,0.2,0.05,79,1,3,2,1,0,0

A driver that tells of no events has no errors to count: no data, not 0.

  $ GPUFATHOM_FAKE=events=0 gpufathom monitor --once --format openmetrics | grep -c '^gpufathom_xid'
  0
  [1]
  $ export GPUFATHOM_FAKE=

Labels of the job on each series of a GPU, where one wants them.

  $ SLURM_JOB_ID=77 SLURM_STEP_ID=1 SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=8 SLURM_JOB_USER=ada sleep 20 & pid=$!
  $ sleep 0.2; GPUFATHOM_FAKE=pid=$pid gpufathom monitor --once --format openmetrics --job-labels | grep '^gpufathom_gpu_busy_ratio'
  gpufathom_gpu_busy_ratio{gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000",job_id="77",job_user="ada",job_rank="3"} 0.75
  $ GPUFATHOM_FAKE=pid=$pid gpufathom monitor --once --format openmetrics --job-labels --dcgm-names | grep -o '^DCGM_FI_DEV_GPU_TEMP.*hpc_job="[0-9]*"'
  DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-00000000-0000-0000-0000-000000000000",device="nvidia0",modelName="NVIDIA H200",hpc_job="77"
  $ kill $pid
