#!/usr/bin/env python3
"""The size of the advice and how much of it stands outside its rows, of this tree or a commit.

    measure_advice.py [COMMIT...]

Lines by folder; findings that code names by id outside their row and their rule; texts that names
are compared with outside names/*.def (tools/check_names.py --list); and the files that name a
finding beside its row and its rule: where a new one must be thought of.
"""
import collections
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

import check_names

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("findings", "names", "replay", "layers", "runtime", "idle", "attribution")
SOURCES = {".cpp", ".h", ".inl", ".def", ".py", ".ts"}
MADE = re.compile(r"web/src/model\.ts$|src/analyze/names/")  # written from the rows, or the rows


def text_of(file):
    return file.read_text(encoding="utf-8")


def lines_of(root):
    analyze = root / "src/analyze"
    lines = {folder: sum(len(text_of(file).splitlines()) for file in sorted((analyze / folder).rglob("*")) if file.is_file())
             for folder in FOLDERS}
    lines["vocabulary"] = sum(len(text_of(file).splitlines()) for file in analyze.glob("vocabulary.*"))
    return lines


def named(root):
    """Each place that names a finding: (id, file)."""
    rows = re.findall(r"GF_FINDING\(\s*\w+,\s*\w+,\s*(\w+),", text_of(root / "src/analyze/names/findings.def"))
    ids = "|".join(sorted(set(rows) - {"id"}, key=len, reverse=True))
    by_code, by_text = re.compile(rf"\bFindingId::({ids})\b"), re.compile(rf"[\"']({ids})[\"']")
    for folder in ("src", "python", "web/src"):
        for file in sorted((root / folder).rglob("*")):
            name = str(file.relative_to(root))
            if file.suffix not in SOURCES or MADE.search(name):
                continue
            text = text_of(file)
            rule = name.startswith("src/analyze/findings/rules_")
            found = by_code if folder == "src" else by_text
            for match in found.finditer(text):
                if not (rule and text[:match.start()].rstrip().endswith("{")):  # what the rule says
                    yield match[1], name


def measure(root):
    lines = lines_of(root)
    print("lines: " + ", ".join(f"{folder} {count}" for folder, count in lines.items()) + f"; all {sum(lines.values())}")
    places = list(named(root))
    print(f"findings named outside their row and rule: {len(places)}")
    for file, count in collections.Counter(file for _, file in places).most_common(8):
        print(f"  {count:3} {file}")
    print(f"names compared with texts outside names/*.def: {len(list(check_names.places(root)))}")
    files = collections.Counter(one for one, _ in set(places))
    print(f"findings that another file names, too: {len(files)}; at most {max(files.values(), default=0)} files")


def main():
    measure(ROOT)
    for commit in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            tree = subprocess.run(["git", "archive", commit, "src", "python", "web/src"], cwd=ROOT, check=True, capture_output=True).stdout
            tarfile.open(fileobj=io.BytesIO(tree)).extractall(folder, filter="data")
            print(f"\n{commit}")
            measure(pathlib.Path(folder))


if __name__ == "__main__":
    main()
