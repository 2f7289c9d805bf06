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
