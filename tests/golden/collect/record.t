Recording over fake driver libraries, whose levels are known; numbers of time, power and cost differ from run to run.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE=
  $ steady() { sed -E 's/[0-9][0-9. ]*(ms|us|s) (recorded|from)/T \2/; s/, [0-9 ]+ samples/, N samples/; s/^  power.*/  power ... energy .../; s/^program: .*/program: .../; s/^recorder: .*/recorder: .../; /activity repeats/d; /^(on )?disk$/d; s/( [0-9]+)\.[0-9] %/\1 %/'; }
  $ gpufathom record -- sh -c 'echo out; sleep 0.5; exit 3' 2>summary
  out
  [3]
  $ steady < summary | grep -v '    '
  run.gpf: T recorded; the program ended with 3
  GPU 0  NVIDIA H200  levels: PM sampling, N samples
    while it had work, T from first to last:
    power ... energy ...
    memory 12.88 GB at most; SM clock 1965 MHz mean; 40 C at most
    clocks were throttled at times by sw_power_cap
  program: ...
  recorder: ...
  next: gpufathom analyze run.gpf (-o report.html for the page)
  $ sed 's/[█░]//g' summary | awk 'length($0) > 80'

Without counters, without GPM, with instances: what is recorded instead is said once for all GPUs.

  $ GPUFATHOM_FAKE=gpus=3,permission=0 gpufathom record --duration 0.3 2>&1 | grep ^gpufathom
  gpufathom: GPUs 0, 1, 2: no hardware counters: counters cannot be listed: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35) (run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d))
  gpufathom: GPUs 0, 1, 2: recording NVML GPM levels at 10 Hz instead
  $ GPUFATHOM_FAKE=gpus=3,permission=0,gpm=0 gpufathom record --duration 0.3 --devices 0,2 2>&1 | tail -n +1 | grep ^gpufathom
  gpufathom: GPUs 0, 2: no hardware counters: counters cannot be listed: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35) (run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d))
  gpufathom: GPUs 0, 2: recording power, clocks and memory only
  $ GPUFATHOM_FAKE=mig=1,permission=0 gpufathom record --duration 0.3 2>&1 | grep ^gpufathom | tail -1
  gpufathom: GPU 0: recording power, clocks and memory, and NVML GPM levels of its MIG instances at 10 Hz
  $ GPUFATHOM_FAKE=mig=1,permission=0 gpufathom record -q --duration 0.8 -o mig.gpf
  $ gpufathom query --format csv mig.gpf "select d.id, d.name, count(distinct s.metric) > 1 as readings, sum(s.metric = 'sm.active_any') > 2 as levels, sum(s.metric = 'power.module') > 0 as power, sum(s.metric = 'memory.used') > 0 as memory from devices d join counter_samples s on s.device = d.id group by 1, 2 order by 1"
  id,name,readings,levels,power,memory
  0,NVIDIA H200,1,0,1,1
  1,"GPU 0, MIG instance 1/0, NVIDIA H200 MIG 3g.71gb",1,1,0,1
  2,"GPU 0, MIG instance 2/0, NVIDIA H200 MIG 3g.71gb",1,1,0,1
  $ rm mig.gpf
  $ GPUFATHOM_FAKE=lost_after=0 gpufathom record --duration 0.3 2>&1 | grep '^  '
    no sample arrived

A command's GPUs are those that its environment lets it see, as CUDA reads that; `--devices all` takes all, and the machine without a command has all.

  $ seen() { GPUFATHOM_FAKE=gpus=4,permission=0 CUDA_VISIBLE_DEVICES="$1" gpufathom record -q -o seen.gpf --source nvml $2 -- true; gpufathom query seen.gpf "select group_concat($3) from devices" --format csv | tail -1; rm seen.gpf; }
  $ seen 2 '' id; seen 3,1 '' id; seen 1,9,2 '' id; seen 2 '--devices all' id; seen '' '' id
  2
  "1,3"
  1
  "0,1,2,3"
  "0,1,2,3"
  $ uuid=$(seen 1 '' uuid); seen "$uuid" '' id; seen "2,${uuid%?}" '' id
  1
  2

What is no capture is never written over, and what cannot run costs no older capture.

  $ echo precious > precious && mkdir folder
  $ gpufathom record -o precious -- touch ran
  gpufathom: precious: exists and is not a capture: it is not overwritten (give another name, or remove it)
  [1]
  $ gpufathom record -o folder -- touch ran
  gpufathom: folder: cannot be written: Is a directory (does the directory exist, and may you write there?)
  [1]
  $ gpufathom record -o /dev/null -- touch ran
  gpufathom: /dev/null: is not a regular file (-o requires a file name)
  [1]
  $ gpufathom record -o no/such/run.gpf -- touch ran
  gpufathom: no/such/run.gpf: cannot be written: No such file or directory (does the directory exist, and may you write there?)
  [1]
  $ gpufathom record -- ./no-such-program
  gpufathom: ./no-such-program: the command is not found
  [127]
  $ gpufathom record -- ./folder
  gpufathom: ./folder: the command cannot be run: Permission denied
  [126]
  $ gpufathom import run.gpf -o precious
  gpufathom: precious: exists and is not a capture: it is not overwritten (give another name, or remove it)
  [1]
  $ cat precious; ls
  precious
  folder
  precious
  run-2.gpf
  run-3.gpf
  run-4.gpf
  run-5.gpf
  run.gpf
  summary

Wrong usage.

  $ gpufathom record
  gpufathom: record needs a command to run, --pid of a running process, or --duration to record the machine: gpufathom record -- python train.py
  [2]
  $ gpufathom record --rate 0 --duration 1
  gpufathom: --rate: '0' is not a number from 1 to 100000 (see gpufathom record --help)
  [2]
  $ gpufathom record --window 3 --duration 1
  gpufathom: --window requires --kernels (see gpufathom record --help)
  [2]

A capture keeps of a command the program and its script; with --keep-command all of it but secrets.

  $ gpufathom record -q -o short.gpf -- sh -c true --password hunter2
  $ SLURM_JOB_ID=7 SLURM_JOB_NAME='train --token hunter2' gpufathom record -q --keep-command -o whole.gpf -- sh -c true --password hunter2 --lr 1
  $ for run in short whole; do gpufathom query --format csv $run.gpf "select value from metadata where key in ('record.command', 'job.name') order by key" | tail -n +2; done
  sh
  train --token ***
  sh -c true --password *** --lr 1
  $ cat short.gpf whole.gpf | grep -c hunter2
  0
  [1]

The last line says what to do next, in a form that a shell takes.

  $ gpufathom record -q --duration 0.2 -o 'my run.gpf'; gpufathom record --duration 0.2 -o 'my run.gpf' 2>&1 | grep '^next'
  next: gpufathom analyze 'my run.gpf' (-o report.html for the page)
