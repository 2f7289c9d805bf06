#!/usr/bin/env bash
# The prolog and the epilogs of share/slurm under a real Slurm on loopback, over the fake driver: a job's summary is stored and stands at the
# end of its output; a job without GPUs leaves nothing. Usage: slurm_epilog.sh BUILD_DIR. Exit 77: not installed, or no root.
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/system/slurm_cluster.bash"
slurm_is_here || exit 77
work=$(mktemp -d); chmod 755 "$work"
pids=()
finish() { kill "${pids[@]}" 2>/dev/null; wait "${pids[@]}" 2>/dev/null; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; head -n 20 "$work"/*.out "$work"/jobs/* "$work"/spool_gf/* 2>/dev/null; tail -n 5 "$work/log/slurmd"; exit 1; }
# Slurm runs them with hardly any environment. This cluster has no GPUs to give: the job says which are its own.
for name in prolog epilog epilog_print; do
  cat > "$work/$name" <<SCRIPT
#!/bin/sh
export GPUFATHOM=$build/gpufathom GPUFATHOM_SPOOL=$work/spool_gf GPUFATHOM_JOBS=$work/jobs GPUFATHOM_RATE=10
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=gpus=2 PATH=\$PATH:/usr/bin:/bin SLURM_CONF=$work/slurm.conf
[ "\$(scontrol show job "\$SLURM_JOB_ID" | sed -n 's/^ *JobName=//; s/.*JobName=//p')" = plain ] || export SLURM_JOB_GPUS=0,1
exec $root/share/slurm/gpufathom_$name.sh
SCRIPT
  chmod +x "$work/$name"
done
# Slurm runs what a pattern names in order, the last name first.
mkdir "$work/epilogs" && mv "$work/epilog" "$work/epilogs/2_store" && mv "$work/epilog_print" "$work/epilogs/1_print"
start_slurm "$work" "Prolog=$work/prolog" "Epilog=$work/epilogs/*" || exit 77
ended() { for _ in $(seq 150); do [ -z "$(squeue -h -j "$1" 2>/dev/null)" ] && return; sleep 0.2; done; return 1; }

plain=$(sbatch --parsable -J plain -D "$work" -o "$work/plain.out" --wrap 'echo working')
ended "$plain" || fail "the job without GPUs does not end"
# On a machine that is busy the recorder may begin after a short job has ended, or just before, without a sample of each GPU.
for seconds in 2 20; do
  job=$(sbatch --parsable -J training -D "$work" -o "$work/training.out" --wrap "echo working; sleep $seconds")
  ended "$job" || fail "the job does not end"
  for _ in $(seq 25); do grep -q "GPU active" training.out && break; sleep 0.2; done
  stored=$work/jobs/$job.$(uname -n).json
  [ "$(grep -o '"gpu.busy"' "$stored" 2>/dev/null | wc -l)" -ge 2 ] && break
  [ $seconds = 20 ] || rm -f "$work/jobs/$job".*
done
[ -s "$stored" ] || fail "no summary is stored"
python3 - "$stored" <<'PY' || fail "the summary"
import json, sys
summary = json.load(open(sys.argv[1]))
assert summary["schema"] == "gpufathom.record/1", summary
assert [device["index"] for device in summary["devices"]] == [0, 1], summary
for device in summary["devices"]:
    assert abs(device["shares"]["gpu.busy"] - 0.75) < 0.01 and device["energy_joules"] > 0, device
PY
head -n 1 training.out | grep -qx working || fail "the job's own output"
grep -q "GPUs of job $job on $(uname -n), by gpufathom:" training.out && grep -q "GPU active *75.0 %" training.out || fail "the summary is not at the end of the output"
[ "$(cat plain.out)" = working ] && [ "$(ls jobs | wc -l)" = 2 ] || fail "a job without GPUs leaves something"
[ -z "$(ls spool_gf)" ] || fail "the spool keeps $(ls spool_gf)"
sinfo -h -o %t | grep -q idle || fail "the node is $(sinfo -h -o %t)"
echo "ok: stored and printed"
