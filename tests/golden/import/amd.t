AMD's rocprofv3: any file of a process stands for all of its files, and a folder for its processes.

  $ mkdir out && python3 - <<'PY'
  > table = lambda name, *rows: open(f"out/5_{name}.csv", "w").write("".join(",".join(map(str, row)) + "\n" for row in rows))
  > text = lambda *names: [f'"{name}"' for name in names]
  > table("agent_info", text("Node_Id", "Agent_Type", "Cu_Count", "Name", "Product_Name"), [0, '"CPU"', 0, '"CPU"', '"CPU"'],
  >     *[[node, '"GPU"', 304, '"gfx942"', '"AMD Instinct MI300X"'] for node in (2, 3)])
  > table("kernel_trace", text("Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Dispatch_Id", "Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp",
  >     "Workgroup_Size_X", "Grid_Size_X"), *[['"KERNEL_DISPATCH"', f'"Agent {2 + i % 2}"', 1, 1, i, '"gemm<1, 2>"', 10 + i,
  >     1071423000000000 + i * 50000, 1071423000000000 + i * 50000 + 60000, 256, 77824] for i in range(200)])
  > table("memory_copy_trace", text("Kind", "Direction", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"),
  >     ['"MEMORY_COPY"', '"MEMORY_COPY_HOST_TO_DEVICE"', '"Agent 0"', '"Agent 2"', 1, 1071422999900000, 1071422999950000])
  > table("hip_api_trace", text("Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"),
  >     *[['"HIP_RUNTIME_API_EXT"', '"hipLaunchKernel"', 5, 5, 10 + i, 1071423000000000 + i * 50000 - 20000, 1071423000000000 + i * 50000 - 12000] for i in range(200)])
  > PY
  $ for path in out out/5_kernel_trace.csv out/5_hip_api_trace.csv; do brief $path; done
  events 401, device events 201, span 20020000, busy 12050000
  no_absolute_time 1: rocprofv3 counts from the start of the machine: a power log cannot be laid beside it
  events 401, device events 201, span 20020000, busy 12050000
  no_absolute_time 1: rocprofv3 counts from the start of the machine: a power log cannot be laid beside it
  events 401, device events 201, span 20020000, busy 12050000
  no_absolute_time 1: rocprofv3 counts from the start of the machine: a power log cannot be laid beside it
  $ gpufathom analyze out
  out                             2 x AMD Instinct MI300X, whole capture, 10.11 ms
  GPUs active 59.3 % of the time. Utilization inside kernels needs counters.
  Largest loss: idle time (other host work), 4.162 ms (20.6 %). No steps are
  known: 100 equal blocks of 1 kernel, 100.0 us each.
  
  Recommendations
    1. Launch-bound: the GPU waits for the host to launch the next kernel 8.0 % of
       the time. Launch less often: capture the step in a graph, fuse operations,
       or use a larger batch. [predicted gain 30 % of the program]
       Gains are predicted for the program without profiler overhead, by replay of
       the capture.
  
  Caveats
    - The trace shows GPU active only. rocprof-compute measures utilization inside
      kernels; gpufathom reads the counters of its reports (pmc_perf.csv) but
      computes no levels from them.
      Command: rocprof-compute profile -n run -- python train.py
  
  Utilization by level                                           share of 20.22 ms
    GPU active                \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x8a                      59.3 % (esc)
    no data for SM active, issue slot utilization, tensor pipe active, tensor
    instr. issued, tensor FLOP/s of peak: the capture has no per-kernel counters
  
  More with --full: time breakdown, devices, idle causes, runtime, layers,
  kernels, data quality. As a page: -o page.html.
  $ gpufathom analyze out --full | grep -iE 'nsys|ncu|cuda|nvidia'
  [1]
  $ gpufathom query out "select grid_x, block_x, copy, bytes from activities group by grid_x"
  grid_x  block_x  copy            bytes
    NULL     NULL  host_to_device  NULL
     304      256  none            NULL
  (2 rows)
