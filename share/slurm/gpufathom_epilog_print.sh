#!/bin/sh
# Epilog of a node, after gpufathom_epilog.sh: adds the summary of the job's GPUs on this node to the end of the job's output.
[ ! -r /etc/default/gpufathom-slurm ] || . /etc/default/gpufathom-slurm
jobs=${GPUFATHOM_JOBS:-/var/lib/gpufathom/jobs}
summary=$jobs/$SLURM_JOB_ID.$(uname -n).txt
[ -s "$summary" ] || exit 0
described=$(scontrol show job "$SLURM_JOB_ID" 2>/dev/null)
out=$(echo "$described" | sed -n 's/^ *StdOut=//p')
[ "$(echo "$described" | sed -n 's/^ *BatchHost=//p')" = "${SLURMD_NODENAME:-$(uname -n)}" ] || exit 0
# As the job's user: what the path names is that user's business. One call opens it, and no link, waiting pipe or new file: a test of its own
# before would say what the path was, not what it is.
[ -n "$out" ] && [ -n "$SLURM_JOB_USER" ] || exit 0
{ echo; echo "GPUs of job $SLURM_JOB_ID on $(uname -n), by gpufathom:"; tail -n +2 "$summary"; } |
  setpriv --reuid "$SLURM_JOB_UID" --regid "${SLURM_JOB_GID:-$SLURM_JOB_UID}" --clear-groups dd of="$out" oflag=append,nofollow,nonblock conv=notrunc,nocreat status=none 2>/dev/null
exit 0
