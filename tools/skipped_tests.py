#!/usr/bin/env python3
"""One line of what ctest skipped: how many tests, why, and the command that brings each back:
skipped_tests.py JUNIT.xml

Every test says why it is skipped in words that the table below knows; one that does not is named.
"""
import collections
import re
import sys
import xml.etree.ElementTree

CORPUS = ("the large corpus of captures", "GPUFATHOM_CORPUS=FOLDER ./dev test")
PACKAGES = ("packages of PyPI", "./dev python")
SETUP = ("packages that are not installed", "./dev setup")
WHEEL = ("a wheel of this build", "./dev wheel")
SANITIZERS = ("what sanitizers keep from running", "./dev test")
CUPTI = ("CUPTI's libraries", "tools/fetch_cuda_headers")
# Messages in a test's output, the first that fits; a test of which a part is skipped passes, and is
# not counted.
REASONS = [
    (r"GPUFATHOM_CORPUS|needs-corpus", CORPUS),
    (r"GPUFATHOM_CUPTI_DIR|CUPTI", CUPTI),
    (r"\./dev wheel", WHEEL),
    (r"sanitizer", SANITIZERS),
    (r"\./dev python", PACKAGES),
    (r"\./dev setup|is not installed|python3-jsonschema|Chromium", SETUP),
    (r"only root|to be root", ("root's rights", "sudo ./dev test")),
]
# of cram, which shows no reason: they only ever want the corpus
GOLDEN = re.compile(r"# Ran 1 tests?, 1 skipped")


def skipped(path: str):
    """(test, output) of each."""
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("skipped") is not None:
            output = case.findtext("system-out") or ""
            yield case.get("name", "").split()[0], "".join(case.find("skipped").itertext()) + output


def told(path: str) -> str:
    counts: collections.Counter = collections.Counter()
    for name, output in skipped(path):
        if GOLDEN.search(output):
            counts[CORPUS] += 1
            continue
        found = next((reason for words, reason in REASONS if re.search(words, output)), None)
        counts[found or (f"what {name} says", f"ctest --test-dir build -V -R '^{name}$'")] += 1
    if not counts:
        return "No test was skipped."
    parts = [f"{count} for want of {what} ({command})"
             for (what, command), count in counts.most_common()]
    return f"{sum(counts.values())} of the tests were skipped: {'; '.join(parts)}."


if __name__ == "__main__":
    print(told(sys.argv[1]))
