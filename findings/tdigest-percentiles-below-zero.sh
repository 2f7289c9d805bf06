#!/usr/bin/env bash
# Guess: a t-digest is exact for few values, never leaves their range, and errs by parts of a per cent only.
# So it is: tdigest, the Python package of that name, spreads each centroid beyond its own values when equal
# values fall into one. Of 90 latencies of 20 ms and 10 of 2500 ms the 10th percentile is -1716 ms, the
# median 268 ms and the p90 2252 ms; of ten different values the p1 is below the fastest. pyarrow's and
# DuckDB's t-digests of the same latencies are between 20 and 2500, and their median is 20.
# Why: latencies are often equal (a timeout, a resolution of 1 ms), and a median of 268 looks plausible.
# It needs a C compiler.
# Versions: tdigest 0.5.2.2, pyarrow 26.0.1, duckdb 2.0.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q tdigest==0.5.2.2 pyarrow==26.0.1 duckdb==2.0.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import duckdb, importlib.metadata, numpy, pyarrow, pyarrow.compute
from tdigest import TDigest
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("tdigest", "pyarrow", "duckdb", "numpy")))
wanted = (1, 10, 50, 90, 99)
for latencies in ([20.0] * 90 + [2500.0] * 10, [float(n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 100)]):
    digest = TDigest()
    digest.batch_update(latencies)
    print("of", len(latencies), "from", min(latencies), "to", max(latencies))
    print("  tdigest", [round(digest.percentile(p), 2) for p in wanted])
    print("  numpy  ", [round(float(numpy.percentile(latencies, p)), 2) for p in wanted])
    print("  pyarrow", [round(v, 2) for v in pyarrow.compute.tdigest(pyarrow.array(latencies), q=[p / 100 for p in wanted]).to_pylist()])
    print("  duckdb ", [round(float(v), 2) for v in duckdb.sql(f"select approx_quantile(x, {[p / 100 for p in wanted]}) from (select unnest({latencies}) x)").fetchall()[0][0]])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
tdigest 0.5.2.2 pyarrow 26.0.1 duckdb 2.0.1 numpy 2.4.6
of 100 from 20.0 to 2500.0
  tdigest [-2162.4, -1716.0, 268.0, 2252.0, 2500.0]
  numpy   [20.0, 20.0, 20.0, 268.0, 2500.0]
  pyarrow [20.0, 20.0, 20.0, 1260.0, 2500.0]
  duckdb  [20.0, 20.0, 20.0, 1260.0, 2500.0]
of 10 from 1.0 to 100.0
  tdigest [0.6, 1.5, 5.5, 54.5, 100.0]
  numpy   [1.09, 1.9, 5.5, 18.1, 91.81]
  pyarrow [1.0, 1.0, 5.5, 100.0, 100.0]
  duckdb  [1.0, 1.5, 5.5, 54.5, 100.0]
END
