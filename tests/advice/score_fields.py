#!/usr/bin/env python3
"""Scores gpufathom on the captures of programs/fields.json against the verdicts of fields_verdicts.json.

    score_fields.py GPUFATHOM FOLDER [--write docs/results/advice_unseen_h200.json] [--version COMMIT]

Each finding is judged twice: of the capture (the profiled run), and of the program, whose step without a profiler says whether
the GPU waits for the host at all. A headline must name a loss that the verdict allows.
"""
import argparse
import collections
import json
import pathlib

import court


def score(program, path, verdict):
    analysis, complaint = court.answer(program, path)
    if analysis is None:
        return {"refused": complaint[:200], "true": [], "false": [], "missed": verdict["must"], "said": [], "caveats": [], "not_of_program": []}
    said = [rule for rule, _ in court.found(analysis)]
    losses = [rule for rule in said if rule in court.LOSSES]
    fair = set(verdict["fair"]) | {rule for one in verdict["must"] for rule in one.split("/")}
    headline = court.headline_of(program, path)
    right, named = court.named_by(headline, verdict)
    return {
        "said": losses, "true": [r for r in losses if r in fair], "false": [r for r in losses if r not in fair],
        "missed": [one for one in verdict["must"] if not set(one.split("/")) & set(losses)],
        "not_of_program": [r for r in losses if r in verdict["not_of_program"]],
        "caveats": [r for r in said if r in court.CAVEATS], "false_caveats": [r for r in said if r in court.CAVEATS and r in verdict.get("false_caveats", [])],
        "false_first": [r for r in losses[:2] if r not in fair], "unknown": [r for r in said if r not in court.LOSSES | court.CAVEATS],
        "headline": headline[:420], "headline_names": named, "headline_true": right,
        "texts": {rule: finding["text"][:160] for rule, finding in court.found(analysis) if rule in losses and rule not in fair},
        "gains": {rule: finding.get("gain_ns") for rule, finding in court.found(analysis) if rule in losses},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--date", default="")
    options = parser.parse_args()
    verdicts, truth = court.FIELDS_VERDICTS, court.FIELDS
    rows, totals = {}, {kind: collections.Counter() for kind in ("faults", "mended", "healthy", "all")}
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
            total["true_of_program"] += len([r for r in row["true"] if r not in row["not_of_program"]])
            total["caveats"] += len(row["caveats"])
            total["false_caveats"] += len(row.get("false_caveats", []))
            total["false_first"] += len(row.get("false_first", []))
            total["headlines"] += "headline_true" in row
            total["headlines_true"] += bool(row.get("headline_true"))
        if kind == "faults" and truth["faults"][name]["first"] and verdict["must"]:
            totals["faults"]["causes"] += 1
            first = bool(row["said"]) and row["said"][0] in truth["faults"][name]["first"]
            row["cause_first"] = first
            totals["faults"]["causes_first"] += first
        wrong = [f"{r} false: {row['texts'].get(r, '')}" for r in row["false"]] + [f"{m} missed" for m in row["missed"]]
        wrong += [f"headline names {row['headline_names']}, allowed {verdict['headline']}"] if row.get("headline_true") is False else []
        wrong += [f"said first {row['said'][:1]}"] if row.get("cause_first") is False else []
        wrong += [f"not of the program: {row['not_of_program']}"] if row["not_of_program"] else []
        wrong += [f"unjudged {row['unknown']}"] if row.get("unknown") else []
        for line in wrong:
            print(f"{name}: {line}")
    for kind, total in totals.items():
        print(kind, dict(total))
    if options.write:
        known = {"what": "Advice on captures of programs written for this, judged from raw events before gpufathom was asked",
                 "command": "tests/advice/score_fields.py build/gpufathom FOLDER", "rules": options.version, "date": options.date,
                 "hardware": json.loads((options.folder / "runs.json").read_text())[0].get("gpu", ""), "totals": totals, "rows": rows}
        options.write.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
