#!/usr/bin/env python3
"""documentation.py PROGRAM: the pages write every command as the program takes it, and name the layout of every JSON.

Each `gpufathom ...` of a page is run where none of its files exist: its words are checked before any file is, so that a
wrong option, value or ending ends with 2.
"""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ["README.md", "examples/README.md", "docs/**/*.md"]
DRIVES = {"record", "run", "monitor", "doctor", "overhead", "calibrate", "ceilings", "mcp"}  # would do something
# A page may name an option or a verb alone.
PARTIAL = re.compile(r"is missing|needs a value|are needed|no FILE is given|requires (-o|--perfetto|--fail-on|at least)|ask of a folder of ranks")
NOT_PRINTED = {"gpufathom.baseline/1", "gpufathom.rules/1"}  # of files that are read


def texts(pattern: str) -> "list[tuple[str, str]]":
    paths = sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))
    return [(os.path.relpath(path, ROOT), open(path, encoding="utf-8").read()) for path in paths]


def commands(text: str, verbs: "set[str]") -> "set[str]":
    text = text.replace("\\\n", " ")
    spans = re.findall(r"`(gpufathom [^`\n]+)`", text)
    spans += ["gpufathom " + span for span in re.findall(r"`((?:" + "|".join(sorted(verbs)) + r") [^`\n]+)`", text)]
    lines = re.findall(r"^ {4,}(?:build/)?(gpufathom .*)$", text, re.MULTILINE)
    return {re.split(r"\s{2,}(?![^\"]*\"$)| \| | && | # |→|…|\.\.\.", found)[0].strip() for found in spans + lines}


def is_wrong(program: str, verbs: "set[str]", command: str, folder: str) -> str:
    try:
        words = shlex.split(command)[1:]
    except ValueError:
        return ""  # goes on on the next line
    words = words[: words.index(">")] if ">" in words else words
    if len(words) < 2 or words[0] not in verbs - DRIVES:
        return ""
    ran = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return ran.stderr.strip() if ran.returncode == 2 and not PARTIAL.search(ran.stderr) else ""


def main(program: str) -> int:
    listed = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    verbs = set(re.findall(r"^  ([a-z]+) ", listed.split("\nVerbs:", 1)[1].split("\nExit codes:")[0], re.MULTILINE)) - {"help"}
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for pattern in PAGES:
            for page, text in texts(pattern):
                for command in sorted(commands(text, verbs)):
                    count += 1
                    if said := is_wrong(program, verbs, command, folder):
                        wrong.append(f"{page}: {command}\n    {said}")
    rules = open(os.path.join(ROOT, "docs/json.md"), encoding="utf-8").read()
    schemas = {name for _, text in texts("src/**/*.*") for name in re.findall(r"gpufathom\.[a-z_]+/[0-9]+", text)}
    wrong += [f"docs/json.md lacks {name}" for name in sorted(schemas - NOT_PRINTED) if name not in rules]
    print("\n".join(wrong) if wrong else f"{count} commands and {len(schemas)} layouts are as the pages say")
    return 1 if wrong or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
