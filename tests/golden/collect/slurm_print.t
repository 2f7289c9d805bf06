The summary goes to the end of a job's output, which is opened once, as the job's user, and through no link.

  $ mkdir bin jobs; printf 'title\nGPU busy 75 %%\n' > jobs/7.$(uname -n).txt
  $ printf '#!/bin/sh\necho "   StdOut=$OUT"; echo "   BatchHost=node"\n' > bin/scontrol
  $ printf '#!/bin/sh\nwhile [ "$1" != dd ]; do shift; done; exec "$@"\n' > bin/setpriv
  $ chmod +x bin/*
  $ print() { OUT=$PWD/$1 PATH=$PWD/bin:$PATH GPUFATHOM_JOBS=$PWD/jobs SLURM_JOB_ID=7 SLURM_JOB_USER=me SLURM_JOB_UID=1 SLURMD_NODENAME=node sh "$ROOT/share/slurm/gpufathom_epilog_print.sh"; }
  $ echo working > job.out; print job.out; sed 's/ on .*, by/ on NODE, by/' job.out
  working
  
  GPUs of job 7 on NODE, by gpufathom:
  GPU busy 75 %
  $ echo another > other; ln -s other link.out; print link.out; cat other
  another
  $ mkfifo pipe.out; print pipe.out
  $ print none.out; ls none.out 2> /dev/null
  [2]
