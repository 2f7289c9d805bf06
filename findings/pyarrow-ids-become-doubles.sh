#!/usr/bin/env bash
# Guess: an id above 2^63 (the "Comms Id" of a NCCL kernel, a hash, a unified handle) is read from JSON or
# CSV as uint64 or as text, or the reader refuses; no reader changes it.
# So it is: pyarrow's JSON and CSV readers both infer double: ids that differ by 1 become equal, and two
# communicators one, without a warning. pandas infers uint64, polars Int128, DuckDB HUGEINT: exact.
# With an explicit uint64 type pyarrow is exact too.
# Why: grouping by communicator or joining by a 64-bit id after pyarrow mixes up ranks' collectives.
# Versions: pyarrow 26.0.1, pandas 3.1.1, polars 2.1.0, duckdb 2.0.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0 duckdb==2.0.1 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import duckdb, pandas as pd, polars as pl, pyarrow as pa, pyarrow.csv, pyarrow.json
ids = [2**63 + 5, 2**63 + 6]
open("ids.json", "w").write("".join('{"id":%d}\n' % i for i in ids))
open("ids.csv", "w").write("id\n" + "".join("%d\n" % i for i in ids))
def row(name, kind, values):
    print(name, kind, "exact" if list(map(int, values)) == ids else "changed", len(set(values)), "ids")
for name, table in (("pyarrow json", pa.json.read_json("ids.json")), ("pyarrow csv", pa.csv.read_csv("ids.csv"))):
    row(name, table.schema.field("id").type, table["id"].to_pylist())
typed = pa.csv.read_csv("ids.csv", convert_options=pa.csv.ConvertOptions(column_types={"id": pa.uint64()}))
row("pyarrow csv, typed", typed.schema.field("id").type, typed["id"].to_pylist())
for name, frame in (("pandas json", pd.read_json("ids.json", lines=True)), ("pandas csv", pd.read_csv("ids.csv"))):
    row(name, frame.id.dtype, frame.id.tolist())
for name, frame in (("polars json", pl.read_ndjson("ids.json")), ("polars csv", pl.read_csv("ids.csv"))):
    row(name, frame["id"].dtype, frame["id"].to_list())
for kind in ("json", "csv"):
    seen = duckdb.sql(f"select id, typeof(id) from 'ids.{kind}'").fetchall()
    row("duckdb " + kind, seen[0][1], [s[0] for s in seen])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
pyarrow json double changed 1 ids
pyarrow csv double changed 1 ids
pyarrow csv, typed uint64 exact 2 ids
pandas json uint64 exact 2 ids
pandas csv uint64 exact 2 ids
polars json Int128 exact 2 ids
polars csv Int128 exact 2 ids
duckdb json HUGEINT exact 2 ids
duckdb csv HUGEINT exact 2 ids
END
