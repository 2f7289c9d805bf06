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

  $ sed 's/power.draw \[W\]/power.draw [kW]/; s/79.48 W/0.07948 kW/' smi.csv > kilo.csv && gpufathom query kilo.csv "select round(value, 2) from counter_samples where metric = 'power.average'" --csv | tail -1
  79.48
  $ printf 'timestamp;power.draw [W]\n2026/11/20 12:34:56.789;79,48\n' > semicolons.csv && gpufathom query semicolons.csv "select 1"
  gpufathom: semicolons.csv: byte 0: its columns are parted by semicolons (part them by commas, and write numbers with a decimal point)
  [1]
  $ printf 'timestamp\tpower.draw [W]\tclocks.sm [MHz]\n2026/11/20 12:34:56.789\t79.48\t900\n' > tabs.csv && gpufathom query tabs.csv "select 1"
  gpufathom: tabs.csv: byte 0: its columns are parted by tabs (part them by commas, and write numbers with a decimal point)
  [1]
  $ printf '<?xml version="1.0"?><svg onload="init(evt)"><text>power.draw, power_draw, utilization.gpu</text></svg>\n' > flame.svg && gpufathom flame.svg
  gpufathom: flame.svg: is not a trace or report that can be read: it looks like an XML document (gpufathom help formats lists what is read)
  [1]
  $ printf 'power.draw [W], utilization.gpu [%%]\n79.48, 12\n' > timeless.csv
  $ gpufathom query timeless.csv "select 1"
  gpufathom: timeless.csv: byte 0: the log has no column of time (timestamp) (query it too: nvidia-smi --query-gpu=timestamp,index,power.draw.instant,... --format=csv)
  [1]

The label of a MIG instance, as DCGM calls it, names a device and is no reading.

  $ printf 'timestamp,gpu,GPU_I_ID,GPU_I_PROFILE,utilization.gpu\n2026-11-01 10:00:00,0,,,50\n2026-11-01 10:00:00,0,1,3g.40gb,20\n2026-11-01 10:00:01,0,,,55\n2026-11-01 10:00:01,0,1,3g.40gb,30\n' > mig.csv
  $ gpufathom query mig.csv --csv "select d.id, d.name, metric, avg(value) from counter_samples c join devices d on d.row = c.device group by 1, 2, 3"
  id,name,metric,avg(value)
  0,,monitor.gpu,0.525
  1000,"GPU 0, MIG instance 1",monitor.gpu,0.25

Two columns of one metric (power.draw is the driver's average, as is power.draw.average) are one reading: the first that has a number.

  $ printf 'timestamp, index, power.draw [W], power.draw.average [W]\n2026-11-01 10:00:00.0, 0, 100, 140\n2026-11-01 10:00:01.0, 0, [N/A], 120\n' > twice.csv
  $ gpufathom query twice.csv --csv "select metric, value from counter_samples"
  metric,value
  power.average,100
  power.average,120
