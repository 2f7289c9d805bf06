"""Work, memory and stall reasons on a GPU: tests/gpu/work.py PROGRAM OUT SECONDS [--part run|step
NAME]

With the program: ceilings; for each model of tests/work/models.py a trace (record_shapes,
profile_memory) with what FlopCounterMode counts, for one a memory snapshot, and counter reports of
one step of two of them (tensor operations, device memory with cold caches, warp states). What is
left of the seconds decides how many. OUT gets work.tar: everything, and work.json: which parts went
well.
"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "work"))
SCALE = 8
STATES = ("barrier branch_resolving dispatch_stall drain gmma imc_miss lg_throttle long_scoreboard math_pipe_throttle membar mio_throttle misc "
          "no_instruction short_scoreboard sleeping tex_throttle wait").split()
METRICS = ["gpu__time_duration.sum", "smsp__cycles_elapsed.sum", "smsp__cycles_active.sum",
           "smsp__issue_active.sum", "sm__pipe_tensor_cycles_active.sum",
           "sm__inst_executed_pipe_tensor.sum", "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16.sum",
           "sm__ops_path_tensor_src_tf32_dst_fp32.sum", "sm__ops_path_tensor_src_fp8.sum", "sm__ops_path_tensor_src_fp64.sum",
           "sm__ops_path_tensor_src_int8.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
           *[f"smsp__average_warps_issue_stalled_{state}_per_issue_active.ratio"
             for state in STATES]]


def trace(name, out, snapshot=False):
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function
    from torch.utils.flop_counter import FlopCounterMode

    import models

    if snapshot:
        torch.cuda.memory._record_memory_history(max_entries=20000)
    training = models.Training(name, SCALE, "cuda", torch.bfloat16)
    for _ in range(5):
        training.step()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 profile_memory=True) as recorded:
        for step in range(3):
            with record_function(f"ProfilerStep#{step}"):
                training.step()
        torch.cuda.synchronize()
    path = pathlib.Path(out, f"{name}.json")
    recorded.export_chrome_trace(str(path))
    with open(path, "rb") as plain, gzip.open(f"{path}.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    path.unlink()
    if snapshot:
        torch.cuda.memory._dump_snapshot(str(pathlib.Path(out, f"{name}.snapshot.pickle")))
    with FlopCounterMode(display=False) as counter:
        training.step()
    begin = time.monotonic()
    for _ in range(20):
        training.step()
    torch.cuda.synchronize()
    facts = {"counted": {str(k): v for k, v in counter.get_flop_counts()["Global"].items()},
             "step_s": (time.monotonic() - begin) / 20,
             "peak_allocated": torch.cuda.max_memory_allocated(), "peak_reserved": torch.cuda.max_memory_reserved(),
             "batch": list(training.inputs.shape)}
    pathlib.Path(out, f"{name}.facts.json").write_text(json.dumps(facts, indent=1) + "\n")


def one_step(name):
    """The part that the counter profiler measures: one step after some others."""
    import torch

    import models

    training = models.Training(name, SCALE, "cuda", torch.bfloat16)
    for _ in range(3):
        training.step()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    training.step()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def count(name, out, seconds):
    report = pathlib.Path(out, f"{name}.ncu-rep")
    command = ["ncu", "--profile-from-start", "off", "--clock-control", "none", "--cache-control",
               "all", "--metrics", ",".join(METRICS), "-f", "-o",
               str(report.with_suffix("")), sys.executable, __file__, "-", str(out), "0", "step",
               name]
    subprocess.run(command, check=True, timeout=seconds, stdout=subprocess.DEVNULL)
    text = subprocess.run(["ncu", "--import", str(report), "--csv", "--page", "raw",
                           "--print-units", "base"], check=True, timeout=60, capture_output=True)
    with gzip.open(report.with_suffix(".ncu.csv.gz"), "wb") as packed:
        packed.write(text.stdout)
    report.unlink()


def main():
    program, out, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
    if sys.argv[4:5] == ["step"]:
        return one_step(sys.argv[5])
    if sys.argv[4:5] == ["trace"]:
        return trace(sys.argv[5], out, snapshot=sys.argv[6:] == ["snapshot"])
    out.mkdir(parents=True, exist_ok=True)
    work = out / "work"
    work.mkdir(exist_ok=True)
    end = time.monotonic() + seconds
    done = {}

    def part(label, run, least):
        left = end - time.monotonic()
        if left < least:
            done[label] = "left out: no time"
            return
        begin = time.monotonic()
        try:
            run(left)
            done[label] = f"{time.monotonic() - begin:.1f} s"
        except Exception as wrong:  # a part never takes the others with it
            done[label] = f"failed: {wrong}"
        print(label, done[label], flush=True)

    def child(*arguments):
        return lambda left: subprocess.run([sys.executable, __file__, "-", str(work), "0",
                                            *arguments], check=True, timeout=left)

    part("ceilings", lambda left: subprocess.run([program, "ceilings", "-o",
                                                  str(work / "ceilings.json")], check=True,
                                                 timeout=min(left, 90)), 10)
    for name in ("written_out_attention", "odd_sizes", "padded", "fused_attention", "checkpointed",
                 "convnet"):
        part(f"trace {name}",
             child("trace", name, *(["snapshot"] if name == "fused_attention" else [])), 15)
    for name in ("written_out_attention", "odd_sizes", "padded", "convnet"):
        part(f"counters {name}", lambda left, name=name: count(name, work, left), 25)
    (out / "work.json").write_text(json.dumps(done, indent=1) + "\n")
    with tarfile.open(out / "work.tar", "w") as tar:
        tar.add(work, "work")
    shutil.rmtree(work)
    print(os.listdir(out))


main()
