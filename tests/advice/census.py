#!/usr/bin/env python3
"""Findings of gpufathom for every capture at hand, a line a finding, so that two versions differ as
text.

    census.py GPUFATHOM [FOLDER...] > before.tsv

Columns: capture, place among its findings, id, upper bound and replayed gain in percent of the
window. FOLDER: more captures than this folder, examples/ and $GPUFATHOM_CORPUS hold.
"""
import concurrent.futures
import os
import pathlib
import sys

import court

KINDS = (".json.gz", ".json", ".xplane.pb.gz", ".xplane.pb", ".gpf.gz", ".gpf")


def captures(folders):
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.endswith(KINDS) and path.stat().st_size > 500 and path.is_file():
                yield str(path.relative_to(folder.parent)), path


def rows(program, name, path):
    try:
        analysis, _ = court.answer(program, path)
    except court.Crash as crash:
        return [f"{name}\t-\tcrash: {crash}"]
    if analysis is None or "devices" not in analysis:
        return []
    window = sum(device["span_ns"] for device in analysis["devices"]) or 1

    def percent(part):
        return "" if part is None else f"{100 * part:.1f}"

    return [f"{name}\t{place}\t{finding['id']}\t"
            f"{percent(finding['gain_ns'] / window if finding.get('gain_ns') is not None else None)}\t{percent(finding.get('replayed'))}"
            for place, finding in enumerate(analysis.get("findings", []), 1)]


def main():
    program, *more = sys.argv[1:]
    folders = [court.HERE, court.ROOT / "examples",
               *map(pathlib.Path, filter(None, [os.environ.get("GPUFATHOM_CORPUS"), *more]))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda one: rows(program, *one), captures(folders)):
            print(*found, sep="\n", end="\n" if found else "")


if __name__ == "__main__":
    main()
