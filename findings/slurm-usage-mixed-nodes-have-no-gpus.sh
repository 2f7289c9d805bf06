#!/usr/bin/env bash
# Guess: slurm_usage counts the GPUs of each node and the GPU hours of each job, of whatever type, and its CPU efficiency is that
# of the job.
# So it is: a node with two entries of GRES, as a MIG card beside whole ones or shards, has no GPUs, and so has one whose
# sockets are listed with a comma: 8 of 28 are left, and nodes without GPUs have no utilization. A job whose TRES are tracked
# by type only ("gres/gpu:h100=8") has 0 GPU hours. The CPU time and memory are those of the batch script where there is one:
# a job that starts its work by srun and keeps 64 cores busy for 10 hours has an efficiency of 0.0 % and wasted 640 hours.
# Why: the report of a cluster names its best jobs as the worst, and the dearest nodes are not in it.
# Versions: slurm-usage 3.1.0, polars 1.38.1. sinfo and sacct are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q slurm-usage==3.1.0 polars==1.38.1
mkdir "$tmp/bin"
cat >"$tmp/bin/sinfo" <<'SH'
#!/bin/sh
case "$*" in
*%c*) for node in a b c d; do echo "$node,64"; done ;;
*) printf '%s\n' 'a,gpu:h100:8(S:0-1)' 'b,gpu:a100:3(S:0-1),gpu:a100_3g.40gb:2(S:1)' 'c,gpu:l40s:8(S:0-1),shard:l40s:32' 'd,gpu:h100:7(S:0,2)' ;;
esac
SH
printf '#!%s\n' "$tmp/venv/bin/python" >"$tmp/bin/sacct"
cat >>"$tmp/bin/sacct" <<'PY'
import datetime, sys
if "--version" in sys.argv:
    sys.exit(print("slurm 25.05.4"))
fields = next(word for word in sys.argv if word.startswith("--format="))[9:].split(",")
today = datetime.datetime.now(datetime.timezone.utc).date()


def row(job, cpu, memory, gpus, **more):
    values = dict(JobID=job, JobIDRaw=job, JobName="train", User="ann", State="COMPLETED", Submit=f"{today}T00:00:00", Start=f"{today}T00:00:00", End=f"{today}T10:00:00",
                  Elapsed="10:00:00", ElapsedRaw="36000", AllocCPUS="64", TotalCPU=cpu, ReqMem="512G", MaxRSS=memory, NodeList="a", NNodes="1",
                  AllocTRES=f"billing=64,cpu=64,{gpus},mem=512G,node=1") | more
    print("|".join(values.get(field, "") for field in fields))


for job, gpus, work in ("1", "gres/gpu:h100=8,gres/gpu=8", "batch"), ("2", "gres/gpu:h100=8", "batch"), ("3", "gres/gpu:h100=8,gres/gpu=8", "0"):
    row(job, "26-16:00:00", "", gpus)
    for step in ("batch", "0") if work == "0" else ("batch",):
        row(f"{job}.{step}", "26-16:00:00" if step == work else "00:01.000", "400G" if step == work else "5M", gpus)
PY
chmod +x "$tmp/bin/"*
cd "$tmp"
export HOME="$tmp" PATH="$tmp/bin:$PATH" COLUMNS=120 NO_COLOR=1 TERM=dumb
{
    "$tmp/venv/bin/python" -c 'import importlib.metadata; print("slurm-usage", importlib.metadata.version("slurm-usage"))'
    "$tmp/venv/bin/slurm-usage" nodes | grep -E '│ [a-d] |Total GPUs' | tr -s ' '
    "$tmp/venv/bin/slurm-usage" collect --days 0 --data-dir data --no-summary >/dev/null
    "$tmp/venv/bin/python" - <<'PY'
import pathlib, polars
for job in polars.read_parquet(next(pathlib.Path("data/processed").glob("*.parquet"))).sort("job_id").iter_rows(named=True):
    print({name: round(job[name], 2) if isinstance(job[name], float) else job[name] for name in
           ("job_id", "alloc_gpus", "gpu_hours_reserved", "cpu_efficiency", "memory_efficiency", "cpu_hours_wasted")})
PY
} >seen 2>err || { cat seen err; exit 1; }
cat seen
diff seen - <<'END'
slurm-usage 3.1.0
│ a │ 64 │ 8 │
│ b │ 64 │ - │
│ c │ 64 │ - │
│ d │ 64 │ - │
 Total GPUs 8 
{'job_id': '1', 'alloc_gpus': 8, 'gpu_hours_reserved': 80.0, 'cpu_efficiency': 100.0, 'memory_efficiency': 78.12, 'cpu_hours_wasted': 0.0}
{'job_id': '2', 'alloc_gpus': 0, 'gpu_hours_reserved': 0.0, 'cpu_efficiency': 100.0, 'memory_efficiency': 78.12, 'cpu_hours_wasted': 0.0}
{'job_id': '3', 'alloc_gpus': 8, 'gpu_hours_reserved': 80.0, 'cpu_efficiency': 0.0, 'memory_efficiency': 0.0, 'cpu_hours_wasted': 640.0}
END
