A log of NVML readings, in base units under the ids of the catalogue:

  $ gpufathom query $EXAMPLES/power_mixed.csv.gz "select metric, count(*) as samples, min(value) as low, max(value) as high from counter_samples group by metric"
  metric           samples         low        high
  clock.memory        2933  3201000000  3201000000
  clock.sm            2933   345000000  1980000000
  energy.module       2933     2244.18     12485.5
  monitor.gpu         2933           0        0.98
  power.average       2933      78.587     498.006
  power.module        2933      78.049     589.117
  temperature.gpu     2933          37          51
  (7 rows)

nvidia-smi with and without units:

  $ printf 'timestamp, index, power.draw [W], utilization.gpu [%%]\n2026/11/20 12:34:56.789, 0, 79.48 W, 12 %%\n2026/11/20 12:34:57.789, 0, [N/A], 50 %%\n' > smi.csv
  $ gpufathom query smi.csv "select start_ns, metric, value from counter_samples"
             start_ns  metric         value
  1795178096789000000  power.average  79.48
  1795178096789000000  monitor.gpu     0.12
  1795178097789000000  monitor.gpu      0.5
  (3 rows)
  $ gpufathom query smi.csv "select code, count from quality"
  code        count
  no_reading      1
  local_time      1
  (2 rows)

  $ printf 'power.draw [W], utilization.gpu [%%]\n79.48, 12\n' > timeless.csv
  $ gpufathom query timeless.csv "select 1"
  gpufathom: timeless.csv: byte 0: the log has no column of time (timestamp) (query it too: nvidia-smi --query-gpu=timestamp,index,power.draw.instant,... --format=csv)
  [1]
