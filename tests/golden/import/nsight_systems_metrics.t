An export of Nsight Systems with kernels and GPU metrics (--gpu-metrics-devices): the samples are taken apart into the kernels, as those of a
recording are. Two kernels with known levels, at random distances, in whole percent as Nsight Systems writes them.

  $ cat > make.py <<'PY'
  > import random, sqlite3
  > random.seed(1)
  > d = sqlite3.connect("run.sqlite")
  > d.executescript("""
  > CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
  > CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1795187717000000000);
  > CREATE TABLE StringIds(id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'relu'), (3, 'cudaLaunchKernel_v7000');
  > CREATE TABLE TARGET_INFO_GPU(id INTEGER, cuDevice INTEGER, name TEXT, uuid TEXT, smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER);
  > INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H200', 'GPU-1', 132, 9, 0);
  > CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, shortName INTEGER, gridX INTEGER, globalPid INTEGER);
  > CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
  > CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, metricId INTEGER, metricName TEXT);
  > INSERT INTO TARGET_INFO_GPU_METRICS VALUES (1024, 0, 'GR Active [Throughput %]'), (1024, 1, 'SMs Active [Throughput %]'), (1024, 2, 'SM Issue [Throughput %]'), (1024, 3, 'Tensor Active [Throughput %]');
  > CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);""")
  > levels = {1: (1, .9, .4, .5), 2: (1, .5, .1, 0)}  # of gemm and relu: busy, SM, issue, tensor
  > kernels, now = [], 0
  > for i in range(800):
  >     name, gap = 1 + i % 2, random.randint(20000, 90000)
  >     kernels.append((now + gap, now + gap + (400000, 230000)[i % 2], name))
  >     d.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, ?, ?, 3)", (now, now + 5000, 0x2A00002B, i))
  >     d.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values (?, ?, 0, 1, 7, ?, ?, 132, ?)", (*kernels[-1][:2], i, name, 0x2A000000))
  >     now = kernels[-1][1] + 10000
  > for at in range(100000, now, 100000):
  >     inside = [(min(at, e) - max(at - 100000, s), n) for s, e, n in kernels if s < at and e > at - 100000]
  >     for m in range(4): d.execute("insert into GPU_METRICS values (?, 1024, ?, ?)", (at, m, round(sum(ns * levels[n][m] for ns, n in inside) / 1000)))
  > d.commit()
  > PY
  $ python3 make.py
  $ gpufathom query run.sqlite "select duration_ns, count(*) from counter_samples group by 1"
  duration_ns  count(*)
       100000     12148
  (1 row)
  $ gpufathom analyze run.sqlite --format json > run.json 2> incomplete
  $ jq -c '[.levels[] | select(.value != null) | [.id, (.value * 1000 | round / 10)]]' run.json
  [["gpu.busy",83],["gpu.kernel_time",83],["sm.active",62.5],["issue.active",24.1],["tensor.active",26.3]]
  $ jq -c '.kernels[] | [.name, [.levels[]? | select(.value != null) | [.id, (.value * 100 | round)]]]' run.json
  ["gemm",[["sm.active",90],["issue.active",40],["tensor.active",50]]]
  ["relu",[["sm.active",50],["issue.active",10],["tensor.active",0]]]
