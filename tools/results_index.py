#!/usr/bin/env python3
"""Writes docs/results/README.md: what each result is, when and on what it was measured, and the
pages that tell of it.

    tools/results_index.py           writes the page
    tools/results_index.py --check   exits 1 when the page is not what it would write
"""
import gzip
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/results"
HEAD = """# Results

<!-- Made by `./dev docs` from the files of this folder: change tools/results_index.py. -->

Every figure of the documentation that was measured has its file here, with the command that printed
it, the date and the hardware. A result has one name: measured again, its file has the last figures,
and `earlier` those before.

| result | measured | on | pages |
|---|---|---|---|
"""
LINK = re.compile(r"results/([\w.]+?)(?=[)`\s#\"']|\.\s|$)")


def read(file: pathlib.Path):
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8") as text:
            found = json.load(text)
    except (ValueError, OSError):
        return {}
    return found if isinstance(found, dict) else {}


def words(value) -> str:
    """The GPU's name in a text, a list of texts or an object."""
    if isinstance(value, dict):
        value = value.get("gpu") or value.get("processor") or ""
    if isinstance(value, list):
        value = ", ".join(dict.fromkeys(str(each) for each in value))
    return re.split(r"[(;\n]|, driver|, [\d.]{6}", str(value or ""))[0].strip().rstrip(":,")


def pages() -> dict:
    """By the name of a result: the pages that link to it."""
    found: dict = {}
    for page in sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md",
                        ROOT / "CONTRIBUTING.md"]):
        if page.is_relative_to(FOLDER):
            continue
        for name in set(LINK.findall(page.read_text(encoding="utf-8"))):
            found.setdefault(name, []).append(page)
    return found


def row(file: pathlib.Path, told: dict) -> str:
    says = read(file) if file.is_file() else {}
    on = words(says.get("hardware") or says.get("gpu") or says.get("machine") or says.get("host"))
    links = []
    for page in told.get(file.name, []):
        inside = page.relative_to(ROOT / "docs") if page.is_relative_to(ROOT / "docs") else pathlib.Path("..") / page.name
        links.append(f"[{page.stem}](../{inside})")
    # the site cannot show a folder
    name = f"[{file.name}]({file.name})" if file.is_file() else f"{file.name}/"
    return f"| {name} | {str(says.get('date') or '')[:10].rstrip(';')} | {on[:60]} | {', '.join(links)} |\n"


def page_text() -> str:
    told = pages()
    files = sorted(file for file in FOLDER.iterdir() if file.name != "README.md")
    return HEAD + "".join(row(file, told) for file in files)


def main() -> int:
    text, page = page_text(), FOLDER / "README.md"
    if "--check" not in sys.argv[1:]:
        page.write_text(text, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return 0
    print("docs/results/README.md is not up to date: ./dev docs")
    return 1


if __name__ == "__main__":
    sys.exit(main())
