#!/usr/bin/env bash
# Guess: timestamps of CUPTI are unsigned 64 bit, an offset or a base is signed; both are whole
# nanoseconds, so their difference is a whole number of nanoseconds in any table library.
# So it is: numpy has no integer type that holds both, so it computes in double, where the step at
# today's epoch is 256 ns: 123 ns become 0 and 623 ns 512. pandas does the same. polars answers in
# 128 bit and DuckDB in HUGEINT, pyarrow in int64: all three exact. A concatenation of an int64 and
# a uint64 id column is double in pandas too: two communicators become one group.
# Why: kernel durations and launch delays come out in steps of 256 ns, with no warning.
# Versions: numpy 2.4.6, pandas 3.1.1, polars 2.1.0, duckdb 2.0.1, pyarrow 26.0.1.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q numpy==2.4.6 pandas==3.1.1 polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import duckdb, numpy as np, pandas as pd, polars as pl, pyarrow as pa, pyarrow.compute as pc
base = 1790857026000000000
t = np.array([base + 123, base + 623], dtype="uint64")
b = np.array([base, base], dtype="int64")
print("numpy", (t - b).dtype, (t - b).tolist())
print("pandas", (pd.Series(t) - pd.Series(b)).tolist())
frame = pl.DataFrame({"t": t, "b": b}).select(pl.col("t") - pl.col("b"))
print("polars", frame["t"].dtype, frame["t"].to_list())
print("pyarrow", pc.subtract(pa.array(t), pa.array(b)).to_pylist())
df = pd.DataFrame({"t": t, "b": b})
print("duckdb", duckdb.sql("select typeof(t - b), t - b from df").fetchall())
one = pd.DataFrame({"comm": np.array([2**63 + 1025, 2**63 + 1026], dtype="uint64")})
two = pd.DataFrame({"comm": np.array([7], dtype="int64")})
both = pd.concat([one, two])
print("concat", both.comm.dtype, "groups", both.groupby("comm").ngroups, "of 3")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
numpy float64 [0.0, 512.0]
pandas [0.0, 512.0]
polars Int128 [123, 623]
pyarrow [123, 623]
duckdb [('HUGEINT', 123), ('HUGEINT', 623)]
concat float64 groups 2 of 3
END
