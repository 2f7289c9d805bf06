Samples that a recording packs are rows of counter_samples to a question.

  $ zcat $EXAMPLES/resnet50_fp32_b512_energy.gpf.gz > run.gpf
  $ gpufathom query run.gpf "select metric, count(*) n, min(row) first, round(avg(value), 4) mean from counter_samples where duration_ns < 50000000 group by metric limit 4"
  metric           n  first         mean
  clock.limits    72      4       0.8056
  clock.memory    72      2   3201000000
  clock.sm        72      1  1.75042e+09
  dram.active   3836    949       0.1747
  (4 rows)
  gpufathom: run.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  [1]
  $ gpufathom query run.gpf --format csv "select count(*), sum(row), count(distinct metric), max(row) + 1 from counter_samples"
  count(*),sum(row),count(distinct metric),max(row) + 1
  93005,4324918510,38,93005
  gpufathom: run.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  [1]
  $ gpufathom query run.gpf --format csv "select count(*) from _counter_samples c join strings s on s.id = c.metric where s.text = 'gpu.busy'"
  count(*)
  3836
  gpufathom: run.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  [1]
  $ gpufathom query run.gpf 2> words | grep -A1 '^counter_samples'; cat words
  counter_samples, 93 005 rows: One value of one metric over a span of time on a
  device: power, clocks, PM samples
  gpufathom: run.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine

A capture that is written again keeps them packed, and every value.

  $ gpufathom import run.gpf -o again.gpf 2> words | sed 's/: .*/:/'; cat words
  again.gpf:
    4 host operations, 7 661 runtime calls,
    7 661 device activities, 0 report kernels, 93 005 samples
  gpufathom: again.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  $ all="select start_ns, duration_ns, device, metric, value from counter_samples order by row"
  $ gpufathom query run.gpf --format csv "$all" > first; gpufathom query again.gpf --format csv "$all" | cmp - first
  gpufathom: run.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  gpufathom: again.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  $ gpufathom query again.gpf "select count(*), sum(samples) from sample_blocks"
  count(*)  sum(samples)
        16          3836
  (1 row)
  gpufathom: again.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  [1]

Damage costs the block, and is told.

  $ python3 -c "import sqlite3; d = sqlite3.connect('again.gpf'); d.execute('update sample_blocks set data = substr(data, 1, 5000) where row = 8'); d.commit()"
  $ gpufathom query again.gpf --format csv "select code, count from quality where code like 'bad%'"
  code,count
  bad_sample_block,1
  gpufathom: again.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  gpufathom: again.gpf: incomplete result: 1 x bad_sample_block: a block of packed samples is damaged: its samples are missing
  [1]
  $ gpufathom query again.gpf --format csv "select count(*) from counter_samples"
  count(*)
  86669
  gpufathom: again.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  gpufathom: again.gpf: incomplete result: 1 x bad_sample_block: a block of packed samples is damaged: its samples are missing
  [1]
  $ gpufathom energy again.gpf 2>&1 >/dev/null | tr ',' '\n' | grep bad_sample_block
  gpufathom: again.gpf: incomplete result: 1 x bad_sample_block: a block of packed samples is damaged: its samples are missing
