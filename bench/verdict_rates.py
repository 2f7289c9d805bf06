#!/usr/bin/env python3
"""Simulated error rates of the verdicts of compare and the gate: verdict_rates.py PROGRAM
[--seed N] [--pairs N] [--json FILE].

PROGRAM is bench/verdict_rates.cpp's. A cell is a kind of noise, a number of steps, of captures and
a change; what is printed are the worst shares over all numbers of steps, and the least shares where
more is better. What was tuned was tuned on seed 1; seed 2 is reported.
"""

import argparse
import datetime
import json
import pathlib
import subprocess

import spent

FALSE_ALARM, FALSE_PASS, POWER = 0.02, 0.01, 0.9


def design(cell):
    order = "in turns" if cell["in_turns"] else "one after the other"
    return "1" if cell["captures"] == 1 else f"{cell['captures']}, {order}"


def summary(cells):
    """Shares of pairs for each noise and design, over all numbers of steps."""
    rows = {}
    for cell in cells:
        row = rows.setdefault((cell["noise"], design(cell)), {})
        failed, passed, undecided = (count / cell["pairs"] for count in cell["limit_1"])
        named = {
            name: cell[name] / cell["pairs"]
            for name in ("slower", "faster", "no_difference", "undecided")
        }

        def note(name, value, worst=max):
            row[name] = value if name not in row else worst(row[name], value)

        if cell["change"] == 0:
            note("false_alarms", failed)
            note("equal_undecided", undecided)
            note("equal_called_different", named["slower"] + named["faster"])
            note("equal_sentence_undecided", named["undecided"])
        elif cell["change"] == 0.03:
            note("passes_of_3", passed)
            note("found_of_3", failed, min)
            note("called_slower_of_3", named["slower"], min)
            note("called_equal_of_3", named["no_difference"] + named["faster"])
        else:
            note("passes_of_6", passed)
            note("found_of_6", failed, min)
    return [{"noise": noise, "captures": how, **row} for (noise, how), row in rows.items()]


def show(rows):
    columns = [
        ("false_alarms", "alarm"), ("equal_undecided", "open"), ("passes_of_3", "pass 3"),
        ("found_of_3", "find 3"), ("found_of_6", "find 6"), ("equal_called_different", "differ"),
        ("equal_sentence_undecided", "open"), ("called_slower_of_3", "slower"),
        ("called_equal_of_3", "equal"),
    ]
    print(f"{'':50}{'captures of each':24}{'gate, limit 1 %':^35}{'first sentence':^28}")
    print(" " * 74 + "".join(f"{shown:>7}" for _, shown in columns) + "   % of pairs, worst")
    for row in rows:
        shares = "".join(f"{100 * row[name]:7.1f}" for name, _ in columns)
        print(f"{row['noise']:50}{row['captures']:24}{shares}")
    for name, most in (("false_alarms", FALSE_ALARM), ("passes_of_3", FALSE_PASS)):
        worst = max(rows, key=lambda row: row[name])
        print(f"{name}: at most {worst[name]:.1%} ({worst['noise']}; {worst['captures']}), wanted {most:.0%}")
    four = [row for row in rows if row["captures"] == "4, in turns"]
    for name in ("found_of_3", "called_slower_of_3"):
        enough = [row for row in four if row[name] >= POWER]
        print(f"{name}: {POWER:.0%} with 4 in turns in {len(enough)} of {len(four)} kinds of noise")


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("program")
    words.add_argument("--seed", type=int, default=2)
    words.add_argument("--pairs", type=int, default=1000)
    words.add_argument("--json", help="also write everything here")
    given = words.parse_args()
    asked = [given.program, str(given.seed), str(given.pairs)]
    cells = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    rows = summary(cells)
    show(rows)
    if given.json:
        answer = {
            "command": f"bench/verdict_rates.py build/bench/verdict_rates --seed {given.seed} --pairs {given.pairs}",
            "date": datetime.date.today().isoformat(),
            "hardware": f"{spent.processor()}, one core: nothing is timed",
            "summary": rows,
            "cells": cells,
        }
        pathlib.Path(given.json).write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
