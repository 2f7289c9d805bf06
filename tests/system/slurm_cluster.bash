# A Slurm cluster of this machine on loopback, with nothing of it outside a folder.
#
#   slurm_is_here || exit 77        says what is missing
#   start_slurm FOLDER [LINE…]      exports SLURM_CONF; LINEs go into slurm.conf; adds its processes to the array pids
#
# As a program it runs a command beside such a cluster: slurm_cluster.bash COMMAND [ARGUMENT …]
slurm_is_here() {
  export PATH="$PATH:/usr/sbin"
  local tool
  for tool in munged slurmctld slurmd sbatch srun; do command -v $tool > /dev/null || { echo "$tool is not installed"; return 1; }; done
  [ "$(id -u)" = 0 ] || { echo "slurmd wants to be root"; return 1; }
}

start_slurm() {
  local work=$1 ports host; shift
  mkdir -m 755 "$work/munge" "$work/state" "$work/spool" "$work/log"
  cd "$work" || return 1
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
  [ $# = 0 ] || printf '%s\n' "$@" >> slurm.conf
  export SLURM_CONF=$work/slurm.conf
  for _ in $(seq 50); do [ -S munge/socket ] && break; sleep 0.1; done
  slurmctld -D -f slurm.conf > log/slurmctld.out 2>&1 & pids+=($!)
  slurmd -D -f slurm.conf -N "$host" > log/slurmd.out 2>&1 & pids+=($!)
  for _ in $(seq 200); do sinfo -h -o %t 2>/dev/null | grep -q idle && break; sleep 0.1; done
  sinfo -h -o %t 2>/dev/null | grep -q idle || { echo "Slurm does not start here:"; tail -n 5 log/*; return 1; }
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  slurm_is_here || exit 77
  here=$PWD work=$(mktemp -d) pids=()
  chmod 755 "$work"
  trap 'kill "${pids[@]}" 2>/dev/null; wait "${pids[@]}" 2>/dev/null; rm -rf "$work"' EXIT
  start_slurm "$work" || exit 77
  cd "$here" && "$@"
fi
