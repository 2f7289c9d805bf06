A report becomes a capture file, which answers in SQL.

  $ gpufathom import $EXAMPLES/lenet_train_b64.auto.ncu.csv.gz -o run.gpf | sed 's/: .*/:/'
  run.gpf:
    0 host operations, 0 runtime calls,
    0 device activities, 50 report kernels, 0 samples
  $ gpufathom query run.gpf "select name, count(*) as kernels, sum(duration_ns) as ns, median(grid_x) as grid from report_kernels group by name order by ns desc limit 3"
  name                                                        kernels     ns  grid
  void at::reduce_kernel<512, ..igned int, float, 4, 4>>(T3)        2  59616   3.5
  void wgrad_alg0_engine<float.., float, int, int, int, int)        2  49312     3
  void sgemm_largek_lds64<1, 0..oat, int, int, int *, int *)        2  23328     2
  (3 rows)
  (texts are shortened to fit; --format csv or json gives them whole)
  $ gpufathom query run.gpf --format csv "select id, grid_x, mangled_name, duration_ns from report_kernels order by row limit 2"
  id,grid_x,mangled_name,duration_ns
  0,1568,,8896
  1,1176,,3392
  $ gpufathom query run.gpf --format json "select count(*) n, quantile(duration_ns, 0.9) q from report_kernels"
  {"schema":"gpufathom.query/1","columns":["n","q"],"rows":[
  [50,11808.000000000002]]}
  $ gpufathom query run.gpf "select metric, value, unit from counters where report_id = 0 and metric like 'smsp__cycles%.sum'"
  metric                      value  unit
  smsp__cycles_active.sum   6976380  cycle
  smsp__cycles_elapsed.sum  9155088  cycle
  (2 rows)

Rows too wide for the terminal become blocks.

  $ gpufathom query run.gpf "select * from report_kernels limit 1" | head -8
  row 1
    row           0
    id            0
    name          void implicit_convolve_sgemm<fl..nst T2 *, bool, bool, int, int)
    mangled_name  NULL
    pid           464
    device        0
    context       1

A file that analyze reads is asked as it is, and gives the same.

  $ gpufathom query $EXAMPLES/lenet_train_b64.auto.ncu.csv.gz "select sum(value) from counters" > direct
  $ gpufathom query run.gpf "select sum(value) from counters" | diff - direct

Without SQL: what can be asked.

  $ gpufathom query run.gpf | grep -A3 -E '^(report_kernels|activities)'
  activities, 0 rows: What a device executed: one kernel instance, copy or set
  collectives, 0 rows: Communication metadata of a kernel
  device_annotations, 0 rows: A span that the source drew over device work; never
  counted as busy
  --
  report_kernels, 50 rows: One profiled kernel instance of a counter report, in
  the report's order
    id            integer  the report's own number
    name          text     demangled name as the report spells it

Errors say where. Nothing can be changed.

  $ gpufathom query run.gpf "select nme from kernels"
  gpufathom: run.gpf: SQL: no such column: nme, at "nme from kernels": did you mean name? (gpufathom query FILE lists the tables and their columns)
  [1]
  $ gpufathom query run.gpf "selec 1"
  gpufathom: run.gpf: SQL: near "selec": syntax error, at "selec 1" (gpufathom query FILE lists the tables and their columns)
  [1]
  $ gpufathom query run.gpf "select 1; select 2"
  gpufathom: run.gpf: SQL: one statement at a time (the second begins at " select 2")
  [1]
  $ gpufathom query run.gpf " "
  gpufathom: run.gpf: the statement is empty (try "select name, count(*) from kernels group by name")
  [1]
  $ gpufathom query run.gpf "delete from strings"
  gpufathom: run.gpf: query only reads: this statement would change something or open another file (ask with SELECT)
  [1]
  $ gpufathom query run.gpf "attach '/etc/passwd' as x"
  gpufathom: run.gpf: query only reads: this statement would change something or open another file (ask with SELECT)
  [1]
  $ gpufathom query run.gpf "pragma query_only = off"
  gpufathom: run.gpf: query only reads: this statement would change something or open another file (ask with SELECT)
  [1]
  $ gpufathom query run.gpf "select quantile(1, 2)"
  gpufathom: run.gpf: SQL: quantile requires a share from 0 to 1 (gpufathom query FILE lists the tables and their columns)
  [1]
  $ gpufathom query none.gpf "select 1"
  gpufathom: none.gpf: no such file
  [1]

A file of another program, a damaged one, one from the future.

  $ sqlite3 other.gpf "create table t(x)"
  $ gpufathom query other.gpf "select 1" 2>&1 | grep -o "it looks like an SQLite database"
  it looks like an SQLite database
  $ head -c 50000 run.gpf > cut.gpf
  $ gpufathom query cut.gpf "select count(*) from counters"
  gpufathom: cut.gpf: database error: database disk image is malformed (the file is damaged: copy it again, or save what is left with "sqlite3 FILE .recover")
  [1]
  $ cp run.gpf new.gpf; sqlite3 new.gpf "pragma user_version = 7"
  $ gpufathom query new.gpf "select 1"
  gpufathom: new.gpf: written by a newer gpufathom: capture format 7, this program reads up to 2 (update gpufathom)
  [1]

A compressed capture is read as it is, and its damage is told:

  $ gzip -k run.gpf && mkdir tmp
  $ for file in run.gpf run.gpf.gz; do TMPDIR=tmp gpufathom query $file "select count(*), sum(duration_ns) from activities" --csv | tail -1; done | uniq -c | sed 's/,.*//'
        2 0
  $ for file in run.gpf run.gpf.gz; do TMPDIR=tmp gpufathom analyze $file --format json | jq -c 'del(.source)' | cksum; done | uniq | wc -l; ls tmp
  1
  $ head -c 20000 run.gpf.gz > cut.gpf.gz; TMPDIR=tmp gpufathom analyze cut.gpf.gz; ls tmp
  gpufathom: cut.gpf.gz: gzip data ends early at byte 20000 of the compressed file (copy it again from its source)
  $ gzip -c new.gpf > new.gpf.gz; TMPDIR=tmp gpufathom analyze new.gpf.gz; ls tmp
  gpufathom: new.gpf.gz: written by a newer gpufathom: capture format 7, this program reads up to 2 (update gpufathom)
