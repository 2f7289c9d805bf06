"""Small sound files of those formats that no file of examples/ has, for the fuzzers to start from. Usage: seeds.py FOLDER"""
import json
import pickle
import sqlite3
import sys
from pathlib import Path

SMI_DMON = """# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk      gract     smutil
# Idx      W      C      C      %      %    MHz    MHz      GPM:%      GPM:%
    0    700     37      -     91      5   2619   1980         74         59
    1     75     30     40      0      0   2619    345          -          -
"""
SMI_DMON_DATED = "#Date       Time        gpu    sm\n#YYYYMMDD   HH:MM:SS    Idx     %\n 20261231   23:59:58      0     91\n 20270101   00:00:01      0     89\n"
SMI_DMON_CSV = "#Time, gpu, sm\n#HH:MM:SS, Idx, %\n23:59:59, 0, 90\n00:00:01, 0, 89\n"
DCGM_DMON = """#Entity   GRACT  TENSO  POWER  GPUTL  PCITX
ID                      W
GPU 0     0.914  0.250  412.5  91     N/A
GPU 1     0.000  0.000  80.0   0      12
"""


def memory_snapshot():
    """As torch.cuda.memory._dump_snapshot() writes it."""
    frames = [{"filename": "model.py", "line": 40, "name": "forward"}, {"filename": "train.py", "line": 9, "name": "step"}]
    block = {"address": 4096, "size": 1 << 20, "requested_size": 1000000, "state": "active_allocated", "frames": frames}
    segment = {"device": 0, "address": 4096, "total_size": 1 << 21, "blocks": [block, {**block, "address": 1 << 40, "state": "inactive", "frames": []}]}
    entry = {"action": "alloc", "addr": 4096, "size": 1 << 20, "stream": 0, "time_us": 1000, "frames": frames}
    trace = [entry, {**entry, "action": "free_completed", "time_us": 2000}, {**entry, "action": "segment_alloc", "time_us": 3000}]
    return {"segments": [segment], "device_traces": [trace], "allocator_settings": {}}


def long_trace():
    """Of so many kernels that a capture file holds them as blocks of columns."""
    kernels = [{"ph": "X", "cat": "kernel", "name": ("gemm", "relu")[i % 2], "pid": 0, "tid": 7, "ts": 10 * i, "dur": 4 + i % 3,
                "args": {"stream": 7, "device": 0, "correlation": i}} for i in range(9000)]
    return json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}], "traceEvents": kernels})


def nsight_systems(path):
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript("""PRAGMA page_size = 512;
        CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
        CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES(1, 'gemm'), (2, 'cudaLaunchKernel_v7000');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId INT);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1000, 1040, 0, 7, 1, 16777216, 1), (2000, 2040, 0, 7, 2, 16777216, 1);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(900, 950, 16777217, 1, 2), (1900, 1950, 16777217, 2, 2);""")
    db.commit()
    db.close()


def main():
    folder = Path(sys.argv[1])
    for protocol in (2, 4):
        (folder / f"snapshot{protocol}.pickle").write_bytes(pickle.dumps(memory_snapshot(), protocol))
    for name, text in [("smi", SMI_DMON), ("smi_dated", SMI_DMON_DATED), ("smi_csv", SMI_DMON_CSV), ("dcgm", DCGM_DMON)]:
        (folder / f"{name}.dmon").write_text(text)
    nsight_systems(folder / "nsight.sqlite")
    (folder / "long.json").write_text(long_trace())
    (folder / "request.http").write_bytes(b"\x01GET /metrics HTTP/1.1\r\nHost: localhost:9400\r\nAccept: application/openmetrics-text\r\nAuthorization: Bearer x\r\n\r\n")


if __name__ == "__main__":
    main()
