#!/bin/sh
# Prolog of a node: begins to record the levels, power and memory of the GPUs of a job, from beside it. Never keeps a job from starting.
# GPUFATHOM (the program), GPUFATHOM_SPOOL and GPUFATHOM_RATE (readings a second) can be set in /etc/default/gpufathom-slurm.
[ ! -r /etc/default/gpufathom-slurm ] || . /etc/default/gpufathom-slurm
spool=${GPUFATHOM_SPOOL:-/var/spool/gpufathom}
devices=${SLURM_JOB_GPUS:-${GPU_DEVICE_ORDINAL:-}}
[ -n "$devices" ] && [ -n "$SLURM_JOB_ID" ] || exit 0
umask 077
mkdir -p "$spool" || exit 0
job=$spool/$SLURM_JOB_ID
# Slurm ends what is left of the prolog's process group: nothing is left there once the number is written.
setsid sh -c 'echo $$ > "$0.pid" && exec "$@"' "$job" "${GPUFATHOM:-gpufathom}" record --source gpm --rate "${GPUFATHOM_RATE:-2}" \
  --devices "$devices" --duration 31536000 -o "$job.gpf" --summary "$job.json" > "$job.txt" 2>&1 < /dev/null &
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  [ ! -s "$job.pid" ] || break
  sleep 0.1
done
exit 0
