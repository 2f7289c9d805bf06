#!/usr/bin/env bash
# Guess: ijson, the streaming reader for traces that do not fit in memory, reads the same integers with each
# of its backends; use_float=True only makes the fractions float instead of Decimal.
# So it is: with use_float=True the default C backend stops with "integer overflow" at the first integer of
# 2^63 or more, and the rest of the file is not read; without it, and in the pure Python backend, the
# number is exact. JSON has no such limit, and a trace may hold it ("Comms Id" of NCCL kernels).
# Why: a script that streams a trace of a single GPU works, and breaks on the first distributed one.
# Versions: ijson 3.6.0.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q ijson==3.6.0
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import io, ijson
print("default backend", ijson.backend)
for name in ("yajl2_c", "python"):
    for use_float in (False, True):
        for top in (2**63 - 1, 2**63):
            text = io.BytesIO(b"[%d, 0.5]" % top)
            try:
                seen = list(ijson.get_backend(name).items(text, "item", use_float=use_float))
                told = f"exact: {seen[0] == top}"
            except ijson.JSONError as error:
                told = str(error).splitlines()[0].strip()
            print(name, "use_float", use_float, "2^63" if top == 2**63 else "2^63-1", told)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
default backend yajl2_c
yajl2_c use_float False 2^63-1 exact: True
yajl2_c use_float False 2^63 exact: True
yajl2_c use_float True 2^63-1 exact: True
yajl2_c use_float True 2^63 parse error: integer overflow
python use_float False 2^63-1 exact: True
python use_float False 2^63 exact: True
python use_float True 2^63-1 exact: True
python use_float True 2^63 exact: True
END
