#!/usr/bin/env bash
# Guess: the difference of two profiles in hatchet counts a kernel that only one of them has as its
# time there, so that the differences of all kernels add up to the difference of the runs; in a
# quotient it is infinite or has no value.
# So it is: what only the first has keeps its time; what only the second has becomes nan, which a sum
# leaves out. So "old minus new" says that nothing changed where "new minus old" says +4 ms. In a
# quotient a kernel that only the first has stands with its time: a factor of 4 000 000.
# Why: a copy that a new version added is not in its table of differences.
# Version: llnl-hatchet 2026.2.0 (the reader of Triton's Proton profiles), pandas 2.3.3, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q llnl-hatchet==2026.2.0 pandas==2.3.3 numpy==2.4.6
"$tmp/venv/bin/python" -W ignore - >"$tmp/seen" <<'PY'
import hatchet

def run(**kernels):
    def node(name, own, total, children=()):
        return {"frame": {"name": name, "type": "function"}, "children": list(children),
                "metrics": {"time (ns)": own, "time (ns) (inc)": total}}
    return hatchet.GraphFrame.from_literal([node("step", 0, sum(kernels.values()),
                                                 [node(name, ns, ns) for name, ns in kernels.items()])])

def show(title, graph):
    own = graph.dataframe.set_index("name")["time (ns)"]
    print(f"{title}: {own.drop('step').sort_index().to_dict()}, sum {own.drop('step').sum():.0f}")

old, new = dict(gemm=10_000_000), dict(gemm=10_000_000, copy=4_000_000)
show("new minus old", run(**new) - run(**old))
show("old minus new", run(**old) - run(**new))
show("new over old", run(**new) / run(**old))
show("old over new", run(**old) / run(**new))
total = (run(**old) - run(**new)).dataframe.set_index("name").loc["step", "time (ns) (inc)"]
print(f"old minus new, the step: {total:.0f}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
new minus old: {'copy': 4000000.0, 'gemm': 0.0}, sum 4000000
old minus new: {'copy': nan, 'gemm': 0.0}, sum 0
new over old: {'copy': 4000000.0, 'gemm': 1.0}, sum 4000001
old over new: {'copy': nan, 'gemm': 1.0}, sum 1
old minus new, the step: -4000000
END
