#!/usr/bin/env bash
# Guess: nsys2prv gives each stream of each GPU a row of its own in Paraver's trace, and the trace lasts as long as its events.
# So it is: the rows are there, but a kernel gets its row by process and stream alone, and each device numbers its streams
# anew. A process with two GPUs (stream 7 on both) has all kernels on the row "CUDA-D0.S7", none on "CUDA-D1.S7", and as
# the end of one kernel is the end of the other, two of 20 ms, 5 ms apart, are 20 ms of work, not 40. Two nodes whose
# processes have the same id, as in containers, are mixed likewise. The trace ends with the last range or call of the
# CPU: of kernels that run on until 25 ms it has 10.
# Why: of a process with several GPUs one seems busy and the others idle, and asynchronous kernels at the end get lost.
# Versions: nsys2prv 0.5.8, pandas 2.3.3, sqlalchemy 2.0.45. The exports of nsys are written here, nsys itself does nothing.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q nsys2prv==0.5.8 pandas==2.3.3 sqlalchemy==2.0.45
mkdir -p "$tmp/nsys/bin"
printf '#!/bin/sh\nexit 0\n' >"$tmp/nsys/bin/nsys"
chmod +x "$tmp/nsys/bin/nsys"
cd "$tmp"
NSYS_HOME="$tmp/nsys" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import collections, importlib.metadata, pathlib, re, sqlite3, subprocess, sys
print("nsys2prv", importlib.metadata.version("nsys2prv"))
MS, KERNEL = 10**6, 63000006
TABLES = {
    "StringIds": "id INTEGER, value TEXT", "META_DATA_EXPORT": "name TEXT, value TEXT", "TARGET_INFO_SYSTEM_ENV": "name TEXT, value TEXT",
    "TARGET_INFO_GPU": "id INTEGER, name TEXT", "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER",
    "TARGET_INFO_CUDA_CONTEXT_INFO": "processId INTEGER, deviceId INTEGER, contextId INTEGER",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER,"
                                  " globalPid INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,"
                                  " blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryTotal INTEGER, graphNodeId INTEGER",
    "NVTX_EVENTS": "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER, jsonText TEXT"}


def report(path, host, pid, kernels, cpu_end):
    db = sqlite3.connect(path)
    for table, columns in TABLES.items():
        db.execute(f"CREATE TABLE {table} ({columns})")

    def add(table, **row):
        db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    add("StringIds", id=1, value="gemm")
    add("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION_MINOR", value="16")
    add("TARGET_INFO_SYSTEM_ENV", name="Hostname", value=host)
    add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=10**18)
    for device in sorted({device for device, *_ in kernels}):
        add("TARGET_INFO_GPU", id=device, name="NVIDIA H100 80GB HBM3")
        add("TARGET_INFO_CUDA_CONTEXT_INFO", processId=pid, deviceId=device, contextId=device + 1)
    for number, (device, start, end) in enumerate(kernels, 1):
        add("CUPTI_ACTIVITY_KIND_KERNEL", start=start * MS, end=end * MS, deviceId=device, contextId=device + 1, greenContextId=0, streamId=7, correlationId=number,
            globalPid=pid << 24, shortName=1, registersPerThread=32, gridX=1, gridY=1, gridZ=1, blockX=128, blockY=1, blockZ=1, staticSharedMemory=0,
            dynamicSharedMemory=0, localMemoryTotal=0)
    add("NVTX_EVENTS", start=0, end=cpu_end * MS, eventType=59, text="step", globalTid=pid << 24 | pid, domainId=0)
    db.commit()
    db.close()
    name = path.removesuffix(".sqlite")
    pathlib.Path(name + ".nsys-rep").touch()
    pathlib.Path(name + "_cuda_api_trace.csv").write_text("Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n" + "".join(
        f"{number * 1000},500,cudaLaunchKernel,0,{number},{pid},{pid},20,python\n" for number in range(1, len(kernels) + 1)))


def translate(title, *names):
    out = subprocess.run([sys.executable, "-c", "from nsys2prv.parse_nsys_stats import main; main()", "-t", "nvtx_pushpop_trace,cuda_api_trace"] + ["-m"] * (len(names) > 1)
                         + [name + ".nsys-rep" for name in names] + [title], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    rows = pathlib.Path(title + ".row").read_text().split("LEVEL THREAD SIZE ")[1].split("\n")[1:]
    header, *records = pathlib.Path(title + ".prv").read_text().split("\n")
    events = collections.defaultdict(list)
    for record in records:
        kind, *fields = record.split(":")
        if kind == "2":
            _, _, task, thread, time, *pairs = map(int, fields)
            value = dict(zip(pairs[::2], pairs[1::2])).get(KERNEL)
            if value is not None:
                events[task, thread].append((time, value))
    print(title + ":", ", ".join(row for row in rows if row.startswith("CUDA")), "| the trace ends at", f"{int(re.search('[0-9]+(?=_ns)', header)[0]) / MS:.0f} ms")
    for row, changes in sorted(events.items()):
        changes.sort()
        busy = sum(after - before for (before, value), (after, _) in zip(changes, changes[1:]) if value)
        print(f"  task {row[0]} thread {row[1]}: {sum(value > 0 for _, value in changes)} kernels, {busy / MS:.0f} ms of work, the last ends at {changes[-1][0] / MS:.0f} ms")


report("one.sqlite", "a", 4711, [(0, 0, 20)], 20)
translate("one_gpu", "one")
report("two.sqlite", "a", 4711, [(0, 0, 20), (1, 5, 25)], 10)
translate("two_gpus", "two")
report("first.sqlite", "a", 1, [(0, 0, 20)], 20)
report("second.sqlite", "b", 1, [(0, 5, 25)], 20)
translate("two_nodes", "first", "second")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
nsys2prv 0.5.8
one_gpu: CUDA-D0.S7 | the trace ends at 20 ms
  task 1 thread 2: 1 kernels, 20 ms of work, the last ends at 20 ms
two_gpus: CUDA-D0.S7, CUDA-D1.S7 | the trace ends at 10 ms
  task 1 thread 2: 2 kernels, 20 ms of work, the last ends at 25 ms
two_nodes: CUDA-D0.S7, CUDA-D0.S7 | the trace ends at 20 ms
  task 1 thread 3: 2 kernels, 20 ms of work, the last ends at 25 ms
END
