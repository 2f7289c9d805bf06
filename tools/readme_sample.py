#!/usr/bin/env python3
"""Keeps the sample answer in README.md equal to what the program prints.

    readme_sample.py [--write] PROGRAM

Every block between "<!-- sample: COMMAND -->" and "<!-- end -->" is the output of COMMAND, where
the first word is PROGRAM. With
--write the blocks are replaced; without, the first difference is printed and the exit code is 1.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

BLOCK = re.compile(r"(<!-- sample: (.+?)(?: \| head -(\d+))? -->\n```text\n)(.*?)(```\n<!-- end -->)", re.S)


def output_of(program: str, command: str, lines: str | None, root: pathlib.Path) -> str:
    words = shlex.split(command)[1:]
    environment = {**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    text = subprocess.run([program, *words], cwd=root, env=environment, check=True,
                          capture_output=True, text=True).stdout
    return "".join(text.splitlines(keepends=True)[: int(lines)] if lines else text)


def main() -> int:
    write, program = "--write" in sys.argv, str(pathlib.Path(sys.argv[-1]).resolve())
    root = pathlib.Path(__file__).resolve().parent.parent
    page = root / "README.md"
    before = page.read_text(encoding="utf-8")
    after, blocks = BLOCK.subn(lambda m: m[1] + output_of(program, m[2], m[3], root) + m[5], before)
    if blocks == 0:
        print("README.md has no sample block")
        return 1
    if write:
        page.write_text(after, encoding="utf-8")
        return 0
    if after != before:
        print("".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True),
                                           "README.md", "what the program prints")))
        print("README.md is out of date: run ./dev docs and commit the result")
    return 1 if after != before else 0


if __name__ == "__main__":
    sys.exit(main())
