"""Reads a metrics page as a scraper does, line by line and to the letter: openmetrics.py PAGE PID.
Fails when a line is none, or when the process is on no line."""
import re
import sys

LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:%s(?:,%s)*)?\})? [0-9.eE+-]+(?: [0-9.]+)?" % (LABEL, LABEL))
COMMENT = re.compile(r"# (?:HELP|TYPE|UNIT) [a-zA-Z_:][a-zA-Z0-9_:]* .*|# EOF")

page = open(sys.argv[1], "rb").read().decode("utf-8")  # raises when it is no UTF-8
lines = page.split("\n")
assert lines.pop() == "", "the page does not end with a line's end"
for number, line in enumerate(lines):
    assert SAMPLE.fullmatch(line) or COMMENT.fullmatch(line), line
    assert line != "# EOF" or number == len(lines) - 1, "the page ends in the middle"
assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", page), "a control character"
assert any(f'pid="{sys.argv[2]}"' in line for line in lines), "the process is not on the page"
