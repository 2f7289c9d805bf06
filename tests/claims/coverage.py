#!/usr/bin/env python3
"""Coverage of the publications: coverage.py GPUFATHOM [--write]

rows.tsv lists what the publications measure, define, draw and ask for, each whole, partly there or
missing, where it is shown and what it lacks. The page docs/studies/coverage.md counts them beside
what the other tests of this folder find: rules and figures recomputed without the program, planted
changes, sentences. It fails where a place does not exist, a row that is not whole does not say what
it lacks, or the page is another;
--write writes it.
"""
import csv
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs/studies/coverage.md"
PARTS = {"A": "Framework runtime (DSD 2022, thesis 3)", "B": "Utilization (DATE 2024, thesis 4)",
         "C": "Energy (ASAP 2024, thesis 5)", "D": "Tools (slides, 2023)",
         "E": "Future work (thesis 6)"}


def said_by(script, program):
    """The last line of another test of this folder."""
    return subprocess.run([sys.executable, "-B", HERE / script, program], capture_output=True,
                          text=True).stdout.splitlines()[-1]


def page(rows, program):
    states = Counter(row["state"] for row in rows)
    rules, figures, planted, sentences = (re.findall(r"\d+", said_by(script, program))
                                          for script in ("recomputed.py", "figures.py",
                                                         "planted.py", "sentences.py"))
    yield "# Coverage of the publications\n\n<!-- Made by `./dev docs` from tests/claims/rows.tsv. -->\n"
    yield (f"{len(rows)} rows: {states['whole']} whole, {states['partly']} partly, {states['missing']} missing.\n\n| test | found |\n|---|---|\n"
           f"| `tests/claims/recomputed.py`: rules computed independently of the program, from both GPUs' data | {rules[0]}, of which {rules[1]} differ |\n"
           f"| `tests/claims/figures.py`: figures drawn independently | {figures[0]}, {figures[1]} points, of which panels differ: {figures[2]} |\n"
          f"| `tests/claims/planted.py`: changes that flip their statement alone | {planted[0]}, {planted[1]} faults |\n"
           f"| `tests/claims/sentences.py`: [sentences with a number](sentences.md) | {sentences[0]}: {sentences[1]} judged, {sentences[4]} with a reason |")
    for part, title in PARTS.items():
        yield f"\n## {title}\n\n| row | what | state | shown by | lacks |\n|---|---|---|---|---|"
        for row in rows:
            if row["row"].startswith(part):
                shown = ", ".join(f"`{place}`" for place in row["shown"].split("; "))
                yield f"| {row['row']} | {row['what']} | {row['state']} | {shown} | {row['lacks']} |"


def main():
    program = sys.argv[1]
    with (HERE / "rows.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wrong = [f"{row['row']}: there is no {place}" for row in rows
             for place in row["shown"].split("; ") if not (ROOT / place).exists()]
    wrong += [f"{row['row']}: {row['state']}, but it does not say what it lacks" for row in rows
              if row["state"] != "whole" and not row["lacks"]]
    text = "\n".join(page(rows, program)) + "\n"
    if "--write" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        wrong.append(f"{PAGE.name} is not what was found: --write writes it")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(rows)} rows,", ", ".join(f"{count} {state}"
                                          for state, count in Counter(row["state"] for row in rows).items()) + f", {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
