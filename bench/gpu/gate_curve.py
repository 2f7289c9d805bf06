#!/usr/bin/env python3
"""Detection rate of the gate: gate_curve.py RUNS.json.gz… --verdicts PROGRAM [--json FILE] [--chart
FILE.svg] [--keep FILE], of what gate.py measured. PROGRAM is bench/verdict_rates.cpp's, which has
the gate's decision.

A pair is a few runs of each version, in turns. For every program and every planted slow-down the
table has how many pairs the gate calls regressed: false alarms where nothing was planted,
found ones elsewhere; and how many it leaves undecided. Two kinds of pairs are counted: those that
share no run with another one, with the interval of Clopper and Pearson (95 %), and up to 200 that
may overlap, which are no independent trials and get none. The slow-down that was really planted is
the ratio over all runs.
--keep writes the runs without what the table does not need.
"""

import argparse
import gzip
import json
import math
import pathlib
import random
import re
import statistics
import subprocess

LIMIT = 0.01
PAIRS = 200
SIZES = (1, 2, 4, 8)
KINDS = {"again": 0, "one": 1, "two": 2, "five": 5}
CONFIDENCE = 0.95


def rounds_of(process):
    """The runs of every round by kind."""
    rounds = []
    for place, (kind, run) in enumerate(zip(process["runs"], process["by_run"])):
        if kind == "warm_up" or not run["step_ns"]:
            continue
        run["place"] = place
        if not rounds or kind in rounds[-1]:
            rounds.append({})
        rounds[-1][kind] = run
    return [each for each in rounds if len(each) == 5]


def kernel_time(run):
    return statistics.fmean(run["step_ns"])


def captures(runs, measure):
    """The gate's input: the runs in the order of recording, with their steps."""
    steps = [[run["wall_ns"]] if measure == "wall" else run["step_ns"] for run in runs]
    return " ".join(
        f"{run['place']}:{','.join(map(str, some))}" for run, some in zip(runs, steps)
    )


def starts(processes, size, step):
    return [
        (process, at)
        for process, rounds in enumerate(processes)
        for at in range(0, len(rounds) - size + 1, step)
    ]


def overlapping(processes, size):
    """`size` rounds that follow each other in one process, 200 of them where there are as many."""
    found = starts(processes, size, 1)
    return random.Random(size).sample(found, min(PAIRS, len(found)))


def verdicts(program, processes, kind, size, measure, which):
    lines = []
    for process, at in which:
        some = processes[process][at : at + size]
        before, after = ([each[name] for each in some] for name in ("base", kind))
        if measure == "kernels" or size > 1:
            lines.append(f"{captures(before, measure)}|{captures(after, measure)}\n")
    words = [program, "judge", str(LIMIT)]
    done = subprocess.run(words, input="".join(lines), capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def at_least(count, of, share):
    """The probability of `count` or more of `of`, each with probability `share`."""
    return sum(
        math.comb(of, some) * share**some * (1 - share) ** (of - some)
        for some in range(count, of + 1)
    )


def interval(count, of):
    """Clopper and Pearson's bounds of a share, found by halving.

    >>> [round(each, 4) for each in interval(0, 62)]
    [0.0, 0.0578]
    >>> [round(each, 4) for each in interval(9, 10)]
    [0.555, 0.9975]
    """
    tail = (1 - CONFIDENCE) / 2

    def solve(wanted):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if wanted(middle) else (middle, high)
        return low

    lower = 0.0 if count == 0 else solve(lambda share: at_least(count, of, share) > tail)
    upper = 1.0 if count == of else solve(lambda share: 1 - at_least(count + 1, of, share) < tail)
    return lower, upper


def count(verdicts_of, outcome):
    return sum(each[0] == outcome for each in verdicts_of)


def cell(program, processes, kind, size, measure):
    apart = verdicts(program, processes, kind, size, measure, starts(processes, size, size))
    some = verdicts(program, processes, kind, size, measure, overlapping(processes, size))
    if not apart:
        return None
    widths = [(float(each[3]) - float(each[2])) / 2 for each in some if len(each) > 1]
    found = count(apart, "failed")
    low, high = interval(found, len(apart))
    return {
        "disjoint": {
            "pairs": len(apart),
            "regressed": found,
            "low": low,
            "high": high,
            "undecided": count(apart, "undecided"),
        },
        "overlapping": {
            "pairs": len(some),
            "regressed": count(some, "failed"),
            "undecided": count(some, "undecided"),
        },
        "half_width": statistics.median(widths) if widths else None,
    }


def table(program, processes):
    logs = {
        kind: statistics.fmean(
            math.log(kernel_time(each[kind]) / kernel_time(each["base"]))
            for rounds in processes
            for each in rounds
        )
        for kind in KINDS
    }
    out = {
        "processes": len(processes),
        "rounds": sum(map(len, processes)),
        "planted": {kind: math.expm1(log) for kind, log in logs.items()},
        "ways": [],
    }
    for measure in ("kernels", "wall"):
        for size in SIZES:
            cells = {kind: cell(program, processes, kind, size, measure) for kind in KINDS}
            if all(cells.values()):
                out["ways"].append({"by": measure, "runs_of_each": size, **cells})
    return out


def together(answer, kind, size=4):
    """All programs' disjoint pairs as one count."""
    rows = [
        way[kind]["disjoint"]
        for row in answer.values()
        for way in row["ways"]
        if (way["by"], way["runs_of_each"]) == ("kernels", size)
    ]
    pairs, found, undecided = (
        sum(row[name] for row in rows) for name in ("pairs", "regressed", "undecided")
    )
    low, high = interval(found, pairs)
    return {"pairs": pairs, "regressed": found, "low": low, "high": high, "undecided": undecided}


def show(answer):
    for name, row in answer["programs"].items():
        shown = {kind: f"{share:+.2%}" for kind, share in row["planted"].items()}
        print(f"{name}: {row['rounds']} rounds in {row['processes']} processes, planted {shown}")
        for way in row["ways"]:
            cells = []
            for kind in KINDS:
                apart = way[kind]["disjoint"]
                cells.append(
                    f"{kind} {apart['regressed']}/{apart['pairs']} "
                    f"({apart['low']:.1%}–{apart['high']:.1%}), {apart['undecided']} undecided"
                )
            print(f"  {way['by']:8}{way['runs_of_each']} runs of each  {'   '.join(cells)}")
    for kind, all_of in answer["together"].items():
        print(
            f"all programs, 4 runs of each, {kind}: {all_of['regressed']}/{all_of['pairs']} "
            f"({all_of['low']:.1%}–{all_of['high']:.1%}), {all_of['undecided']} undecided"
        )


COLOURS = {"decode": "#3a6ea5", "resnet": "#b5651d", "transformer": "#4c8c4a"}


def lines_of(programs):
    """The chart's lines: program, measure, and (planted %, share, bounds) of each kind."""
    for name, row in programs.items():
        for way in row["ways"]:
            if way["runs_of_each"] == 4:
                points = []
                for kind in KINDS:
                    apart = way[kind]["disjoint"]
                    share = apart["regressed"] / apart["pairs"]
                    planted = max(row["planted"][kind] * 100, 0)
                    points.append((planted, share, apart["low"], apart["high"]))
                yield name, way["by"], points


def chart(programs):
    left, top, width, height, most = 60, 50, 480, 240, 6.5

    def place(planted, share):
        return f"{left + planted / most * width:.1f}", f"{top + (1 - share) * height:.1f}"

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 350" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
        '<text x="12" y="24" font-size="15">Pairs that the gate calls regressed, four runs of each version</text>',
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        _, y = place(0, share)
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 8}" y="{float(y) + 4}" text-anchor="end">{share:.0%}</text>')
    for planted in range(0, 7):
        x, _ = place(planted, 0)
        out.append(f'<text x="{x}" y="{top + height + 20}" text-anchor="middle">{planted}</text>')
    out.append(
        f'<text x="{left + width / 2}" y="{top + height + 44}" text-anchor="middle">slow-down that was '
        "planted, % of the step's kernels; bars: 95 % (Clopper and Pearson)</text>"
    )
    for row, (name, measure, points) in enumerate(lines_of(programs)):
        dash = "" if measure == "kernels" else ' stroke-dasharray="5 4"'
        colour = COLOURS.get(name, "#555")
        path = " ".join(",".join(place(planted, share)) for planted, share, _, _ in points)
        out.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        )
        for planted, _, low, high in points:
            (x, bottom), (_, upper) = place(planted + 0.03 * row, low), place(planted, high)
            out.append(f'<line x1="{x}" x2="{x}" y1="{bottom}" y2="{upper}" stroke="{colour}"/>')
        y = top + 12 + 22 * row
        out.append(
            f'<line x1="560" x2="584" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dash}/>'
        )
        by = "kernels" if measure == "kernels" else "wall time"
        out.append(f'<text x="590" y="{y}">{name}, {by}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def slim(told):
    kept = [
        {
            "program": process["program"],
            "runs": process["runs"],
            "by_run": [{name: run[name] for name in ("step_ns", "wall_ns")} for run in process["by_run"]],
        }
        for process in told["processes"]
    ]
    # A path tells the machine and nothing of the measurement.
    failures = [re.sub(r"/(?:[^\s/'\"]+/)+", "", text) for text in told.get("failures", [])]
    return {**told, "processes": kept, "failures": failures}


def write_packed(path, value):
    packed = gzip.compress(json.dumps(value, separators=(",", ":")).encode(), 9, mtime=0)
    pathlib.Path(path).write_bytes(packed)


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("files", nargs="+")
    words.add_argument("--verdicts", required=True, metavar="PROGRAM", help="verdict_rates, built")
    words.add_argument("--json", help="also write the table here")
    words.add_argument("--chart", help="also draw it, as SVG")
    words.add_argument("--keep",
                       help="also write the first file's runs here, with what the table needs")
    given = words.parse_args()
    programs = {}
    for name in given.files:
        with gzip.open(name, "rt") as file:
            told = json.load(file)
        if given.keep and name == given.files[0]:
            write_packed(given.keep, slim(told))
        for process in told["processes"]:
            programs.setdefault(process["program"], []).append(rounds_of(process))
    rows = {name: table(given.verdicts, processes) for name, processes in sorted(programs.items())}
    answer = {
        "made_by": "bench/gpu/gate_curve.py",
        "confidence": CONFIDENCE,
        "programs": rows,
        "together": {kind: together(rows, kind) for kind in KINDS},
    }
    show(answer)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(answer, indent=1) + "\n")
    if given.chart:
        pathlib.Path(given.chart).write_text(chart(rows))


if __name__ == "__main__":
    main()
