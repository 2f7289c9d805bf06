#!/usr/bin/env python3
"""Holds the direction of includes: core <- model <- import, collect, analyze <- report <- session
<- cli, capi. Of the command line only the verbs that ask a driver know collect.

A file may include headers of its own room and of the rooms listed for it, nothing else of src/.
Prints every violation as FILE:LINE and exits 1 when there is one.
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "core": set(),
    "model": {"core"},
    "import": {"core", "model"},
    "collect": {"core", "model"},
    "analyze": {"core", "model"},
    "report": {"core", "model", "analyze"},
    "session": {"core", "model", "import", "analyze", "report"},
    "cli": {"core", "model", "import", "analyze", "report", "session"},
    "cli/live": {"core", "model", "import", "collect", "analyze", "report", "session", "cli"},
    "portable": set(),
    "capi": {"core", "model", "analyze", "report", "session"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"(cli/live|[a-z_]+)/')


def violations(src: pathlib.Path):
    for file in sorted(src.rglob("*")):
        if file.suffix not in {".h", ".cpp", ".def"} or file.parent == src:
            continue
        parts = file.relative_to(src).parts
        room = "/".join(parts[:2]) if "/".join(parts[:2]) in MAY_INCLUDE else parts[0]
        if room not in MAY_INCLUDE:
            yield f"{file}: room {room!r} is not in the list of tools/check_layers.py"
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if found and found[1] in MAY_INCLUDE and found[1] != room and found[1] not in MAY_INCLUDE[room]:
                yield f"{file}:{number}: {room} must not include {found[1]}"


def main() -> int:
    found = list(violations(pathlib.Path(__file__).resolve().parent.parent / "src"))
    print("\n".join(found) if found else "layering: every include goes the right way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
