#!/usr/bin/env bash
# Guess: read_json leaves numbers numbers; only what looks like a date (text, or a column called
# date) is turned into one.
# So it is: every column whose name ends in "_time" (or "_at", or begins with "timestamp") is taken
# for a date when its values are above 31 536 000. A total of 50 ms in nanoseconds becomes a
# day in August 1971; the same kind of column with smaller values stays a number, so the type
# depends on how long the program ran. dtype=False keeps the numbers (convert_dates is deprecated).
# Why: gpu_time, kernel_time, wait_time in ns are the usual names of totals; sum and mean of dates
# fail, and a subtraction gives a time span of the wrong unit.
# Versions: pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pandas==3.1.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import io, pandas as pd
text = """[{"op": "mm", "gpu_time": 50000000, "wait_time": 1000, "gpu_ns": 50000000},
           {"op": "add", "gpu_time": 60000000, "wait_time": 2000, "gpu_ns": 60000000}]"""
frame = pd.read_json(io.StringIO(text))
for column in ("gpu_time", "wait_time", "gpu_ns"):
    print(column, frame[column].dtype, frame[column][0])
print("off", pd.read_json(io.StringIO(text), dtype=False).gpu_time.tolist())
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
gpu_time datetime64[us] 1971-08-02 16:53:20
wait_time int64 1000
gpu_ns int64 50000000
off [50000000, 60000000]
END
