#!/usr/bin/env python3
"""Holds the state of the repository: what is committed must be small, free of one machine's paths, and finished;
metrics are named by checked ids, and no constant hides another.

Prints every violation as FILE:LINE and exits 1 when there is one. Long source files are reported, not refused.
"""
import pathlib
import re
import subprocess
import sys

import check_constants
import check_metric_ids

MAX_BYTES = 2_000_000
LONG_LINES = 400
SOURCES = {".cpp", ".h", ".ts", ".py", ".sh"}
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w./$}-])/(?:home|root|Users|work|mnt)/\w"),
    "an unfinished mark": re.compile(r"\b(?:TODO|FIXME|XXX)\b"),
}
# Captures, expected output and the tests of these tools quote what is not allowed elsewhere.
QUOTES_OTHERS = re.compile(r"^(?:examples/|tests/golden/|tests/tools/|tools/check_repository\.py$|LICENSE$|web/package-lock\.json$)")


def tracked(root: pathlib.Path) -> list[str]:
    return subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")[:-1]


def violations(name: str, data: bytes):
    if len(data) > MAX_BYTES:
        yield f"{name}: {len(data)} bytes; what is committed stays below {MAX_BYTES}"
    if b"\0" in data[:4096] or QUOTES_OTHERS.match(name):
        return
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        for what, pattern in FORBIDDEN.items():
            if pattern.search(line):
                yield f"{name}:{number}: {what}: {line.strip()[:100]}"


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    found, lengths = [], []
    for name in tracked(root):
        path = root / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        found.extend(violations(name, data))
        if path.suffix in SOURCES:
            lengths.append((data.count(b"\n"), name))
    found.extend(check_metric_ids.violations(root))
    found.extend(check_constants.violations(root))
    lengths.sort()
    if lengths:
        print(f"{len(lengths)} source files: median {lengths[len(lengths) // 2][0]} lines, 90 % below {lengths[len(lengths) * 9 // 10][0] + 1}")
        for lines, name in reversed([x for x in lengths if x[0] > LONG_LINES]):
            print(f"  long: {name}, {lines} lines")
    print("\n".join(found) if found else "repository: small files, no machine's paths, nothing unfinished, metrics by ids that are checked")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
