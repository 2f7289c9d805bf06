#!/usr/bin/env bash
# Guess: polars has nanosecond durations, so pl.duration(microseconds=0.4) is 400 ns; at worst it
# rounds, or refuses the fraction.
# So it is: the unit of the result is the microsecond unless nanoseconds= is named, and the fraction
# is cut: 0.4 us is 0, 1.6 us is 1 us; a cast of a column to Duration("us") cuts as well. pandas
# keeps 400 ns and 1600 ns of the same numbers. Multiplied by 1000 first, with Duration("ns"), polars
# is right.
# Why: "dur" of a Chrome trace is microseconds with a fraction; ten kernels of 0.4 us sum to 0.
# Versions: polars 2.1.0, pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q polars==2.1.0 pandas==3.1.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import pandas as pd, polars as pl
dur = [0.4, 1.6]
ns = lambda series: series.dt.total_nanoseconds().to_list()
frame = pl.DataFrame({"dur": dur})
made = frame.select(pl.duration(microseconds="dur")).to_series()
print("duration", made.dtype, ns(made))
print("cast", ns(frame["dur"].cast(pl.Duration("us"))))
print("times 1000", ns((frame["dur"] * 1000).cast(pl.Duration("ns"))))
print("ten of 0.4", ns(pl.DataFrame({"dur": [0.4] * 10}).select(pl.duration(microseconds="dur").sum()).to_series()))
print("pandas", [t.value for t in pd.to_timedelta(pd.Series(dur), unit="us")])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
duration Duration(time_unit='us') [0, 1000]
cast [0, 1000]
times 1000 [400, 1600]
ten of 0.4 [0]
pandas [400, 1600]
END
