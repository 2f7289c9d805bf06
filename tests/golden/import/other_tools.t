What another tool wrote is named, with what to do about it there (tests/unit/import_stranger_test.cpp has the table of tools).

  $ python3 - <<'PY'
  > import sqlite3
  > def database(name, *statements):
  >     db = sqlite3.connect(name)
  >     for statement in statements: db.execute(statement)
  >     db.commit()
  > database("run.nvvp", "create table StringTable(_id_ integer primary key, value text)",
  >     "create table CUPTI_ACTIVITY_KIND_MEMCPY(_id_ integer primary key, start int, end int, deviceId int, bytes int, copyKind int)",
  >     "insert into CUPTI_ACTIVITY_KIND_MEMCPY values (1, 1000, 21000, 0, 4096, 1)",
  >     "create table CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ integer primary key, start int, end int, deviceId int, name int)",
  >     "insert into CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL values (1, 21000, 81000, 0, 1)")
  > export = ["create table StringIds(id integer, value text)", "insert into StringIds values (1, 'gemm'), (2, 'cudaLaunchKernel_v7000')"]
  > kernels = ["create table CUPTI_ACTIVITY_KIND_KERNEL(start int, end int, deviceId int, streamId int, correlationId int, shortName int)",
  >     *(f"insert into CUPTI_ACTIVITY_KIND_KERNEL values ({i * 100000}, {i * 100000 + 60000}, 0, 7, {i}, 1)" for i in range(1, 11))]
  > database("run.sqlite", *export, *kernels)
  > database("driver.sqlite", *export, "create table DIAGNOSTIC_EVENT(severity int, text text)",
  >     "insert into DIAGNOSTIC_EVENT values (3, 'Driver version 999.1 is not supported by this version of CUPTI')")
  > PY
  $ brief run.nvvp
  events 2, device events 2, span 80000, busy 80000
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

The same data as an export of Nsight Systems, and that one compressed: 60 us of each 100.

  $ brief run.sqlite
  events 10, device events 10, span 960000, busy 600000
  not_joined 10: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ gzip -k run.sqlite && brief run.sqlite.gz && rm run.sqlite.gz
  events 10, device events 10, span 960000, busy 600000
  not_joined 10: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ zstd -q run.sqlite && brief run.sqlite.zst
  events 10, device events 10, span 960000, busy 600000
  not_joined 10: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ gpufathom analyze run.sqlite.zst --max-bytes 4000
  gpufathom: run.sqlite.zst: grows past the limit of 4000 bytes when decompressed (if that is right, raise the limit with --max-bytes)
  [1]
  $ head -c 300 run.sqlite.zst > cut.sqlite.zst && gpufathom analyze cut.sqlite.zst | head -3
  gpufathom: cut.sqlite.zst: zstd data ends early at byte 300 of the compressed file (nothing in it can be read; copy it again from its source)

An export that says why it holds no kernels:

  $ gpufathom analyze driver.sqlite
  gpufathom: driver.sqlite: no GPU activity, and the profiler said: Driver version 999.1 is not supported by this version of CUPTI (mend that first, with another release of the profiler where it is the driver, and record again)
  [1]

A folder of another tool:

  $ mkdir out && touch out/nccl_trace_rank_0 && gpufathom analyze out
  gpufathom: out: cannot be read: it is a folder of dumps of NCCL's flight recorder, without GPU times (which rank the others wait for: gpufathom ranks FOLDER, with the dumps of all ranks; gpufathom help formats lists what is read)
  [1]

A log of DCGM without GRACT: what it has is said, and what it lacks.

  $ cat > dmon.txt <<'LOG'
  > #Entity   SMACT        SMOCC        TENSO        DRAMA
  > ID
  > GPU 0     0.500        0.300        0.100        0.200
  > GPU 0     0.500        0.300        0.100        0.200
  > GPU 0     0.500        0.300        0.100        0.200
  > LOG
  $ gpufathom analyze dmon.txt
  dmon.txt                                             GPU, active period, 3.000 s
  SM active: 50.0 % on average. The log has no kernel times, so idle time is
  unknown.
  
  Utilization by level                                            share of 3.000 s
    SM active                 \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88                          50.0 % (esc)
    tensor pipe active        \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88                                          10.0 % (esc)
    achieved occupancy        \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88                                  30.0 % (esc)
    DRAM throughput           \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88                                      20.0 % (esc)
    no data for GPU active, issue slot utilization: DCGM does not export it, or
    its field was not logged; gpufathom record samples it from hardware counters
  
  More with --full: time breakdown, levels over time, readings, data quality. As a
  page: -o page.html.
  $ gpufathom analyze dmon.txt --format json | jq -c '[.devices[0].levels[] | select(.value) | [.id, .value]], .devices[0].idle'
  [["sm.active",0.5],["tensor.active",0.1],["sm.occupancy",0.3],["dram.active",0.2]]
  [{"cause":"no_samples","ns":3000000000,"gaps":0,"operators":[],"modules":[]}]

A counter report and a power log beside a trace need no option.

  $ cp "$EXAMPLES/lenet_train_b64.json.gz" trace.json.gz && cp "$EXAMPLES/lenet_train_b64.base.ncu.csv.gz" report.csv.gz
  $ gpufathom analyze trace.json.gz report.csv.gz --format json 2> words | jq -c '[.counters_source.format, .match.matched]'; cat words
  ["nsight_compute_csv",150]
  gpufathom: report.csv.gz is a counter report: taken as --counters
  $ gpufathom analyze report.csv.gz trace.json.gz report.csv.gz
  gpufathom: report.csv.gz is a counter report: taken as --counters
  gpufathom: report.csv.gz is a second counter report: gpufathom analyze TRACE --counters FILE takes one
  [2]
  $ gpufathom analyze dmon.txt report.csv.gz
  gpufathom: report.csv.gz is a counter report: taken as --counters
  gpufathom: dmon.txt is a power log: taken as --power
  gpufathom: dmon.txt and the others contain no trace: gpufathom analyze TRACE --counters REPORT --power LOG
  [2]
