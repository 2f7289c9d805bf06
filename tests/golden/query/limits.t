Statements have bounds, whatever they ask and whatever views a stranger's file has.

  $ cp $EXAMPLES/mnist_recorded.gpf run.gpf; chmod u+w run.gpf
  $ endless='with recursive c(x) as (select 1 union all select x + 1 from c)'
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
  $ python3 -c "import sqlite3; c = sqlite3.connect('run.gpf'); c.execute('drop view steps'); c.execute('create view steps as $endless select x from c'); c.commit()"
  $ gpufathom query run.gpf 'select count(*) from steps' --max-seconds 1
  gpufathom: run.gpf: no answer within 1 s (ask for less, or raise --max-seconds)
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
