The formats that are read, and the tools whose files are named in a message:

  $ gpufathom help formats
  Files that are read, and how they are made. The content tells the format, not
  the name; gzip and zstd are unpacked.
  
    gpufathom capture (.gpf)
        gpufathom record --kernels -o run.gpf -- PROGRAM; gpufathom import FILE -o
        run.gpf
  
    PyTorch profiler trace (JSON)
        torch.profiler.profile() as prof; prof.export_chrome_trace("trace.json")
  
    Nsight Systems export (SQLite)
        nsys profile --trace=cuda,nvtx -o run PROGRAM; nsys export --type sqlite
        run.nsys-rep
  
    Nsight Systems report (.nsys-rep), where nsys is installed
        nsys profile --trace=cuda,nvtx -o run PROGRAM
  
    Nsight Systems export (Parquet, Arrow, HDF5), where Python has pyarrow or h5py
        nsys export --type parquetdir REPORT.nsys-rep (or arrowdir, arrow, hdf5)
  
    Nsight Systems export (JSON)
        nsys export --type jsonlines REPORT.nsys-rep (an export as SQLite says
        more)
  
    nvprof database (.nvvp, .nvprof)
        nvprof -o run.nvvp PROGRAM, on GPUs until compute capability 7.x
  
    table of GPU work (nvprof, nsys stats, CSV)
        nvprof --print-gpu-trace --csv PROGRAM 2> trace.csv; nsys stats --report
        cuda_gpu_trace --format csv REPORT.nsys-rep (an export as SQLite says
        more: it has the calls)
  
    AMD rocprofv3 trace (CSV)
        rocprofv3 --kernel-trace --memory-copy-trace --hip-trace --output-format
        csv -- PROGRAM; give PID_kernel_trace.csv or the folder
  
    AMD rocprofv3 trace (JSON)
        rocprofv3 --kernel-trace --memory-copy-trace --hip-trace --output-format
        json -- PROGRAM
  
    AMD rocprofv3 database (rocpd)
        rocprofv3 --kernel-trace --memory-copy-trace --hip-trace -- PROGRAM
  
    AMD rocmProfileData trace (.rpd)
        runTracer.sh -o trace.rpd PROGRAM
  
    Perfetto trace with GPU work (.pftrace)
        PyTorch 2.14: prof.export_chrome_trace("trace.pftrace"); rocprofv3
        --output-format pftrace; a program that writes GpuRenderStageEvent packets
  
    kernel table of an Ascend NPU (kernel_details.csv)
        torch_npu.profiler with tensorboard_trace_handler(FOLDER)
  
    trace of an Ascend NPU (trace_view.json)
        torch_npu.profiler with tensorboard_trace_handler(FOLDER); it has the
        host's calls
  
    ONNX Runtime profile (JSON)
        session_options.enable_profiling = True, with an ONNX Runtime that was
        built with --enable_cuda_profiling or --enable_rocm_profiling
  
    Intel unitrace trace (JSON)
        unitrace --chrome-kernel-logging --chrome-call-logging PROGRAM
  
    Proton trace of kernels (Triton)
        proton.start("run", data="trace")
  
    Proton profile (Triton, .hatchet)
        proton.start("run"); a trace says more: proton.start("run", data="trace")
  
    times of queries by trtexec (TensorRT)
        trtexec --exportTimes=times.json ...
  
    layers by trtexec (TensorRT)
        trtexec --exportProfile=profile.json ...
  
    TensorFlow or JAX profile (XSpace protobuf)
        jax.profiler.trace(FOLDER) or tf.profiler.experimental.start(FOLDER)
  
    TensorFlow or JAX trace.json
        the same call; the XSpace file beside it contains more
  
    Nsight Compute report (.ncu-rep)
        ncu -o report PROGRAM; give it with --counters beside a trace
  
    Nsight Compute report (CSV)
        ncu --import report.ncu-rep --csv --page raw
  
    AMD rocprof-compute counters (pmc_perf.csv)
        rocprof-compute profile -n run -- PROGRAM
  
    log of power, clocks or utilization (nvidia-smi or NVML, CSV)
        nvidia-smi --query-gpu=timestamp,index,power.draw.instant --format=csv
        -lms 100; give it with --power beside a trace
  
    output of nvidia-smi dmon
        nvidia-smi dmon -s puc -o DT --format csv
  
    output of dcgmi dmon
        dcgmi dmon -e 155,1001,1002,1003,1004,1005
  
    metrics of GPU exporters (Prometheus)
        curl HOST:9400/metrics > TIME.prom, a folder of which is a log; or
        Prometheus' answer to api/v1/query_range of {__name__=~"DCGM_FI_.*"}
  
    system metrics of Weights & Biases (CSV)
        wandb.Api().run(RUN).history(stream="system").to_csv("system.csv")
  
    memory snapshot of PyTorch (pickle)
        torch.cuda.memory._record_memory_history();
        torch.cuda.memory._dump_snapshot("snap.pickle")
  
  Not read, but recognized, so that the message says what to do instead: files of
  Git LFS, Nsight Systems, nvprof, RPD (AMD), rocprofv3 (AMD), rocprof-compute
  (AMD), rocprof (AMD), device-metrics-exporter (AMD), amd-smi, rocm-smi, Radeon
  GPU Profiler (AMD), msprof (Ascend), torch_npu (Ascend), unitrace (Intel),
  xpu-smi (Intel), xctrace (Apple), powermetrics (Apple), gpufathom monitor,
  Prometheus exporters, nvidia-smi, gpustat, gpufathom, PyTorch, TensorBoard,
  Chakra, NCCL inspector, NCCL, Proton (Triton), ROCm Systems Profiler (AMD),
  Perfetto, TensorFlow 1, perf (Linux), speedscope, VizTracer, Chrome, Nsight
  Graphics, Score-P, pprof, cProfile, compute-sanitizer.
