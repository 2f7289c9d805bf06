#!/usr/bin/env python3
"""Scores gpufathom on the captures of programs/fields.json (--set NAME: NAME.json) against verdicts
from their raw events.

    score_fields.py GPUFATHOM FOLDER [--write docs/results/advice_unseen_h200.json] [--version
    COMMIT]
                [--set libraries]

Each finding is judged twice: of the capture (the profiled run), and of the program, whose step
without a profiler says whether the GPU waits for the host at all. A headline must name a loss that
the verdict allows.
"""
import argparse
import collections
import json
import pathlib

import court


def score(program, path, verdict):
    analysis, complaint = court.answer(program, path)
    if analysis is None:
        return {"refused": complaint[:200], "true": [], "false": [], "missed": verdict["must"],
                "said": [], "caveats": [], "not_of_program": []}
    said = [rule for rule, _ in court.found(analysis)]
    losses = [rule for rule in said if rule in court.LOSSES]
    fair = set(verdict["fair"]) | {rule for one in verdict["must"] for rule in one.split("/")}
    headline = court.headline_of(program, path)
    right, named = court.named_by(headline, verdict)
    return {
        "said": losses, "true": [r for r in losses if r in fair], "false": [r for r in losses if r not in fair],
        "missed": [one for one in verdict["must"] if not set(one.split("/")) & set(said)],
        "not_of_program": [r for r in losses if r in verdict["not_of_program"]],
        "caveats": [r for r in said if r in court.CAVEATS], "false_caveats": [r for r in said if r in court.CAVEATS and r in verdict.get("false_caveats", [])],
        "false_first": [r for r in losses[:2] if r not in fair], "unknown": [r for r in said if r not in court.LOSSES | court.CAVEATS],
        "headline": headline[:420], "headline_names": named, "headline_true": right,
        "texts": {rule: finding["text"][:160] for rule, finding in court.found(analysis) if rule in losses and rule not in fair},
        "gains": {rule: finding.get("gain_ns") for rule, finding in court.found(analysis) if rule in losses},
        "steps": steps_of(analysis), "false_steps": "steps" in verdict and not steps_true(steps_of(analysis), verdict["steps"]),
    }


def steps_of(analysis):
    """The number of steps in the answer; None where it says none."""
    window = analysis.get("window") or {}
    return len(window.get("all_steps") or window.get("steps")
               or []) or None if window.get("step_source") else None


def steps_true(said, allowed):
    return not said or allowed is None or said in allowed


def corrected(verdicts, truth, captures):
    """Verdicts and the ids of faults with what raw events corrected after the first answers."""
    verdicts, faults = dict(verdicts), dict(truth["faults"])
    for name, more in captures.items():
        old = verdicts[name]
        fair = [rule for rule in old["fair"] + more.get("fair", [])
                if rule not in more.get("drop", [])]
        verdicts[name] = old | {"must": more.get("must", old["must"]), "fair": fair,
                                "headline": old["headline"] + more.get("headline", []),
                                "false_caveats": more.get("false_caveats", old.get("false_caveats", [])),
                                "steps": (old.get("steps") or []) + more["steps"] if "steps" in more else old.get("steps")}
        if "first" in more:
            faults[name] = faults[name] | {"first": more["first"]}
    return verdicts, truth | {"faults": faults}


def scored(options, verdicts, truth, show=print):
    """Rows by capture, and totals by kind."""
    rows, totals = {}, {kind: collections.Counter()
                        for kind in ("faults", "mended", "healthy", "all")}
    for name, verdict in verdicts.items():
        path = court.capture_of(options.folder, name)
        if path is None:
            continue
        row = rows[name] = {"is": verdict["is"], **score(options.program, path, verdict)}
        kind = "mended" if name.endswith(".mended") else "faults" if name in truth["faults"] else "healthy"
        for total in (totals[kind], totals["all"]):
            total["captures"] += 1
            total["recommendations"] += len(row["said"])
            total["true"] += len(row["true"])
            total["missed"] += len(row["missed"])
            total["true_of_program"] += len([r for r in row["true"]
                                             if r not in row["not_of_program"]])
            total["caveats"] += len(row["caveats"])
            total["false_caveats"] += len(row.get("false_caveats", []))
            total["false_first"] += len(row.get("false_first", []))
            total["false_steps"] += row.get("false_steps", False)
            total["headlines"] += "headline_true" in row
            total["headlines_true"] += bool(row.get("headline_true"))
        if kind == "faults" and truth["faults"][name]["first"] and verdict["must"]:
            totals["faults"]["causes"] += 1
            first = bool(row["said"]) and row["said"][0] in truth["faults"][name]["first"]
            row["cause_first"] = first
            totals["faults"]["causes_first"] += first
        wrong = [f"{r} false: {row['texts'].get(r, '')}"
                 for r in row["false"]] + [f"{m} missed" for m in row["missed"]]
        wrong += [f"headline names {row['headline_names']}, allowed {verdict['headline']}"] if row.get("headline_true") is False else []
        wrong += [f"said first {row['said'][:1]}"] if row.get("cause_first") is False else []
        wrong += [f"not of the program: {row['not_of_program']}"] if row["not_of_program"] else []
        wrong += [f"{row['steps']} steps, allowed {verdict['steps']}"] if row.get("false_steps") else []
        wrong += [f"unjudged {row['unknown']}"] if row.get("unknown") else []
        row["wrong"] = wrong
        for line in wrong:
            show(f"{name}: {line}")
    return rows, totals


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--date", default="")
    parser.add_argument("--set", default="", help="libraries, services, studies, trades, wards or orchards")
    options = parser.parse_args()
    verdicts, truth = (court.set_verdicts(options.set),
                       court.set_truth(options.set)) if options.set else (court.FIELDS_VERDICTS, court.FIELDS)
    rows, totals = scored(options, verdicts, truth)
    again = {}
    if options.set:
        more = json.loads((court.HERE / "programs" / f"{options.set}_corrected.json").read_text())["captures"]
        later, sums = scored(options, *corrected(verdicts, truth, more), show=lambda line: None)
        again = {"corrected": {"totals": sums,
                               "why": {name: one["why"] for name, one in more.items()},
                               "wrong": {name: row["wrong"] for name, row in later.items()
                                         if row["wrong"]}}}
    for kind, total in totals.items():
        print(kind, dict(total))
    for kind, total in again.get("corrected", {"totals": {}})["totals"].items():
        print("corrected", kind, dict(total))
    if options.write:
        known = {"what": "Advice on captures of programs written for this, judged from raw events before gpufathom was asked",
                 "command": "tests/advice/score_fields.py build/gpufathom FOLDER" + f" --set {options.set}" * bool(options.set), "rules": options.version, "date": options.date,
                 "hardware": json.loads((options.folder / "runs.json").read_text())[0].get("gpu", ""), "totals": totals, **again, "rows": rows}
        options.write.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
