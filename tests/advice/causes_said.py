#!/usr/bin/env python3
"""How often the planted cause is said at all, and said first, over all sets of unseen programs.

    causes_said.py              the first answers, as docs/results holds them: docs/lab/advice.md
    causes_said.py --check PAGE ends with 1 where a page has other figures
    causes_said.py GPUFATHOM    this program's on the captures that the repository has of each set,
                                which are known since; -v names what is not said

Counted are the faults that an id names and whose cause the verdict sees in the raw events.
"""
import argparse
import json
import pathlib
import sys
import types

import court
import score_fields

SETS = {"fields": ("other fields", "advice_unseen_h200"), "libraries": ("libraries", "advice_unseen_libraries_h100"),
        "services": ("services", "advice_unseen_services_h100"), "studies": ("studies", "advice_unseen_studies_h100"),
        "trades": ("trades", "advice_unseen_trades_h200"), "wards": ("wards", "advice_unseen_wards_h200"),
        "orchards": ("orchards", "advice_unseen_orchards_h200")}


def first_answers(name):
    return json.loads((court.ROOT / "docs/results" / f"{SETS[name][1]}.json").read_text())["rows"]


def answers_of(program, name):
    """By the corrected verdicts, as the court's."""
    verdicts, truth = (court.FIELDS_VERDICTS, court.FIELDS) if name == "fields" else (court.set_verdicts(name), court.set_truth(name))
    more = court.HERE / "programs" / f"{name}_corrected.json"
    if more.exists():
        verdicts, truth = score_fields.corrected(verdicts, truth, json.loads(more.read_text())["captures"])
    options = types.SimpleNamespace(program=program, folder=court.HERE / name)
    verdicts = {fault: verdicts[fault] for fault in truth["faults"] if fault in verdicts}
    return score_fields.scored(options, verdicts, truth, show=lambda line: None)[0], truth


def table(program, verbose):
    """Lines of a table; below each row what is not said, where asked for."""
    yield from ("| set with planted faults | causes | said at all | said first |", "|---|--:|--:|--:|")
    totals = [0, 0, 0]
    for name, (title, results) in SETS.items():
        if not (court.ROOT / "docs/results" / f"{results}.json").exists():
            continue  # its programs are written, but no answer is held yet
        rows, truth = answers_of(program, name) if program else (first_answers(name), court.set_truth(name))
        counted = {fault: row for fault, row in rows.items() if "cause_first" in row}
        if not counted:
            continue
        silent = [fault for fault, row in counted.items() if not set(truth["faults"][fault]["first"]) & set(row["said"])]
        numbers = [len(counted), len(counted) - len(silent), sum(row["cause_first"] for row in counted.values())]
        totals = [sum(pair) for pair in zip(totals, numbers)]
        yield "| {} | {} | {} | {} |".format(title, *numbers)
        for fault in silent if verbose else ():
            yield f"  {fault}: {'/'.join(truth['faults'][fault]['first'])}, said {', '.join(counted[fault]['said']) or 'nothing'}"
    yield "| all | {} | {} | {} |".format(*totals)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--check", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    lines = list(table(options.program, options.v))
    if options.check and "\n".join(lines) not in options.check.read_text():
        sys.exit(f"{options.check} has other figures than docs/results: {court.HERE / 'causes_said.py'} prints them")
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
