#!/usr/bin/env python3
"""Holds that what a person reads uses the terms of docs/terms.md: none of its "earlier" words,
American spelling, "%" behind a space.

Looks at string literals of src/ and web/src/, at the Python package's docstrings and texts, and at
docs/. Prints each place as FILE:LINE: WORD: write TERM, and exits 1 when there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TERMS = ROOT / "docs/terms.md"
SPELLING = {
    r"normalis(?=ed|ation|e\b|ing)": "normaliz…", r"optimis(?=ed|ation|e\b|er|ing)": "optimiz…",
    r"utilisation": "utilization",
    r"synchronis": "synchroniz…", r"serialis": "serializ…", r"initialis": "initializ…",
    r"recognis": "recogniz…", r"analys(?=ed\b|e\b)": "analyz…",
    r"\bcolour(?!=)": "color", r"behaviour": "behavior", r"\bcentre\b": "center",
    r"catalogue": "catalog",
}
PERCENT = re.compile(r"(?:(?<![<>-] )(?<![\w=])\d+|\{\}|\{:[^}]*\})%(?![\w(])")
C_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SCRIPT_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
# Words that other programs, formats or our own ids have: colour= of graphviz, class names, JSON
# keys.
IDS = re.compile(r"^[\w.:/#*-]*$")
# The last two lines: definitions that still say "the ladder", and the pages that are made from
# them.
LEFT_OUT = ("docs/results/", "docs/terms.md", "docs/studies/", "docs/lab/", "src/analyze/names/",
            "src/import/", "src/model/metrics.def",
            "src/analyze/results/", "src/model/levels.def", "docs/analysis.md", "docs/findings.md", "docs/metrics.md", "docs/work-json.md",
            "docs/capture.md", "docs/ranks-json.md")


def earlier_words():
    text = TERMS.read_text(encoding="utf-8").split("## Old and new")[1]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", text, re.M)[1:]
    return [(re.compile(r"(?<![\w-])" + re.escape(old) + r"(?![\w-])", re.I), new)
            for old, new in rows if not old.startswith("-")]


def texts(path: pathlib.Path):
    """Numbered texts of a file that a person reads."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".md":
        fenced = False
        for number, line in enumerate(lines, 1):
            fenced ^= line.lstrip().startswith("```")
            if not fenced and not line.startswith("    "):
                yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)
        return
    pattern = C_TEXT if path.suffix in (".cpp", ".h", ".def", ".inl") else SCRIPT_TEXT
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(("//", "#include", "///", "*", "/*")):
            continue
        for found in pattern.finditer(line.split(" // ")[0]):
            text = next(part for part in found.groups() if part is not None)
            text = re.sub(r"\$\{[^}]*\}", "", text)  # code inside a template
            if not IDS.match(text):
                yield number, text


def files():
    for folder, endings in (("src", ("cpp", "h", "def", "inl")), ("web/src", ("ts",)),
                            ("docs", ("md",))):
        for ending in endings:
            yield from sorted((ROOT / folder).rglob(f"*.{ending}"))
    yield ROOT / "README.md"


def main() -> int:
    words = earlier_words() + [(re.compile(old, re.I), new) for old, new in SPELLING.items()]
    found = 0
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        for number, text in texts(path):
            for pattern, new in words:
                if hit := pattern.search(text):
                    print(f"{name}:{number}: {hit[0]}: write {new}")
                    found += 1
            if name.startswith("src/") and "<rect" not in text and PERCENT.search(text):
                print(f"{name}:{number}: {text.strip()[:60]}: write a space before %")
                found += 1
    print(f"words: {found} that docs/terms.md no longer has" if found
          else "words: those of docs/terms.md")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
