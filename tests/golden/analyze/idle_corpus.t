The same training with 0 and with 4 data-loader workers: the idle time that goes away was waiting for input. The host runs less
far ahead when the device no longer waits, so that some of it comes back as launch-bound time.

  $ needs-corpus || exit 80
  $ for workers in 0 4; do
  >   gpufathom analyze "$GPUFATHOM_CORPUS"/public/kineto_v100_resnet50_workers$workers.json.gz --format json |
  >     jq -c "[$workers, \"workers\", .devices[0].idle_ns], (.devices[0].idle[] | [.cause, .ns, .gaps])"
  > done
  [0,"workers",461995000]
  ["input",353886000,14]
  ["launch_bound",78814000,2372]
  ["kernel_gap",14920000,8916]
  ["host_other",14321000,1199]
  ["sync",54000,12]
  [4,"workers",232129000]
  ["launch_bound",137172000,2893]
  ["input",45137000,17]
  ["host_other",35561000,1412]
  ["kernel_gap",14198000,9087]
  ["sync",61000,12]

The largest part of it was in the loader itself.

  $ gpufathom analyze "$GPUFATHOM_CORPUS"/public/kineto_v100_resnet50_workers0.json.gz --format json |
  >   jq -c '.devices[0].idle[] | select(.cause == "input") | .operators[:3][] | [.name, .ns]'
  ["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",227013000]
  ["aten::copy_",34861000]
  ["aten::div",17384000]

Kernels without a launch record keep a label of their own, and a replayed CUDA graph is not the host's fault.

  $ for f in tracelens_h100_qwen_0.5b tracelens_vllm_decode_graph hta_a100_nccl; do
  >   gpufathom analyze "$GPUFATHOM_CORPUS"/public/$f.json.gz --format json | jq -c "[\"$f\", (.devices[0].idle[] | {(.cause): .ns})]"
  > done
  ["tracelens_h100_qwen_0.5b",{"kernel_gap":1786650},{"launch_bound":737689},{"host_other":716672},{"sync":36878}]
  ["tracelens_vllm_decode_graph",{"unexplained":7826151},{"host_other":511937},{"launch_bound":30600},{"kernel_gap":25473},{"sync":2190}]
  ["hta_a100_nccl",{"launch_bound":428620713},{"host_other":75355066},{"kernel_gap":5626770},{"sync":78736},{"dependency":44659}]
