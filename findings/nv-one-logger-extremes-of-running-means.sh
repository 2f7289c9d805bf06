#!/usr/bin/env bash
# Guess: the largest and smallest train_throughput_per_gpu of NVIDIA's OneLogger are those of the fastest and the slowest
# iteration, as its documentation says, and the throughput of a report is that of its interval.
# So it is: all three are of the mean since the start. After a first step of 10 s the steps of 1 s, 400 TFLOP/s each, are
# reported as 276 to 372, at most 372, and 20 steps at 100 TFLOP/s as 268. The smallest stays the first step's. If that
# is the fastest, it is the largest for good, and a step of 100 s makes a smallest of 235 TFLOP/s, not 4.
# Why: a hang, a throttled GPU and a warm-up are all invisible in the figures made to show them.
# Versions: nv-one-logger-training-telemetry and -core 2.3.1. The clock is stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q nv-one-logger-training-telemetry==2.3.1 nv-one-logger-core==2.3.1 pyyaml==6.0.3
cd "$tmp"
cat >run.py <<'PY'
import json, sys, time
from pathlib import Path
now = 1_790_000_000.0
time.time = time.perf_counter = lambda: now
from nv_one_logger.api.config import OneLoggerConfig
from nv_one_logger.exporter.file_exporter import FileExporter
from nv_one_logger.training_telemetry.api import callbacks
from nv_one_logger.training_telemetry.api.config import TrainingTelemetryConfig
from nv_one_logger.training_telemetry.api.training_telemetry_provider import TrainingTelemetryProvider
# Parts of the run: a number of steps and the seconds that each takes. A step of 1 s is 400 TFLOP/s on each of 8 GPUs.
title, parts = sys.argv[1], json.loads(sys.argv[2])
GPUS, BATCH, PEAK = 8, 256, 400
base = OneLoggerConfig(application_name="run", world_size_or_fn=GPUS, session_tag_or_fn="session")
training = TrainingTelemetryConfig(perf_tag_or_fn="perf", log_every_n_train_iterations=20, flops_per_sample_or_fn=round(PEAK * 10**12 * GPUS / BATCH),
                                   global_batch_size_or_fn=BATCH, is_log_throughput_enabled_or_fn=True, is_save_checkpoint_enabled_or_fn=False)
out = Path("events.json")
out.unlink(missing_ok=True)
TrainingTelemetryProvider.instance().with_base_config(base).with_exporter(FileExporter(file_path=out)).configure_provider()
callbacks.on_app_start()
TrainingTelemetryProvider.instance().set_training_telemetry_config(training)
callbacks.on_train_start(train_iterations_start=0, train_samples_start=0, train_iterations_target_or_fn=140, train_samples_target_or_fn=140 * BATCH)
true = []
for steps, seconds in parts:
    for _ in range(steps):
        callbacks.on_training_single_iteration_start()
        now += seconds
        callbacks.on_training_single_iteration_end()
        true.append(PEAK / seconds)
callbacks.on_train_end()
callbacks.on_app_end()


def attributes(value):
    if isinstance(value, dict):
        if "train_throughput_per_gpu" in value:
            yield value
        for part in value.values():
            yield from attributes(part)
    elif isinstance(value, list):
        for part in value:
            yield from attributes(part)


print(title)
for line in out.read_text().splitlines():
    for seen in attributes(json.loads(line)):
        seen = {key: value["value"] if isinstance(value, dict) else value for key, value in seen.items()}
        last = seen["current_iteration"] + 1
        part = true[last - 20:last]
        if last not in (20, 120, 140):
            continue
        print(f"  steps {last - 19} to {last}: {seen['train_throughput_per_gpu']:.0f}, max {seen['train_throughput_per_gpu_max']:.0f}, min",
              f"{seen['train_throughput_per_gpu_min']:.0f} (true {20 / sum(1 / value for value in part):.0f}, {max(true[:last]):.0f}, {min(true[:last]):.0f})")
PY
{
    "$tmp/venv/bin/python" -c 'import importlib.metadata as m; print("nv-one-logger-training-telemetry", m.version("nv-one-logger-training-telemetry"))'
    "$tmp/venv/bin/python" run.py "a first step of 10 s, then 1 s, 20 of 4 s at last" '[[1, 10], [119, 1], [20, 4]]'
    "$tmp/venv/bin/python" run.py "steps of 1 s, the first of 0.8, one of 100 at last" '[[1, 0.8], [138, 1], [1, 100]]'
} >"$tmp/seen" 2>"$tmp/err" || { tail -n 5 "$tmp/err"; exit 1; }
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
nv-one-logger-training-telemetry 2.3.1
a first step of 10 s, then 1 s, 20 of 4 s at last
  steps 1 to 20: 276, max 276, min 40 (true 276, 400, 40)
  steps 101 to 120: 372, max 372, min 40 (true 400, 400, 40)
  steps 121 to 140: 268, max 372, min 40 (true 100, 400, 40)
steps of 1 s, the first of 0.8, one of 100 at last
  steps 1 to 20: 404, max 500, min 404 (true 404, 500, 400)
  steps 101 to 120: 401, max 500, min 401 (true 400, 500, 400)
  steps 121 to 140: 235, max 500, min 235 (true 67, 500, 4)
END
