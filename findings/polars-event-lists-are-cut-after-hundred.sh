#!/usr/bin/env bash
# Guess: pl.DataFrame(events) of a list of dicts, as json.load gives them, has every key that occurs, and
# where a value does not fit the type found so far it raises (its default is strict=True) or widens.
# So it is: types and keys are those of the first 100 dicts. Later fractions are cut to integers: of 100
# kernels of 0.4 us nothing is left; keys that come later, at the top or inside args, are gone. A
# column given as a list raises for the same values, and so does read_json. pandas is right.
# Why: a trace begins with metadata and with whole numbers; the busy time and the bytes of what follows are lost.
# Versions: polars 2.1.0, pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q polars==2.1.0 pandas==3.1.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import io, json, pandas as pd, polars as pl
print("polars", pl.__version__, "pandas", pd.__version__)
events = [{"name": "a", "dur": 2, "args": {"stream": 7}}] * 100
events += [{"name": "b", "dur": 0.4, "args": {"stream": 7, "bytes": 64}, "bound": True}] * 100
for title, table in (("polars", pl.DataFrame(events)), ("polars, all rows", pl.DataFrame(events, infer_schema_length=None))):
    print(title, "columns", table.columns, "args", [field.name for field in table.schema["args"].fields],
          "dur", table.schema["dur"], "sum", round(table["dur"].sum(), 3), "nulls", table["dur"].null_count())
table = pd.DataFrame(events)
print("pandas columns", list(table.columns), "sum", round(table["dur"].sum(), 3))
for title, read in (("a column", lambda: pl.DataFrame({"dur": [each["dur"] for each in events]})),
                    ("read_json", lambda: pl.read_json(io.BytesIO(json.dumps(events).encode())))):
    try:
        print(title, read().schema)
    except Exception as error:
        print(title, "raises", type(error).__name__)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
polars 2.1.0 pandas 3.1.1
polars columns ['name', 'dur', 'args'] args ['stream'] dur Int64 sum 200 nulls 0
polars, all rows columns ['name', 'dur', 'args', 'bound'] args ['stream', 'bytes'] dur Float64 sum 240.0 nulls 0
pandas columns ['name', 'dur', 'args', 'bound'] sum 240.0
a column raises TypeError
read_json raises ComputeError
END
