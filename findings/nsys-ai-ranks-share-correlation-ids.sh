#!/usr/bin/env bash
# Guess: in a report of Nsight Systems with two processes (nsys profile torchrun ...) nsys-ai gives each NVTX range the
# kernels that its process launched, as NVIDIA joins launches and kernels by correlation id and process.
# So it is: it joins by the correlation id alone, and each process counts from 1. Of two ranks with 10 kernels of 2 ms
# in "forward" and 10 of 1 ms in "backward", in opposite order, both ranges have 40 kernels and 60 ms (true: 20, and 40
# and 20 ms); the mean delay of a launch is 2504 us for 4, with 19 starvations of the GPU where none is. And its
# utilization is a sum over streams: NCCL under compute makes 165 %, on a stream that is "Compute" by its number.
# Why: a breakdown by layer of a job with two GPUs names the wrong layer, and the CPU seems to starve the GPU.
# Versions: nsys-ai 0.3.0, duckdb 2.0.1. The report is written here with the tables of nsys' export to sqlite.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q nsys-ai==0.3.0 duckdb==2.0.1
cd "$tmp"
HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, sqlite3, subprocess, sys
from nsys_ai.skills.registry import get_skill
print("nsys-ai", importlib.metadata.version("nsys-ai"))
MS, FORWARD, BACKWARD = 10**6, ("forward", 2), ("backward", 1)
STRINGS = {name: index for index, name in enumerate(("gemm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "cudaLaunchKernel_v7000"), 1)}
TABLES = {
    "StringIds": "id INTEGER PRIMARY KEY, value TEXT", "META_DATA_EXPORT": "name TEXT, value TEXT", "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "TARGET_INFO_GPU": "vmId INTEGER, id INTEGER, name TEXT, busLocation TEXT, totalMemory INTEGER, memoryBandwidth INTEGER, smCount INTEGER, chipName TEXT, cuDevice INTEGER",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
                                  " demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,"
                                  " blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, graphNodeId INTEGER",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER",
    "NVTX_EVENTS": "start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER"}


def report(path, ranks, first_id):
    db = sqlite3.connect(path)
    for name, columns in TABLES.items():
        db.execute(f"CREATE TABLE {name} ({columns})")

    def add(table, **row):
        db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    for value, index in STRINGS.items():
        add("StringIds", id=index, value=value)
    add("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.24.0")
    for rank, phases in enumerate(ranks):
        process = 1000 + rank << 24
        thread = process | 1000 + rank
        add("PROCESSES", globalPid=process, pid=1000 + rank, name="python")
        add("TARGET_INFO_GPU", vmId=0, id=rank, name="NVIDIA H100 80GB HBM3", busLocation=f"0000:{rank + 1:02d}:00.0", totalMemory=85 * 10**9,
            memoryBandwidth=3350 * 10**9, smCount=132, chipName="GH100", cuDevice=rank)

        def kernel(name, stream, start, length, correlation):
            add("CUPTI_ACTIVITY_KIND_RUNTIME", start=start - 9000, end=start - 4000, eventClass=0, globalTid=thread, correlationId=correlation,
                nameId=STRINGS["cudaLaunchKernel_v7000"], returnValue=0)
            add("CUPTI_ACTIVITY_KIND_KERNEL", start=start, end=start + length, deviceId=rank, contextId=1, streamId=stream, correlationId=correlation,
                globalPid=process, demangledName=STRINGS[name], shortName=STRINGS[name], registersPerThread=32, gridX=1, gridY=1, gridZ=1, blockX=128,
                blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0)
        now, correlation = 0, first_id(rank)
        for text, length in phases:
            begin = now
            for _ in range(10):
                correlation += 1
                kernel("gemm", 7, now + 10000, length * MS, correlation)
                now += length * MS + 20000
            add("NVTX_EVENTS", start=begin, end=now, eventType=59, text=text, globalTid=thread, domainId=0)
        if len(ranks) == 1:
            kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 21, 20 * 10**5, 20 * MS, correlation + 1)
    db.commit()
    return db


for title, first_id in ("ids of each process from 1", lambda rank: 0), ("ids that differ", lambda rank: 10**6 * rank):
    db = report(title.replace(" ", "_") + ".sqlite", ((FORWARD, BACKWARD), (BACKWARD, FORWARD)), first_id)
    ranges = sorted((row["nvtx_region"], row["kernel_count"], row["total_gpu_ms"]) for row in get_skill("nvtx_layer_breakdown").execute(db) if "nvtx_region" in row)
    launches = sorted(get_skill("cpu_gpu_pipeline").execute(db), key=lambda row: row["cpu_tid"])
    print(f"two ranks, {title}:", "; ".join(f"{name} {kernels} kernels {ms:.0f} ms" for name, kernels, ms in ranges) + "; launches:",
          ", ".join(f"{row['dispatches']} with {row['avg_queue_delay_us']:.0f} us, {row['starvation_events']} starvations" for row in launches))
report("overlap.sqlite", ((FORWARD, BACKWARD),), lambda rank: 0).close()
out = subprocess.run([sys.executable, "-m", "nsys_ai", "summary", "overlap.sqlite"], capture_output=True, text=True, check=True).stdout
print("NCCL under compute:", *(line.strip() for line in out.splitlines() if line.startswith(("  Span", "    Stream"))), sep="\n  ")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
nsys-ai 0.3.0
two ranks, ids of each process from 1: backward 40 kernels 60 ms; forward 40 kernels 60 ms; launches: 21 with 4 us, 0 starvations, 40 with 2504 us, 19 starvations
two ranks, ids that differ: backward 20 kernels 20 ms; forward 20 kernels 40 ms; launches: 20 with 4 us, 0 starvations, 20 with 4 us, 0 starvations
NCCL under compute:
  Span: 30.4ms | Compute: 50.0ms | Idle: 0.2ms | Util: 164.6%
  Stream 7 (Aux): 20 kernels, 30.0ms
  Stream 21 (Compute): 1 kernels, 20.0ms
END
