"""Small sound files of those formats that no file of examples/ has, for the fuzzers to start from.
Usage: seeds.py FOLDER"""
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


# Traces of other tools, in the shapes of their writers.
OTHERS = {
    "nvprof.csv": '==5== NVPROF is profiling process 5, command: train\n"Start","Duration","Grid X","Size","Device","Stream","Name"\nus,us,,KB,,,\n'
                  '1.0,1.0,,1.0,"Tesla V100 (0)",7,"[CUDA memcpy HtoD]"\n3.0,2.0,8,,"Tesla V100 (0)",7,"gemm"\n',
    "5_kernel_trace.csv": '"Kind","Agent_Id","Queue_Id","Dispatch_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Workgroup_Size_X","Grid_Size_X"\n'
                          '"KERNEL_DISPATCH","Agent 2",1,1,"gemm<1, 2>",2,3000,5000,256,2560\n',
    "metrics.prom": '# TYPE DCGM_FI_DEV_POWER_USAGE gauge\nDCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1",pod="a"} 612.5\nDCGM_FI_DEV_GPU_UTIL{gpu="0"} 100 1790000000000\n',
    "range.json": json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [
        {"metric": {"__name__": "DCGM_FI_DEV_POWER_USAGE", "gpu": "0"},
         "values": [[1790000000.5, "600"], [1790000015, "NaN"]]}]}}),
    "system.csv": "_runtime,_timestamp,system.gpu.0.gpu,system.gpu.0.powerWatts\n0.5,1790000000.5,10,100\n15.5,1790000015.5,95,300\n",
    "unitrace.json": json.dumps({"traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "DEVICE<Level Zero> 0 Intel Max 1550"}},
        {"ph": "X", "tid": 1, "pid": 9, "name": "gemm[SIMD32 {4; 1; 2} {256; 1; 1}]", "cat": "gpu_op", "ts": 3.5, "dur": 2.0, "args": {"id": "2"}}]}),
    "proton.json": json.dumps({"displayTimeUnit": "us", "traceEvents": [
        {"name": "gemm", "cat": "kernel", "ph": "X", "ts": 3.0, "dur": 2.0, "tid": 1,
         "args": {"call_stack": ["ROOT", "gemm"]}}]}),
    "times.json": json.dumps([{"startEnqMs": 0.5, "endEnqMs": 0.9, "startH2dMs": 1, "endH2dMs": 2, "startComputeMs": 3, "endComputeMs": 6, "startD2hMs": 6, "endD2hMs": 7}]),
    "trace_view.json": json.dumps([
        {"ph": "M", "name": "process_name", "pid": 4, "args": {"name": "Ascend Hardware"}}, {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "Python"}},
        {"ph": "M", "name": "process_name", "pid": 702, "args": {"name": "CANN"}}, {"ph": "M", "name": "process_labels", "pid": 4, "args": {"labels": "NPU 1"}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 7, "ts": "2.5", "dur": 2.0}, {"ph": "X", "name": "AscendCL@aclnnAdd", "pid": 702, "tid": 8, "ts": "2.6", "dur": 0.2},
        {"ph": "s", "cat": "HostToDevice", "id": "9", "pid": 702, "tid": 8, "ts": "2.7"}, {"ph": "f", "cat": "HostToDevice", "id": "9", "pid": 4, "tid": 3, "ts": "3.0"},
        {"ph": "s", "cat": "async_npu", "id": 3, "pid": 7, "tid": 7, "ts": "2.6"}, {"ph": "f", "cat": "async_npu", "id": 3, "pid": 4, "tid": 3, "ts": "3.0"},
        {"ph": "X", "name": "aclnnAdd_Add", "pid": 4, "tid": 3, "ts": "3.0", "dur": 2.0, "args": {"Task Type": "AI_CORE"}}]),
    "ort.json": json.dumps([
        {"cat": "Session", "pid": 8, "tid": 8, "dur": 1, "ts": 0, "ph": "X", "name": "session_initialization"},
        {"cat": "Node", "pid": 8, "tid": 8, "dur": 1, "ts": 1, "ph": "X", "name": "MatMul_1_kernel_time", "args": {"op_name": "MatMul", "provider": "CUDAExecutionProvider"}},
        {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 2, "ts": 3, "ph": "X", "name": "gemm", "args": {"stream": "7", "grid_x": "8"}}]),
    "p.hatchet": json.dumps([{"children": [{"children": [], "frame": {"name": "gemm"},
                                            "metrics": {"count": 4, "device_id": "0",
                                                        "device_type": "CUDA", "time (ns)": 9}}],
                              "frame": {"name": "ROOT"}, "metrics": {"count": 0}},
                             {"CUDA": {"0": {"num_sms": 132}}}]),
    "profile.json": json.dumps([{"count": 6}, {"name": "conv1", "timeMs": 7.2, "averageMs": 1.2, "percentage": 60.0}]),
    "flight.json": json.dumps({"version": "2.10", "pg_config": {"0": {"desc": "default_pg", "ranks": "[0, 1]"}}, "entries": [
        {"process_group": ["0", "default_pg"], "collective_seq_id": 1,
         "profiling_name": "nccl:all_reduce", "state": "started", "retired": False, "is_p2p": False,
         "time_created_ns": 1790000000000000000, "input_sizes": [[8, 4]],
         "frames": [{"filename": "a.py", "line": 3}]}]}),
    "inspector.log": json.dumps({"header": {"id": "0xab", "rank": 1}, "coll_perf": {"coll": "AllReduce", "coll_sn": 3, "coll_msg_size_bytes": 8, "coll_exec_time_us": 4.5}}) + "\n",
    "export.jsonl": '{"data": ["[Unknown]", "gemm"]}\n' + json.dumps({"Type": 79, "CudaEvent": {
        "startNs": "3000", "endNs": "5000", "deviceId": 0, "streamId": "7",
        "kernel": {"demangledName": "1", "gridX": 8}}}) + "\n",
    "kernel_details.csv": 'Stream ID,Name,Accelerator Core,Start Time(us),Duration(us)\n1,MatMul,AI_CORE,"1736413971558973.000\t",2.0\n',
    "pmc_perf.csv": "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,SQ_WAVES,Start_Timestamp,End_Timestamp\n0,0,77824,256,gemm,1216.0,3000.50,5000.00\n",
    "rocprof.json": json.dumps({"rocprofiler-sdk-tool": [{
        "metadata": {"pid": 9}, "agents": [{"id": {"handle": 41}, "type": 2, "product_name": "AMD Instinct MI300X"}],
        "strings": {"buffer_records": [{"kind": "HIP", "operations": ["hipLaunchKernel"]}]},
        "kernel_symbols": [{"kernel_id": 5, "formatted_kernel_name": "gemm"}],
        "buffer_records": {"hip_api": [{"kind": 0, "operation": 0, "correlation_id": {"internal": 2}, "start_timestamp": 900, "end_timestamp": 950}],
                           "kernel_dispatch": [{"start_timestamp": 3000, "end_timestamp": 5000,
                                                "correlation_id": {"internal": 2},
                                                "dispatch_info": {
                               "agent_id": {"handle": 41}, "kernel_id": 5,
                               "workgroup_size": {"x": 256}, "grid_size": {"x": 2560}}}]}}]}),
}
DATABASES = {
    "nsight.sqlite": """CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
        CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES(1, 'gemm'), (2, 'cudaLaunchKernel_v7000');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId INT);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1000, 1040, 0, 7, 1, 16777216, 1), (2000, 2040, 0, 7, 2, 16777216, 1);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(900, 950, 16777217, 1, 2), (1900, 1950, 16777217, 2, 2);""",
    "run.nvvp": """CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringTable VALUES(1, 'gemm');
        CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start INT, end INT, deviceId INT, correlationId INT, name INT);
        INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES(3000, 5000, 0, 2, 1);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, cbid INT, processId INT, threadId INT, correlationId INT);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(2900, 2950, 211, 5, 5, 2);""",
    "rocpd.db": """CREATE TABLE rocpd_metadata_ab(tag TEXT, value TEXT); INSERT INTO rocpd_metadata_ab VALUES('schema_version', '3');
        CREATE TABLE rocpd_info_agent_ab(id INT, type TEXT, type_index INT); INSERT INTO rocpd_info_agent_ab VALUES(2, 'GPU', 0);
        CREATE TABLE rocpd_kernel_dispatch_ab(start INT, "end" INT, agent_id INT, kernel_id INT, event_id INT);
        INSERT INTO rocpd_kernel_dispatch_ab VALUES(3000, 5000, 2, 4, 2);""",
    "trace.rpd": """CREATE TABLE rocpd_string(id INT, string TEXT); INSERT INTO rocpd_string VALUES(1, 'hipLaunchKernel'), (2, 'KernelExecution');
        CREATE TABLE rocpd_api(id INT, pid INT, tid INT, start INT, "end" INT, apiName_id INT); INSERT INTO rocpd_api VALUES(1, 5, 5, 900, 950, 1);
        CREATE TABLE rocpd_op(id INT, gpuId INT, queueId INT, start INT, "end" INT, description_id INT, opType_id INT);
        INSERT INTO rocpd_op VALUES(1, 0, 1, 3000, 5000, 1, 2); CREATE TABLE rocpd_api_ops(api_id INT, op_id INT);
        INSERT INTO rocpd_api_ops VALUES(1, 1);""",
}


def database(path, statements):
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript("PRAGMA page_size = 512;" + statements)
    db.commit()
    db.close()


def perfetto_traces():
    """Slices as PyTorch 2.14 writes them, and stages as later versions do."""
    def varint(value):
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)

    def number(field, value):
        return varint(field << 3) + varint(value)

    def block(field, content):
        content = content.encode() if isinstance(content, str) else content
        return varint(field << 3 | 2) + varint(len(content)) + content

    def note(key, value):
        return block(4, block(10, key) + number(4, value))

    def event(time, content):
        return block(1, number(8, time) + number(10, 1) + content)

    names = block(2, number(1, 1) + block(2,
                                          "cudaLaunchKernel")) + block(2, number(1, 2) + block(2, "gemm"))
    stages = block(24, number(1, 1) + block(2, "Kernel")) + block(1000,
                                                                  number(1, 1) + block(3, "gemm")) + block(1001, number(1, 1) + block(2, "registers_per_thread"))
    head = block(1, block(60, number(1, 1) + block(4,
                                                   number(1,
                                                          5) + number(2, 6)))) + block(1, number(10, 1) + number(13, 1) + block(12, names + stages))
    call = event(900, block(11, number(9, 1) + number(11,
                                                      1) + number(10,
                                                                  1) + note("correlation", 2))) + event(950, block(11, number(9, 2) + number(11, 1)))
    work = event(1000, block(11, number(9, 1) + number(11,
                                                       2) + number(10,
                                                                   2) + note("stream", 7) + note("device", 0) + note("correlation", 2)))
    launch = block(1, number(1, 8)) + block(2,
                                            number(1, 128)) + block(3, number(1, 1) + number(4, 40))
    stage = event(1000, block(53, number(2, 900) + number(11,
                                                          0) + number(13, 4) + number(14, 1) + number(19, 1) + block(21, launch) + block(6, block(1, "correlation") + block(2, "2"))))
    yield "slices.pftrace", head + call + work + event(1900,
                                                       block(11, number(9, 2) + number(11, 2)))
    yield "stages.pftrace", head + call + stage


def memory_snapshot():
    """As torch.cuda.memory._dump_snapshot() writes it."""
    frames = [{"filename": "model.py", "line": 40, "name": "forward"},
              {"filename": "train.py", "line": 9, "name": "step"}]
    block = {"address": 4096, "size": 1 << 20, "requested_size": 1000000,
             "state": "active_allocated", "frames": frames}
    segment = {"device": 0, "address": 4096, "total_size": 1 << 21,
               "blocks": [block, {**block, "address": 1 << 40, "state": "inactive", "frames": []}]}
    entry = {"action": "alloc", "addr": 4096, "size": 1 << 20, "stream": 0, "time_us": 1000,
             "frames": frames}
    trace = [entry, {**entry, "action": "free_completed", "time_us": 2000},
             {**entry, "action": "segment_alloc", "time_us": 3000}]
    return {"segments": [segment], "device_traces": [trace], "allocator_settings": {}}


def long_trace():
    """A trace of so many kernels that a capture file holds them as blocks of columns."""
    kernels = [{"ph": "X", "cat": "kernel", "name": ("gemm", "relu")[i % 2], "pid": 0, "tid": 7,
                "ts": 10 * i, "dur": 4 + i % 3,
                "args": {"stream": 7, "device": 0, "correlation": i}} for i in range(9000)]
    return json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
                       "traceEvents": kernels})


def main():
    folder = Path(sys.argv[1])
    for protocol in (2, 4):
        (folder / f"snapshot{protocol}.pickle").write_bytes(pickle.dumps(memory_snapshot(), protocol))
    (folder / "nccl_trace_rank_0").write_bytes(pickle.dumps(json.loads(OTHERS["flight.json"]), 2))
    for name, text in [("smi", SMI_DMON), ("smi_dated", SMI_DMON_DATED), ("smi_csv", SMI_DMON_CSV),
                       ("dcgm", DCGM_DMON)]:
        (folder / f"{name}.dmon").write_text(text)
    for name, text in OTHERS.items():
        (folder / name).write_text(text)
    for name, content in perfetto_traces():
        (folder / name).write_bytes(content)
    for name, statements in DATABASES.items():
        database(folder / name, statements)
    (folder / "long.json").write_text(long_trace())
    (folder / "request.http").write_bytes(b"\x01GET /metrics HTTP/1.1\r\nHost: localhost:9400\r\nAccept: application/openmetrics-text\r\nAuthorization: Bearer x\r\n\r\n")


if __name__ == "__main__":
    main()
