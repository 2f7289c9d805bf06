Rank 1 looks 98 % busy; told of its peers, its waiting for rank 0 is a part of its own.

  $ needs-corpus || exit 80
  $ ranks="$GPUFATHOM_CORPUS/h200/ranks"
  $ LC_ALL=C gpufathom analyze "$ranks"/slow_gpu.rank1.json.gz --window all --ranks "$ranks"/slow_gpu.rank0.json.gz --rows 1 > answer.txt
  $ sed -n '1,3p; /Time breakdown/,/^$/p; /Recommendations/,/ranks$/p' answer.txt
  slow_gpu.rank1.json.gz                      NVIDIA H200, whole capture, 188.2 ms
  GPU active 97.5 % of the time. Utilization inside kernels needs counters.
  Largest loss: waiting for other ranks, 112.8 ms (59.9 %).
  Recommendations
    1. Exposed communication takes 61 % of the time, and 60 % of the time it only
       waits for other ranks, mostly for rank 0 (more kernel time in
       aten::matmul). Look at that rank: communicating less recovers none of the
       waiting time. [predicted gain 45 % of a step (34-57 %); programs that made
       the change gained 17-87 %]
       114 ms of 156 ms communication is exposed, 113 ms of that waits for other
       ranks
  Time breakdown                                          parts add up to 188.2 ms
    GPU idle                  #                               3.780 ms       2.0 %
    memory copies only         #                              958.7 us       0.5 %
    waiting for other ranks    #################              112.8 ms      59.9 %
    no counters                                ###########    70.65 ms      37.5 %
  
  $ awk 'length > 80' answer.txt

The account of the peak: the captures have no sizes of operators, so the last layer's are put in.

  $ cat > sizes.py <<'END'
  > import gzip, json, sys
  > trace = json.load(gzip.open(sys.argv[1]))
  > for event in trace["traceEvents"]:
  >     if event.get("name") == "aten::addmm":
  >         event["args"] |= {"Input Dims": [[1000], [64, 2048], [2048, 1000]], "Input type": ["float"] * 3}
  > json.dump(trace, open(sys.argv[2], "w"))
  > END
  $ python3 sizes.py "$ranks"/slow_gpu.rank1.json.gz rank1.json
  $ gpufathom work rank1.json --ranks "$ranks"/slow_gpu.rank0.json.gz --window all --rows 2 | grep 'in collectives'
    in collectives            22.15 ms  11.8 %  c10d::allreduce_
    waiting in collectives    112.8 ms  59.9 %  rank 0
  $ gpufathom work rank1.json --ranks "$ranks"/slow_gpu.rank0.json.gz --window all --json > work.json
  $ jq -c '.accounts[0] | .span_ns - ([.parts[].ns] | add), (.parts[] | select(.id == "waiting") | .ns - ([.owners[].ns] | add), .owners)' work.json
  0
  0
  [{"name":"rank 0","type":"Communication","phase":"","cause":"","ns":112807266}]

Every nanosecond in one bar, against the truth beside the captures. What is exposed and does not wait is transfer or lies below the doubt of the clocks; in fsdp rank 0
also lacks eleven collectives of rank 1.

  $ cat > check.py <<'END'
  > import json, subprocess, sys
  > truth = json.load(open(f"{sys.argv[1]}/truth.json"))
  > def answer(verb, case, rank, *more):
  >     run = subprocess.run(["gpufathom", verb, f"{sys.argv[1]}/{case}.rank{rank}.json.gz", "--json", "--window", "all", *more], capture_output=True)
  >     return json.loads(run.stdout)
  > for case in ("none", "slow_gpu", "fsdp"):
  >     for rank in (0, 1):
  >         known, peer = truth[case]["ranks"][str(rank)], f"{sys.argv[1]}/{case}.rank{1 - rank}.json.gz"
  >         device = answer("analyze", case, rank, "--ranks", peer)["devices"][0]
  >         bars = {bar["id"]: bar for bar in device["waterfall"]}
  >         waiting = bars["waiting"]
  >         assert sum(bar["ns"] for bar in bars.values()) == device["span_ns"]
  >         assert sum(part["ns"] for part in waiting["parts"]) == sum(part["ns"] for part in waiting["kernels"]) == waiting["ns"]
  >         left = known["comm_exposed_ns"] - waiting["ns"]
  >         print(case, rank, [(part["name"], part["ns"]) for part in waiting["parts"]], "of exposed", known["comm_exposed_ns"], "left", left)
  > END
  $ python3 check.py "$ranks"
  none 0 [] of exposed 1773821 left 1773821
  none 1 [('rank 0', 70607879)] of exposed 72901642 left 2293763
  slow_gpu 0 [] of exposed 1940573 left 1940573
  slow_gpu 1 [('rank 0', 112807266)] of exposed 114318496 left 1511230
  fsdp 0 [] of exposed 8481995 left 8481995
  fsdp 1 [('rank 0', 141918447)] of exposed 163742624 left 21824177

Without the peers nothing is told apart; a folder, parts of --map and the capture itself among them are the same.

  $ gpufathom analyze "$ranks"/slow_gpu.rank1.json.gz --json | jq -c '[.devices[0].waterfall[].id]'
  ["idle","copy","sm_inactive","stalled","other_instructions","tensor","unknown"]
  $ mkdir job; cp "$ranks"/slow_gpu.rank*.json.gz job
  $ gpufathom analyze job/slow_gpu.rank1.json.gz --ranks job --json > folder.json
  $ gpufathom ranks --map job > parts.json
  $ gpufathom analyze job/slow_gpu.rank1.json.gz --ranks parts.json --json > parts.answer.json
  $ cmp folder.json parts.answer.json

Wrong usage, a rank alone, ranks of two runs, another program, a peer that is damaged.

  $ gpufathom analyze job --ranks job
  gpufathom: --ranks requires one capture to analyze
  [2]
  $ gpufathom analyze job/slow_gpu.rank1.json.gz --ranks job/slow_gpu.rank1.json.gz
  gpufathom: job/slow_gpu.rank1.json.gz: is the only rank given: which rank it waited for is unknown (give the captures of the other ranks, or their folder)
  [1]
  $ gpufathom work job/slow_gpu.rank1.json.gz --ranks "$ranks"/none.rank0.json.gz 2>&1 | sed "s,$ranks,RANKS,g"
  gpufathom: RANKS/none.rank0.json.gz: shares its process groups with other ranks, but of its 28 collectives only 3 match: it is from another run, or from another time of the same run (give files that the ranks wrote at the same time)
  $ gpufathom analyze $EXAMPLES/lenet_train_b64.json.gz --ranks job 2>&1 | sed 's,.*/lenet,lenet,'
  lenet_train_b64.json.gz: shares no collective with the given ranks (give the files that the ranks of one run wrote at the same time)
  $ head -c 30 "$ranks"/slow_gpu.rank0.json.gz > job/slow_gpu.rank0.json.gz
  $ gpufathom analyze job/slow_gpu.rank1.json.gz --ranks job
  gpufathom: job/slow_gpu.rank0.json.gz: gzip data ends early at byte 30 of the compressed file (nothing in it can be read; copy it again from its source)
  gpufathom: job/slow_gpu.rank1.json.gz: is the only rank given: which rank it waited for is unknown (give the captures of the other ranks, or their folder)
  [1]
