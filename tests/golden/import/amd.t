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
  $ gpufathom analyze out
  $ gpufathom analyze out --full | grep -iE 'nsys|ncu|cuda|nvidia'
  $ gpufathom query out "select grid_x, block_x, copy, bytes from activities group by grid_x"
