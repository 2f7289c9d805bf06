#!/usr/bin/env python3
"""make_truths.py MANIFEST FILES_DIR OUT.json: the truth of every file, by the script of its
kind."""
import importlib
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.set_int_max_str_digits(0)
SCRIPT = {'kineto': 'kineto', 'nsys': 'nsys', 'nsyscsv': 'nsyscsv', 'rocprof': 'rocprof',
          'nvprof': 'nvprof', 'tf1': 'tf1', 'ncucsv': 'ncu',
          'ncurep': 'ncu', 'log': 'log', 'ascend': 'ascend', 'foreign': 'foreign',
          'pftrace': 'pftrace'}


def main(manifest, files, out):
    truths = {}
    for entry in json.load(open(manifest)):
        path = os.path.join(files, entry['file'])
        if os.path.exists(path):
            module = importlib.import_module('truth_' + SCRIPT[entry['kind']])
            try:
                truths[entry['file']] = module.truth(path)
            except (Exception, SystemExit) as error:
                truths[entry['file']] = {'error': f'{type(error).__name__}: {error}'}
    json.dump(truths, open(out, 'w'), indent=1, ensure_ascii=False)


if __name__ == '__main__':
    main(*sys.argv[1:4])
