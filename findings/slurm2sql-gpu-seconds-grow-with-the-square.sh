#!/usr/bin/env bash
# Guess: gpu_s_used over gpu_s_reserved in slurm2sql's view "eff" is the utilization of a job's GPUs, as cpu_s_used over
# cpu_s_reserved is that of its CPUs, and equals GpuEff beside it.
# So it is: the utilization that Slurm sums over the GPUs (720 for eight at 90 %) is multiplied by the number of GPUs once
# more: a job of one hour on 8 GPUs reserves 8 GPU hours and uses 57.6. And the highest step stands for the whole job: 6
# minutes at 100 % and 54 at 10 % on one GPU are a full hour, not 0.19. GpuEff is right, though the README calls it
# "Highest GpuEff for any job step".
# Why: sums of used over reserved GPU seconds, the figure of a cluster's report, are above 1 and led by the largest jobs.
# Versions: slurm2sql 0.9.9. The input is a file of sacct's columns, as --csv-input reads it.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q slurm2sql==0.9.9
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import csv, importlib.metadata, sqlite3, slurm2sql
print("slurm2sql", importlib.metadata.version("slurm2sql"))
# Job, GPUs, and the steps in a row: minutes, and for each GPU the percentage of them in which it ran a kernel.
JOBS = (1, 1, [(60, 90)]), (2, 4, [(60, 90)]), (3, 8, [(60, 90)]), (4, 1, [(6, 100), (54, 10)])
CPUS = 8


def clock(minutes):
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


rows = []
for job, gpus, steps in JOBS:
    tres = f"cpu={CPUS * gpus},gres/gpu={gpus},mem={64 * gpus}G,node=1"
    allocation = dict(User="ml", Partition="gpu", State="COMPLETED", NNodes=1, NCPUS=CPUS * gpus, AllocTRES=tres, ReqTRES=tres, Submit="2026-11-02T08:00:00")
    total = sum(minutes for minutes, _ in steps)
    rows.append(allocation | dict(JobID=job, JobIDRaw=job, JobName="train", Start="2026-11-02T08:00:00", End=f"2026-11-02T{clock(480 + total)}",
                                  Elapsed=clock(total), CPUTime=clock(total * CPUS * gpus)))
    begin = 480
    for index, (minutes, percent) in enumerate(steps):
        rows.append(allocation | dict(JobID=f"{job}.{index}", JobIDRaw=f"{job}.{index}", JobName="python", Start=f"2026-11-02T{clock(begin)}",
                                      End=f"2026-11-02T{clock(begin + minutes)}", Elapsed=clock(minutes), CPUTime=clock(minutes * CPUS * gpus),
                                      TRESUsageInTot=f"cpu={clock(minutes * CPUS * gpus * percent // 100)},gres/gpumem={20 * gpus}G,gres/gpuutil={percent * gpus},mem={32 * gpus}G"))
        begin += minutes
with open("jobs.csv", "w", newline="") as out:
    writer = csv.DictWriter(out, sorted({name for row in rows for name in row}))
    writer.writeheader()
    writer.writerows(rows)
assert slurm2sql.main(["jobs.db", "--csv-input", "jobs.csv"]) == 0
db = sqlite3.connect("jobs.db")
QUERY = "gpu_s_used / 3600, gpu_s_reserved / 3600, cpu_s_used / cpu_s_reserved, GpuEff FROM eff ORDER BY JobID"
for (job, gpus, steps), (used, reserved, cpu, eff) in zip(JOBS, db.execute("SELECT " + QUERY)):
    true = sum(minutes * percent * gpus / 6000 for minutes, percent in steps)
    print(f"{gpus} GPUs, {' then '.join(f'{minutes} min at {percent} %' for minutes, percent in steps)}: used {used:.2f} of {reserved:.0f} GPU hours",
          f"(true {true:.2f}), GpuEff {eff:.2f}, CPUs {cpu:.2f}")
print("all jobs: used over reserved", round(db.execute("SELECT sum(gpu_s_used) / sum(gpu_s_reserved) FROM eff").fetchone()[0], 2),
      "true", round(db.execute("SELECT sum(GpuEff * gpu_s_reserved) / sum(gpu_s_reserved) FROM eff").fetchone()[0], 2))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
slurm2sql 0.9.9
1 GPUs, 60 min at 90 %: used 0.90 of 1 GPU hours (true 0.90), GpuEff 0.90, CPUs 0.90
4 GPUs, 60 min at 90 %: used 14.40 of 4 GPU hours (true 3.60), GpuEff 0.90, CPUs 0.90
8 GPUs, 60 min at 90 %: used 57.60 of 8 GPU hours (true 7.20), GpuEff 0.90, CPUs 0.90
1 GPUs, 6 min at 100 % then 54 min at 10 %: used 1.00 of 1 GPU hours (true 0.19), GpuEff 0.19, CPUs 0.19
all jobs: used over reserved 5.28 true 0.85
END
