#!/usr/bin/env python3
"""Makes the small captures of tests/ranks/groups from what tests/gpu/ranks/groups.py wrote:
keep_groups.py PROGRAM FROM

Of every part what `gpufathom ranks --map` keeps of each rank; of some also the traces themselves,
without the arrows.
"""
import gzip
import json
import pathlib
import subprocess
import sys

PROGRAM, FROM = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
INTO = pathlib.Path(__file__).resolve().parent / "groups"
WHOLE = ("tp2_group_late", "tp4_none")


def write(path, data):
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(data)


def main():
    truth = json.loads((FROM / "truth.json").read_text())
    (INTO / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    for part in truth["parts"]:
        names = [f"{part}.rank{rank}.json.gz" for rank in range(truth["ranks"])]
        mapped = subprocess.run([PROGRAM, "ranks", "--map", *names], cwd=FROM,
                                stdout=subprocess.PIPE, check=True).stdout
        write(INTO / f"{part}.parts.jsonl.gz", mapped)
        for name in names if part in WHOLE else ():
            trace = json.loads(gzip.decompress((FROM / name).read_bytes()))
            trace["traceEvents"] = [event for event in trace["traceEvents"]
                                    if event.get("cat") not in ("ac2g", "fwdbwd")]
            write(INTO / name, json.dumps(trace, separators=(",", ":")).encode())


if __name__ == "__main__":
    main()
