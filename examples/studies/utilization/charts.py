#!/usr/bin/env python3
"""Takes charts out of a page of `gpufathom compare --table`: charts.py PAGE FOLDER PREFIX ID ...

Each becomes FOLDER/PREFIX_ID.svg; without an ID, the page's are listed.
"""
import pathlib
import re
import sys


def main():
    page, folder, prefix, *wanted = sys.argv[1:]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    charts = {found[1]: found[0] for found in re.finditer(r'<svg id="([^"]+)".*?</svg>', text, re.S)}
    if not wanted:
        print("\n".join(charts))
    for name in wanted:
        path = pathlib.Path(folder) / f"{prefix}_{name.replace('.', '_')}.svg"
        path.write_text(charts[name] + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
