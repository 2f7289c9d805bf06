#!/usr/bin/env python3
"""Holds that what a name of an operator, kernel or call says is a row of src/analyze/names/*.def.

A test of a name against a literal anywhere else is a second list of the same thing, which some
capture will contradict. Counted are the tests of a text against a literal in src/analyze, but for
those of what is plainly no such name, and the literals of operators' names in lists. The bound may
only fall: whoever moves a list into the vocabulary lowers it.

    tools/check_names.py           prints the count; exits 1 when it is above the bound
    tools/check_names.py --list    every place, by folder
"""
import collections
import pathlib
import re
import sys

BOUND = 32
LITERAL = r'"((?:[^"\\]|\\.)*)"'
TEST = re.compile(
    r"(?:\b(?:find|contains|contains_any|starts_with|ends_with|has|has_any|has_word|glob_match|name_matches)\("
    r"(?:\s*[\w.>-]+(?:\([^()]*\))?\s*,)?\s*|[!=]=\s*)" + LITERAL)
OPERATOR = re.compile(r'"[*]?(?:aten|autograd|c10d|torch)::[^" ]*"')
# Tests of options, ids, counters and the like.
NO_NAME = re.compile(
    r"_metric|framework|format|option|source|metadata|level|counter|field|unit|schema|\bkey|type == |word|family|bench|feature|"
    r"\bwindow|wanted|\bkind\b|lib\b|\bat\(|limit|\bper [!=]=|\bpart ==|change|scope|\brest\b")
# Types of elements, and words of our own.
WORDS = set("bool byte char short int long half float double process content together graph item none global MatMul Convolution Attention "
            "Recurrent".split())
NO_NAMES_IN = re.compile(r"^src/analyze/(vocabulary\.cpp|claims|compare/checks|energy|kernel_rates|sampled|sweep|tenants|utilization|match)\b")


def places(root: pathlib.Path):
    for file in sorted((root / "src/analyze").rglob("*")):
        name = str(file.relative_to(root))
        if file.suffix not in {".h", ".cpp", ".inl"} or NO_NAMES_IN.match(name):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            code = re.sub(r"^\s*//.*|//(?=[^\"]*$).*", "", line)
            if code.lstrip().startswith("#"):
                continue
            tests = [] if NO_NAME.search(code) else [m.span(1) for m in TEST.finditer(code)
                                                        if re.search(r"\w\w", m.group(1))
                                                     and m.group(1) not in WORDS
                                                        and not re.match(r"(u?int|b?float|complex)[\da-z]*$", m.group(1))]
            listed = [(m.start() + 1, m.end() - 1) for m in OPERATOR.finditer(code)]
            for begin, end in sorted(set(tests) | set(listed)):
                yield name, number, code[begin:end]


def main() -> int:
    found = list(places(pathlib.Path(__file__).resolve().parent.parent))
    if "--list" in sys.argv[1:]:
        for name, number, text in found:
            print(f"{name}:{number}: {text}")
        folders = collections.Counter("/".join(name.split("/")[1:3]) for name, _, _ in found)
        for folder, count in folders.most_common():
            print(f"{count:5} {folder}")
    print(f"names asked for outside the vocabulary: {len(found)}, bound {BOUND}")
    if len(found) > BOUND:
        print("a new one: add a row to src/analyze/names/*.def and ask for its trait (tools/check_names.py --list)")
    if len(found) < BOUND:
        print(f"the bound may only fall: set it to {len(found)} in tools/check_names.py")
    return 1 if len(found) > BOUND else 0


if __name__ == "__main__":
    sys.exit(main())
