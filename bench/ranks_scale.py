#!/usr/bin/env python3
"""What a rank costs as ranks become many: bench/ranks_scale.py PROGRAM TRACE OUT [--ranks 16,64,256] [--summaries 10000]

Captures of over 20 MB are made from TRACE (tests/ranks/synthetic.py) one after the other, mapped and removed, so that no disk
holds them all; only the map is timed. Then the whole dataset is reduced. --summaries copies the last dataset's parts under new
ranks to that many, and reduces them. Prints JSON.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE / "python"), str(HERE / "tests" / "ranks")]
from gpufathom import ranks  # noqa: E402
from gpufathom.ranks import dataset as tables  # noqa: E402
from synthetic import Job, Template  # noqa: E402


def peak_mb():
    return round(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024)


def at_scale(template, count, folder):
    job, dataset = Job(template, count), folder / f"dataset{count}"
    seconds, size = [], 0
    for rank in range(count):
        path = folder / f"rank{rank}.json"
        path.write_text(job.trace(rank))
        size += path.stat().st_size
        begin = time.monotonic()
        row = ranks.map_rank(path, dataset)
        seconds.append(time.monotonic() - begin)
        path.unlink()
        assert not row.error, row.error
    begin = time.monotonic()
    answer = ranks.reduce(dataset)
    reduced = time.monotonic() - begin
    late = sum(1 for delay in job.delay if delay)
    assert len(answer["ranks"]) == count and not answer["missing_ranks"]
    assert answer["collectives_matched"] == template.count
    found = sum(1 for row in answer["collectives"] if row["margin_ns"] > max(row["doubt_ns"], 20_000))
    return dataset, {"ranks": count, "mb_a_rank": round(size / count / 1e6, 1), "map_median_s": round(statistics.median(seconds), 4),
                     "map_total_s": round(sum(seconds), 2), "reduce_s": round(reduced, 3), "planted": late, "found": found,
                     "dataset_kb_a_rank": round(sum(file.stat().st_size for file in dataset.rglob("*.parquet")) / count / 1e3, 1),
                     "peak_mb": peak_mb(), "digest": ranks.digest(dataset)[:16]}


def many_summaries(dataset, count, folder):
    parts = ranks.parts_of(dataset)
    target = folder / "many"
    for rank in range(count):
        part = json.loads(parts[rank % len(parts)])
        part.update(rank=rank, world_size=count, source=f"rank{rank}.json")
        key = f"{rank:040d}"
        tables.write_tables(target, key, tables.tables_of([json.dumps(part, separators=(",", ":")).encode()], key))
    begin = time.monotonic()
    answer = ranks.reduce(target)
    return {"summaries": count, "collectives_a_rank": len(json.loads(parts[0])["collectives"]["start_ns"]),
            "reduce_s": round(time.monotonic() - begin, 2), "peak_mb": peak_mb(), "ranks": len(answer["ranks"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("trace")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ranks", default="16,64,256")
    parser.add_argument("--summaries", type=int, default=0)
    options = parser.parse_args()
    os.environ["GPUFATHOM"] = str(pathlib.Path(options.program).resolve())
    folder = pathlib.Path(tempfile.mkdtemp())
    result = {"cores": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0], "scales": []}
    try:
        template, dataset = Template(options.trace, 3), None
        for count in map(int, options.ranks.split(",")):
            dataset, row = at_scale(template, count, folder)
            print(json.dumps(row), file=sys.stderr, flush=True)
            result["scales"].append(row)
            options.out.write_text(json.dumps(result, indent=1) + "\n")
        if options.summaries:
            result["many"] = many_summaries(dataset, options.summaries, folder)
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
