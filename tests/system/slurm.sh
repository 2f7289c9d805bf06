#!/usr/bin/env bash
# Whose work it is, as a real Slurm says it: munged, slurmctld and slurmd on loopback, a step of two tasks that are each recorded over
# the fake driver, and the monitor that shows a task on a GPU with its job. Usage: slurm.sh BUILD_DIR. Exit 77: not installed, or no root.
set -uo pipefail
build=$(cd "$1" && pwd)
export PATH="$PATH:/usr/sbin" GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
for tool in munged slurmctld slurmd sbatch srun; do command -v $tool > /dev/null || { echo "$tool is not installed"; exit 77; }; done
[ "$(id -u)" = 0 ] || { echo "slurmd wants to be root"; exit 77; }
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

# A cluster of this machine, with nothing of it outside the folder.
mkdir -m 755 "$work/munge" "$work/state" "$work/spool" "$work/log"
cd "$work"
head -c 1024 /dev/urandom > munge/key; chmod 400 munge/key
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" --log-file="$work/log/munged" --seed-file="$work/munge/seed" > log/munged.out 2>&1 & pids+=($!)
ports=($(python3 -c 'import socket
held = [socket.socket() for _ in range(2)]
for one in held: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in held))'))
host=$(hostname -s)
cat > slurm.conf <<CONF
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/log/slurmctld
SlurmdLogFile=$work/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=5 State=UP OverSubscribe=FORCE
CONF
export SLURM_CONF=$work/slurm.conf
for _ in $(seq 50); do [ -S munge/socket ] && break; sleep 0.1; done
slurmctld -D -f slurm.conf > log/slurmctld.out 2>&1 & pids+=($!)
slurmd -D -f slurm.conf -N "$host" > log/slurmd.out 2>&1 & pids+=($!)
for _ in $(seq 200); do sinfo -h -o %t 2>/dev/null | grep -q idle && break; sleep 0.1; done
sinfo -h -o %t 2>/dev/null | grep -q idle || { echo "Slurm does not start here:"; tail -n 5 log/*; exit 77; }

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
