#!/usr/bin/env bash
# Guess: a polars column of nanosecond durations gives its sum, maximum and mean in nanoseconds.
# So it is: inside an expression it does, but the result handed to Python is a datetime.timedelta, which
# ends at microseconds: the sum of kernels of 600 and 1999 ns is 2 us, the maximum 1 us, and the minimum 0.
# The same call on a pandas column gives a Timedelta that keeps 2599 ns.
# Why: "the longest kernel" and "the shortest gap" of a trace are 0 or cut, with no warning.
# Versions: polars 2.1.0, pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q polars==2.1.0 pandas==3.1.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import pandas as pd, polars as pl
dur = pl.Series("dur", [600, 1999]).cast(pl.Duration("ns"))
print("scalar sum, max, min:", dur.sum(), dur.max(), dur.min())
frame = dur.to_frame().select(s=pl.sum("dur"), m=pl.max("dur"), n=pl.min("dur"))
print("expression:", [frame[c].dt.total_nanoseconds()[0] for c in "smn"])
print("list:", dur.to_list())
print("pandas:", pd.Series(pd.to_timedelta([600, 1999], unit="ns")).sum().value)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
scalar sum, max, min: 0:00:00.000002 0:00:00.000001 0:00:00
expression: [2599, 1999, 600]
list: [datetime.timedelta(0), datetime.timedelta(microseconds=1)]
pandas: 2599
END
