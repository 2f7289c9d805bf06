#!/usr/bin/env bash
# Guess: the "Energy (kJ)" of MLPerf's own score is that of the training, in kJ, from the readings of power while it ran.
# So it is: it is in J. A training of 10 minutes at 10 kW, 6000 kJ, is "Energy (kJ): 6000000.0", and with fewer runs than a
# submission needs it stands under "Time to Train (minutes)". The energy is the mean power of the whole measurement times
# the time of the training: 10 minutes at 2 kW before it make 3600 of 6000 kJ. The last interval counts as time
# without power: with a reading a minute, the last of which comes 59 s before the end of the measurement, 10 % are missing.
# Why: results of two systems whose measurements start at different times are not comparable, and a table in kJ is in J.
# Versions: mlperf-logging 4.1.46 (4.1.68 has the same computation). The logs are written here and pass its check of
# compliance (training 5.1.0, rgat).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q mlperf-logging==4.1.46
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, json, pathlib, subprocess, sys
print("mlperf-logging", importlib.metadata.version("mlperf-logging"))
MINUTE, TRAINING = 60_000, 10


def write(path, events):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(":::MLLOG " + json.dumps({"namespace": "", "time_ms": 10**12 + round(minute * MINUTE), "event_type": "POINT_IN_TIME", "key": key,
                                                      "value": value, "metadata": metadata}) + "\n" for minute, key, value, metadata in events))


def run(folder, number, start, stop, readings):
    epoch, facts = {"epoch_num": 1}, dict(
        submission_org="org", submission_platform="8 GPUs", submission_division="closed", submission_status="onprem", submission_benchmark="rgat", cache_clear=True,
        global_batch_size=4096, gradient_accumulation_steps=1, opt_name="adam", opt_base_learning_rate=0.001, train_samples=1000, eval_samples=100, seed=number)
    write(folder / f"result_{number}.txt", [(-1, "init_start", None, {})] + [(-1, key, value, {}) for key, value in facts.items()] + [
        (0, "init_stop", None, {}), (0, "run_start", None, {}), (0, "epoch_start", None, epoch), (9, "epoch_stop", None, epoch), (9, "eval_start", None, epoch),
        (10, "eval_accuracy", 0.721, epoch), (10, "eval_stop", None, epoch), (TRAINING, "run_stop", None, {"status": "success"})])
    write(folder / "power" / f"result_{number}" / "node_0.txt", [(start, "power_measurement_start", None, {})] + [
        (minute, "power_reading", watts, {"host": "node_0"}) for minute, watts in readings] + [(stop, "power_measurement_stop", None, {})])


each_minute = [(minute, 10000) for minute in range(1, TRAINING + 1)]
for name, title, runs, start, stop, readings in (
        ("a", "10 runs of 10 minutes at 10 kW", 10, 0, 10, each_minute), ("b", "3 such runs", 3, 0, 10, each_minute),
        ("c", "10 minutes at 2 kW before each", 10, -10, 10, [(minute, 2000) for minute in range(-9, 1)] + each_minute),
        ("d", "the last reading 59 s before the end", 10, 0, 10, [(minute + 1 / 60, 10000) for minute in range(TRAINING)])):
    folder = pathlib.Path(name)
    for number in range(runs):
        run(folder, number, start, stop, readings)
    out = subprocess.run([sys.executable, "-m", "mlperf_logging.result_summarizer.compute_score", "--benchmark_folder", str(folder), "--usage", "training",
                          "--ruleset", "5.1.0", "--has_power"], capture_output=True, text=True)
    print(title + ":", "; ".join(line for line in out.stdout.splitlines() if line.startswith(("Power", "Final", "Power score")) and " for " not in line) or out)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
mlperf-logging 4.1.46
10 runs of 10 minutes at 10 kW: Final score - Time to Train (minutes): 10.0; Power Score - Energy (kJ): 6000000.0
3 such runs: Final score - Time to Train (minutes): 10.0; Final score - Time to Train (minutes): 6000000.0
10 minutes at 2 kW before each: Final score - Time to Train (minutes): 10.0; Power Score - Energy (kJ): 3600000.0
the last reading 59 s before the end: Final score - Time to Train (minutes): 10.0; Power Score - Energy (kJ): 5410000.0
END
