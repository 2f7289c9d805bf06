#!/usr/bin/env bash
# Guess: the energy that reportseff shows for a Slurm job is the job's, as ConsumedEnergyRaw is, and its GPU efficiency is
# the mean over the job's GPUs.
# So it is: it is the largest of the steps' TRESUsageOutAve, which Slurm divides by the number of tasks. A batch job on 4
# nodes has the energy of one (its batch step), one started by srun with a task for each of 32 GPUs a 32nd. GPUEff is a
# mean of the nodes' means: 8 GPUs at 95 % on one node and one at 5 % on another are 50 %, not 85; CPUEff likewise.
# Why: larger jobs look frugal, and a job with a small part on a second node half idle.
# Versions: reportseff 2.10.3. sacct and scontrol are stood in for; the comment of the job is as jobstats writes it (JS1).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q reportseff==2.10.3 click==8.1.8
mkdir "$tmp/bin"
cat >"$tmp/bin/sacct" <<PY
#!$tmp/venv/bin/python
PY
cat >>"$tmp/bin/sacct" <<'PY'
import base64, gzip, json, sys
HOUR, NODE_MEGAJOULES = 3600, 18
FIELDS = "JobID JobIDRaw State AdminComment Elapsed AllocCPUS TotalCPU ReqMem NNodes NTasks MaxRSS ConsumedEnergyRaw TRESUsageOutAve".split()
if "--helpformat" in sys.argv:
    sys.exit(print(*FIELDS))
columns = next(word for word in sys.argv if word.startswith("--format="))[9:].split(",")


def job(number, steps, nodes, tasks, gpus, busy):
    def row(name, **fields):
        row = dict(JobID=name, JobIDRaw=name, State="COMPLETED", Elapsed="01:00:00", AllocCPUS=8 * sum(gpus), NNodes=nodes, ReqMem="64G") | fields
        print("^|^".join(str(row.get(column, "")) for column in columns), end="^|^\n")

    def energy(name, nodes, tasks):
        joules = nodes * NODE_MEGAJOULES * 10**6
        row(name, NTasks=tasks, TotalCPU="00:00.000", MaxRSS="1G", ConsumedEnergyRaw=joules, TRESUsageOutAve=f"energy={joules // tasks},fs/disk=0")

    def node(count, percent):
        cards = [str(index) for index in range(count)]
        return dict(total_memory=64 << 30, used_memory=32 << 30, cpus=8 * count, total_time=8 * count * HOUR * percent / 100,
                    gpu_total_memory=dict.fromkeys(cards, 80 << 30), gpu_used_memory=dict.fromkeys(cards, 40 << 30),
                    gpu_utilization=dict.fromkeys(cards, percent))
    stats = dict(nodes={f"node{index}": node(*of) for index, of in enumerate(zip(gpus, busy))}, total_time=HOUR, gpus=sum(gpus))
    comment = "JS1:" + base64.b64encode(gzip.compress(json.dumps(stats).encode())).decode()
    row(number, TotalCPU="00:00.000", ConsumedEnergyRaw=nodes * NODE_MEGAJOULES * 10**6, AdminComment=comment)
    if "batch" in steps:
        energy(f"{number}.batch", 1, 1)
    energy(f"{number}.0", nodes, tasks)


job("1", ["batch", "0"], 1, 8, [8], [95])
job("2", ["batch", "0"], 4, 4, [8] * 4, [95] * 4)
job("3", ["0"], 4, 32, [8] * 4, [95] * 4)
job("4", ["batch", "0"], 2, 9, [8, 1], [95, 5])
PY
printf '#!/bin/sh\necho "PartitionName=gpu"\necho "   MaxNodes=UNLIMITED MaxTime=1-00:00:00"\n' >"$tmp/bin/scontrol"
chmod +x "$tmp/bin/"*
cd "$tmp"
{
    "$tmp/venv/bin/reportseff" --version
    PATH="$tmp/bin:$PATH" "$tmp/venv/bin/reportseff" --no-color --parsable --format JobID,NNodes,Energy,ConsumedEnergyRaw,GPUEff,CPUEff 1 2 3 4
    PATH="$tmp/bin:$PATH" "$tmp/venv/bin/reportseff" --no-color --parsable --node-and-gpu --format JobID,GPUEff 4
} >"$tmp/seen" 2>"$tmp/err" || { cat "$tmp/seen" "$tmp/err"; exit 1; }
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
reportseff, version 2.10.3
JobID|NNodes|Energy|ConsumedEnergyRaw|GPUEff|CPUEff
1|1|18000000|18000000|95.0|95.0
2|4|18000000|72000000|95.0|95.0
3|4|2250000|72000000|95.0|95.0
4|2|18000000|36000000|50.0|50.0
JobID|GPUEff
4|50.0
  node0|95.0
    0|95.0
    1|95.0
    2|95.0
    3|95.0
    4|95.0
    5|95.0
    6|95.0
    7|95.0
  node1|5.0
    0|5.0
END
