Traces of other tools, each with 1 us of copies and two kernels that overlap: 4 us of GPU work.

  $ python3 - <<'PY'
  > import json, sqlite3
  > db = sqlite3.connect("run.nvvp")
  > db.executescript("""create table StringTable(_id_ integer primary key, value text); insert into StringTable values (1, 'gemm'), (2, 'Tesla V100-SXM2-16GB');
  > create table CUPTI_ACTIVITY_KIND_DEVICE(id int, name int); insert into CUPTI_ACTIVITY_KIND_DEVICE values (0, 2);
  > create table CUPTI_ACTIVITY_KIND_MEMCPY(start int, end int, deviceId int, streamId int, correlationId int, bytes int, copyKind int, srcKind int, dstKind int);
  > insert into CUPTI_ACTIVITY_KIND_MEMCPY values (1000, 2000, 0, 7, 1, 64, 1, 1, 3);
  > create table CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start int, end int, deviceId int, streamId int, correlationId int, name int);
  > insert into CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL values (3000, 5000, 0, 7, 2, 1), (4500, 6000, 0, 8, 3, 1);
  > create table CUPTI_ACTIVITY_KIND_RUNTIME(start int, end int, cbid int, processId int, threadId int, correlationId int);
  > insert into CUPTI_ACTIVITY_KIND_RUNTIME values (900, 950, 41, 5, 5, 1), (2900, 2950, 211, 5, 5, 2), (2960, 2990, 211, 5, 5, 3), (2995, 2998, 9999, 5, 5, 4)""")
  > db.commit()
  > json.dump([{"startEnqMs": 0.0005, "endEnqMs": 0.0009, "startH2dMs": 0.001, "endH2dMs": 0.002, "startComputeMs": 0.003, "endComputeMs": 0.006, "startD2hMs": 0.006, "endD2hMs": 0.006}], open("times.json", "w"))
  > event = lambda **fields: json.dumps({"ph": "X", "pid": 9, "tid": 1, "cat": "gpu_op", **fields})
  > open("app.1.json", "w").write('{ "traceEvents":[\n' + ",\n".join([
  >     json.dumps({"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "[RANK 0] DEVICE<Level Zero> 0 Intel(R) Data Center GPU Max 1550"}}),
  >     event(name="zeCommandListAppendMemoryCopy(M2D)[64 bytes]", ts=1, dur=1, args={"id": "1"}), event(name="gemm[SIMD32 {304; 1; 2} {256; 1; 1}]", ts=3, dur=2, args={"id": "2"}),
  >     event(name="gemm[SIMD32 {304; 1; 2} {256; 1; 1}]", ts=4.5, dur=1.5, tid=2, args={"id": "3"})]) + "]}")
  > PY
  $ brief run.nvvp
  events 7, device events 3, span 5000, busy 4000
  $ gpufathom query run.nvvp "select name, kind from api_calls"
  name               kind
  cudaMemcpyAsync    memcpy
  cudaLaunchKernel   launch
  cudaLaunchKernel   launch
  runtime call 9999  other
  (4 rows)
  $ brief times.json
  events 4, device events 3, span 5000, busy 4000
  graph_kernels_hidden 1: trtexec times a query as a whole: idle time between its kernels cannot be seen
  no_absolute_time 1: trtexec counts from its start: a power log cannot be laid beside it
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ brief app.1.json
  events 3, device events 3, span 5000, busy 4000
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ printf '==5== NVPROF is profiling process 5\n"Start","Duration","Grid X","Size","Device","Stream","Name"\nus,us,,KB,,,\n1.0,1.0,,1.0,"Tesla V100 (0)",7,"[CUDA memcpy HtoD]"\n3.0,2.0,8,,"Tesla V100 (0)",7,"gemm"\n4.5,1.5,8,,"Tesla V100 (0)",8,"gemm"\n' > trace.csv && brief trace.csv
  events 3, device events 3, span 5000, busy 4000
  no_absolute_time 1: the table counts from the program's start: a power log cannot be laid beside it
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

A record_function name with quotation marks, which PyTorch until 2.13 writes as they are, costs no event:

  $ small-trace '{"ph": "X", "cat": "user_annotation", "name": "say "hello" twice", "pid": 1, "tid": 1, "ts": 2, "dur": 5, "args": {"External id": 1}}' > quoted.json
  $ brief quoted.json
  events 3, device events 2, span 10000, busy 4000
  repaired_event 1: quotation marks in a name were not escaped (first at byte 161)
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ gpufathom query quoted.json "select name from host_ops"
  name
  say "hello" twice
  (1 row)

A GPU's trace whose numbers are texts, which is how torch_npu writes its own, is still one of a GPU:

  $ printf '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": "1.0", "dur": "9.0"}, {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": "2.5", "dur": "3.25", "args": {"device": 0, "stream": 7}}]}' > texts.json
  $ brief texts.json
  events 2, device events 1, span 3250, busy 3250
  not_joined 1: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

Also where the marks of a GPU lie behind the host's events.

  $ python3 -c 'import json; print(json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": str(i), "dur": "0.5"} for i in range(4000)] + [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": "2.5", "dur": "3.25", "args": {"device": 0, "stream": 7}}], "schemaVersion": 1}))' > texts.json
  $ brief texts.json | head -1
  events 4001, device events 1, span 3250, busy 3250

An Ascend NPU's trace, whose marks may lie behind its host's events: a call with two tasks, tasks that only wait or record, a collective
and its parts, and operations on a thread of their own. Times are texts; a duration has more digits than nanoseconds.

  $ python3 - <<'PY'
  > import json
  > x = lambda pid, tid, name, ts, dur, **args: {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": f"17041615114203{ts:06.3f}", "dur": dur, "args": args}
  > arrow = lambda category, number, start, end: [{"ph": "s", "cat": category, "id": number, "pid": 1, "tid": start[0], "ts": f"17041615114203{start[1]:06.3f}"},
  >     {"ph": "f", "cat": category, "id": number, "pid": 4, "tid": 3, "ts": f"17041615114203{end:06.3f}"}]
  > names = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}} for pid, name in ((7, "Python"), (702, "CANN"), (4, "Ascend Hardware"), (5, "HCCL"), (9, "Overlap Analysis"))]
  > host = [{**x(7, 77, "ProfilerStep#1", 1, 60.0), "cat": "cpu_op"}, {**x(7, 77, "aten::add", 2, 5.0), "cat": "cpu_op"}, {**x(7, 77, "aten::item", 40, 9.0), "cat": "cpu_op"}] + \
  >     [{**x(7, 77, "aten::view", 62 + i / 100, 0.001, note="x" * 200), "cat": "cpu_op"} for i in range(1500)]
  > rest = names + [x(702, 78, "AscendCL@aclnnAdd", 8, 4.0, connection_id=1), x(702, 77, "AscendCL@aclrtMemcpy", 41, 7.0, connection_id=2), x(4, 3, "aclnnAdd_AddAiCore_Add", 12, 6.2506, **{"Task Type": "AI_CORE"}),
  >     x(4, 3, "aclnnAdd_Cast", 20, 2.0, **{"Task Type": "AI_CPU"}), x(4, 3, "Notify_Wait", 30, 9.0, **{"Task Type": "NOTIFY_WAIT"}), x(5, 0, "hcom_allReduce__1", 24, 4.0),
  >     x(5, 1, "Reduce_Inline", 25, 1.0), x(4, 6, "Reduce_Inline", 25, 1.0, **{"Task Type": "SDMA"}), x(4, 6, "Write_Value", 29, 9.0, **{"Task Type": "Write Value"}), x(9, 0, "Computing", 12, 6.25)] + \
  >     arrow("HostToDevice", "1", (78, 9), 12) + arrow("HostToDevice", "2", (78, 10), 20) + arrow("async_npu", 3, (77, 3), 12) + arrow("async_npu", 4, (77, 3), 20)
  > json.dump(host + rest, open("trace_view.json", "w"))
  > PY
  $ brief trace_view.json
  events 1509, device events 3, span 16000, busy 12251
  $ gpufathom query trace_view.json "select name, kind, correlation from api_calls"
  name         kind    correlation
  aclnnAdd     launch         1024
  aclrtMemcpy  sync           2048
  launch       launch         1025
  (3 rows)
  $ gpufathom query trace_view.json "select a.name, a.kind, a.correlation, o.name as operation from activities a join host_ops o on o.external_id = a.external_id"
  name                    kind    correlation  operation
  aclnnAdd_AddAiCore_Add  kernel         1024  aten::add
  aclnnAdd_Cast           kernel         1025  aten::add
  (2 rows)

ONNX Runtime: kernels follow their node, in whole microseconds; of a build without them it is said what to do.

  $ python3 - <<'PY'
  > import json
  > event = lambda cat, name, ts, dur, pid=8, **args: {"cat": cat, "pid": pid, "tid": pid, "dur": dur, "ts": ts, "ph": "X", "name": name, "args": args}
  > host = [event("Session", "session_initialization", 0, 5), event("Node", "MatMul_1_kernel_time", 10, 4, op_name="MatMul", provider="CUDAExecutionProvider"), event("Node", "MatMul_1_fence_after", 14, 0)]
  > json.dump(host, open("cpu.json", "w"))
  > json.dump(host + [event("Kernel", "gemm", 12, 5, -1, stream="7", grid_x="8", block_x="128", grid_y="1"), event("Kernel", "MemcpyDeviceToHost", 16, 3, -1, stream="7", grid_x="-1")], open("cuda.json", "w"))
  > PY
  $ brief cuda.json
  events 4, device events 2, span 7000, busy 7000
  no_absolute_time 1: ONNX Runtime counts from the session's start: a power log cannot be laid beside it
  coarse_times 1: ONNX Runtime writes whole microseconds: kernels below one have no length, and busy time is at least what is said
  assumed_device 1: ONNX Runtime does not say which GPU a kernel ran on: all are taken as one's
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ gpufathom query cuda.json "select a.name, a.copy, a.grid_x, o.name as node, o.op_type from activities a join host_ops o on o.external_id = a.external_id"
  name         copy            grid_x  node      op_type
  gemm         none                 8  MatMul_1  MatMul
  Memcpy DtoH  device_to_host    NULL  MatMul_1  MatMul
  (2 rows)
  $ brief cpu.json
  gpufathom: cpu.json: no GPU activity: there is nothing to analyze (it holds nodes alone, as most builds of ONNX Runtime write them: record the program with nsys profile --trace=cuda,nvtx or rocprofv3, or build ONNX Runtime with --enable_cuda_profiling)
  [1]

Sums without times are reports of kernels: Proton's tree, trtexec's layers.

  $ echo '[{"children": [{"children": [], "frame": {"name": "gemm", "type": "function"}, "metrics": {"count": 4, "device_id": "0", "device_type": "CUDA", "time (ns)": 1200000}}], "frame": {"name": "ROOT"}, "metrics": {"count": 0, "time (ns)": 0}}, {"CUDA": {"0": {"arch": "90", "num_sms": 132}}}]' > p.hatchet
  $ echo '[{"count": 6}, {"name": "conv1 + relu1", "timeMs": 7.2, "averageMs": 1.2, "percentage": 60.0}]' > profile.json
  $ for file in p.hatchet profile.json; do gpufathom analyze $file | sed -n '1,3p'; gpufathom query $file "select name, launches, duration_ns from report_kernels"; done
  p.hatchet                                           GPU, whole capture, 1.200 ms
  Counter report only: how long the GPU was active is unknown.
  
  name  launches  duration_ns
  gemm         4       300000
  (1 row)
  profile.json                                        GPU, whole capture, 7.200 ms
  Counter report only: how long the GPU was active is unknown.
  
  name           launches  duration_ns
  conv1 + relu1         6      1200000
  (1 row)

A report of Nsight Systems is exported by nsys where there is one.

  $ for name in trace.json.gz report.ncu-rep run.nsys-rep; do printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n' > $name && gpufathom $name; done
  gpufathom: trace.json.gz: cannot be read: it is a pointer of Git LFS, in the place of the file (fetch that: git lfs pull; gpufathom help formats lists what is read)
  gpufathom: report.ncu-rep: cannot be read: it is a pointer of Git LFS, in the place of the file (fetch that: git lfs pull; gpufathom help formats lists what is read)
  gpufathom: run.nsys-rep: cannot be read: it is a pointer of Git LFS, in the place of the file (fetch that: git lfs pull; gpufathom help formats lists what is read)
  [1]
  $ printf 'NVIDIA Tegra Profiler Report 1.\n' > run.nsys-rep && gpufathom analyze run.nsys-rep
  gpufathom: run.nsys-rep: cannot be read: it is a report of Nsight Systems in its own format, which only nsys reads (export it: nsys export --type sqlite FILE; gpufathom help formats lists what is read)
  [1]
  $ mkdir bin && printf '#!/bin/sh\n[ "$1 $2 $3 $4 $5 $6" = "export --type sqlite --force-overwrite true --output" ] && cp "$(dirname "$0")/../export.sqlite" "$7" && echo done\n' > bin/nsys && chmod +x bin/nsys
  $ python3 -c "
  > import sqlite3
  > db = sqlite3.connect('export.sqlite')
  > db.executescript('create table StringIds(id int, value text); insert into StringIds values (1, \'gemm\'); create table CUPTI_ACTIVITY_KIND_KERNEL(start int, end int, deviceId int, streamId int, correlationId int, shortName int); insert into CUPTI_ACTIVITY_KIND_KERNEL values (1000, 3000, 0, 7, 1, 1), (5000, 6000, 0, 7, 2, 1)')"
  $ PATH=$PWD/bin:$PATH brief run.nsys-rep | sed "s#$PWD#HERE#"
  events 2, device events 2, span 5000, busy 3000
  exported_here 1: HERE/bin/nsys exported the report as SQLite into a temporary file
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ printf '#!/bin/sh\necho cannot open the report\nexit 3\n' > bin/nsys && PATH=$PWD/bin:$PATH gpufathom analyze run.nsys-rep 2>&1 | sed "s#$PWD#HERE#"
  gpufathom: run.nsys-rep: HERE/bin/nsys cannot export it: cannot open the report (export it with the release of Nsight Systems that recorded it: nsys export --type sqlite FILE)

Its exports as Parquet, Arrow and HDF5 are read by a Python that can, which the program asks for the tables that it wants.

  $ mkdir run_pqtdir && printf 'PAR1' > run_pqtdir/CUPTI_ACTIVITY_KIND_KERNEL.parquet && printf '\211HDF\r\n\032\n CUPTI_ACTIVITY_KIND_KERNEL' > run.h5
  $ printf '#!/bin/sh\nexec python3 -S "$@"\n' > bin/plain && printf '#!/bin/sh\nbasename "$1" >&2\ncp "$(dirname "$0")/../export.sqlite" "$3"\n' > bin/able && printf '#!/bin/sh\necho no room; kill -9 $$\n' > bin/ends && chmod +x bin/*
  $ for file in run_pqtdir run.h5; do GPUFATHOM_PYTHON=$PWD/bin/plain gpufathom analyze $file 2>&1 | sed "s#$PWD#HERE#g"; done
  gpufathom: run_pqtdir: is an export of Nsight Systems that Python's pyarrow reads, which HERE/bin/plain lacks (HERE/bin/plain -m pip install pyarrow; or export the report as SQLite: nsys export --type sqlite REPORT.nsys-rep)
  gpufathom: run.h5: is an export of Nsight Systems that Python's h5py reads, which HERE/bin/plain lacks (HERE/bin/plain -m pip install h5py; or export the report as SQLite: nsys export --type sqlite REPORT.nsys-rep)
  $ GPUFATHOM_PYTHON= PATH=$(dirname "$(command -v gpufathom)") gpufathom analyze run.h5
  gpufathom: run.h5: is an export of Nsight Systems as Parquet, Arrow or HDF5, which Python's packages read: there is no python3 in PATH (install Python, and pip install pyarrow h5py; or export the report as SQLite: nsys export --type sqlite REPORT.nsys-rep)
  [1]
  $ GPUFATHOM_PYTHON=$PWD/bin/ends gpufathom analyze run.h5 2>&1 | sed "s#$PWD#HERE#g"
  gpufathom: run.h5: cannot be read as an export of Nsight Systems: HERE/bin/ends ended with 137: no room (export the report as SQLite: nsys export --type sqlite REPORT.nsys-rep)
  $ for file in run_pqtdir run_pqtdir/CUPTI_ACTIVITY_KIND_KERNEL.parquet run.h5; do GPUFATHOM_PYTHON=$PWD/bin/able brief $file | sed "s#$PWD#HERE#g"; done
  events 2, device events 2, span 5000, busy 3000
  exported_here 1: HERE/bin/able copied the tables into a temporary SQLite file
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  events 2, device events 2, span 5000, busy 3000
  exported_here 1: HERE/bin/able copied the tables into a temporary SQLite file
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  events 2, device events 2, span 5000, busy 3000
  exported_here 1: HERE/bin/able copied the tables into a temporary SQLite file
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

Tables and JSON that another program wrote again: columns and keys in another order, more of them, no quotation marks, the mark of Windows' editors.

  $ python3 - <<'PY'
  > import csv, io, json
  > mark = "\ufeff"
  > def table(name, heading, *rows, order=1, before=()):
  >     out = io.StringIO()
  >     writer = csv.writer(out, lineterminator="\r\n")
  >     for row in (heading, *rows): writer.writerow(([("Guid" if row is heading else "0x1"), *row])[::order])
  >     open(name, "w", newline="").write(mark + out.getvalue())
  > table("5_kernel_trace.csv", ["Kind", "Agent_Id", "Kernel_Name", "Dispatch_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"],
  >     ["KERNEL_DISPATCH", 4, "gemm", 1, 1, 1000, 3000], ["KERNEL_DISPATCH", 4, "gemm", 2, 2, 5000, 6000], order=-1)
  > table("pmc_perf.csv", ["GPU_ID", "Dispatch_ID", "Kernel_Name", "Start_Timestamp", "End_Timestamp", "SQ_WAVES"], [0, 1, "gemm", 1000, 3000, 64])
  > table("heading.csv", "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Bytes (MB),Device,Ctx,Strm,Name".split(","))
  > json_of = lambda name: json.load(open(name))
  > for name in ("times.json", "app.1.json", "p.hatchet"):
  >     turn = lambda x: {key: turn(x[key]) for key in reversed(x)} if isinstance(x, dict) else [turn(one) for one in x] if isinstance(x, list) else x
  >     json.dump(turn(json_of(name)), open("turned." + name, "w", encoding="utf-8-sig"), indent=1)
  > PY
  $ for file in 5_kernel_trace.csv turned.times.json turned.app.1.json; do brief $file | head -1; done
  events 2, device events 2, span 5000, busy 3000
  events 4, device events 3, span 5000, busy 4000
  events 3, device events 3, span 5000, busy 4000
  $ for file in pmc_perf.csv turned.p.hatchet; do gpufathom query $file "select name, launches, duration_ns from report_kernels"; done
  name  launches  duration_ns
  gemm  NULL             2000
  (1 row)
  name  launches  duration_ns
  gemm         4       300000
  (1 row)
  $ gpufathom analyze heading.csv
  gpufathom: heading.csv: no GPU activity: there is nothing to analyze (such a file is made by: nvprof --print-gpu-trace --csv PROGRAM 2> trace.csv; nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep (an export as SQLite says more: it has the calls))
  [1]
  $ head -c 100 p.hatchet > cut.hatchet && gpufathom analyze cut.hatchet
  gpufathom: cut.hatchet: is a profile of Proton that ends early, or is damaged (let the program end by itself, and copy the file again)
  [1]
