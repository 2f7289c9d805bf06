Kernels of NCCL for symmetric memory (ncclSymkDevKernel_ since 2.28, ncclSymDevKernel_ in 2.27) are
collectives of the type in their names, whichever way they move the data. No record describes them.

  $ cat > job.py <<'END'
  > import json
  > names = ["ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32(ncclSymkDevWorkArgs4K)", "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16",
  >          "ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_f16(ncclSymDevArgs)", "ncclSymkDevKernel_AllGather_LLMC", "ncclSymkDevKernel_AllGather_RailRing_LsaSTMC",
  >          "ncclSymkDevKernel_ReduceScatter_LL_sum_f32", "ncclSymkDevKernel_ReduceScatter_RailA2A_LsaLD_avg_bf16"]
  > for rank in (0, 1):
  >     events = []
  >     for step in range(4):
  >         for place, name in enumerate(["gemm_k"] + names):
  >             late = 5 if rank == 0 and place > 0 else 0
  >             events.append({"ph": "X", "cat": "kernel", "name": name, "pid": rank, "tid": 7, "ts": 1000 + 1000 * step + 100 * place + late,
  >                            "dur": 50 - late, "args": {"correlation": 10 * step + place, "stream": 7, "device": rank}})
  >     json.dump({"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events}, open(f"rank{rank}.json", "w"))
  > END
  $ python3 job.py
  $ gpufathom analyze rank0.json --json | jq -r '.kernels[] | "\(.layer_type)  \(.name)"' | sort
  Communication  ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_f16(ncclSymDevArgs)
  Communication  ncclSymkDevKernel_AllGather_LLMC
  Communication  ncclSymkDevKernel_AllGather_RailRing_LsaSTMC
  Communication  ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32(ncclSymkDevWorkArgs4K)
  Communication  ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16
  Communication  ncclSymkDevKernel_ReduceScatter_LL_sum_f32
  Communication  ncclSymkDevKernel_ReduceScatter_RailA2A_LsaLD_avg_bf16
  MatMul  gemm_k
  $ gpufathom ranks rank0.json rank1.json --json --rows 100 | jq -r '.collectives | group_by(.type)[] | "\(length) \(.[0].type)"'
  8 all_gather
  12 all_reduce
  8 reduce_scatter
  $ gpufathom ranks rank0.json rank1.json --json | jq -c '.ranks[] | {compute_ns, exposed_ns}'
  {"compute_ns":200000,"exposed_ns":1260000}
  {"compute_ns":200000,"exposed_ns":1400000}
