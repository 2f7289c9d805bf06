#!/usr/bin/env bash
# Guess: the sum of a column of small integers is kept in 64 bits, as in numpy, pandas, DuckDB and pyarrow; if
# 16-bit columns are widened, 32-bit ones are too.
# So it is: polars widens 8 and 16 bits before summing, but not 32: three kernels of 1.5 s, in nanoseconds
# as Int32 or UInt32, are 0.2 s together, in sum(), group_by, over() and SQL. The mean of the same column is right.
# Why: durations in ns are stored in 32 bits to save space, and 4.3 s of kernels is where it begins.
# Versions: polars 2.1.0, pandas 3.1.1, numpy 2.4.6, duckdb 2.0.1, pyarrow 26.0.1.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q polars==2.1.0 pandas==3.1.1 numpy==2.4.6 duckdb==2.0.1 pyarrow==26.0.1
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import duckdb, pandas as pd, polars as pl, pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
print("polars", pl.__version__, "pandas", pd.__version__, "duckdb", duckdb.__version__, "pyarrow", pa.__version__)
for kind, ns in ((pa.int16(), 30_000), (pa.int32(), 1_500_000_000), (pa.uint32(), 1_500_000_000)):
    pq.write_table(pa.table({"kernel": ["gemm"] * 3, "ns": pa.array([ns] * 3, kind)}), "kernels.parquet")
    kernels = pl.read_parquet("kernels.parquet")
    print(kind, "sum", 3 * ns, "pandas", pd.read_parquet("kernels.parquet").groupby("kernel")["ns"].sum().item(),
          "duckdb", duckdb.sql("select sum(ns) from 'kernels.parquet'").fetchall()[0][0],
          "pyarrow", pc.sum(pq.read_table("kernels.parquet")["ns"]).as_py())
    print("  polars sum", kernels["ns"].sum(), "group_by", kernels.group_by("kernel").agg(pl.sum("ns"))["ns"].item(),
          "sql", kernels.sql("select sum(ns) from self").item(), "mean", kernels["ns"].mean())
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
polars 2.1.0 pandas 3.1.1 duckdb 2.0.1 pyarrow 26.0.1
int16 sum 90000 pandas 90000 duckdb 90000 pyarrow 90000
  polars sum 90000 group_by 90000 sql 90000 mean 30000.0
int32 sum 4500000000 pandas 4500000000 duckdb 4500000000 pyarrow 4500000000
  polars sum 205032704 group_by 205032704 sql 205032704 mean 1500000000.0
uint32 sum 4500000000 pandas 4500000000 duckdb 4500000000 pyarrow 4500000000
  polars sum 205032704 group_by 205032704 sql 205032704 mean 1500000000.0
END
