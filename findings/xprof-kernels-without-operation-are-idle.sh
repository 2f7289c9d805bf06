#!/usr/bin/env bash
# Guess: the idle time of XProf's tables of operations is the time in which no kernel runs; a kernel
# that no operation of the framework launched stands there under a name of its own, or "unknown".
# So it is: only kernels with a framework's operation (the stat tf_op) are work. All other kernels and
# all copies are IDLE, in framework_op_stats as in op_profile, though kernel_stats of the same file
# lists the kernels with their time: of 300 us without a gap 200 are "idle". An hlo_op alone does not
# help. And idle is counted from the first to the last of what a device executed: a profile of 1000 us
# with one kernel of 100 us has none.
# Why: Triton's and a library's own kernels, and all copies, make a busy GPU look idle.
# Version: xprof 2.24.2. In JAX's public traces some per cent of the kernels' time has no operation.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q xprof==2.24.2
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/log" <<'PY' || { tail -n 5 "$tmp/log"; exit 1; }
import json, os
from xprof.convert import raw_to_tool_data

def number(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + number(n >> 7)

def field(tag, value):
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(value)) + value

US = 1_000_000  # of an XPlane's picoseconds

def plane(name, line, events):
    """An XPlane of one line; events: (name, begin and length in us, {stat: text})."""
    names, stats, body = {}, {}, field(1, 7) + field(2, line) + field(3, 1000)
    for event, begin, length, has in events:
        one = field(1, names.setdefault(event, len(names) + 1)) + field(2, begin * US) + field(3, length * US)
        for stat, text in has.items():
            one += field(4, field(1, stats.setdefault(stat, len(stats) + 1)) + field(5, text))
        body += field(4, one)
    texts = b"".join(field(tag, field(1, at) + field(2, field(1, at) + field(2, text)))
                     for tag, known in ((4, names), (5, stats)) for text, at in known.items())
    return field(2, name) + field(3, body) + texts

KERNEL = {"kernel_details": "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:128,1,1 occ_pct:100.0"}

def table(tool, file):
    data, _ = raw_to_tool_data.xspace_to_tool_data([file], tool, {})
    data = json.loads(data)
    data = data[0] if isinstance(data, list) else data
    if "byProgram" in data:
        return [(each["name"], each["metrics"]["rawTime"] / US) for each in data["byProgram"].get("children", [])]
    columns = [column["id"] for column in data["cols"]]
    return [dict(zip(columns, [cell["v"] for cell in row["c"]])) for row in data["rows"]]

def show(title, events):
    folder = title.replace(" ", "_")
    os.mkdir(folder)
    file = f"{folder}/host.xplane.pb"
    with open(file, "wb") as out:
        host = plane("/host:CPU", "python", [("main", 0, 1000, {})])
        out.write(field(1, plane("/device:GPU:0", "Stream #7(Compute)", events)) + field(1, host))
    kernels = sum(row["total_duration_us"] for row in table("kernel_stats", file))
    ops = {row["operation"]: row["total_self_time"] for row in table("framework_op_stats", file)
           if row["host_or_device"] == "Device"}
    print(f"{title}: kernels {kernels:.0f} us, operations {ops}, op_profile {dict(table('op_profile', file))}")

named = {**KERNEL, "tf_op": "dense:MatMul"}
copy = {"memcpy_details": "kind:H2D size:1024 dest:0 async:1"}
show("three with an operation", [("a", 0, 100, named), ("b", 100, 100, named), ("c", 200, 100, named)])
show("kernel without and copy", [("a", 0, 100, named), ("b", 100, 100, KERNEL), ("MemcpyH2D", 200, 100, copy)])
show("hlo_op alone", [("a", 0, 100, {**KERNEL, "hlo_op": "fusion.1", "hlo_module": "jit_f"})])
show("one kernel of 1000 us", [("a", 0, 100, named)])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
three with an operation: kernels 300 us, operations {'dense': 300.0, 'IDLE': 0.0}, op_profile {'main': 300.0, 'IDLE': 0.0}
kernel without and copy: kernels 200 us, operations {'IDLE': 200.0, 'dense': 100.0}, op_profile {'IDLE': 200.0, 'main': 100.0}
hlo_op alone: kernels 100 us, operations {'IDLE': 100.0}, op_profile {}
one kernel of 1000 us: kernels 100 us, operations {'dense': 100.0, 'IDLE': 0.0}, op_profile {'main': 100.0, 'IDLE': 0.0}
END
