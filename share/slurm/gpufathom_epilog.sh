#!/bin/sh
# Epilog of a node: stores the summary of a job that gpufathom_prolog.sh began to record, as GPUFATHOM_JOBS/JOB.HOST.json (schema
# gpufathom.record/1) and .txt. Name it before gpufathom_epilog_print.sh. Never drains a node: it always ends with 0.
[ ! -r /etc/default/gpufathom-slurm ] || . /etc/default/gpufathom-slurm
spool=${GPUFATHOM_SPOOL:-/var/spool/gpufathom} jobs=${GPUFATHOM_JOBS:-/var/lib/gpufathom/jobs}
job=$spool/$SLURM_JOB_ID
[ -n "$SLURM_JOB_ID" ] && [ -r "$job.pid" ] || exit 0
pid=$(cat "$job.pid")
# The number may have gone to another process since.
if grep -qz "^$job.gpf$" "/proc/$pid/cmdline" 2>/dev/null; then
  kill -TERM "$pid"
  for _ in $(seq 60); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.5
  done
fi
mkdir -p "$jobs" || exit 0
for kind in json txt; do
  [ ! -s "$job.$kind" ] || { cp "$job.$kind" "$jobs/.$SLURM_JOB_ID.$kind" && mv "$jobs/.$SLURM_JOB_ID.$kind" "$jobs/$SLURM_JOB_ID.$(uname -n).$kind"; }
done
rm -f "$job.gpf" "$job.json" "$job.txt" "$job.pid"
exit 0
