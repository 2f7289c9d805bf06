TensorFlow's eager mode, the same LeNet-5 twice. SYNC runs every operation inside the call that enqueues it: no queue. ASYNC hands them to a
thread of its own through a queue. The phases sum to the window, and so does everything else that is divided.

  $ tar -xzf "$EXAMPLES"/tf_lenet_eager.tgz
  $ for mode in sync async; do
  >   gpufathom analyze lenet5_${mode}_b1 --batch 1 --window all --format json > $mode.json
  >   jq -c '.runtime | [.modes, .items, .duration_ns, .duration_ns == ([.phases[].ns] | add),
  >     (.kernels | .cpu_kernel_ns + .gpu_kernel_ns + .both_ns + .overhead_ns) == .duration_ns]' $mode.json
  >   jq -c '.runtime.phases[] | select(.ns > 0) | [.phase, .ns]' $mode.json
  > done
  [["eager_sync"],5,35023569,true,true]
  ["cpu_kernel",10113228]
  ["dequeue",142589]
  ["memcpy",332804]
  ["enqueue",6041291]
  ["other",18393657]
  [["eager_async"],5,30077898,true,true]
  ["cpu_kernel",4431280]
  ["dequeue",845753]
  ["memcpy",305605]
  ["wait",273430]
  ["enqueue",7387391]
  ["other",16834439]
  $ jq -c '.runtime.queues[] | [.id, .items, .from_before, .max_depth, .empty_ns, .wait.median]' sync.json async.json
  ["threadpool",30,0,1,32850375,9475]
  ["framework",175,0,3,29745903,0]
  ["threadpool",30,0,1,29159000,10586]
  $ jq -c '.runtime.queues[] | .empty_ns == ([.when_empty[].ns] | add)' async.json
  true
  true

Every operation has its phases; those of ASYNC were joined over two threads.

  $ jq -c '.runtime.operations[] | select(.type == "Conv2D") | .count, (.phases[] | [.phase, .total_ns, .spread.count])' sync.json async.json
  10
  ["cpu_kernel",5466925,10]
  ["dequeue",12081,10]
  ["memcpy",16785,10]
  ["enqueue",647872,10]
  10
  ["cpu_kernel",1098334,10]
  ["dequeue",653666,10]
  ["memcpy",18274,10]
  ["enqueue",1380009,10]

Which events were taken for which phase stands in the answer.

  $ jq -c '.runtime.rules[] | [.phase, .event, .events]' async.json
  ["enqueue","EagerLocalExecute: *",175]
  ["dequeue","EagerKernelExecute",175]
  ["enqueue","EagerExecute*",175]
  ["enqueue","TFE_Py_FastPathExecute*",160]
  ["enqueue","TFE_Py_Execute*",40]
  ["enqueue","ValidateInputTypeAndPlacement",175]
  ["enqueue","TFE_DeleteTensorHandle",190]
  ["memcpy","EagerCopyToDevice*",210]
  ["cpu_kernel","KernelAndDevice*",175]
  ["wait","* WaitReady",13]

A JAX profile and the trace.json that its profiler derived from it have the same kernel time, to the nanosecond.

  $ tar -xzf "$EXAMPLES"/jax_mlp.tgz
  $ mkdir alone && cp plugins/profile/*/vm.trace.json.gz alone/
  $ for capture in plugins alone/vm.trace.json.gz; do
  >   gpufathom analyze $capture --window all --format json | jq -c '[.source.format, .devices[0].busy_ns, .devices[0].kernel_busy_ns, .devices[0].kernel_time_sum_ns, .devices[0].gpu_events]'
  > done
  ["xplane",3657248,3641345,3669409,112]
  ["tf_trace_json",3657248,3641345,3669409,112]

GPU idle time by cause in an eager program with Python stacks.

  $ gpufathom analyze "$EXAMPLES"/lenet_inf_b1.json.gz --window all --format json | jq -c '.runtime.idle[:3][] | [.cause, .phase, .operation, .python, .ns]'
  ["host_other","other","workload.py(60): <module>","typing.py(392): inner",158015]
  ["host_other","other","workload.py(60): <module>","workload.py(60): <module>",149787]
  ["launch_bound","enqueue","aten::addmm","<built-in function linear>",127421]

A program captured as one CUDA graph: each launch is one item of the queue, whatever number of kernels it starts.

  $ gpufathom analyze "$EXAMPLES"/lenet_graphs_b1.json.gz --batch 1 --window all --format json | jq -c '.devices[0].kernels, (.runtime | .modes, [.queues[] | [.id, .items, .max_depth]], ([.phases[].ns] | add) == .duration_ns), [.findings[].id]'
  65
  ["cuda_graphs"]
  [["device:0",5,1]]
  true
  ["sync_in_step","small_grids","small_batch","fp32_without_tensor_cores","launch_bound","tiny_kernels","warm_up_in_window","missing_counters","observer_effect"]

A program compiled with torch.compile.

  $ gpufathom analyze "$EXAMPLES"/resnet50_amp_compile_b64.json.gz --window all --format json | jq -c '.runtime | .modes, ([.phases[].ns] | add) == .duration_ns, (.operations[] | select(.type | startswith("Torch-Compiled")) | [.type, .count])'
  ["compile","eager"]
  true
  ["Torch-Compiled Region: 0/0",3]

JAX 0.4.20 records no kernel of the CPU: what is not recorded does not run 0 % of the time.

  $ python3 - <<'PY'
  > import json
  > events = [{"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}}, {"ph": "M", "pid": 701, "tid": 9, "name": "thread_name", "args": {"name": "python"}}]
  > for step in range(5):
  >     begin = 400.5 + 600 * step
  >     events.append({"ph": "X", "pid": 701, "tid": 9, "ts": begin, "dur": 590.25, "name": "train", "args": {"step_num": str(step)}})
  >     events.append({"ph": "X", "pid": 701, "tid": 9, "ts": begin + 4, "dur": 580, "name": "PjitFunction(f)"})
  >     events.append({"ph": "X", "pid": 701, "tid": 9, "ts": begin + 20, "dur": 500, "name": "TfrtCpuExecutable::Execute"})
  > json.dump({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}, open("host.trace.json", "w"))
  > PY
  $ gpufathom host.trace.json 2> words | head -4; cat words
  host.trace.json                                                5 steps, 2.990 ms
  No GPU, and no kernel of the CPU was recorded: how long kernels run is unknown.
  Incomplete: the capture contains no GPU events (did the profiler record the
  device?)
  gpufathom: host.trace.json: incomplete result: the capture contains no GPU events (did the profiler record the device?)
