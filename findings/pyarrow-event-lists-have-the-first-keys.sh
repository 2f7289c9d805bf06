#!/usr/bin/env bash
# Guess: pa.Table.from_pylist of events has every key that occurs, with null where an event lacks it.
# So it is: the columns are the keys of the first event. A trace begins with metadata events, which have
# neither ts nor dur: the table has all rows and no times. Inside args keys and types are taken from all
# events, so that one look at args seems to prove the opposite. pandas and pyarrow's own JSON reader
# find every key.
# Why: what only some events have (bytes of copies, power of a counter) depends on which event comes first.
# Versions: pyarrow 26.0.1, pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pyarrow==26.0.1 pandas==3.1.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import io, json, pandas as pd, pyarrow as pa, pyarrow.json
print("pyarrow", pa.__version__, "pandas", pd.__version__)
events = [{"ph": "M", "args": {"name": "python"}}, {"ph": "X", "ts": 1.5, "dur": 3, "args": {"stream": 7}}]
lines = io.BytesIO("\n".join(json.dumps(event) for event in events).encode())
for title, table in (("metadata first", pa.Table.from_pylist(events)), ("kernel first", pa.Table.from_pylist(events[::-1])),
                     ("pandas", pa.Table.from_pandas(pd.DataFrame(events))), ("pyarrow.json", pyarrow.json.read_json(lines))):
    print(title, "rows", table.num_rows, "columns", table.column_names, "args", table.schema.field("args").type)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
pyarrow 26.0.1 pandas 3.1.1
metadata first rows 2 columns ['ph', 'args'] args struct<name: string, stream: int64>
kernel first rows 2 columns ['ph', 'ts', 'dur', 'args'] args struct<stream: int64, name: string>
pandas rows 2 columns ['ph', 'args', 'ts', 'dur'] args struct<name: string, stream: int64>
pyarrow.json rows 2 columns ['ph', 'args', 'ts', 'dur'] args struct<name: string, stream: int64>
END
