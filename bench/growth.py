"""Growth of an answer's time with its input, in every dimension that an input has: n, 2 n and 4 n.

  ./dev bench growth [--only NAME] [--part 0.1] [--attempts 3] [--instructions] [-o
  docs/results/growth.json]

An n log n program takes 2.1 times as long for twice the input, a quadratic one 4 times. Measured:
processor time in the program itself (not in the kernel), less what the same answer takes for a
trace of one event, as the least of several runs; a ratio above 2.3 is measured again, and fails
when it stays. With --instructions what is counted are the instructions of the program (by perf,
else by valgrind), which no other work on the machine changes: one run of n and one of 4 n, whose
ratio may be 4^1.2. growth_inputs.py and growth_random.py have the dimensions; each is analysed to
JSON, to a page, exported to Perfetto, compared with itself, run again with changes, and read for
its work.
"""
import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from growth_inputs import INPUTS
import spent
import growth_random  # noqa: F401: declares more of them

ROOT = Path(__file__).resolve().parent.parent
MOST = 2.3
EXPONENT = 1.2
PERF, VALGRIND = shutil.which("perf"), shutil.which("valgrind")
SMALLEST_S = 0.04  # below this a run says more about the machine than about the program
ANSWERS = {"analyze": lambda program, path, more, out: [program, "analyze", path, *more, "--format",
                                                        "json", "-o", out / "answer.json"],
           "page": lambda program, path, more, out: [program, "analyze", path, *more, "--format", "html", "-o", out / "answer.html"],
           "perfetto": lambda program, path, more, out: [program, "export", path, *more, "--perfetto", "-o", out / "answer.pftrace"],
           "compare": lambda program, path, more, out: [program, "compare", path, path, "--format", "json", "-o", out / "answer.json"],
           "whatif": lambda program, path, more, out: [program, "whatif", path, *more, "--format", "json", "-o", out / "answer.json"],
           "work": lambda program, path, more, out: [program, "work", path, *more, "--format", "json", "-o", out / "answer.json"]}


def user_time(command, limit=120):
    """Seconds of processor time in the program, and its peak memory."""
    done = spent.run(command,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    if done.status not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))} ended with {done.status}: {done.error.decode()}")
    return done.user, done.peak_bytes


def instructions(command):
    """Thousand millions of them that the program took."""
    def counted(prefix, pattern):
        done = subprocess.run([*prefix, *map(str, command)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        found = re.search(pattern, done.stderr)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr}")
        return found and int(found[1]) / 1e9
    if PERF and (count := counted([PERF, "stat", "-x", ";", "-e", "instructions:u", "--"],
                                  r"(?m)^(\d+);[^;]*;instructions")):
        return count
    return counted([VALGRIND, "--tool=callgrind", "--callgrind-out-file=/dev/null"],
                   r"Collected : (\d+)")


def check_answered(name, answer, folder):
    """A file that is refused costs next to nothing, and grows with nothing: every input must be
    analyzed."""
    if answer == "analyze" and not (folder / "answer.json").exists():
        sys.exit(f"{name} was not analyzed")


def least(command, runs, known=(1e9, 0)):
    for _ in range(runs):
        known = min(known, user_time(command))
    return known


def ratios_of(times, floor):
    """The ratio of each doubling; a time that is too short to measure has no ratio."""
    net = [max(seconds - floor, 1e-3) for seconds in times]
    return [round(b / a, 2) if a >= SMALLEST_S else None for a, b in zip(net, net[1:])]


def too_much(ratios):
    return any(ratio is not None and ratio > MOST for ratio in ratios)


def across(times, floor):
    """From the smallest to the largest; a time too short to measure counts as the shortest that can
    be."""
    first, last = (max(seconds - floor, SMALLEST_S) for seconds in (times[0], times[-1]))
    return round(last / first, 2)


def made(name, sizes, folder):
    """The inputs of these sizes."""
    inputs = []
    for size in sizes:
        where = folder / str(size)
        where.mkdir()
        inputs.append((*INPUTS[name][1](where, size), where))
    return inputs


def verdict(seconds, floor, most_across):
    """The ratios, and whether one is too large."""
    if most_across:
        ratio = across(seconds, floor)
        return [ratio], ratio > most_across
    ratios = ratios_of(seconds, floor)
    return ratios, too_much(ratios)


def measure(program, name, o, floors):
    n = max(int(INPUTS[name][0] * o.part), 16)
    sizes = [n, 4 * n] if o.across else [n, 2 * n, 4 * n]
    found = {"n": n}
    with tempfile.TemporaryDirectory() as folder:
        inputs = made(name, sizes, Path(folder))
        for answer, command in ANSWERS.items():
            if answer not in floors:
                continue
            best = [(1e9, 0)] * len(sizes)
            for attempt in range(o.attempts):
                best = [least(command(program, *one), 1, known) for one, known in zip(inputs, best)]
                ratios, bad = verdict([seconds for seconds, _ in best], floors[answer], o.across)
                if (attempt > 0 or o.across) and not bad:
                    break
            check_answered(name, answer, inputs[-1][-1])
            found[answer] = {"bad": bad, "user_s": [round(seconds, 3) for seconds, _ in best],
                             "ratios": ratios,
                             "peak_mb": [round(peak / 2**20, 1) for _, peak in best]}
    return found


def count_instructions(program, name, o, floors):
    n = max(int(INPUTS[name][0] * o.part), 16)
    found = {"n": n}
    with tempfile.TemporaryDirectory() as folder:
        inputs = made(name, [n, 4 * n], Path(folder))
        for answer in floors:
            net = [instructions(ANSWERS[answer](program, *one)) - floors[answer] for one in inputs]
            check_answered(name, answer, inputs[-1][-1])
            ratio = net[1] / net[0]
            found[answer] = {"bad": ratio > 4**EXPONENT,
                             "instructions_1e9": [round(count, 4) for count in net],
                             "ratios": [round(ratio, 2)]}
    return found


def floors_of(program, answers, cost):
    """The time of each answer for a trace of one event."""
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder) / "one.json"
        one.write_text('{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]}')
        return {answer: cost(ANSWERS[answer](program, one, [], Path(folder))) for answer in answers}


def main():
    options = argparse.ArgumentParser(prog="bench/run growth", description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", help="dimensions whose name contains this")
    options.add_argument("--but", default="-", help="not those whose name contains this")
    options.add_argument("--part", type=float, default=1.0, help="part of the full sizes")
    options.add_argument("--attempts", type=int, default=5,
                         help="runs of a size before a ratio counts as too large")
    options.add_argument("--across", type=float,
                         help="judge 4 n against n alone, and allow this ratio: for machines with other work")
    options.add_argument("--instructions", action="store_true",
                         help="count instructions, at n and 4 n")
    options.add_argument("--answers", default=",".join(ANSWERS),
                         help="those to measure, of " + ", ".join(ANSWERS))
    options.add_argument("--program", default=ROOT / "build" / "gpufathom")
    options.add_argument("-o", "--output", help="write all figures as JSON")
    o = options.parse_args()
    if o.instructions and not PERF and not VALGRIND:
        print("skipped: neither perf nor valgrind is installed, which count instructions")
        sys.exit(77)
    floors = floors_of(o.program, o.answers.split(","),
                       instructions if o.instructions else lambda command: least(command, 3)[0])
    measured = count_instructions if o.instructions else measure
    result = {"command": "./dev bench growth " + " ".join(sys.argv[1:]),
              "date": time.strftime("%Y-%m-%d"), "most": MOST,
              "load_average": [round(load, 1) for load in os.getloadavg()], "one_event": floors,
              "dimensions": {}}
    failed = []
    for name in INPUTS:
        if o.but in name or (o.only and o.only not in name):
            continue
        result["dimensions"][name] = found = measured(o.program, name, o, floors)
        for answer in floors:
            one = found[answer]
            bad = one.pop("bad")
            failed += [f"{name}, {answer}"] * bad
            print(f"{name:26} {answer:9} n={found['n']:<7} {json.dumps(one)}{'  TOO MUCH' * bad}",
                  flush=True)
        if o.output:  # after each dimension: a run that is stopped leaves what it has
            (ROOT / o.output).write_text(json.dumps(result, indent=1) + "\n")
    if failed:
        sys.exit("grows faster than n log n: " + "; ".join(failed))


if __name__ == "__main__":
    main()
