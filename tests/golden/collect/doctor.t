What this machine can record, over fake driver libraries in every state they know.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE=
  $ gpufathom doctor | sed -n '/^ok gpu 0/,/^$/p'
  ok gpu 0             NVIDIA H200, compute 9.0, 140 GiB, limit 700 W
  ok clocks 0          SM 1965 of 1980 MHz, memory 3201 of 3201 MHz; throttled by
                       sw_power_cap
  ok sensors 0         instant power, average power, memory power, energy counter,
                       clocks, PCIe bytes, NVLink bytes
  ok gpm 0             levels at 10 Hz without permission
  ok pm sampling 0     12 counters in one pass on GH100; without nvlink.rx,
                       nvlink.tx
  
  $ state() {
  >   GPUFATHOM_FAKE=$1 gpufathom doctor --format json > state.json; code=$?
  >   jq -r '.checks[] | select(.name | test("^(driver|gpu|mig|gpm|pm|cupti)")) | select(.status != "ok") | "\(.status) \(.name): \(.detail)\(if .advice == "" then "" else "\n  " + .advice end)"' state.json
  >   jq -r '.verbs[] | select(.name | test("^(monitor|record)")) | "\(.status) \(.name): \(.detail)"' state.json
  >   return $code
  > }

Everything is there.

  $ state gpus=2
  ok monitor: all levels but issue slots from GPM, all with --source pm
  ok record: all levels at 1 kHz and more
  ok record --kernels: kernels through CUPTI Activity, which needs no permission

Counters refused, with and without GPM to fall back on.

  $ state permission=0
  missing pm sampling 0: counters cannot be listed: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)
    run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d)
  ok monitor: all levels but issue slots, from GPM
  warning record: levels at 10 Hz from GPM, no issue slots
  ok record --kernels: kernels through CUPTI Activity, which needs no permission
  [1]
  $ state permission=0,gpm=0
  missing gpm 0: not supported
    GPM came with Hopper
  missing pm sampling 0: counters cannot be listed: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)
    run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d)
  warning monitor: power, memory and clocks only
  warning record: power, memory and clocks only
  ok record --kernels: kernels through CUPTI Activity, which needs no permission
  [1]

Another profiler holds the counters; a GPU that has none; a driver too old for them.

  $ state pm_busy=1
  missing pm sampling 0: counters cannot be listed: CUPTI_ERROR_HARDWARE_BUSY (26)
    another profiler uses this GPU's counters: stop it, or wait
  ok monitor: all levels but issue slots, from GPM
  warning record: levels at 10 Hz from GPM, no issue slots
  ok record --kernels: kernels through CUPTI Activity, which needs no permission
  [1]
  $ state pm_old=1
  missing pm sampling 0: PM sampling is not offered: CUPTI_ERROR_NOT_SUPPORTED (27)
    PM sampling needs Turing or newer, without vGPU, MIG or confidential computing
  ok monitor: all levels but issue slots, from GPM
  warning record: levels at 10 Hz from GPM, no issue slots
  ok record --kernels: kernels through CUPTI Activity, which needs no permission
  [1]
  $ state pm_old=1,driver=550.54.14,cuda=12040
  warning driver: 550.54.14, CUDA 12.4
    PM sampling needs a driver for CUDA 12.6 or newer and a libcupti of the same generation
  missing pm sampling 0: PM sampling is not offered: CUPTI_ERROR_NOT_SUPPORTED (27)
    PM sampling needs a driver for CUDA 12.6 or newer and a libcupti of the same generation
  ok monitor: all levels but issue slots, from GPM
  warning record: levels at 10 Hz from GPM, no issue slots
  ok record --kernels: kernels through CUPTI Activity, which needs no permission
  [1]

Multi-instance GPU: only the monitor reads levels of instances.

  $ state mig=1,permission=0
  warning mig 0: MIG is on, 2 instances
    levels come for each instance from GPM (monitor, record); PM sampling needs MIG off
  missing pm sampling 0: counters cannot be listed: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)
    run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d)
  ok monitor: all levels but issue slots, from GPM
  warning record: power, memory and clocks only
  ok record --kernels: kernels through CUPTI Activity, which needs no permission
  [1]

One GPU lost; no GPU; no CUDA; no driver.

  $ state lost_after=0
  missing gpu 0: NVIDIA H200 is lost: it fell off the bus
    see dmesg for the Xid error; reset it with nvidia-smi --gpu-reset, or reboot
  missing monitor: needs a GPU that answers
  missing record: needs a GPU that answers
  missing record --kernels: needs a GPU that answers
  [1]
  $ state gpus=0
  missing gpu: the driver reports no GPU
    check nvidia-smi, and that the container has access to a GPU
  missing monitor: needs a GPU
  missing record: needs a GPU
  missing record --kernels: needs a GPU
  [1]
  $ state cuinit=100
  missing cupti: the CUDA driver does not start: error 100
    no CUDA device is visible: give the container its compute capability (NVIDIA_DRIVER_CAPABILITIES=compute,utility)
  missing pm sampling 0: needs CUPTI
  ok monitor: all levels but issue slots, from GPM
  warning record: levels at 10 Hz from GPM, no issue slots
  missing record --kernels: needs CUPTI: see above
  [1]
  $ state init=9
  missing driver: the NVIDIA driver does not answer: Driver Not Loaded
    load the nvidia kernel module
  missing monitor: needs the driver
  missing record: needs the driver
  missing record --kernels: needs the driver
  [1]
  $ GPUFATHOM_LIBRARY_PATH=/nowhere state ''
  missing driver: no NVIDIA driver on this machine: libnvidia-ml.so.1 cannot be loaded
    install the driver, or give a container access to the GPU
  missing monitor: needs the driver
  missing record: needs the driver
  missing record --kernels: needs the driver
  [1]

Another profiler's library in the way of kernels.

  $ CUDA_INJECTION64_PATH=/opt/other.so state '' | tail -1
  warning record --kernels: is disabled while CUDA_INJECTION64_PATH names another profiler's library, /opt/other.so

Which tool to take for which question, and what to read, on a machine as it is.

  $ tools() { GPUFATHOM_FAKE=$1 PATH=$(dirname $(command -v gpufathom)):$PWD/bin gpufathom doctor --format json | /usr/bin/jq -r '.tools[] | "\(.status) \(.name): \(.detail)"'; }
  $ tools gpus=1
  ok is the GPU used: gpufathom monitor: GPU busy and SM active
  ok utilization by level: gpufathom record -- PROGRAM: issue slots, tensor and DRAM active, by the millisecond
  ok kernels, idle causes: gpufathom record --kernels -- PROGRAM, then analyze: the idle causes, not the share
  ok source lines: torch.profiler for a few steps, then gpufathom analyze of its trace
  warning inside one kernel: gpufathom record --kernels --rate 5000, then analyze: rates solved from samples
  ok energy by component: gpufathom record --metrics energy -- PROGRAM, then energy
  $ tools permission=0,gpm=0
  warning is the GPU used: gpufathom monitor: power against its limit
  missing utilization by level: levels are not available: power is the closest indicator
  ok kernels, idle causes: gpufathom record --kernels -- PROGRAM, then analyze: the idle causes, not the share
  ok source lines: torch.profiler for a few steps, then gpufathom analyze of its trace
  missing inside one kernel: ncu is not on the PATH
  warning energy by component: gpufathom record -- PROGRAM: joules of the whole GPU, not by component
  $ tools mig=1,permission=0
  ok is the GPU used: gpufathom monitor: GPU busy and SM active
  warning utilization by level: gpufathom record, or monitor: SM, tensor and DRAM active of each MIG instance
  ok kernels, idle causes: gpufathom record --kernels -- PROGRAM, then analyze: the idle causes, not the share
  ok source lines: torch.profiler for a few steps, then gpufathom analyze of its trace
  missing inside one kernel: ncu is not on the PATH
  warning energy by component: gpufathom record -- PROGRAM: joules of the whole GPU, not by component
  $ mkdir bin && printf '#!/bin/sh\n' > bin/ncu && printf '#!/bin/sh\n' > bin/nvidia-smi && chmod +x bin/*
  $ tools permission=0,gpm=0 | head -1
  warning is the GPU used: nvidia-smi, or gpufathom monitor: power against its limit
  $ tools gpus=1 | grep inside
  ok inside one kernel: ncu for a few launches (each is replayed: 0.4 s), then analyze --counters
  $ GPUFATHOM_FAKE=permission=0 gpufathom doctor | sed -n '/^What to take/,$p'
  What to take here, and what to read (docs/which-tool.md)
  ok is the GPU used         gpufathom monitor: GPU busy and SM active
  ?  utilization by level    gpufathom record -- PROGRAM: SM, tensor and DRAM
                             active at 10 Hz; no issue slots
                             -> hardware counters provide the rest: see pm
                             sampling above
  ok kernels, idle causes    gpufathom record --kernels -- PROGRAM, then analyze:
                             the idle causes, not the share
  ok source lines            torch.profiler for a few steps, then gpufathom
                             analyze of its trace
  no inside one kernel       ncu is not on the PATH
                             -> install Nsight Compute
  ?  energy by component     gpufathom record -- PROGRAM: joules of the whole GPU,
                             not by component
                             -> hardware counters separate components: see pm
                             sampling above

Several GPUs of which the same is to be said share a line; another one has its own:

  $ GPUFATHOM_FAKE=gpus=8 gpufathom doctor | grep -cE '^(ok|no|[?]) +(gpu|clocks|sensors|gpm|pm sampling) '
  5
  $ GPUFATHOM_FAKE=gpus=8 gpufathom doctor --json | jq -r '.checks[].name' | grep -c '^clocks'
  8
