"""How the time of an answer grows with its input, in every dimension that an input has: n, 2 n and 4 n.

  ./dev bench growth [--only NAME] [--part 0.1] [--attempts 3] [-o docs/results/growth.json]

An n log n program takes 2.1 times as long for twice the input, a quadratic one 4 times. Measured: processor time in the program itself
(not in the kernel), less what an empty trace takes, as the least of several runs; a ratio above 2.3 is measured again, and fails when it
stays. growth_inputs.py has the dimensions; each is analysed to JSON, to a page, and exported to Perfetto.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from growth_inputs import INPUTS

ROOT = Path(__file__).resolve().parent.parent
MOST = 2.3
SMALLEST_S = 0.04  # below this a run says more about the machine than about the program
ANSWERS = {"analyze": lambda program, path, more, out: [program, "analyze", path, *more, "--format", "json", "-o", out / "answer.json"],
           "page": lambda program, path, more, out: [program, "analyze", path, *more, "--format", "html", "-o", out / "answer.html"],
           "perfetto": lambda program, path, more, out: [program, "export", path, *more, "--perfetto", "-o", out / "answer.pftrace"]}


def user_time(command, limit=120):
    """Seconds of processor time in the program, and its peak memory."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_CPU, (limit, limit)))
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))} ended with {os.waitstatus_to_exitcode(status)}: {message.decode()}")
    return usage.ru_utime, usage.ru_maxrss * 1024


def least(command, runs, known=(1e9, 0)):
    for _ in range(runs):
        known = min(known, user_time(command))
    return known


def ratios_of(times, floor):
    """Of each doubling; a time that is too short to measure has no ratio."""
    net = [max(seconds - floor, 1e-3) for seconds in times]
    return [round(b / a, 2) if a >= SMALLEST_S else None for a, b in zip(net, net[1:])]


def too_much(ratios):
    return any(ratio is not None and ratio > MOST for ratio in ratios)


def across(times, floor):
    """From the smallest to the largest; a time too short to measure counts as the shortest that can be."""
    first, last = (max(seconds - floor, SMALLEST_S) for seconds in (times[0], times[-1]))
    return round(last / first, 2)


def measure(program, name, part, attempts, floor, most_across):
    full, make = INPUTS[name]
    sizes = [max(int(full * part), 16) * factor for factor in (1, 2, 4)]
    found = {"n": sizes[0]}
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder) / str(size) for size in sizes]
        inputs = []
        for size, where in zip(sizes, folders):
            where.mkdir()
            inputs.append(make(where, size))
        for answer, command in ANSWERS.items():
            best = [(1e9, 0)] * len(sizes)
            for attempt in range(attempts):
                best = [least(command(program, path, more, where), 1, known) for (path, more), where, known in zip(inputs, folders, best)]
                ratios = ratios_of([seconds for seconds, _ in best], floor)
                if most_across:
                    ratios = [across([seconds for seconds, _ in best], floor)]
                    found["bad"] = ratios[0] > most_across
                else:
                    found["bad"] = too_much(ratios)
                if (attempt > 0 or most_across) and not found["bad"]:
                    break
            found[answer] = {"bad": found.pop("bad"), "user_s": [round(seconds, 3) for seconds, _ in best], "ratios": ratios,
                             "peak_mb": [round(peak / 2**20, 1) for _, peak in best]}
    return found


def main():
    options = argparse.ArgumentParser(prog="bench/run growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", help="dimensions whose name contains this")
    options.add_argument("--part", type=float, default=1.0, help="part of the full sizes")
    options.add_argument("--attempts", type=int, default=5, help="runs of a size before a ratio counts as too large")
    options.add_argument("--across", type=float, help="judge 4 n against n alone, and allow this ratio: for machines with other work")
    options.add_argument("--program", default=ROOT / "build" / "gpufathom")
    options.add_argument("-o", "--output", help="write all figures as JSON")
    o = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.json"
        empty.write_text('{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]}')
        floor = least([o.program, "analyze", empty, "--format", "json"], 3)[0]
    result = {"command": "./dev bench growth " + " ".join(sys.argv[1:]), "date": time.strftime("%Y-%m-%d"), "most": MOST, "dimensions": {}}
    failed = []
    for name in INPUTS:
        if o.only and o.only not in name:
            continue
        result["dimensions"][name] = found = measure(o.program, name, o.part, o.attempts, floor, o.across)
        for answer in ANSWERS:
            one = found[answer]
            bad = one.pop("bad")
            failed += [f"{name}, {answer}"] * bad
            print(f"{name:26} {answer:9} n={found['n']:<7} {one['user_s']} s  ratios {one['ratios']}  peak {one['peak_mb']} MB{'  TOO MUCH' * bad}", flush=True)
    if o.output:
        (ROOT / o.output).write_text(json.dumps(result, indent=1) + "\n")
    if failed:
        sys.exit("grows faster than n log n: " + "; ".join(failed))


if __name__ == "__main__":
    main()
