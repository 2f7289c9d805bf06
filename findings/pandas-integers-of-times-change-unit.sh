#!/usr/bin/env bash
# Guess: the integers behind parsed timestamps have one unit, nanoseconds as for years or microseconds as said
# of pandas 3, and Timestamp.value has the same.
# So it is: the data chooses. Text with up to six digits gives us, one value with nine digits makes
# the column ns; numbers with unit="s" give us when whole and ns when one has a fraction. Timestamp.value is
# always ns. So astype("int64") of the same log is 1000 times more when a finer clock wrote it.
# Why: rates and energies from such integers are off by 1000, and a join of two logs on them finds nothing.
# Versions: pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pandas==3.1.1 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" <<'PY'
import numpy as np, pandas as pd
print("pandas", pd.__version__, "numpy", np.__version__)
for title, at in (("text, three digits", pd.to_datetime(pd.Series(["2026-01-01 00:00:00.123", "2026-01-01 00:00:01.123"]))),
                  ("text, one with nine", pd.to_datetime(pd.Series(["2026-01-01 00:00:00.123", "2026-01-01 00:00:01.123000000"]))),
                  ("text, nine not zero", pd.to_datetime(pd.Series(["2026-01-01 00:00:00.123", "2026-01-01 00:00:01.123000001"]))),
                  ("numbers, whole", pd.to_datetime(pd.Series([1_770_000_000, 1_770_000_001]), unit="s")),
                  ("numbers, a fraction", pd.to_datetime(pd.Series([1_770_000_000.5, 1_770_000_001.5]), unit="s"))):
    integers = at.astype("int64")
    print(title, at.dtype, "one second is", integers[1] - integers[0], "by Timestamp.value", at[1].value - at[0].value)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
pandas 3.1.1 numpy 2.4.6
text, three digits datetime64[us] one second is 1000000 by Timestamp.value 1000000000
text, one with nine datetime64[ns] one second is 1000000000 by Timestamp.value 1000000000
text, nine not zero datetime64[ns] one second is 1000000001 by Timestamp.value 1000000001
numbers, whole datetime64[us] one second is 1000000 by Timestamp.value 1000000000
numbers, a fraction datetime64[ns] one second is 1000000000 by Timestamp.value 1000000000
END
