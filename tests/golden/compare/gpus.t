One process on one GPU, and two of the same program on two: a step of both together does twice the work.

  $ cat > gpus.py <<'END'
  > import json
  > def trace(pid, device):
  >     events, now = [], 1000.0
  >     def x(cat, name, where, ts, dur, **args):
  >         events.append({"ph": "X", "cat": cat, "name": name, "pid": where[0], "tid": where[1], "ts": round(ts, 3), "dur": round(dur, 3), "args": args})
  >     for step in range(12):
  >         begin = now
  >         for i in range(20):
  >             number = step * 20 + i + 1
  >             x("cpu_op", f"aten::op{i}", (pid, pid), now, 9)
  >             x("cuda_runtime", "cudaLaunchKernel", (pid, pid), now + 2, 4, correlation=number)
  >             x("kernel", f"k{i}", (device, 7), now + 8, 9 + (number * 7 % 11) / 20, device=device, context=1, stream=7, correlation=number, grid=[64, 1, 1], block=[128, 1, 1])
  >             now += 12
  >         now += 10
  >         x("user_annotation", f"ProfilerStep#{step}", (pid, pid), begin, now - begin)
  >     return events
  > for name, ranks in (("one", 1), ("two", 2)):
  >     gpus = [{"id": i, "name": "NVIDIA H100", "numSms": 132} for i in range(ranks)]
  >     json.dump({"schemaVersion": 1, "deviceProperties": gpus, "traceEvents": sum((trace(40 + i, i) for i in range(ranks)), [])}, open(name + ".json", "w"))
  > END
  $ python3 gpus.py
  $ gpufathom compare one.json two.json
       run       device       steps      step  speed
    A  one.json  NVIDIA H100     12  250.0 us  1.00x
    B  two.json  NVIDIA H100     12  250.0 us  1.00x
  
  The inputs differ in size: the grids of the kernels of B (2 GPUs together) are 2
  times as large as those of A. Step times do not compare; --batch N,M, with the
  items per step of each, compares times per item.
  Other differences: active GPUs (A 1, B 2).
  
  Time breakdown of a step, all GPUs together
    part                            A         B      B - A
    Other                    185.0 us  370.1 us  +185.0 us
    idle: kernel launch gap  40.00 us  80.00 us  +40.00 us
    idle: launch-bound       20.24 us  40.48 us  +20.24 us
    idle: other host work    4.737 us  9.475 us  +4.738 us
    total                    250.0 us  500.0 us  +250.0 us
  --full shows all tables.

By item, what differs adds up to the time by the clock: 250 us less than twice 250 us, of each GPU.

  $ gpufathom compare one.json two.json --batch 8,16 | sed -n '/^B /,/^$/p'
  B is 2.00x faster per item than A (step 250.0 us vs. 250.0 us; 95 %:
  1.99-2.01x); its kernels take 50.0 % less (95 %: -50.3 to -49.7 %). Sources of
  the difference, for as many items: kernels -185.0 us, copies 0, host -24.98 us,
  waiting 0, other idle -40.00 us. A single capture does not show what differs
  from run to run: record several of each version in turns (A B A B). A profiler
  slowed the host: by kernel time alone it is 2.00x as fast, and without the
  profiler likely 1.48x to 2.70x.
  What adds time to a step of B, for as many items:
    - Other (forward) +64.97 us (95 %: +62.92 us to +67.03 us): kernel k0, 40
    calls a step after 20; 370.1 us after 370.1 us, and 64.97 us of the host for
    added calls.
  Other differences: active GPUs (A 1, B 2); batch (A 8, B 16).
  
