"""Overhead of torch.profiler: one training loop alone and under it, both recorded by `record` from
outside.

Usage: observer_effect.py GPUFATHOM ALONE.gpf ALONE.run.json PROFILED.gpf PROFILED.run.json OUT.json
OUT.svg
       observer_effect.py draw RESULT.json OUT.svg
"""
import datetime
import json
import sys

from captured import levels, power_watts


def measure(gpufathom, alone, alone_run, profiled, profiled_run):
    result = {"what": "ResNet-50 AMP batch 64 recorded from beside, alone and under torch.profiler (CPU and CUDA activities)", "command": "bench/gpu/observer_effect.py", "date": datetime.date.today().isoformat(), "runs": {}}
    for name, capture, run in (("alone", alone, alone_run),
                               ("torch.profiler", profiled, profiled_run)):
        run = json.load(open(run))
        begin, end = run["start_ns"] + 200_000_000, run["start_ns"] + int(sum(run["times_ms"]) * 1e6 * 10) - 50_000_000
        seen = levels(gpufathom, capture, begin, end)
        watts = power_watts(gpufathom, capture, begin, end)
        result["runs"][name] = {"step_ms": run["mean_ms"], "gpu": run["gpu"], "torch": run["torch"],
                                "steps": run["steps"],
                                "joules_a_step": watts * run["mean_ms"] * 1e-3, "power_watts": watts,
                                **{m: seen[m][0]
                                   for m in ("gpu.busy", "sm.active_any", "issue.active",
                                             "tensor.active", "sm.occupancy")}}
    return result


def draw(result, svg):
    a, b = result["runs"]["alone"], result["runs"]["torch.profiler"]
    rows = [("step time", "step_ms", lambda v: f"{v:.1f} ms"),
            ("GPU busy", "gpu.busy", lambda v: f"{v:.1%}"), ("SM active", "sm.active_any", lambda v: f"{v:.1%}"), ("issue slots", "issue.active", lambda v: f"{v:.1%}"),
            ("tensor pipe", "tensor.active", lambda v: f"{v:.1%}"),
            ("power", "power_watts", lambda v: f"{v:.0f} W"), ("energy a step", "joules_a_step", lambda v: f"{v:.1f} J")]
    left, width, body, y = 110, 380, "", 70
    for label, key, shown in rows:
        most = max(a[key], b[key]) if key in ("step_ms", "power_watts", "joules_a_step") else 1.0
        body += f'<text x="{left - 8}" y="{y + 18}" text-anchor="end">{label}</text>\n'
        for k, (run, colour) in enumerate(((a, "#3a6ea5"), (b, "#d08770"))):
            length = round(run[key] / most * width)
            body += f'<rect x="{left}" y="{y + 15 * k}" width="{max(length, 1)}" height="13" fill="{colour}"/><text x="{left + length + 6}" y="{y + 15 * k + 11}" font-size="12">{shown(run[key])}</text>\n'
        y += 42
    with open(svg, "w") as f:
        f.write(f'''<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 90} {y + 6}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
<text x="12" y="24" font-size="15">ResNet-50 training on {a["gpu"]}, seen from beside</text>
<rect x="12" y="38" width="13" height="13" fill="#3a6ea5"/><text x="30" y="49">alone</text><rect x="90" y="38" width="13" height="13" fill="#d08770"/><text x="108" y="49">under torch.profiler</text>
{body}</svg>
''')


if sys.argv[1] == "draw":
    draw(json.load(open(sys.argv[2])), sys.argv[3])
else:
    measured = measure(*sys.argv[1:6])
    json.dump(measured, open(sys.argv[6], "w"), indent=1)
    print(json.dumps(measured, indent=1))
    draw(measured, sys.argv[7])
