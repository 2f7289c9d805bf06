#!/usr/bin/env python3
"""Drafts verdicts on the captures of a set of programs: draft_verdicts.py FOLDER SET [NAME...]
[--write]

What judge_set.py measures becomes ids and losses by the numbers of programs/SET.json's criteria;
programs/SET_hand.json (once it is there) holds what those cannot see and was looked at by hand:
`add` and `drop` ids, `headline` losses to add, `must`, `waits`, `void`, `gain_void`, `why`; `row`
is a whole verdict on a capture without kernels.
A program `nested` repeats one sequence within its step, so that its steps cannot be told.
--write writes programs/SET_verdicts.json and prints its sha256; without it a line or two are shown.
"""
import bisect
import collections
import contextlib
import hashlib
import io
import json
import pathlib
import re
import sys

import judge_set
from raw_set import read

HERE = pathlib.Path(__file__).resolve().parent / "programs"
COPIES = r"direct_copy|float16_copy|_copy_kernel|CatArray|convert_element|^copy|wrapped_convert|cupy_copy"
# kernels without tensor cores are always so named
ODD = r"^(?!.*(?:simt|ffma)).*align[124](?:_|$|>)"
# Kernels of which one operator launches several in a row.
PASSES = re.compile(r"radix_sort|multi_tensor")
OF_HOST = {
    "launch_bound", "host_bound", "gpu_idle", "sync_in_step", "input_bound", "cpu_operators",
    "blocking_copies", "device_allocations", "recompilation", "small_copies", "data_dependent_sizes",
}
# healthy programs with marks
MARKED = {"preferences_learned", "photos_loaded_ahead", "walls_inspected"}
NOT_NAMED = ["start_up_in_window", "warm_up_in_window"]


def drained(capture, busy, slack):
    """Idle time that begins while the host waits, or `slack` us after it, as what it launches next
    comes late.

    Of each gap 300 us at most: what takes the host longer is not the wait's.
    """
    pieces, before = [], {}
    for row in sorted(capture.calls):
        if judge_set.WAITS.search(row[2]):
            # a copy to pageable memory waits itself, and a call for it follows
            copy = before.get(row[3])
            copied = copy and "emcpyAsync" in copy[2] and row[0] - copy[1] < 50
            pieces.append((copy[0] if copied else row[0], row[1]))
        before[row[3]] = row
    waits = judge_set.union(pieces)
    begins = [wait[0] for wait in waits]
    total = 0
    for (_, left), (right, _) in zip(busy, busy[1:]):
        place = bisect.bisect_right(begins, left) - 1
        total += min(right - left, 300) if place >= 0 and left <= waits[place][1] + slack else 0
    return total


def rounds(kernels):
    """Most repeats in a row of one sequence of kernels that have fewer blocks than an H100 has
    SMs."""
    names = [row[2] for row in kernels]
    blocks = [row[6].get("grid") or [132, 1, 1] for row in kernels]
    few = [(one[0] or 1) * (one[1] or 1) * (one[2] or 1) < 132 for one in blocks]
    most = (1, 1, "")
    for period in range(1, 80):
        same = 0
        for at in range(period, len(names)):
            same = same + 1 if names[at] == names[at - period] and few[at] and not PASSES.search(names[at]) else 0
            most = max(most, (1 + same // period, -period, names[at]))
    return most


def measured(folder, name):
    """The shares of judge_set.py and a few more; None without kernels."""
    run = json.loads((folder / f"{name}.run.json").read_text())
    with contextlib.redirect_stdout(io.StringIO()):
        capture = read(folder, name) if "error" not in run else None
        found = judge_set.judge(capture) if capture and capture.gpu else None
    if not found:
        return None
    kernels = sorted(row for row in capture.gpu if row[3] not in ("memcpy", "memset"))
    time = sum(row[1] - row[0] for row in kernels)
    busy = judge_set.union(row[:2] for row in capture.gpu)

    def share(text, kinds=None):
        return sum(row[1] - row[0] for row in kernels
                   if re.search(text, row[2]) and (not kinds or row[3] in kinds)) / time

    across = [row for row in capture.gpu if row[3] == "memcpy"
              and re.search(r"HtoD|DtoH|H2D|D2H|host_to|to_host", row[2])]
    steps = run.get("active") or max(1, found["span"] / 1e3 / run["alone"]["median_ms"])
    # Steps before the window may end in it: what was launched within it is that of its own steps.
    launched = {row[4] for row in capture.calls if row[4] is not None}
    own = [row for row in kernels if row[5] in launched] or kernels
    more = {
        "run": run, "own": run["alone"]["median_ms"], "steps_run": run.get("active"), "repeats": steps,
        "drained": drained(capture, busy, 5 if run.get("active") else 60) / found["span"],
        "copied": share(COPIES), "odd": share(ODD), "nhwc": share(r"ToNhwc|ToNchw|nchwTo|nhwcTo"),
        "cat": share(r"CatArray"), "across": across, "rounds": rounds(own[:4000]),
        "few_bytes": sum((row[6].get("bytes") or 0) < 65536 for row in across) / steps,
        "nonzero": any(row[2] == "aten::nonzero" for row in capture.ops),
        "loads": any(re.search(r"Module(Load|Unload)|LibraryLoad|cudaMalloc$|cuMemAlloc|cudaFree$", row[2])
                     for row in capture.calls),
        "kernel_ms": sum(row[1] - row[0] for row in own) / 1e3 / steps,
        "occupied": occupied(kernels) / time,
    }
    return found | more


def occupied(kernels):
    """Time of kernels other than products that fill under a quarter of the warps, by the trace."""
    return sum(row[1] - row[0] for row in kernels
               if row[3] not in ("product", "attention", "convolution")
               and 0 < (row[6].get("est. achieved occupancy %") or 100) < 25)


def ids_of(m):
    causes = collections.Counter(m["causes"])
    launch = causes["other launches"] + causes["own launch"]
    host = causes["in operators"] + causes["no operator (Python)"]
    copies = causes["copy calls"] + causes["own copy call"] + m["exposed"]
    moved = sum(m["kinds"].get(kind, 0)
                for kind in ("elementwise", "index", "reduction", "norm", "layout"))
    waits = m["waits"] >= m["repeats"] / 2
    tests = {
        "gpu_idle": m["idle"] >= 0.02, "launch_bound": launch + host >= 0.02, "host_bound": host >= 0.02,
        "sync_in_step": causes["wait"] >= 0.01 or (waits and m["drained"] >= 0.02),
        "blocking_copies": copies >= 0.02 and m["across"],
        "device_allocations": causes["allocation"] >= 0.02, "recompilation": causes["compile"] >= 0.02,
        "input_bound": causes["loader"] >= 0.02,
        "tiny_kernels": m["small"] >= 0.5 and m["small_time"] >= 0.02,
        "small_grids": m["few"] >= 0.05, "sms_without_work": m["few"] >= 0.05,
        "small_batch": m["idle"] >= 0.25 or m["few"] >= 0.25, "room_in_memory": m["idle"] >= 0.25 or m["few"] >= 0.25,
        "unfused_elementwise": m["chains"] >= 0.1 and m["kernels"] >= 0.05,
        "casts": m["copied"] >= 0.03, "layout_copies": m["layout"] >= 0.03 or m["nhwc"] >= 0.03 or m["cat"] >= 0.03,
        "no_channels_last": m["nhwc"] >= 0.03,
        "kernel_bound": m["kernels"] >= 0.85, "memory_bound": moved >= 0.5,
        "fp32_without_tensor_cores": m["wide"] >= 0.05, "odd_sizes": m["odd"] >= 0.03,
        "small_copies": m["few_bytes"] >= 8, "unbatched_loop": m["rounds"][0] >= 8,
        "data_dependent_sizes": m["nonzero"] and causes["wait"] + m["drained"] >= 0.01,
        "low_occupancy": m["occupied"] >= 0.1,
    }
    return {rule for rule, true in tests.items() if true}


def losses_of(m, name):
    """The losses that a headline may name, with their shares: within a tenth of the largest."""
    causes = collections.Counter(m["causes"])
    launch = causes["other launches"] + causes["own launch"]
    host = causes["in operators"] + causes["no operator (Python)"]
    # The xplane has no launches by correlation: what is launched late and what is done between is
    # one.
    both = launch + host if name.startswith("jax_") else host
    shares = {
        "idle, launch-bound": launch + host, "idle, other host work": both,
        "idle, host synchronization": max(causes["wait"], m["drained"]),
        "idle, blocking copies": causes["copy calls"] + causes["own copy call"],
        "memory copies only": m["exposed"], "idle, memory allocation": causes["allocation"],
        "idle, input pipeline": causes["loader"], "idle SMs": m["few"] * m["kernels"],
    }
    most = max(shares.values())
    allowed = {loss for loss, share in shares.items() if share >= max(most - 0.1, 0.0005)}
    if name.startswith("jax_") or not m["steps_run"]:
        allowed |= {"idle, unexplained gap"} if "idle, other host work" in allowed else set()
    for one, same in (("idle, launch-bound", "idle, kernel launch gap"),
                      ("idle, blocking copies", "idle, blocking copy")):
        allowed |= {same} if one in allowed else set()
    return shares, allowed


def summary(m):
    kinds = sorted(m["kinds"].items(), key=lambda one: -one[1])[:3]
    parts = ", ".join(f"{what} {100 * share:.1f} %" for what, share in
                      sorted(m["causes"].items(), key=lambda one: -one[1])[:3] if share > 0.01)
    return (f"own step {m['own']:.3f} ms; GPU busy {100 * (1 - m['idle']):.1f} % of the window, kernels "
            f"{100 * m['kernels']:.1f} %; idle by what the host did: {parts or 'none'}; kernels by kind "
            + ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in kinds)
            + f"; {m['launches']} of mean {m['kernels'] * m['span'] / m['launches']:.1f} us; copies alone "
            f"{100 * m['exposed']:.1f} %; SMs without blocks {100 * m['few']:.0f} % of kernel time")


def verdict(name, m, truth, hand):
    plain, _, mended = name.partition(".")
    fault = {} if mended else truth["faults"].get(plain, {})
    fair = (ids_of(m) | set(hand.get("add", []))) - set(hand.get("drop", []))
    shares, allowed = losses_of(m, name)
    full = m["kernels"] >= 0.85
    waits = hand.get("waits", m["own"] > 1.05 * m["kernel_ms"] and m["kernels"] < 0.952)
    told = sorted(set(fault.get("first", [])) & fair)
    must = hand.get("must", ["/".join(told)] if told and "void" not in hand else [])
    if fault.get("first") and not told and "void" not in hand:
        print(f"{name}: nothing planted is in the events", file=sys.stderr)
    marked = truth["faults"].get(plain, {}).get("marks", plain in MARKED)
    steps = m["steps_run"] and ([m["steps_run"]] if marked
                                else list(range(m["steps_run"] - 1, m["steps_run"] + 4)))
    row = {
        "is": hand.get("is", summary(m)), "must": must, "fair": sorted(fair),
        "headline": sorted((allowed | set(hand.get("headline", []))) - set(hand.get("not_headline", []))),
        "kernel_bound": full or hand.get("kernel_bound", False),
        "not_of_program": [] if waits else sorted(fair & OF_HOST), "steps": None if hand.get("nested") else steps,
    }
    if not m["loads"]:
        row["false_caveats"] = NOT_NAMED
    return row | {key: hand[key] for key in ("void", "gain_void", "why") if key in hand}, shares


def shown(name, m, row, shares):
    print(f"== {name}: own {m['own']:.3f}, kernels {m['kernel_ms']:.3f} a step, {100 * m['kernels']:.0f} %, "
          f"{'waits' if not row['not_of_program'] else 'full'}; {m['launches']} kernels, {m['waits']} waits, "
          f"rounds {m['rounds'][0]} of {-m['rounds'][1]} {m['rounds'][2][:50]}, drained {100 * m['drained']:.1f} %, copied {100 * m['copied']:.1f} %")
    print("  ",
          {cause: round(100 * share, 1) for cause, share in m["causes"].items() if share > 0.005},
          {kind: round(100 * share) for kind, share in m["kinds"].items() if share > 0.02})
    print("   must", row["must"], "fair", " ".join(row["fair"]))
    print("  ", {loss: round(100 * share, 1) for loss, share in shares.items() if share > 0.004},
          "->", row["headline"])
    for kernel, count, share in m["tops"]:
        print(f"     {100 * share:5.1f} % {count:6d} {kernel[:110]}")


def main():
    write = "--write" in sys.argv
    folder, kind, *names = [word for word in sys.argv[1:] if word != "--write"]
    truth = json.loads((HERE / f"{kind}.json").read_text())
    path = HERE / f"{kind}_hand.json"
    hands = json.loads(path.read_text())["captures"] if path.exists() else {}
    names = names or [name for fault in truth["faults"]
                      for name in (fault, f"{fault}.mended")] + [*truth["healthy"]]
    rows = {}
    for name in names:
        if "row" in hands.get(name, {}):  # a capture in which nothing can be measured
            rows[name] = hands[name]["row"]
            continue
        m = measured(pathlib.Path(folder),
                     name) if (pathlib.Path(folder) / f"{name}.run.json").exists() else None
        if not m:
            print(f"{name}: no capture", file=sys.stderr)
            continue
        rows[name], shares = verdict(name, m, truth, hands.get(name, {}))
        if not write:
            shown(name, m, rows[name], shares)
    if write:
        runs = (json.loads(run.read_text())
                for run in sorted(pathlib.Path(folder).glob("*.run.json")))
        device = next((run["gpu"] for run in runs if "gpu" in run), "NVIDIA H100")
        note = (f"Verdicts on the captures of programs/{kind}.json ({device}), each from raw events by its criteria "
                "(draft_verdicts.py, judge_set.py), written before gpufathom was asked. Keys as in services_verdicts.json.")
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
        text = f'{{\n "note": {json.dumps(note)},\n "captures": {{\n{lines}\n }}\n}}\n'
        (HERE / f"{kind}_verdicts.json").write_text(text)
        print(len(rows), hashlib.sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main()
