#!/usr/bin/env bash
# Whose work it is, as a real Slurm says it: munged, slurmctld and slurmd on loopback, a step of two tasks that are each recorded over
# the fake driver, and the monitor that shows a task on a GPU with its job. Usage: slurm.sh BUILD_DIR. Exit 77: not installed, or no root.
set -uo pipefail
build=$(cd "$1" && pwd)
source "$(dirname "$0")/slurm_cluster.bash"
slurm_is_here || exit 77
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
gf=$build/gpufathom program=$build/fakes/program
work=$(mktemp -d); chmod 755 "$work"
pids=()
finish() { kill "${pids[@]}" 2>/dev/null; wait "${pids[@]}" 2>/dev/null; rm -rf "$work"; }
trap finish EXIT
failures=0
check() {  # check NAME CONDITION...
  local name=$1; shift
  if "$@"; then echo "ok    $name"; else echo "FAILED $name: $*"; failures=$((failures + 1)); fi
}
is() { check "$1" [ "$2" = "$3" ]; }
said() { "$gf" query "$1" "select value from metadata where key = '$2'" --format csv 2>/dev/null | tail -n +2; }

start_slurm "$work" || exit 77

cat > job.sh <<JOB
#!/usr/bin/env bash
"$gf" record -q -o batch.gpf -- true
srun --overlap -n 2 bash -c '"$gf" record -q --kernels --window 0 -o rank-\$SLURM_PROCID.gpf -- "$program" init launch=work*50'
srun --overlap -n 1 sleep 61.5
JOB
job=$(sbatch --parsable --job-name=training -n 2 -D "$work" -o "$work/job.out" job.sh)
for _ in $(seq 900); do [ -e rank-1.gpf ] && pgrep -f '^[^ ]*sleep 61.5$' > task && break; sleep 0.1; done
sleep 1
for rank in 0 1; do
  is "rank $rank: its place" "$(said rank-$rank.gpf job.rank) of $(said rank-$rank.gpf job.world_size), $(said rank-$rank.gpf job.local_rank)" "$rank of 2, $rank"
  is "rank $rank: its job" "$(said rank-$rank.gpf job.scheduler) $(said rank-$rank.gpf job.id).$(said rank-$rank.gpf job.step) $(said rank-$rank.gpf job.name)" "slurm $job.0 training"
  is "rank $rank: its kernels" "$("$gf" query rank-$rank.gpf "select count(*) from activities" --format csv 2>/dev/null | tail -n 1)" 50
done
is "its user and host" "$(said rank-0.gpf job.user) $(said rank-0.gpf job.host)" "root $(hostname)"
is "a batch script has a job and is no rank" "$(said batch.gpf job.id) $(said batch.gpf job.rank)" "$job "
GPUFATHOM_FAKE=pid=$(head -n 1 task) "$gf" monitor --once --format openmetrics > page
check "the monitor says whose process it is" grep -q "process=\"sleep\",job_id=\"$job\",job_local_rank=\"0\",job_name=\"training\",job_rank=\"0\",job_scheduler=\"slurm\",job_step=\"1\",job_user=\"root\",job_world_size=\"1\"" page
kill -9 $(cat task) 2>/dev/null
scancel "$job"
for _ in $(seq 100); do [ -z "$(squeue -h -j "$job" 2>/dev/null)" ] && break; sleep 0.1; done
sleep 0.5  # its last steps end
[ $failures = 0 ] && echo "all well" || { tail -n 5 job.out; echo "$failures failed"; exit 1; }
