#!/usr/bin/env bash
# Guess: the "50%" of describe() and quantile(0.5) are the median, and p95 of latencies is numpy's and pandas'.
# So it is: polars' quantile takes the nearest value by default, and so does describe(), while median()
# interpolates: of 10 and 20 the median is 15 and the "50%" is 20; of the latencies 1 to 10 the p95 is the
# slowest, 10 (numpy and pandas 9.55). quantile_cont of polars' SQL interpolates.
# Why: two summaries of the same steps differ by the gap between the middle ones; a p95 is the maximum.
# Versions: polars 2.1.0, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q polars==2.1.0 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import numpy as np, polars as pl
print("polars", pl.__version__, "numpy", np.__version__)
for steps in ([10.0, 20.0], [float(n) for n in range(1, 11)]):
    table = pl.DataFrame({"ms": steps})
    half = dict(table.describe().rows())["50%"]
    print(len(steps), "median", table["ms"].median(), "quantile(0.5)", table["ms"].quantile(0.5), "describe 50%", half,
          "group_by", table.group_by(pl.lit(1)).agg(pl.col("ms").quantile(0.5))["ms"].item(), "numpy", np.quantile(steps, 0.5).item(),
          "sql", table.sql("select quantile_cont(ms, 0.5) from self").item())
    print("  p95", table["ms"].quantile(0.95), "numpy", round(np.quantile(steps, 0.95).item(), 3))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
polars 2.1.0 numpy 2.4.6
2 median 15.0 quantile(0.5) 20.0 describe 50% 20.0 group_by 20.0 numpy 15.0 sql 15.0
  p95 20.0 numpy 19.5
10 median 5.5 quantile(0.5) 6.0 describe 50% 6.0 group_by 6.0 numpy 5.5 sql 5.5
  p95 10.0 numpy 9.55
END
