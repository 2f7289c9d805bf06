Statements have bounds, whatever they ask and whatever views a stranger's file has.

  $ cp $EXAMPLES/mnist_recorded.gpf run.gpf; chmod u+w run.gpf
  $ endless='with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000000)'
  $ gpufathom query run.gpf "$endless select count(*) from c" --max-seconds 1
  gpufathom: run.gpf: no answer within 1 s (ask for less, or raise --max-seconds)
  [1]
  $ gpufathom query run.gpf "$endless select x from c" --max-bytes 20MB
  gpufathom: run.gpf: the answer takes more memory than allowed (ask for fewer rows (WHERE, LIMIT), or raise --max-bytes)
  [1]
  $ gpufathom query run.gpf "$endless select median(x) from c" --max-bytes 20MB
  gpufathom: run.gpf: the answer takes more memory than allowed (ask for fewer rows (WHERE, LIMIT), or raise --max-bytes)
  [1]
  $ gpufathom query run.gpf "select length(group_concat(printf('%.*c', 1000000, 'x'))) from strings" --max-bytes 20MB
  gpufathom: run.gpf: the answer takes more memory than allowed (ask for fewer rows (WHERE, LIMIT), or raise --max-bytes)
  [1]
  $ gpufathom query run.gpf "select length(zeroblob(1000000000))"
  gpufathom: run.gpf: the answer takes more memory than allowed (ask for fewer rows (WHERE, LIMIT), or raise --max-bytes)
  [1]

One call of a function that takes seconds looks at no clock, and is ended all the same.

  $ gpufathom query run.gpf "select instr(hex(zeroblob(2000000)), hex(zeroblob(1000000)) || '1')" --max-seconds 1
  gpufathom: run.gpf: no answer within 1 s (ask for less, or raise --max-seconds)
  [1]
  $ gpufathom query run.gpf "select fts3_tokenizer('simple')"
  gpufathom: run.gpf: SQL: not authorized to use function: fts3_tokenizer, at "fts3_tokenizer('simple')" (gpufathom query FILE lists the tables and their columns)
  [1]

A capture cannot say what the names of our tables mean: views and tables that it holds by these names are not asked.

  $ gpufathom query run.gpf "select name, start_ns, duration_ns from activities limit 1" > before
  $ gpufathom query run.gpf > tables
  $ sql() { cp $EXAMPLES/mnist_recorded.gpf $1; chmod u+w $1; python3 -c "import sqlite3, sys; c = sqlite3.connect('$1'); c.executescript(sys.argv[1])" "$2"; }
  $ sql lies.gpf "drop view kernels; create view kernels as select 'lie' as name; drop view steps; create view steps as $endless select x from c; drop view activities; create table activities as select 'lie' as name, 1 as start_ns, 2 as duration_ns; create table findings(text); insert into findings values('lie')"
  $ gpufathom query lies.gpf "select name, start_ns, duration_ns from activities limit 1" | diff before -
  $ gpufathom query lies.gpf | diff tables -
  $ gpufathom query lies.gpf "select count(*) as kernels from kernels where name = 'lie'" --format csv
  kernels
  0
  $ gpufathom query lies.gpf "select count(*) as steps from steps" --format csv
  steps
  0
  $ gpufathom query lies.gpf "select count(*) as findings from findings where text = 'lie'" --format csv
  findings
  0
  $ sql own.gpf "create view own as select 1"
  $ gpufathom query own.gpf "select * from own"
  gpufathom: own.gpf: SQL: no such table: own (gpufathom query FILE lists the tables and their columns)
  [1]
  $ sql computed.gpf "drop table _steps; create view _steps as $endless select x - 1 as row from c"
  $ gpufathom query computed.gpf "select count(*) from steps"
  gpufathom: computed.gpf: _steps is computed, not stored (the file was changed by hand: ask for the one that the profiler wrote)
  [1]

What an older program wrote without a table or a column has no rows or NULL there.

  $ sql old.gpf "drop table _steps; drop view steps; drop view devices; alter table _devices drop column uuid"
  $ gpufathom query old.gpf "select (select count(*) from steps) as steps, uuid, vendor from devices" --format csv
  steps,uuid,vendor
  0,,nvidia

A capture without the tables of what was lost, or of what a device did, is no whole one.

  $ sql quiet.gpf "drop table _quality"
  $ gpufathom analyze quiet.gpf
  gpufathom: quiet.gpf: table _quality is missing (the file is damaged, or was changed by another program)
  [1]
  $ sql empty.gpf "drop table _activities"
  $ gpufathom query empty.gpf "select 1"
  gpufathom: empty.gpf: table _activities is missing (the file is damaged, or was changed by another program)
  [1]

Nothing to ask, and what is no file:

  $ gpufathom query ''
  gpufathom: the name of a file is empty
  [1]
  $ gpufathom query run.gpf ''
  gpufathom: run.gpf: the statement is empty (try "select name, count(*) from kernels group by name")
  [1]
  $ mkfifo pipe; gpufathom query pipe 'select 1'
  gpufathom: pipe: is a pipe or device, not a regular file (write it to a file first)
  [1]
  $ gpufathom query /dev/zero 'select 1'
  gpufathom: /dev/zero: is a pipe or device, not a regular file (write it to a file first)
  [1]
