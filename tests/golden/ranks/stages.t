Two ranks of a server, recorded by stage: rank 0 computes 40 us longer before each of 30 collectives of
either stage. The collectives' groups say that there are two ranks.

  $ cat > job.py <<'END'
  > import json, sys
  > def trace(name, rank, begin, device, info=None):
  >     events = []
  >     for i in range(30):
  >         start, compute = begin + 150 * i, 100 if rank == 0 else 60
  >         at = {"ph": "X", "cat": "kernel", "pid": device, "tid": 7}
  >         events.append(at | {"name": "gemm_k", "ts": start, "dur": compute,
  >                             "args": {"correlation": 10 * i + 1, "stream": 7, "device": device}})
  >         events.append(at | {"name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": start + compute, "dur": 120 - compute,
  >                             "args": {"correlation": 10 * i + 2, "stream": 7, "device": device, "Collective name": "allreduce",
  >                                      "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 2, "dtype": "Float",
  >                                      "Process Group Name": "1", "Process Group Ranks": "[0, 1]"}})
  >     json.dump({"schemaVersion": 1, "traceEvents": events} | (info or {}), open(name, "w"))
  > def info(rank):
  >     return {"distributedInfo": {"rank": rank, "world_size": 2}}
  > stages = {"EXTEND": 1000, "DECODE": 5001000}
  > for rank in (0, 1):
  >     for stage, begin in stages.items():
  >         trace(f"plain/9.12-TP-{rank}-{stage}.trace.json", rank, begin, rank)
  >         trace(f"info/9.12-TP-{rank}-{stage}.trace.json", rank, begin, rank, info(rank))
  >         trace(f"unnumbered/{stage.lower()}_{'ab'[rank]}.json", rank, begin, rank)
  > trace("named/x.rank0.json", 0, 1000, 0)
  > trace("named/x.rank3.json", 1, 1000, 1)
  > trace("swapped/x.rank0.json", 0, 1000, 0, info(0))
  > trace("swapped/x.rank2.json", 1, 1000, 1, info(1))
  > END
  $ mkdir plain info unnumbered named swapped; python3 job.py

The stages have an answer each, the same as their files alone.

  $ gpufathom ranks plain --rows 1
  Stage EXTEND: 2 ranks, 30 shared collectives over 4.470 ms (whole captures)
  The job waits for rank 0: at the speed of its peers, the job gains 1.200 ms of
  4.470 ms (26.8 %), most of it from more kernel time in gemm_k.
  Kernels that its peers run too take 1.67 times as long on rank 0: larger inputs,
  another program on its GPU, lower clocks, or transfers beside them.
  Rank 1 is busy 80.5 % of its time, of which 33.3 % is waiting for other ranks.
  
  Ranks: shares of each one's time         1 of 2, those that were late most often
    rank  host  compute  waiting  exchange    idle  late for  clock  doubt
       0         67.1 %    0.0 %    13.4 %  19.5 %  30 of 30   0 ns   0 ns
  
  Late ranks by cause                 waited: by the other ranks; gain: of the job
    rank  why               where    late by    waited      gain
       0  more kernel time  gemm_k  1.160 ms  1.160 ms  1.200 ms
  
  Critical path                                                       0 hand-overs
    rank 0 100.0 %
  
  Transfer rates, waiting excluded                       bus: bytes a link carries
    collective  ranks    size  count  transfer  bus GB/s  of link
    all_reduce      2  4.0 kB     30  20.00 us       0.2  no data
  
  Data quality
    rank_guessed (2x): the number of a rank is taken from its file's name or
    place: the capture does not say it
    not_joined (120x): rank 0: the capture holds no calls of the GPU's runtime:
    whether kernels are missing or come too late cannot be seen
  
  Stage DECODE: 2 ranks, 30 shared collectives over 4.470 ms (whole captures)
  The job waits for rank 0: at the speed of its peers, the job gains 1.200 ms of
  4.470 ms (26.8 %), most of it from more kernel time in gemm_k.
  Kernels that its peers run too take 1.67 times as long on rank 0: larger inputs,
  another program on its GPU, lower clocks, or transfers beside them.
  Rank 1 is busy 80.5 % of its time, of which 33.3 % is waiting for other ranks.
  
  Ranks: shares of each one's time         1 of 2, those that were late most often
    rank  host  compute  waiting  exchange    idle  late for  clock  doubt
       0         67.1 %    0.0 %    13.4 %  19.5 %  30 of 30   0 ns   0 ns
  
  Late ranks by cause                 waited: by the other ranks; gain: of the job
    rank  why               where    late by    waited      gain
       0  more kernel time  gemm_k  1.160 ms  1.160 ms  1.200 ms
  
  Critical path                                                       0 hand-overs
    rank 0 100.0 %
  
  Transfer rates, waiting excluded                       bus: bytes a link carries
    collective  ranks    size  count  transfer  bus GB/s  of link
    all_reduce      2  4.0 kB     30  20.00 us       0.2  no data
  
  Data quality
    rank_guessed (2x): the number of a rank is taken from its file's name or
    place: the capture does not say it
    not_joined (120x): rank 0: the capture holds no calls of the GPU's runtime:
    whether kernels are missing or come too late cannot be seen
  $ gpufathom ranks plain/*EXTEND* --rows 1 | sed -n 2,3p
  The job waits for rank 0: at the speed of its peers, the job gains 1.200 ms of
  4.470 ms (26.8 %), most of it from more kernel time in gemm_k.
  $ gpufathom ranks info | grep -A2 '^Stage'
  Stage EXTEND: 2 ranks, 30 shared collectives over 4.470 ms (whole captures)
  The job waits for rank 0: at the speed of its peers, the job gains 1.200 ms of
  4.470 ms (26.8 %), most of it from more kernel time in gemm_k.
  --
  Stage DECODE: 2 ranks, 30 shared collectives over 4.470 ms (whole captures)
  The job waits for rank 0: at the speed of its peers, the job gains 1.200 ms of
  4.470 ms (26.8 %), most of it from more kernel time in gemm_k.
  $ gpufathom ranks unnumbered | grep -A2 '^Stage'
  Stage 1: 2 ranks, 30 shared collectives over 4.470 ms (whole captures)
  The job waits for rank 0: at the speed of its peers, the job gains 1.200 ms of
  4.470 ms (26.8 %), most of it from more kernel time in gemm_k.
  --
  Stage 2: 2 ranks, 30 shared collectives over 4.470 ms (whole captures)
  The job waits for rank 0: at the speed of its peers, the job gains 1.200 ms of
  4.470 ms (26.8 %), most of it from more kernel time in gemm_k.
  $ gpufathom ranks plain --format json | jq -c '.schema, (.stages[] | [.stage, .world_size, [.ranks[] | [.rank, .rank_source]], [.stragglers[] | [.rank, .gain_ns]]])'
  "gpufathom.rank_stages/1"
  ["EXTEND",2,[[0,"file_name"],[1,"file_name"]],[[0,1200000]]]
  ["DECODE",2,[[0,"file_name"],[1,"file_name"]],[[0,1200000]]]
  $ gpufathom ranks plain -o page.html
  gpufathom: the captures are of several stretches of time, and a page shows one (give the captures of one of them, or take text or json)
  [1]

One rank of one stage, with the others.

  $ gpufathom analyze plain/9.12-TP-1-DECODE.trace.json --ranks plain --window all | sed -n 2,3p
  GPU active 80.5 % of the time. Utilization inside kernels needs counters.
  Largest loss: waiting for other ranks, 1.200 ms (26.8 %). No steps are known: 30

What is missing or double is told by the groups.

  $ gpufathom ranks plain/*TP-0-EXTEND*
  gpufathom: incomplete result: 1 of 2 ranks have no file: 1
  gpufathom: incomplete captures give no verdict about ranks (--allow-incomplete continues)
  [3]
  $ gpufathom ranks plain/*TP-1-DECODE* plain/*EXTEND*
  gpufathom: incomplete result: 1 of 2 ranks have no file: 0
  gpufathom: incomplete captures give no verdict about ranks (--allow-incomplete continues)
  [3]
  $ cp plain/*TP-0-EXTEND* named/x.rank1.json; rm named/x.rank3.json; gpufathom ranks named/x.rank0.json named/x.rank1.json
  gpufathom: named/x.rank1.json: has the content of named/x.rank0.json: it is the same capture (give each rank once, all from one run)
  [1]
  $ as_rank_10() { python3 -c "import json; t = json.load(open('info/9.12-TP-0-EXTEND.trace.json')); t['distributedInfo']['rank'] = 10; $1; print(json.dumps(t, indent=1))" > info/x.json; }
  $ for change in pass "[e.update(ts=e['ts'] + 7) for e in t['traceEvents']]" "[e['args'].update(device=5) for e in t['traceEvents']]"; do as_rank_10 "$change"; gpufathom ranks info/9.12-TP-0-EXTEND.trace.json info/x.json; done
  gpufathom: info/x.json: has the content of info/9.12-TP-0-EXTEND.trace.json: it is the same capture (give each rank once, all from one run)
  gpufathom: info/x.json: has the content of info/9.12-TP-0-EXTEND.trace.json: it is the same capture (give each rank once, all from one run)
  gpufathom: info/x.json: has the content of info/9.12-TP-0-EXTEND.trace.json: it is the same capture (give each rank once, all from one run)
  [1]
  $ python3 job.py; gpufathom ranks named/x.rank0.json named/x.rank3.json
  gpufathom: named/x.rank3.json: is rank 3 by its name, and its collectives are those of ranks 0, 1 (give each rank once, all from one run)
  [1]
  $ gpufathom ranks swapped | grep -A1 renamed
    rank_renamed (1x): rank 1: x.rank2.json is rank 1 by what it holds, and rank 2
    by its name
