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
  
    TensorFlow or JAX profile (XSpace protobuf)
        jax.profiler.trace(FOLDER) or tf.profiler.experimental.start(FOLDER)
  
    TensorFlow or JAX trace.json
        the same call; the XSpace file beside it contains more
  
    Nsight Compute report (.ncu-rep)
        ncu -o report PROGRAM; give it with --counters beside a trace
  
    Nsight Compute report (CSV)
        ncu --import report.ncu-rep --csv --page raw
  
    log of power, clocks or utilization (nvidia-smi or NVML, CSV)
        nvidia-smi --query-gpu=timestamp,index,power.draw.instant --format=csv
        -lms 100; give it with --power beside a trace
  
    output of nvidia-smi dmon
        nvidia-smi dmon -s puc -o DT --format csv
  
    output of dcgmi dmon
        dcgmi dmon -e 155,1001,1002,1003,1004,1005
  
    memory snapshot of PyTorch (pickle)
        torch.cuda.memory._record_memory_history();
        torch.cuda.memory._dump_snapshot("snap.pickle")
  
  Not read, but recognized, so that the message says what to do instead: files of
  Nsight Systems, nvprof, rocprofv3 (AMD), RPD (AMD), rocprof-compute (AMD),
  rocprof (AMD), device-metrics-exporter (AMD), amd-smi, rocm-smi, Radeon GPU
  Profiler (AMD), torch_npu (Ascend), msprof (Ascend), unitrace (Intel), xpu-smi
  (Intel), xctrace (Apple), powermetrics (Apple), gpufathom monitor,
  dcgm-exporter, nvidia_gpu_exporter, all-smi, Prometheus exporters, Prometheus,
  Weights & Biases, nvidia-smi, gpustat, gpufathom, PyTorch, TensorBoard, Chakra,
  NCCL inspector, NCCL, Proton (Triton), trtexec (TensorRT), ONNX Runtime,
  Perfetto, TensorFlow 1, perf (Linux), speedscope, VizTracer, Chrome, Nsight
  Graphics, Score-P, pprof, cProfile, compute-sanitizer.
