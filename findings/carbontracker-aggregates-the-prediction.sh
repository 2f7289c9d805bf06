#!/usr/bin/env bash
# Guess: the sentence for papers that carbontracker makes of its logs ("The training of models in this work is
# estimated to use ...") adds up what was measured, where a run was measured to its end.
# So it is: it adds the prediction, which the first epoch was multiplied for. Its reader does not find the number of
# epochs in "Actual consumption for 4 epoch(s)", takes 1 and holds the run for cut short. An epoch of 4 s with
# a compilation and three of 1 s are 17 s at the card's power, not 8, and so is a run that was killed after
# two; only one that was stopped after two (of which its log counts one) is right. With interpretable=False
# neither consumption is found: the sum is 0 kWh, without a word.
# Why: the first epoch has the compilation, the caches and the allocator; papers state it times all epochs.
# Versions: carbontracker 2.4.7, numpy 2.4.6. The card is carbontracker's own simulated one, of a steady 300 W.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q carbontracker==2.4.7 numpy==2.4.6
cat >"$tmp/train.py" <<'PY'
import os, sys, time
from carbontracker.tracker import CarbonTracker
folder, how = sys.argv[1:]
os.mkdir(folder)
tracker = CarbonTracker(epochs=4, log_dir=folder, components="gpu", sim_gpu="card", sim_gpu_watts=600, sim_gpu_util=0.5, verbose=0,
                        interpretable=how != "interpretable=False")
for epoch in range(4):
    if epoch == 2 and how == "killed":
        os._exit(1)
    if epoch == 2 and how == "stopped":
        tracker.stop()
        break
    tracker.epoch_start()
    time.sleep(1.2 if epoch else 4.15)
    tracker.epoch_end()
PY
cat >"$tmp/read.py" <<'PY'
import glob, importlib.metadata, re, sys
import numpy
from carbontracker import constants, parser
print("carbontracker", importlib.metadata.version("carbontracker"), "numpy", numpy.__version__)
for number, how in enumerate(("whole", "stopped", "killed", "interpretable=False")):
    folder = f"{sys.argv[1]}/{number}"
    with open(glob.glob(folder + "/*_output.log")[0]) as log:
        measured = re.search(r"Actual consumption for (\d+).*?Energy:\s*(\S+) kWh", log.read(), re.S)
    seconds = lambda kwh: f"{float(kwh) * 3.6e6 / constants.PUE_2023 / 300:.0f} s"
    entry = parser.parse_all_logs(folder)[0]
    print(f"{how}: in the log", f"{measured[1]} epochs, {seconds(measured[2])}" if measured else "nothing measured", "| read as",
          f"{entry['actual']['epochs']} epoch," if entry["actual"] else "nothing,", "aggregate", seconds(parser.aggregate_consumption(folder)[0]))
PY
cd "$tmp"
# No look-up of the place: the energy does not depend on it.
export http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9
number=0
for how in whole stopped killed interpretable=False; do
  "$tmp/venv/bin/python" train.py "$tmp/$number" "$how" >"$tmp/err" 2>&1 || test "$how" = killed
  number=$((number + 1))
done
"$tmp/venv/bin/python" read.py "$tmp" >"$tmp/seen" 2>"$tmp/err" || { tail -n 5 "$tmp/err"; exit 1; }
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
carbontracker 2.4.7 numpy 2.4.6
whole: in the log 4 epochs, 8 s | read as 1 epoch, aggregate 17 s
stopped: in the log 1 epochs, 5 s | read as 1 epoch, aggregate 5 s
killed: in the log nothing measured | read as nothing, aggregate 17 s
interpretable=False: in the log 4 epochs, 8 s | read as nothing, aggregate 0 s
END
