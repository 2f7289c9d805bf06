#!/usr/bin/env bash
# Guess: key_averages() has one row a name; its "# of Calls" is the number of events of the name in the
# trace, and for nested events of one name the total counts the time of each level (self time does not).
# So it is: an event whose only child has the same name is merged with it before counting. Four nested
# record_function("step") are 1 call when nothing else runs between them, and 4 calls, with the time
# counted four times, when each level runs one more operator. aten::sum, which calls itself, is one
# event less in events() than in the exported trace of the same profile.
# Why: number of calls and mean time of a row do not agree with the trace, and change when an unrelated
# operator is added.
# Versions: torch 2.13.0, numpy 2.4.6 (CPU).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import json, time, torch
from torch.profiler import ProfilerActivity, profile, record_function
def step(level, extra):
    with record_function("step"):
        if extra:
            torch.ones(1)
        step(level - 1, extra) if level else time.sleep(0.05)
step(3, True)
for extra in (False, True):
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        step(3, extra)
        torch.ones(9).sum()
    prof.export_chrome_trace("t.json")
    events = json.load(open("t.json"))["traceEvents"]
    row = next(r for r in prof.key_averages() if r.key == "step")
    steps = [e["dur"] for e in events if e["name"] == "step" and e["ph"] == "X"]
    print("operator between:", extra, "trace:", len(steps), "calls:", row.count,
          "total over the outermost:", round(row.cpu_time_total / max(steps)))
    print("aten::sum in trace:", sum(e["name"] == "aten::sum" for e in events),
          "in events():", sum(e.name == "aten::sum" for e in prof.events()))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
operator between: False trace: 4 calls: 1 total over the outermost: 1
aten::sum in trace: 2 in events(): 1
operator between: True trace: 4 calls: 4 total over the outermost: 4
aten::sum in trace: 2 in events(): 1
END
