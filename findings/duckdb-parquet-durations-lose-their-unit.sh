#!/usr/bin/env bash
# Guess: a duration column that pandas or polars writes to Parquet is an INTERVAL in DuckDB, as the same
# column is when it is handed over in memory (there cut to microseconds, which is known).
# So it is: in Parquet a duration is a plain 64-bit integer, the unit lives only in Arrow's own schema
# note, and DuckDB does not read that: the column is BIGINT. 600 us written by polars as Duration("us")
# and 600 ns written by pandas are both the number 600. pandas and polars read each other's files right.
# Why: totals over files of two writers are wrong by 1000, and nothing in the table tells which.
# Versions: duckdb 2.0.1, pandas 3.1.1, polars 2.1.0, pyarrow 26.0.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q duckdb==2.0.1 pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import duckdb, pandas as pd, polars as pl
pd.DataFrame({"dur": pd.to_timedelta([600], unit="ns")}).to_parquet("ns.parquet")
pl.DataFrame({"dur": [600]}).select(pl.col("dur").cast(pl.Duration("us"))).write_parquet("us.parquet")
for unit in ("ns", "us"):
    print("written as 600", unit)
    print("  duckdb", duckdb.sql(f"select dur, typeof(dur) from '{unit}.parquet'").fetchall())
    print("  pandas", pd.read_parquet(f"{unit}.parquet").dur[0] / pd.Timedelta(1, "ns"), "ns")
    print("  polars", pl.read_parquet(f"{unit}.parquet")["dur"].dt.total_nanoseconds()[0], "ns")
print("together", duckdb.sql("select sum(dur) from read_parquet(['ns.parquet', 'us.parquet'])").fetchall())
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
written as 600 ns
  duckdb [(600, 'BIGINT')]
  pandas 600.0 ns
  polars 600 ns
written as 600 us
  duckdb [(600, 'BIGINT')]
  pandas 600000.0 ns
  polars 600000 ns
together [(1200,)]
END
