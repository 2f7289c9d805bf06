A board's sensors: the energy counter moves every 100 ms and costs 3.5 ms a read, and GPM says success and 0.0 of samples closer than 100 ms. No level of 0.0 gets into a recording, and the counter is read no more often than it moves.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE=sensor=1,permission=0 GPUFATHOM_FAKE_LOG=$PWD/reads.log
  $ gpufathom record -q --duration 2.5 -o levels.gpf 2>/dev/null; reads=$(grep -c energy reads.log); test $reads -le 6 && echo "once a second"
  once a second
  $ gpufathom query --format csv levels.gpf "select count(*) > 3 as windows, min(value) > 0.5 as true_levels, min(duration_ns) >= 100000000 as floor from counter_samples where metric = 'sm.active_any'"
  windows,true_levels,floor
  1,1,1
  $ rm reads.log; gpufathom record -q --metrics energy --duration 2.5 -o energy.gpf 2>/dev/null; reads=$(grep -c energy reads.log); test $reads -ge 10 -a $reads -le 30 && echo "at most ten times a second"
  at most ten times a second
  $ gpufathom query --format csv energy.gpf "select min(gap) > 0.04 as no_closer from (select (start_ns - lag(start_ns) over (order by start_ns)) / 1e9 as gap from counter_samples where metric = 'energy.module')"
  no_closer
  1

The energy of a span is the counter's, and the mean power over time; a span shorter than ten updates says so.

  $ gpufathom energy energy.gpf --window all --format json | jq -c '.energy.devices[0] | .source, ((.nj / 1e9 / (.span_ns / 1e9) / 300 - 1) | fabs < 0.15), ([.warnings[].code] | index("window_too_short") == null)'
  "energy_counter"
  true
  true
  $ gpufathom energy energy.gpf --window 500ms:900ms --format json | jq -c '[.energy.devices[0].warnings[].code] | index("window_too_short") != null'
  true

Live levels obey the same floor, whatever rate is asked for.

  $ gpufathom monitor --once --format json 2>/dev/null | jq -c '[.. | objects | select(.id? == "sm.active_any") | .value] | all(. != 0)'
  true
