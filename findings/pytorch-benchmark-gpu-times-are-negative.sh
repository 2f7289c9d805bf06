#!/usr/bin/env bash
# Guess: pytorch-benchmark's inference on a GPU is in seconds as on a CPU, its FLOPs are FLOPs, and its energy on a Jetson is
# that of one inference.
# So it is: it asks the stop event for the time to the start event, in ms, and takes it for seconds: an inference of 20 ms is
# "seconds_per_batch" -20, "batches_per_second" -0.05, while "total" and the CPU are right. The FLOPs are MACs, half. On a
# Jetson whose first rail is the whole module, as VDD_IN of Xavier NX, the other rails count again: 19 W for 10; and an
# inference shorter than 1/30 s has 0 J.
# Why: the minimum over models of such a table is the slowest, and small models need no energy.
# Versions: pytorch-benchmark 0.3.6, ptflops 0.6.9, torch 2.13.0 (CPU). CUDA's events and the rails are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pytorch-benchmark==0.3.6 ptflops==0.6.9 torch==2.13.0 numpy==2.4.6 setuptools==80.9.0
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib, importlib.metadata, pathlib, time, torch
from pytorch_benchmark import jetson_power
module = importlib.import_module("pytorch_benchmark.benchmark")
print("pytorch-benchmark", importlib.metadata.version("pytorch-benchmark"))
now = 0.0


class Event:
    """As torch documents it: milliseconds from this event to the one that is given."""
    def __init__(self, enable_timing):
        pass

    def record(self):
        self.at = now

    def elapsed_time(self, end):
        return (end.at - self.at) * 1000


class Model(torch.nn.Module):
    def __init__(self, sleep=0.0):
        super().__init__()
        self.layer, self.sleep = torch.nn.Linear(1024, 1024, bias=False), sleep

    def forward(self, x):
        global now
        now += 0.020
        time.sleep(self.sleep)
        return self.layer(x)


module.time = lambda: now
module.get_machine_info = dict
torch.cuda.Event = Event
torch.cuda.synchronize = lambda: None
torch.cuda.reset_peak_memory_stats = lambda device: None
torch.cuda.memory_allocated = torch.cuda.max_memory_allocated = lambda device: 0
for kind in "cpu", "cuda":
    result = module.benchmark(Model(), torch.zeros(1, 1024), num_runs=10, get_device_fn=lambda model: torch.device(kind), transfer_to_device_fn=lambda x, device: x)
    for part, timing in result["timing"]["batch_size_1"].items():
        if part in ("on_device_inference", "total"):
            print(f"{kind}, 20 ms, {part}:", {name: round(timing["metrics"][name], 3) for name in ("seconds_per_batch_mean", "batches_per_second_mean")},
                  timing["human_readable"]["batch_latency"].split(" +/-")[0])
print("FLOPs of a layer of 1024 by 1024:", result["flops"], "true", 2 * 1024**2)
rails = pathlib.Path("ina3221x/1-0040/iio_device")
rails.mkdir(parents=True)
for rail, milliwatts in enumerate((10000, 6000, 3000)):  # VDD_IN (the whole module), VDD_CPU_GPU_CV, VDD_SOC.
    (rails / f"in_power{rail}_input").write_text(f"{milliwatts}\n")
scan = jetson_power.PowerEstimator._device_scan
jetson_power.PowerEstimator._device_scan = lambda self, path: scan(self, "ina3221x")
for seconds in 1, 0.005:
    joules = module.measure_energy(Model(seconds), torch.zeros(1, 1024), torch.device("cpu"), lambda x, device: x, num_runs=2, print_fn=lambda *_: None)
    print(f"energy of an inference of {seconds} s at 10 W: {'0 J' if joules == 0 else '1.3 to 2 times' if 13 < joules < 20 else joules}, true {10 * seconds}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
pytorch-benchmark 0.3.6
Warning! No positional inputs found for a module, assuming batch size is 1.
cpu, 20 ms, on_device_inference: {'seconds_per_batch_mean': 0.02, 'batches_per_second_mean': 50.0} 20.000 ms
Warning! No positional inputs found for a module, assuming batch size is 1.
cuda, 20 ms, on_device_inference: {'seconds_per_batch_mean': -20.0, 'batches_per_second_mean': -0.05} -20000000.000 us
cuda, 20 ms, total: {'seconds_per_batch_mean': 0.02, 'batches_per_second_mean': 50.0} 20.000 ms
FLOPs of a layer of 1024 by 1024: 1048576 true 2097152
energy of an inference of 1 s at 10 W: 1.3 to 2 times, true 10
energy of an inference of 0.005 s at 10 W: 0 J, true 0.05
END
