#!/usr/bin/env python3
"""What raw events say of a capture of a set of programs: judge_set.py FOLDER [NAME...]

Prints idle time by what the host did, copies, kernels by kind, waits and operators. It shares no
code with gpufathom and was written before its answers were seen; the verdicts were written from
what it measures, by the criteria of programs/SET.json (libraries, services, studies, trades, wards, orchards)
and by hand.
"""

import bisect
import collections
import json
import pathlib
import re
import sys

from raw_set import read

WAITS = re.compile(
    r"Synchronize|EventQuery|StreamWait|cudaMemcpy$|cuMemcpy(Dto|Hto).*_v2$|device_get|Await"
)
ALLOCATIONS = re.compile(
    r"cudaMalloc|cudaFree|cuMemAlloc|cuMemFree|HostAlloc|HostRegister|cuMemCreate|cuMemMap|Unmap"
)
DOUBLE = r"double|_f64|float64|dgemm|DPF"
COMPILES = re.compile(r"Module(Load|Unload)|LibraryLoad|GraphInstantiate|BeginCapture|EndCapture")


def union(pieces):
    found = []
    for begin, end in sorted(pieces):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def covered(pieces, begin, end):
    """The part of begin..end that the merged pieces cover."""
    place = max(0, bisect.bisect_left(pieces, [begin, begin]) - 1)
    total = 0
    while place < len(pieces) and pieces[place][0] < end:
        total += max(0, min(end, pieces[place][1]) - max(begin, pieces[place][0]))
        place += 1
    return total


def judge(capture, sms=132):
    """Everything in shares of the span from the first GPU activity to the last."""
    gpu = sorted(capture.gpu)
    kernels = [row for row in gpu if row[3] not in ("memcpy", "memset")]
    begin, end = gpu[0][0], max(row[1] for row in gpu)
    span = end - begin
    busy = union([row[:2] for row in gpu])
    running = union([row[:2] for row in kernels])
    call_of = {row[4]: row for row in capture.calls if row[4] is not None}

    def by(found):
        return union([row[:2] for row in capture.calls if found.search(row[2])])

    waits, allocations, compiles = by(WAITS), by(ALLOCATIONS), by(COMPILES)
    launches = union([row[:2] for row in capture.calls if "aunch" in row[2]])
    copies = union([row[:2] for row in capture.calls if "emcpy" in row[2] or "emset" in row[2]])
    ops = union(
        [row[:2] for row in capture.ops if row[2].startswith("aten::") or "autograd" in row[2]]
    )
    loader = union([row[:2] for row in capture.ops if "DataLoader" in row[2]])
    idle, causes, places = 0, collections.Counter(), collections.Counter()
    nested = sorted(row for row in capture.ops if not row[2].startswith("$"))
    begins = [row[0] for row in nested]
    starts = [row[0] for row in gpu]
    ordered = sorted(capture.ops)
    for (_, left), (right, _) in zip(busy, busy[1:]):
        idle += right - left
        row = gpu[bisect.bisect_left(starts, right)]
        call = call_of.get(row[5])
        late = min(max(call[0], left), right) if call else left
        parts = {
            "wait": covered(waits, left, late),
            "allocation": covered(allocations, left, late),
            "compile": covered(compiles, left, late),
            "loader": covered(loader, left, late),
            "other launches": covered(launches, left, late),
            "copy calls": covered(copies, left, late),
        }
        rest = max(0, late - left - sum(parts.values()))
        inside = max(
            0, covered(ops, left, late) - sum(v for k, v in parts.items() if k != "loader")
        )
        parts["in operators"] = min(rest, inside)
        parts["no operator (Python)"] = rest - parts["in operators"]
        parts["own launch" if not call or "emcpy" not in call[2] else "own copy call"] = (
            right - late
        )
        causes.update(parts)
        middle = (left + right) / 2
        place = bisect.bisect_right(begins, middle)
        inner = next(
            (op[2] for op in reversed(nested[max(0, place - 60) : place]) if op[1] >= middle), None
        )
        after = nested[place][2] if place < len(nested) else ""
        places[inner or f"none, then {after}"] += right - left
    print(
        f"  span {span / 1e3:.3f} ms; busy {100 * (span - idle) / span:.1f} %, "
        f"kernels {100 * sum(b - a for a, b in running) / span:.1f} %; steps marked "
        f"{len(capture.steps)} {[round((r[1] - r[0]) / 1e3, 2) for r in capture.steps][:6]}"
    )
    print(
        "  idle:",
        {k: round(100 * v / span, 1) for k, v in causes.most_common() if v > 0.002 * span},
    )
    print(
        "  idle in:",
        {k[:60]: round(100 * v / span, 1) for k, v in places.most_common(8) if v > 0.004 * span},
    )
    exposed = sum(
        max(0, b - a - covered(running, a, b))
        for a, b in union([r[:2] for r in gpu if r[3] in ("memcpy", "memset")])
    )
    moves = collections.defaultdict(lambda: [0, 0, 0])
    for row in gpu:
        if row[3] in ("memcpy", "memset"):
            entry = moves[row[2][:42]]
            entry[0] += 1
            entry[1] += row[1] - row[0]
            entry[2] += (
                row[6].get("bytes", 0) if isinstance(row[6].get("bytes", 0), (int, float)) else 0
            )
    print(
        f"  copies: exposed {100 * exposed / span:.1f} %;",
        {k: (v[0], f"{100 * v[1] / span:.1f} %", f"{v[2] / 1e6:.1f} MB") for k, v in moves.items()},
    )
    if not kernels:
        print("  no kernels")
        return None
    total = sum(row[1] - row[0] for row in kernels) or 1
    kinds, names, small = collections.Counter(), collections.defaultdict(lambda: [0, 0]), 0
    few = 0
    for row in kernels:
        time = row[1] - row[0]
        kinds[row[3]] += time
        names[row[2]][0] += 1
        names[row[2]][1] += time
        small += time < 5
        grid = row[6].get("grid")
        if isinstance(grid, list) and None not in grid:
            blocks = grid[0] * grid[1] * grid[2]
            few += time * max(0, 1 - blocks / sms)
    small_time = sum(r[1] - r[0] for r in kernels if r[1] - r[0] < 5) / span

    def share(found):
        return sum(r[1] - r[0] for r in kernels if re.search(found, r[2])) / total

    print(
        f"  kernels: {len(kernels)}, mean {total / len(kernels):.1f} us, "
        f"{100 * small / len(kernels):.0f} % under 5 us ({100 * small_time:.1f} % of time); "
        f"SMs without blocks {100 * few / total:.1f} % of kernel time; "
        f"double {100 * share(DOUBLE):.1f} %"
    )
    print("  kinds:", {k: f"{100 * v / total:.1f}" for k, v in kinds.most_common()})
    for name, (count, time) in sorted(names.items(), key=lambda one: -one[1][1])[:9]:
        print(f"    {100 * time / span:5.1f} % {count:5d} x {time / count:8.1f} us {name[:150]}")
    calls = collections.defaultdict(lambda: [0, 0])
    for row in capture.calls:
        calls[row[2]][0] += 1
        calls[row[2]][1] += row[1] - row[0]
    print(
        "  calls:",
        {
            k: (v[0], f"{v[1] / 1e3:.2f} ms")
            for k, v in sorted(calls.items(), key=lambda one: -one[1][1])[:8]
        },
    )
    tops = collections.defaultdict(lambda: [0, 0])
    for row in ordered:
        tops[row[2][:60]][0] += 1
        tops[row[2][:60]][1] += row[1] - row[0]
    print(
        "  ops:",
        {
            k: (v[0], f"{v[1] / 1e3:.2f} ms")
            for k, v in sorted(tops.items(), key=lambda one: -one[1][1])[:14]
        },
    )
    chains, run = 0, []
    for row in [*kernels, None]:
        if row and row[3] in ("elementwise", "norm", "reduction"):
            run.append(row[1] - row[0])
            continue
        chains += sum(run) if len(run) > 1 else 0
        run = []
    wide = [
        row for row in kernels if re.search(r"sgemm|_s16816gemm|_ffma|simt|s161616gemm_f32", row[2])
    ]
    print(
        f"  elementwise chains {100 * chains / total:.1f} % of kernel time; "
        f"FP32 products by names {100 * sum(r[1] - r[0] for r in wide) / total:.1f} %"
    )
    per = capture.steps and len(capture.steps) or None
    return {
        "span": span,
        "busy": span - idle,
        "launches": len(kernels),
        "marked": per,
        "idle": idle / span,
        "causes": {k: v / span for k, v in causes.items()},
        "exposed": exposed / span,
        "copies": sum(v[1] for v in moves.values()) / span,
        "kernels": sum(b - a for a, b in running) / span,
        "kinds": {k: v / total for k, v in kinds.items()},
        "small": small / len(kernels),
        "small_time": sum(r[1] - r[0] for r in kernels if r[1] - r[0] < 5) / span,
        "few": few / total,
        "chains": chains / total,
        "casts": share(r"bfloat16_copy|unrolled_elementwise_kernel<at::native::direct_copy|convert"),
        "layout": share(r"ToNhwc|ToNchw|transpose|<128, [24], at.*_nocast<at::native::direct_copy"),
        "double": share(DOUBLE),
        "wide": sum(r[1] - r[0] for r in wide) / total,
        "waits": sum(1 for r in capture.calls if "Synchronize" in r[2]),
        "gpu_count": len(gpu),
        "launch_calls": sum(
            1
            for r in capture.calls
            if re.search(r"aunch|emcpy|emset", r[2]) and "HostFunc" not in r[2]
        ),
        "tops": [
            (name, count, time / span)
            for name, (count, time) in sorted(names.items(), key=lambda one: -one[1][1])[:4]
        ],
        "moves": {k: (v[0], v[1] / span, v[2]) for k, v in moves.items()},
        "places": {k: v / span for k, v in places.most_common(5)},
        "largest": max(time for _, time in names.values()) / span,
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sys.argv[2:] or sorted(p.name[: -len(".run.json")] for p in folder.glob("*.run.json"))
    for name in names:
        known = json.loads((folder / f"{name}.run.json").read_text())
        print(
            f"== {name}: alone {known.get('alone', {}).get('median_ms', 0):.3f} ms, "
            f"{known.get('active')} steps; "
            f"{known.get('error', '')} {known.get('trace_bytes', 0) / 1e6:.2f} MB"
        )
        capture = read(folder, name)
        if capture and capture.gpu:
            found, steps = judge(capture), known.get("active")
            if found and steps:
                own = known["alone"]["median_ms"]
                print(
                    f"  a step: busy {found['busy'] / steps / 1e3:.3f} ms of {own:.3f} alone, "
                    f"span {found['span'] / steps / 1e3:.3f}"
                )


if __name__ == "__main__":
    main()
