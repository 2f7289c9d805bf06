Dumps of PyTorch's flight recorder: the collective that a job hangs in, and the rank that the others wait for.

  $ python3 - <<'PY'
  > import json, os, pickle
  > def entry(sequence, rank, state="completed", name="nccl:all_reduce", late=0, p2p=False):
  >     return {"frames": [{"name": "step", "filename": "/app/train.py", "line": 12}], "process_group": ("0", "default_pg"), "collective_seq_id": sequence, "profiling_name": name,
  >         "time_created_ns": 1790000000000000000 + sequence * 10_000_000 + late, "input_sizes": [[1024, 8]], "state": state, "retired": state == "completed", "is_p2p": p2p,
  >         "time_discovered_started_ns": None, "time_discovered_completed_ns": None}
  > def dump(folder, rank, entries, ranks="[0, 1, 2]", as_json=False):
  >     os.makedirs(folder, exist_ok=True)
  >     whole = {"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}}, "entries": entries}
  >     if as_json: json.dump(whole, open(f"{folder}/rank_{rank}.json", "w"))
  >     else: pickle.dump(whole, open(f"{folder}/nccl_trace_rank_{rank}", "wb"), 2)
  > for as_json in (False, True):
  >     folder = "json" if as_json else "behind"
  >     dump(folder, 0, [entry(i, 0) for i in range(1, 5)] + [entry(5, 0, "started"), entry(0, 0, p2p=True)], as_json=as_json)
  >     dump(folder, 1, [entry(i, 1, late=2_000_000) for i in range(1, 5)] + [entry(5, 1, "scheduled", late=2_000_000)], as_json=as_json)
  > for rank in range(3): dump("differs", rank, [entry(1, rank), entry(2, rank, "started", "nccl:broadcast" if rank == 2 else "nccl:all_reduce")])
  > for rank in range(3): dump("never", rank, [entry(1, rank)] + ([] if rank == 1 else [entry(2, rank, "started")]))
  > for rank in range(3): dump("network", rank, [entry(1, rank, "started")])
  > for rank in range(3): dump("sound", rank, [entry(i, rank, late=rank * 1000) for i in range(rank, 6)])
  > os.makedirs("inspector")
  > for rank, times in enumerate(((900.5, 800.0), (400.0, 300.25))):
  >     open(f"inspector/rank{rank}.log", "w").write("".join(json.dumps({"header": {"id": "0xab", "rank": rank, "n_ranks": 2}, "metadata": {"inspector_output_format_version": "v4.0"}, "coll_perf":
  >         {"coll": "AllReduce", "coll_sn": number, "coll_msg_size_bytes": 1 << 20, "coll_exec_time_us": time, "coll_timing_source": "kernel_gpu"}}) + "\n" for number, time in enumerate(times)))
  > PY
  $ gpufathom ranks behind
  Collectives by the records of 2 ranks
  
  Group 0 (default_pg): 2 ranks, 5 collectives in every dump; without a dump: rank
  2
    Collective 5, all_reduce of 1024x8, at train.py:12, did not end on every rank.
    Asked for it, but the GPU has not begun it: rank 1. Began it and wait in it:
    rank 0. The others wait for rank 1.
    rank  came last  median late
       1     5 of 5     2.000 ms
       0     0 of 5         0 ns
  
  Caveats
    - The recorder's times of start and end are those at which a watchdog looked,
    every 100 ms or so: how long a collective took, or how busy a GPU was, they
    cannot say. A torch.profiler trace of each rank can.
    - Lateness is by the clock of each rank's host when its program asked for the
    collective: between hosts it includes the difference of their clocks.
  $ for folder in differs never network sound inspector; do echo "== $folder"; gpufathom ranks $folder | sed -n '/^Group/,/^Caveats/p' | grep -v '^Caveats'; done
  == differs
  Group 0 (default_pg): 3 ranks, 2 collectives in every dump
    Collective 2, all_reduce of 1024x8, at train.py:12, did not end on every rank.
    Asked for broadcast instead: rank 2. Began it and wait in it: ranks 0, 1. The
    others wait for rank 2.
    rank  came last  median late
       0     0 of 2         0 ns
       1     0 of 2         0 ns
       2     0 of 2         0 ns
  
  == never
  Group 0 (default_pg): 3 ranks, 1 collective in every dump
    Collective 2, all_reduce of 1024x8, at train.py:12, did not end on every rank.
    Never asked for it: rank 1. Began it and wait in it: ranks 0, 2. The others
    wait for rank 1.
    rank  came last  median late
       0     0 of 1         0 ns
       1     0 of 1         0 ns
       2     0 of 1         0 ns
  
  == network
  Group 0 (default_pg): 3 ranks, 1 collective in every dump
    Collective 1, all_reduce of 1024x8, at train.py:12, did not end on every rank.
    Began it and wait in it: ranks 0-2. Every rank began it, so they wait for the
    network or the library itself.
    rank  came last  median late
       0     0 of 1         0 ns
       1     0 of 1         0 ns
       2     0 of 1         0 ns
  
  == sound
  Group 0 (default_pg): 3 ranks, 4 collectives in every dump
    Every collective in them ended.
    rank  came last  median late
       2     4 of 4     2.000 us
       1     0 of 4     1.000 us
       0     0 of 4         0 ns
  
  == inspector
  Group 0xab: 2 ranks, 2 collectives in every dump
    Every collective in them ended.
    rank  came last  median late
       1     2 of 2     500.5 us
       0     0 of 2         0 ns
  
  $ gpufathom ranks behind --json | jq -c '.schema, (.groups[0] | [.missing, .shared, .stuck.sequence, .stuck.culprits, .late[0]])'
  "gpufathom.nccl_dumps/1"
  [[2],5,5,[1],{"rank":1,"last":5,"of":5,"median_late_ns":2000000}]
  $ [ "$(gpufathom ranks behind --json | jq -c .groups)" = "$(gpufathom ranks json --json | jq -c .groups)" ] && echo same
  same
  $ gpufathom ranks behind/nccl_trace_rank_0 -o job.html
  gpufathom: flight recorders have no page: take text or json
  [2]
  $ head -c 300 behind/nccl_trace_rank_0 > behind/nccl_trace_rank_7 && gpufathom ranks behind 2> words | head -1; cat words
  Collectives by the records of 2 ranks
  gpufathom: behind/nccl_trace_rank_7: byte 291: is a damaged pickle (PyTorch writes one for each rank when a collective times out (TORCH_NCCL_DUMP_ON_TIMEOUT=1), or on request: copy it again)

The place is the program's line, and not PyTorch's own; without one, PyTorch's. Of Gloo nobody sees that a collective begins.

  $ python3 - <<'PY'
  > import json, os, pickle
  > torch = "/usr/lib/python3/dist-packages/torch/distributed"
  > frames = [{"name": "all_reduce", "filename": f"{torch}/distributed_c10d.py", "line": 3906}, {"name": "wrapper", "filename": f"{torch}/c10d_logger.py", "line": 83},
  >           {"name": "step", "filename": "/app/train.py", "line": 12}, {"name": "main", "filename": "/app/main.py", "line": 3}]
  > def entry(sequence, state, backend, frames):
  >     return {"frames": frames, "process_group": ("0", "default_pg"), "collective_seq_id": sequence, "profiling_name": f"{backend}:all_reduce", "time_created_ns": 1790000000000000000 + sequence,
  >         "input_sizes": [[100]], "state": state, "retired": state == "completed", "is_p2p": False}
  > def dump(folder, rank, last, backend, ranks, frames):
  >     os.makedirs(folder, exist_ok=True)
  >     groups = {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}} if ranks else {"": {"name": "", "desc": "", "ranks": "[0, 1, 2]"}}
  >     whole = {"version": "2.10", "pg_config": groups, "pg_status": {}, "entries": [entry(1, "completed", backend, frames), entry(2, last, backend, frames)]}
  >     pickle.dump(whole, open(f"{folder}/nccl_trace_rank_{rank}", "wb"), 2)
  >     os.makedirs(f"{folder}_json", exist_ok=True)
  >     json.dump(whole, open(f"{folder}_json/rank_{rank}.json", "w"))
  > for rank in range(2):
  >     dump("gloo", rank, "scheduled", "gloo", "", frames)
  >     dump("nccl", rank, "scheduled", "nccl", "[0, 1, 2]", frames[:2])
  >     dump("one", rank, "started", "nccl", "[0, 1]", frames[2:])
  > os.remove("one/nccl_trace_rank_1")
  > os.makedirs("off")
  > pickle.dump({"version": "2.10", "pg_config": {}, "pg_status": {}, "entries": []}, open("off/nccl_trace_rank_0", "wb"), 2)
  > json.dump({"version": "2.10", "pg_config": {}, "pg_status": {}}, open("off/rank_1.json", "w"))
  > PY
  $ for folder in gloo nccl one off; do echo "== $folder"; gpufathom ranks $folder | sed '/^Caveats/,$d'; done
  == gloo
  Collectives by the records of 2 ranks
  
  Group 0: 2 ranks, 2 collectives in every dump
    Collective 2, gloo:all_reduce of 100, at train.py:12, did not end on every
    rank. Began it and wait in it: ranks 0, 1. Every rank with a dump began it, so
    they wait for a rank without one, the network, or the library itself.
    rank  came last  median late
       0     0 of 2         0 ns
       1     0 of 2         0 ns
  
  == nccl
  Collectives by the records of 2 ranks
  
  Group 0 (default_pg): 2 ranks, 2 collectives in every dump; without a dump: rank
  2
    Collective 2, all_reduce of 100, at distributed_c10d.py:3906, did not end on
    every rank. Asked for it, but the GPU has not begun it: ranks 0, 1. No rank
    with a dump began it: their GPUs are busy with earlier work.
    rank  came last  median late
       0     0 of 2         0 ns
       1     0 of 2         0 ns
  
  == one
  Collectives by the records of 1 rank
  One dump shows only its own rank; give the dumps of all ranks.
  
  Group 0 (default_pg): 1 rank, 2 collectives in every dump; without a dump: rank
  1
    Collective 2, all_reduce of 100, at train.py:12, did not end on every rank.
    Began it and wait in it: rank 0. Every rank with a dump began it, so they wait
    for a rank without one, the network, or the library itself.
  
  == off
  Collectives by the records of 2 ranks
  No dump holds a collective: the recorder was off (TORCH_FR_BUFFER_SIZE=2000 or
  TORCH_NCCL_TRACE_BUFFER_SIZE=2000 turn it on), or nothing was asked for yet.
  
  $ for folder in gloo nccl; do [ "$(gpufathom ranks $folder --json | jq -c .groups)" = "$(gpufathom ranks ${folder}_json --json | jq -c .groups)" ] && echo same; done
  same
  same

Packed dumps are read; one that holds nothing is missing, and said.

  $ mkdir packed && for rank in 0 1; do gzip -c behind/nccl_trace_rank_$rank > packed/nccl_trace_rank_$rank.gz; done && gpufathom ranks packed --json | jq -c '.groups[0] | [.stuck.sequence, .stuck.culprits]'
  [5,[1]]
  $ : > packed/nccl_trace_rank_2 && gpufathom ranks packed 2> words | head -1; cat words
  Collectives by the records of 2 ranks
  gpufathom: packed/nccl_trace_rank_2: is empty (the program that wrote it may have failed or may still be running)
