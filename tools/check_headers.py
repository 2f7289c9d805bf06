#!/usr/bin/env python3
"""Compiles every header of src/ by itself: one that leans on what others include fails, with the
compiler's words.

    tools/check_headers.py BUILD_FOLDER [PART OF A PATH...]

The flags are those of the folder's compile_commands.json, without the precompiled header. Exits 1
when one fails.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys


def room_of(file: pathlib.Path, root: pathlib.Path) -> str:
    """The library that a file of src/ belongs to, as CMakeLists.txt divides it."""
    if "/inject/agent/" in str(file):
        return "agent"
    if "/cli/live/" in str(file):
        return "cli_live"
    return file.relative_to(root / "src").parts[0]


def flags_by_room(build: pathlib.Path, root: pathlib.Path) -> dict[str, list[str]]:
    """The compiler and its flags for each folder directly below src/, from any of its files or
    units of several files."""
    found: dict[str, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        unit = re.search(r"/gf_(\w+)\.dir/Unity/", str(file))
        if not unit and (not file.is_relative_to(root / "src") or file.parent == root / "src"):
            continue
        words = shlex.split(entry["command"])
        while os.path.basename(words[0]) == "ccache":
            words.pop(0)
        kept, skip = [], 0
        for word in words:
            if skip:
                skip -= 1
            elif word in ("-o", "-c", "-include"):
                skip = 1
            elif word not in ("-Winvalid-pch", "-Werror"):
                kept.append(word)
        found.setdefault(unit[1] if unit else room_of(file, root), kept)
    return found


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parent.parent
    flags = flags_by_room(build, root)
    headers = [h for h in sorted((root / "src").rglob("*.h")) if not sys.argv[2:]
               or any(p in str(h) for p in sys.argv[2:])]

    def failed(header: pathlib.Path) -> str:
        command = [*flags.get(room_of(header, root), flags["core"]), "-fsyntax-only", "-O0", "-w",
                   "-x", "c++", str(header)]
        done = subprocess.run(command, cwd=build, capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = {h: text for h, text in zip(headers, pool.map(failed, headers)) if text}
    for header, text in failures.items():
        print(f"{header.relative_to(root)} does not compile by itself:\n{text}")
    print(f"headers: {len(headers) - len(failures)} of {len(headers)} compile by themselves")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
