#!/usr/bin/env bash
# Guess: the mean of durations is exact to a nanosecond, since a Timedelta has nanoseconds: of 1 ms and 2 ms it
# is 1.5 ms, whatever the columns were stored in.
# So it is: mean, median, quantile, std and a division by a number stay in the column's unit and are cut. From
# timestamps in ms (as Parquet files of Spark and polars have them) token gaps of 1, 2, 1 and 3 ms have a mean of
# 1 ms, not 1.75; from timestamps parsed from text, which are us since pandas 3, kernels of 1, 2, 1 and 3 us
# have 1 us. describe() and a mean by group are cut as well; total_seconds() first gives the right mean.
# Why: means and medians of short gaps are up to half too small.
# Versions: pandas 3.1.1, numpy 2.4.6, polars 2.1.0, pyarrow 26.0.1.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pandas==3.1.1 numpy==2.4.6 polars==2.1.0 pyarrow==26.0.1
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import numpy as np, pandas as pd, polars as pl
print("pandas", pd.__version__, "numpy", np.__version__)
base = 1_770_000_000_000
pl.DataFrame({"at": [base + ms for ms in (0, 1, 3, 4, 7)]}).select(pl.col("at").cast(pl.Datetime("ms"))).write_parquet("tokens.parquet")
texts = [f"2026-01-01 00:00:00.00000{us}" for us in (0, 1, 3, 4, 7)]
for title, at in (("parquet", pd.read_parquet("tokens.parquet")["at"]), ("text", pd.to_datetime(pd.Series(texts)))):
    gaps = at.diff().dropna()
    ns = lambda span: int(span / pd.Timedelta(1, "ns"))
    print(title, gaps.dtype, "mean", ns(gaps.mean()), "median", ns(gaps.median()), "describe", ns(gaps.describe()["mean"]),
          "by group", ns(gaps.groupby([1] * 4).mean().iloc[0]), "half of the last", ns((gaps / 2).iloc[-1]),
          "in seconds first", gaps.dt.total_seconds().mean().round(9))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
pandas 3.1.1 numpy 2.4.6
parquet timedelta64[ms] mean 1000000 median 1000000 describe 1000000 by group 1000000 half of the last 1000000 in seconds first 0.00175
text timedelta64[us] mean 1000 median 1000 describe 1000 by group 1000 half of the last 1000 in seconds first 1.75e-06
END
