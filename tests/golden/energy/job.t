Energy of a job: the captures of its ranks, and a made-up log of a steady 500 and 200 W over their time. Rank 1's input is late; rank 0 waits.

  $ mkdir job; cp "$ROOT"/tests/ranks/captures/slow_input.rank?.json.gz job
  $ cat > log.py <<'END'
  > import gzip, json, sys
  > times = []
  > for rank in (0, 1):
  >     trace = json.load(gzip.open(f"job/slow_input.rank{rank}.json.gz"))
  >     base = trace.get("baseTimeNanoseconds", 0) * 1e-9
  >     times += [base + t * 1e-6 for e in trace["traceEvents"] if e.get("cat") == "kernel" for t in (e["ts"], e["ts"] + e["dur"])]
  > print("unix_time_s,index,power_instant_w,energy_mj,sm_clock_mhz,temp_c")
  > watts = {int(word.split("=")[0]): float(word.split("=")[1]) for word in sys.argv[1:]}
  > for i in range(round((max(times) - min(times)) / 0.01) + 60):
  >     for gpu, of in watts.items():
  >         print(f"{min(times) - 0.3 + i * 0.01:.6f},{gpu},{of},{of * i * 10:.0f},1980,41")
  > END
  $ python3 log.py 0=500 1=200 > power.csv
  $ LC_ALL=C gpufathom energy job/slow_input.rank*.json.gz --power power.csv --batch 128 --price 0.3 --co2 400 > job.txt; sed '/^  !/,/^  Model/d' job.txt
  
  Energy of the job                                         2 ranks, common window
    108.8 J in 155.4 ms, 700.0 W: 2 ranks.
    Waiting for other ranks: 61.70 J (56.7 %, 14.81 .. 63.08 J) in 123.4 ms of
    device time.
    A step takes 18.10 J in 25.88 ms, 141.4 mJ per item; energy-delay product
    0.4683 J s (mean of 6 steps).
    component                     share   energy     95 % interval
    static power   #######       37.2 %  40.50 J  37.30 .. 43.97 J
    not explained  ############  62.8 %  68.26 J  64.78 .. 71.46 J
  
    rank   energy   share    power     waits  waiting  measured by
       0  77.68 J  71.4 %  500.0 W  123.4 ms  61.70 J  energy_counter
       1  31.07 J  28.6 %  200.0 W      0 ns     0 nJ  energy_counter
  
       step    energy  waiting  ranks  slowest rank
          2   18.17 J  10.35 J      2      25.94 ms
          3   18.06 J  10.26 J      2      25.72 ms
          4   17.75 J  10.05 J      2      25.25 ms
          5   18.14 J  10.31 J      2      26.06 ms
          6   18.16 J  10.28 J      2      26.10 ms
          7   18.30 J  10.45 J      2      26.19 ms
    outside  164.3 mJ     0 nJ      2      644.8 us
  
    cost of one    energy        kWh      price      g CO2
    job           108.8 J  3.021e-05  9.063e-06    0.01208
    waiting       61.70 J  1.714e-05  5.141e-06   0.006855
    step          18.10 J  5.027e-06  1.508e-06   0.002011
    item         141.4 mJ  3.928e-08  1.178e-08  1.571e-05
    5 % off in all of it.
  $ awk 'length > 80 && !/ncu|record/' job.txt

Every sum is exact: ranks, components, steps and ranks' parts of them.

  $ gpufathom energy job --power power.csv --format json > job.json 2> said; cat said
  $ jq -c '.schema, (.job | .nj as $all | ([.ranks[].nj] | add - $all), ([.parts[].nj] | add - $all), ([.steps[].nj] | add - $all), ([.ranks[].wait_nj] | add) - .wait_nj, ([.steps[].wait_nj] | add) - .wait_nj, ([.steps[] | .nj - ([.ranks[].nj] | add)] | unique), ([.ranks[] | .nj - ([.parts[].nj] | add)] | unique))' job.json
  "gpufathom.job_energy/1"
  0
  0
  0
  0
  0
  [0]
  [0]
  $ jq -c '.job | [.ranks[].span_ns] | unique | length' job.json
  1

A power log among the files is one, as in `analyze`.

  $ gpufathom energy job power.csv --format json 2> said | cmp - job.json; cat said
  gpufathom: power.csv is a power log: taken as --power

Who waits and how long is that of `ranks`, in the same window.

  $ gpufathom ranks job --window auto --format json 2>/dev/null | jq -c '[.ranks[] | .exposed_wait_ns > 1000000]'
  [true,false]
  $ jq -c '[.job.ranks[] | .wait_ns > 1000000]' job.json
  [true,false]

A rank whose GPU nobody measured is said, is no zero, and is left out of the sum.

  $ python3 log.py 1=200 > one.csv
  $ gpufathom energy job --power one.csv --format json > one.json
  gpufathom: job: incomplete result: no energy from one.csv: power was measured of GPU 1, which ran nothing of this capture. A program that was given some of the GPUs (CUDA_VISIBLE_DEVICES) counts them from 0: leave the column index out of a log of the one that it used
  gpufathom: job: incomplete result: the energy of rank 0 is not known and not in the sum
  [1]
  $ jq -c '.job | .measured_ranks, .nj == .ranks[1].nj, .ranks[0].nj, .ranks[0].share, .steps[0].ranks[0].rank' one.json
  1
  true
  null
  null
  1
  $ LC_ALL=C gpufathom energy job --power one.csv 2>/dev/null | grep -E 'rank 0|of 2'
    31.07 J in 155.4 ms, 200.0 W: 1 rank of 2, the others are not known.
    ! rank 0 is not in the sum: power was measured of GPU 1, which ran nothing of
  $ gpufathom energy job 2>&1 | cut -c1-120
  gpufathom: job/slow_input.rank0.json.gz: no energy of any rank: power was not measured: record with `gpufathom record`, 

What one capture is asked for is refused of a job.

  $ gpufathom energy job --power power.csv --sweep
  gpufathom: --counters and --sweep require a single capture
  [2]
  $ gpufathom energy job --power power.csv --format html -o x.html
  gpufathom: several captures are the ranks of a job: take text or json
  [2]
  $ gpufathom energy job/slow_input.rank0.json.gz nowhere.json --power power.csv
  gpufathom: nowhere.json: does not exist
  [1]

Parts of ranks --map say no energy, and what stands now where they were made may be another job's.

  $ gpufathom ranks --map job/*.rank?.json.gz | sed -n 1p > part.jsonl; rank1=$(ls job/*.rank1.json.gz)
  $ gpufathom energy part.jsonl $rank1 --power power.csv 2> words | sed -n 2,3p; cat words
  Energy of the job                                         2 ranks, common window
    30.82 J in 154.1 ms, 200.0 W: 1 rank of 2, the others are not known.
  gpufathom: part.jsonl: incomplete result: the energy of rank 0 is not known and not in the sum
  $ gpufathom ranks --map job/*.rank?.json.gz | sed -n 2p > other.jsonl; gpufathom energy part.jsonl other.jsonl --power power.csv
  gpufathom: job/slow_input.rank0.json.gz: no energy of any rank: a part of gpufathom ranks --map has none: give its capture
  [1]

Ranks that share no time, by way of others that were recorded all along: no common window is claimed.

  $ mkdir apart; cat > apart.py <<'END'
  > import gzip, json, os
  > base = os.environ["ROOT"] + "/tests/ranks/groups/tp2_group_late.rank{}.json.gz"
  > times = []
  > for rank, (low, high) in enumerate([(0, 0.4), (0, 1), (0, 1), (0.6, 1)]):
  >     trace = json.load(gzip.open(base.format(rank)))
  >     kernels = [e["ts"] for e in trace["traceEvents"] if e.get("cat") == "kernel"]
  >     first, span = min(kernels), max(kernels) - min(kernels)
  >     trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("ph") != "X"
  >                             or first + low * span <= e["ts"] and e["ts"] + e["dur"] <= first + high * span]
  >     json.dump(trace, gzip.open(f"apart/job.rank{rank}.json.gz", "wt"))
  >     times += [trace.get("baseTimeNanoseconds", 0) * 1e-9 + t * 1e-6 for t in kernels]
  > print("unix_time_s,index,power_instant_w")
  > for i in range(round((max(times) - min(times)) / 0.01) + 60):
  >     for gpu in range(4):
  >         print(f"{min(times) - 0.3 + i * 0.01:.6f},{gpu},300")
  > END
  $ python3 apart.py > apart.csv; gpufathom energy apart --power apart.csv | grep -A1 -E '^Energy of the job|share no time'
  Energy of the job                                           4 ranks, own windows
    60.74 J in 98.11 ms, 1200.0 W: 4 ranks.
  --
    ! the ranks share no time: each one's energy is of its own window, and their
    sum of no stretch of time. Give captures of the same time
