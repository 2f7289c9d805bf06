#!/usr/bin/env bash
# Guess: pandas' to_parquet keeps a column of durations with its nanoseconds by either engine, as it keeps
# timestamps, and what one engine wrote the other reads.
# So it is: fastparquet writes durations as times of the day in microseconds, cut: 400 ns are 0, 1999 ns
# are 1 us. It reads them as durations itself, so a round trip hides it; pyarrow, polars and DuckDB read
# times of the day. Timestamps beside keep their nanoseconds. By pyarrow durations stay exact.
# Why: kernel times below a microsecond vanish, and all others lose up to 999 ns each.
# Versions: fastparquet 2026.9.0, pandas 3.1.1, pyarrow 26.0.1, polars 2.1.0, duckdb 2.0.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q fastparquet==2026.9.0 pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import duckdb, fastparquet, numpy as np, pandas as pd, polars as pl, pyarrow as pa, pyarrow.parquet as pq
print("fastparquet", fastparquet.__version__, "pandas", pd.__version__, "pyarrow", pa.__version__)
kernels = pd.DataFrame({"at": np.array([1_770_000_000_000_000_123, 1_770_000_000_000_000_623], "M8[ns]"),
                        "span": np.array([400, 1999], "m8[ns]")})
for engine in ("pyarrow", "fastparquet"):
    kernels.to_parquet("kernels.parquet", engine=engine)
    own = pd.read_parquet("kernels.parquet", engine=engine)
    print(engine, "ns read back", (own["span"] / pd.Timedelta(1, "ns")).astype(int).tolist(),
          "last digits of at", (own["at"].astype("M8[ns]").astype("int64") % 1000).tolist())
    print("  pyarrow", pq.read_schema("kernels.parquet").field("span").type, "polars", pl.read_parquet("kernels.parquet").schema["span"],
          "duckdb", duckdb.sql("select typeof(span) from 'kernels.parquet'").fetchall()[0][0])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
fastparquet 2026.9.0 pandas 3.1.1 pyarrow 26.0.1
pyarrow ns read back [400, 1999] last digits of at [123, 623]
  pyarrow duration[ns] polars Duration(time_unit='ns') duckdb BIGINT
fastparquet ns read back [0, 1000] last digits of at [123, 623]
  pyarrow time64[us] polars Time duckdb TIME
END
