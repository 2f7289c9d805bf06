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

So are the kernels of libraries that exchange the tokens of experts, and of other makers' libraries; what sorts tokens on the device itself is not.

  $ cat > experts.py <<'END'
  > import json
  > names = ["void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)", "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)", "moeA2APrepareCombineKernel",
  >          "moeA2ACombineKernel", "void mori::moe::EpCombineIntraNodeKernel<hip_bfloat16>(int)", "a2a_dispatch_send_kernel", "oneccl_allgatherv_pcie", "mcclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
  >          "hcom_broadcast__158_0_1", "void (anonymous namespace)::multimem_all_gather_kernel<16>(char*)"]
  > for rank in (0, 1):
  >     events = [{"ph": "X", "cat": "kernel", "name": name, "pid": rank, "tid": 7, "ts": 1000 + 100 * place, "dur": 50 - rank, "args": {"correlation": place, "stream": 7, "device": rank}}
  >               for place, name in enumerate(names)]
  >     json.dump({"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events}, open(f"experts{rank}.json", "w"))
  > END
  $ python3 experts.py
  $ gpufathom ranks experts0.json experts1.json --json | jq -r '.collectives[] | "\(.type)"' | sort | uniq -c | awk '{print $1, $2}'
  2 all_gather
  1 broadcast
  4 other
  1 send_receive
  $ gpufathom ranks experts0.json experts1.json --json | jq -c '.ranks[] | {compute_ns, communication_ns}'
  {"compute_ns":100000,"communication_ns":400000}
  {"compute_ns":98000,"communication_ns":392000}
  $ gpufathom analyze experts0.json --json | jq -c '.layer_types[] | [.name, .ns]'
  ["Communication",400000]
  ["Data movement",100000]
