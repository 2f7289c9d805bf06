"""Files that are no GPU capture, or of tools that a reader need not know: who wrote them and what
they hold. Stated by hand in foreign.json; the script checks the marks that the statement rests on."""
import json
import os

from common import read_bytes

SPEC = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'foreign.json')))


def truth(path):
    spec = SPEC[os.path.basename(path)]
    data = read_bytes(path)
    for mark in spec['marks']:
        if mark.encode() not in data:
            raise SystemExit(f'{path}: mark {mark!r} is absent, the statement about this file is wrong')
    return {k: v for k, v in spec.items() if k != 'marks'}
