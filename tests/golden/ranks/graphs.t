Two ranks whose steps are CUDA graphs: of each graph one kernel takes 20 us longer on rank 1, and a
collective follows. Another trace of the program tells which operator it belongs to.

  $ cat > ranks.py <<'END'
  > import copy, gzip, json, os
  > trace = json.load(gzip.open(os.environ["EXAMPLES"] + "/lenet_graphs_b1.json.gz"))
  > for rank in (0, 1):
  >     made, graphs = copy.deepcopy(trace), {}
  >     made["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
  >     events = made["traceEvents"]
  >     for kernel in sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"]):
  >         graphs.setdefault(kernel["args"]["correlation"], []).append(kernel)
  >     for number, graph in enumerate(graphs.values()):
  >         launched, slow, later = graph[0]["ts"] + 1, 0, 0
  >         for kernel in graph:
  >             kernel["ts"] += later
  >             slow = 20 if "convolve" in kernel["name"] else 0
  >             if rank == 1: kernel["dur"] += slow; later += slow
  >         own = {"correlation": 900000 + number}
  >         told = {"device": 0, "context": 1, "stream": 9, "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024,
  >                 "Group size": 2, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
  >         events.append({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", "pid": 0, "tid": 9,
  >                        "ts": graph[-1]["ts"] + graph[-1]["dur"] + 1, "dur": 5 if rank else 25, "args": {**own, **told}})
  >         events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4539, "tid": 4539, "ts": launched, "dur": 2, "args": own})
  >     json.dump(made, open(f"rank{rank}.json", "w"))
  > END
  $ python3 ranks.py
  $ gpufathom ranks rank0.json rank1.json | sed -n '/^Late ranks/,/^$/p'
  Late ranks by cause                 waited: by the other ranks; gain: of the job
    rank  why               where                      late by    waited      gain
       1  more kernel time  void implic.., int, int)  80.00 us  80.00 us  20.00 us
  
  $ gpufathom ranks rank0.json rank1.json --graphs "$EXAMPLES/lenet_inf_b1.json.gz" | sed -n '/^Late ranks/,/^$/p'
  Late ranks by cause                 waited: by the other ranks; gain: of the job
    rank  why               where                      late by    waited      gain
       1  more kernel time  Sequential_..ten::conv2d  80.00 us  80.00 us  20.00 us
  
  $ gpufathom ranks rank0.json rank1.json --map --graphs "$EXAMPLES/lenet_inf_b1.json.gz" > parts.jsonl
  $ gpufathom ranks parts.jsonl | sed -n '/^Late ranks/,/^$/p'
  Late ranks by cause                 waited: by the other ranks; gain: of the job
    rank  why               where                      late by    waited      gain
       1  more kernel time  Sequential_..ten::conv2d  80.00 us  80.00 us  20.00 us
  

Of no use to ranks without such kernels; what does not fit is said.

  $ gpufathom ranks parts.jsonl --graphs "$EXAMPLES/lenet_inf_b1.json.gz"
  gpufathom: the ranks: no kernel of a graph without an operator, for which --graphs would tell one (--graphs goes with a trace that has the kernels of CUDA graphs)
  [1]
  $ gpufathom ranks rank0.json rank1.json --graphs "$EXAMPLES/bert_amp_eager_b32.json.gz" 2>&1 | cut -c1-150
  gpufathom: rank0.json: nothing that its graphs ran (the first: 13 launches) is what these files launched (3252), or several differ (give a trace of th
  gpufathom: rank1.json: nothing that its graphs ran (the first: 13 launches) is what these files launched (3252), or several differ (give a trace of th
