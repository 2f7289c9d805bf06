#!/usr/bin/env python3
"""Holds that every place that writes the version writes that of CMakeLists.txt, which the C++ code
takes from there.

  tools/check_version.py                 prints every other one as FILE and exits 1 when there is one
  tools/check_version.py --set 0.2.0     writes a release's version and date everywhere, and makes CHANGELOG.md's Unreleased part its notes
"""
import argparse
import datetime
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUMBER = r"\d+\.\d+\.\d+"
# File, and a pattern around each version in it.
PLACES = [
    ("CMakeLists.txt", rf"(project\(gpufathom VERSION )({NUMBER})"),
    ("CITATION.cff", rf"(\nversion: )({NUMBER})"),
    ("docs/gate.md", rf"(/gpufathom-)({NUMBER})"),
    ("docs/install.md", rf"(/gpufathom:)({NUMBER})"),
    ("python/gpufathom/__init__.py", rf'(__version__ = ")({NUMBER})'),
    ("share/kubernetes/chart/Chart.yaml", rf"(ersion: )({NUMBER})"),
    ("share/kubernetes/chart/values.yaml", rf"(gpufathom:)({NUMBER})"),
    ("share/kubernetes/monitor.yaml", rf"(gpufathom:)({NUMBER})"),
    ("share/oci/Containerfile", rf"(gpufathom:)({NUMBER})"),
    ("tests/golden/cli/habits.t", rf"(  gpufathom )({NUMBER})"),
    ("tests/golden/cli/usage.t", rf"(  gpufathom )({NUMBER})"),
    ("web/package-lock.json", rf'("name": "gpufathom-page",\s*"version": ")({NUMBER})'),
    ("web/package.json", rf'("version": ")({NUMBER})'),
]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def check() -> int:
    version = re.search(PLACES[0][1], text_of(PLACES[0][0]))[2]
    wrong = []
    for name, pattern in PLACES:
        found = {number for _, number in re.findall(pattern, text_of(name))}
        if found != {version}:
            wrong.append(f"{name}: {', '.join(sorted(found)) or 'no version'}, CMakeLists.txt has {version}")
    print("\n".join(wrong) if wrong else f"version: {version} everywhere")
    return 1 if wrong else 0


def write(version: str) -> int:
    notes, heading = text_of("CHANGELOG.md"), "## [Unreleased]\n"
    if not re.fullmatch(NUMBER, version) or f"## [{version}]" in notes or heading not in notes:
        print(f"{version} is no version, or CHANGELOG.md has it already, or nothing is unreleased")
        return 1
    for name, pattern in PLACES:
        (ROOT / name).write_text(re.sub(pattern, lambda found: found[1] + version, text_of(name)),
                                 encoding="utf-8")
    dated = f"{heading}\n## [{version}] - {datetime.date.today().isoformat()}\n"
    (ROOT / "CHANGELOG.md").write_text(notes.replace(heading, dated, 1), encoding="utf-8")
    return check()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", metavar="VERSION")
    chosen = parser.parse_args().set
    return write(chosen) if chosen else check()


if __name__ == "__main__":
    sys.exit(main())
