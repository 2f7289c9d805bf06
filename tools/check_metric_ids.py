#!/usr/bin/env python3
"""Holds that code names metrics by `"sm.active"_metric`, which does not compile when the catalogue
lacks the id.

A plain literal that spells an id of src/model/metrics.def or levels.def is refused; features of the
energy model, some of which are called like a metric, are no metrics. Prints every violation as
FILE:LINE and exits 1 when there is one.
"""
import pathlib
import re
import sys

FEATURES = re.compile(r"^src/(collect/microbench/|analyze/energy/|report/labels\.cpp$)")
LITERAL = re.compile(r'(?<!\\)"([a-z0-9_]+(?:\.[a-z0-9_]+)+)"(?!_metric)')


def violations(root: pathlib.Path) -> list[str]:
    ids = set(re.findall(r'GF_METRIC\(\s*"([^"]+)"',
                         (root / "src/model/metrics.def").read_text(encoding="utf-8")))
    if (levels := root / "src/model/levels.def").exists():
        ids |= set(re.findall(r'GF_INPUT\(\s*"([^"]+)"', levels.read_text(encoding="utf-8")))
    found = []
    for file in sorted((root / "src").rglob("*")):
        name = str(file.relative_to(root))
        if file.suffix not in {".h", ".cpp", ".inl"} or FEATURES.match(name):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            found += [f'{name}:{number}: write "{id}"_metric' for id in LITERAL.findall(line)
                      if id in ids]
    return found


def main() -> int:
    found = violations(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(found) if found else "metric ids: each is checked where it is used")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
