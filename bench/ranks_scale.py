#!/usr/bin/env python3
"""What a rank costs as ranks become many: bench/ranks_scale.py PROGRAM TRACE OUT [--ranks 16,64,256] [--engines 64] [--summaries 10000]

Captures of over 20 MB are made from TRACE (tests/ranks/synthetic.py) some at a time, mapped by the pool and removed, so that no disk
holds them all; only the map is timed. Then the whole dataset is reduced. --engines maps that many ranks by the pool, Ray, Spark and,
where SLURM_CONF names a cluster (tests/system/slurm_ranks.sh starts one), a Slurm array, and compares what they wrote. --summaries
copies the last dataset's parts under new ranks to that many, and reduces them. Prints JSON.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import shlex
import statistics
import subprocess
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


BATCH = 32


def batches(job, folder):
    """Paths of captures, some at a time."""
    for first in range(0, job.ranks, BATCH):
        paths = [folder / f"rank{rank}.json" for rank in range(first, min(first + BATCH, job.ranks))]
        for rank, path in enumerate(paths, first):
            path.write_text(job.trace(rank))
        yield paths
        for path in paths:
            path.unlink()


def cpu_s():
    """Of processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def at_scale(template, count, folder):
    job, dataset = Job(template, count), folder / f"dataset{count}"
    rows, size, taken, cpu = [], 0, 0.0, cpu_s()
    for paths in batches(job, folder):
        size += sum(path.stat().st_size for path in paths)
        begin = time.monotonic()
        rows += ranks.map_all(paths, dataset)
        taken += time.monotonic() - begin
        print(f"{len(rows)} of {count} ranks", file=sys.stderr, flush=True)
    assert not any(row.error for row in rows), [row.error for row in rows if row.error][:3]
    cpu = cpu_s() - cpu
    begin = time.monotonic()
    answer = ranks.reduce(dataset)
    reduced = time.monotonic() - begin
    late = sum(1 for delay in job.delay if delay)
    assert len(answer["ranks"]) == count and not answer["missing_ranks"]
    assert answer["collectives_matched"] == template.count
    found = sum(1 for row in answer["collectives"] if row["margin_ns"] > max(row["doubt_ns"], 20_000))
    return dataset, {"ranks": count, "mb_a_rank": round(size / count / 1e6, 1),
                     "map_median_s": round(statistics.median(row.seconds for row in rows), 4), "pool_s": round(taken, 2),
                     "pool_cpu_s_a_rank": round(cpu / count, 3),
                     "reduce_s": round(reduced, 3), "planted": late, "found": found,
                     "dataset_kb_a_rank": round(sum(file.stat().st_size for file in dataset.rglob("*.parquet")) / count / 1e3, 1),
                     "peak_mb": peak_mb(), "load": round(os.getloadavg()[0], 1), "digest": ranks.digest(dataset)[:16]}


def slurm_map(paths, dataset):
    """An array of two tasks."""
    listed = dataset.parent / "captures.txt"
    listed.write_text("".join(f"{path}\n" for path in paths))
    line = shlex.join([sys.executable, "-m", "gpufathom.ranks", "map", "--workers", "1", "--list", str(listed), "--dataset", str(dataset)])
    subprocess.run(["sbatch", "--wait", "--array=0-1", "--requeue", "-o", str(dataset.parent / "slurm-%A-%a.out"), f"--wrap={line}"], check=True,
                   stdout=subprocess.DEVNULL)


def engines_of():
    """Each engine's map, by its name."""
    import ray
    from gpufathom.ranks import on_ray, on_spark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["RAY_worker_niceness"] = "0"  # as the others; by default Ray's workers stand back
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false").getOrCreate()
    engines = {"process pool": ranks.map_all, f"Ray {ray.__version__}": on_ray.map_all,
               f"Spark {session.version} local-cluster[2,1,1024]": lambda paths, dataset: on_spark.map_all(session, paths, dataset)}
    if os.environ.get("SLURM_CONF"):
        version = subprocess.run(["sinfo", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1]
        engines[f"Slurm {version} array, slurmctld and slurmd on loopback"] = slurm_map
    return engines


def by_engines(template, count, folder):
    job, engines = Job(template, count), engines_of()
    datasets = {name: folder / f"engine{number}" for number, name in enumerate(engines)}
    taken = dict.fromkeys(engines, 0.0)
    for paths in batches(job, folder):
        for name, engine in engines.items():
            begin = time.monotonic()
            engine(paths, datasets[name])
            taken[name] += time.monotonic() - begin
        print(taken, file=sys.stderr, flush=True)
    digests = {name: ranks.digest(dataset)[:16] for name, dataset in datasets.items()}
    assert len(set(digests.values())) == 1, digests
    assert all(len(ranks.parts_of(dataset)) == count for dataset in datasets.values())
    return {"ranks": count, "digest": digests["process pool"], "seconds": {name: round(time, 1) for name, time in taken.items()}}


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
    parser.add_argument("--engines", type=int, default=0)
    parser.add_argument("--summaries", type=int, default=0)
    options = parser.parse_args()
    os.environ["GPUFATHOM"] = str(pathlib.Path(options.program).resolve())
    os.environ["PYTHONPATH"] = str(HERE / "python")
    folder = pathlib.Path(tempfile.mkdtemp())
    result = {"cores": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0], "scales": []}
    try:
        template, dataset = Template(options.trace, 3), None
        for count in map(int, filter(None, options.ranks.split(","))):
            dataset, row = at_scale(template, count, folder)
            print(json.dumps(row), file=sys.stderr, flush=True)
            result["scales"].append(row)
            options.out.write_text(json.dumps(result, indent=1) + "\n")
        if options.engines:
            result["engines"] = by_engines(template, options.engines, folder)
            options.out.write_text(json.dumps(result, indent=1) + "\n")
        if options.summaries:
            result["many"] = many_summaries(dataset, options.summaries, folder)
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
