#!/usr/bin/env bash
# Guess: PyTorch writes "ts" as microseconds with three decimals after a base, so in nanoseconds it is below
# 2^53 and round(ts * 1000) of the parsed double is the exact nanosecond, on any date.
# So it is: exact on nearly every day of the quarter of a year that a base lasts, except from 2^42 us to
# 2^52 ns after it, the 51st to the 53rd day: there the double is off by up to half a nanosecond and the
# product still has a step of a half, so one time in four is off by 1 ns. The digits of the number as
# text (repr) give all of them back on every day.
# Why: kernels that follow each other without a gap overlap by 1 ns or part by 1 ns, for one day.
# Versions: numpy 2.4.6, pandas 3.1.1 (the arithmetic is that of any double).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pandas==3.1.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import decimal, io, pandas as pd
for hours in (1200, 1236, 1248, 1440, 2040):
    start = hours * 3600 * 10**9
    true = [start + 999_983 * i for i in range(20000)]
    text = "".join('{"ts": %d.%03d}\n' % divmod(t, 1000) for t in true)
    ts = pd.read_json(io.StringIO(text), lines=True, precise_float=True).ts
    product = (ts * 1000).round().astype("int64").tolist()
    by_text = [int(decimal.Decimal(repr(t)) * 1000) for t in ts.tolist()]
    off = [a - b for a, b in zip(product, true)]
    print("day %g:" % (hours / 24), sum(o != 0 for o in off), "of 20000 off by", max(map(abs, off)),
          "ns; by text", sum(a != b for a, b in zip(by_text, true)))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
day 50: 0 of 20000 off by 0 ns; by text 0
day 51.5: 4800 of 20000 off by 1 ns; by text 0
day 52: 4800 of 20000 off by 1 ns; by text 0
day 60: 0 of 20000 off by 0 ns; by text 0
day 85: 0 of 20000 off by 0 ns; by text 0
END
