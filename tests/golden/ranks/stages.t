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
  $ gpufathom ranks plain/*EXTEND* --rows 1 | sed -n 2,3p
  $ gpufathom ranks info | grep -A2 '^Stage'
  $ gpufathom ranks unnumbered | grep -A2 '^Stage'
  $ gpufathom ranks unnumbered/prefill_b.json unnumbered/*_a.json unnumbered/extend_b.json unnumbered/decode_b.json 2>&1 | head -1
  $ gpufathom ranks plain --format json | jq -c '.schema, (.stages[] | [.stage, .world_size, [.ranks[] | [.rank, .rank_source]], [.stragglers[] | [.rank, .gain_ns]]])'
  $ gpufathom ranks plain -o page.html

One rank of one stage, with the others.

  $ gpufathom analyze plain/9.12-TP-1-DECODE.trace.json --ranks plain --window all | sed -n 2,3p

What is missing or double is told by the groups.

  $ gpufathom ranks plain/*TP-0-EXTEND*
  $ gpufathom ranks plain/*TP-1-DECODE* plain/*EXTEND*
  $ cp plain/*TP-0-EXTEND* named/x.rank1.json; rm named/x.rank3.json; gpufathom ranks named/x.rank0.json named/x.rank1.json
  $ python3 job.py; gpufathom ranks named/x.rank0.json named/x.rank3.json
  $ gpufathom ranks swapped | grep -A1 renamed
