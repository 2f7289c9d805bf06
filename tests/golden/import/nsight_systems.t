  $ needs-corpus || exit 80
  $ nsys=$GPUFATHOM_CORPUS/public/flameox_nsys_2025.5.sqlite
  $ gpufathom query $nsys "select kind, name, duration_ns, grid_x, block_x, registers, bytes, graph_id from activities order by start_ns"
  kind    name            duration_ns  grid_x  block_x  registers  bytes  graph_id
  memcpy  Memcpy..evice)          864    NULL     NULL       NULL   4096      NULL
  kernel  add_on.., int)         1440       4      256         16   NULL      NULL
  kernel  add_on.., int)         1344       4      256         16   NULL      NULL
  kernel  add_on.., int)         1056       4      256         16   NULL      NULL
  kernel  CUDA g..orded)         1728    NULL     NULL       NULL   NULL         1
  kernel  CUDA g..orded)         1376    NULL     NULL       NULL   NULL         1
  (6 rows)
  (texts are shortened to fit; --format csv or json gives them whole)
  $ gpufathom query $nsys "select kind, count(*) as calls, sum(duration_ns) as ns from api_calls group by kind"
  kind          calls      ns
  alloc             4  130326
  graph_launch      2   19222
  launch            4   67866
  memcpy            1   13899
  other            20  121514
  sync              2    7246
  (6 rows)
  $ gpufathom query $nsys "select name, sm_count, compute_major, compute_minor, clock_khz, max_threads_per_sm from devices"
  row 1
    name                NVIDIA GeForce RTX 3060
    sm_count            28
    compute_major       8
    compute_minor       6
    clock_khz           1777000
    max_threads_per_sm  1536
  (1 row)
  (texts are shortened to fit; --format csv or json gives them whole)
  $ gpufathom query $nsys "select code, count from quality"
  code                  count
  graph_kernels_hidden      2
  profiler_message          3
  (2 rows)
  $ gpufathom analyze $nsys --format json | jq -c '.devices[0] | [.name, .gpu_events, .kernels, .span_ns, .busy_ns]'
  ["NVIDIA GeForce RTX 3060",6,5,186815,7808]

Every activity finds the call that launched it:

  $ gpufathom query $nsys "select count(*) as unlaunched from activities a where not exists (select 1 from api_calls c where c.correlation = a.correlation)"
  unlaunched
           0
  (1 row)

A page of managed memory that the host touches moves without a call: until then the host works.

  $ cp $nsys moved.sqlite && chmod +w moved.sqlite && python3 -c '
  > import sqlite3
  > rows = sqlite3.connect("moved.sqlite")
  > rows.execute("create temp table page as select * from CUPTI_ACTIVITY_KIND_MEMCPY")
  > last, = rows.execute("select max(end) from CUPTI_ACTIVITY_KIND_GRAPH_TRACE").fetchone()
  > rows.execute("update page set copyKind = 12, correlationId = 0, start = ? + 50000, end = ? + 51000", (last, last))
  > rows.execute("insert into CUPTI_ACTIVITY_KIND_MEMCPY select * from page")
  > rows.commit()'
  $ gpufathom query moved.sqlite "select name, duration_ns from activities order by start_ns desc limit 1"
  name            duration_ns
  Migration DtoH         1000
  (1 row)
  $ gpufathom analyze moved.sqlite --format json | jq -c '.devices[0].idle[] | select(.cause == "host_other") | [.cause, .ns]'
  ["host_other",59714]
