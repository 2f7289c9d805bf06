#!/usr/bin/env python3
"""Cost of a rank as ranks become many: bench/ranks_scale.py PROGRAM TRACE OUT [--ranks 16,64,256]
[--engines 64] [--summaries 10000] [--eight]

Captures of over 20 MB are made from TRACE (tests/ranks/synthetic.py) some at a time, mapped by the
pool and removed, so that no disk holds them all; only the map is timed. Then the whole dataset is
reduced. --engines maps that many ranks by the pool, Ray, Spark and, where SLURM_CONF names a
cluster (tests/system/slurm_cluster.bash starts one), a Slurm array, and compares what they wrote;
an engine that has used --engine-seconds gets no more captures, and how many it had is in the
result. Captures beyond the first 32 are those again under other ranks.
--summaries copies the parts of eight ranks under new ranks to that many, and reduces them.
--eight times one program and the pool against one process. OUT is written after each piece, so that
a run may be left alone (nice -n
19 nohup) or stopped. JSON.
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

import pyarrow

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE / "python"), str(HERE / "tests" / "ranks")]
from gpufathom import ranks  # noqa: E402
from synthetic import Job, Template  # noqa: E402


def peak_mb():
    return round(max(resource.getrusage(who).ru_maxrss
                     for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024)


BATCH = 32


def batches(job, folder):
    """Paths of captures, some at a time."""
    for first in range(0, job.ranks, BATCH):
        paths = [folder / f"rank{rank}.json"
                 for rank in range(first, min(first + BATCH, job.ranks))]
        for rank, path in enumerate(paths, first):
            path.write_text(job.trace(rank))
        yield paths
        for path in paths:
            path.unlink()


def cpu_s():
    """Use of processes that were started and have ended."""
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
    found = sum(1 for row in answer["collectives"]
                if row["margin_ns"] > max(row["doubt_ns"], 20_000))
    return {"ranks": count, "mb_a_rank": round(size / count / 1e6, 1),
                     "map_median_s": round(statistics.median(row.seconds for row in rows), 4), "pool_s": round(taken, 2),
                     "pool_cpu_s_a_rank": round(cpu / count, 3),
                     "reduce_s": round(reduced, 3), "planted": late, "found": found,
                     "dataset_kb_a_rank": round(sum(file.stat().st_size for file in dataset.rglob("*.*")) / count / 1e3, 1),
                     "peak_mb": peak_mb(), "load": round(os.getloadavg()[0], 1), "digest": ranks.digest(dataset)[:16]}


def slurm_map(paths, dataset):
    """An array of two tasks."""
    listed = dataset.parent / "captures.txt"
    listed.write_text("".join(f"{path}\n" for path in paths))
    line = shlex.join([sys.executable, "-m", "gpufathom.ranks", "map", "--workers", "1", "--list",
                       str(listed), "--dataset", str(dataset)])
    subprocess.run(["sbatch", "--wait", "--array=0-1", "--requeue", "-o",
                    str(dataset.parent / "slurm-%A-%a.out"), f"--wrap={line}"], check=True,
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
        version = subprocess.run(["sinfo", "--version"], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout.split()[-1]
        engines[f"Slurm {version} array, slurmctld and slurmd on loopback"] = slurm_map
    return engines


def renumbered(template, count, folder):
    """Paths of captures, some at a time: the first batch is made, the others are its files under
    other ranks."""
    job, made = Job(template, count), []
    for rank in range(min(BATCH, count)):
        text = job.trace(rank)
        mark = f'"rank": {rank}, "world_size"'
        before, after = text.split(mark)
        made.append((before, after))
    for first in range(0, count, BATCH):
        paths = []
        for rank in range(first, min(first + BATCH, count)):
            before, after = made[rank - first]
            paths.append(folder / f"rank{rank}.json")
            paths[-1].write_text(f'{before}"rank": {rank}, "world_size"{after}')
        yield paths
        for path in paths:
            path.unlink()


def same_files(datasets):
    """The number of files that all datasets share; those must be the same."""
    first, *others = datasets
    shared = {}
    for other in others:
        files = [path.relative_to(other) for path in other.rglob("*") if path.is_file()]
        assert all((first / path).read_bytes() == (other / path).read_bytes()
                   for path in files), other
        shared[other] = len(files)
    return shared


def by_engines(template, count, folder, seconds, keep):
    engines = engines_of()
    datasets = {name: folder / f"engine{number}" for number, name in enumerate(engines)}
    taken, mapped = dict.fromkeys(engines, 0.0), dict.fromkeys(engines, 0)
    for paths in renumbered(template, count, folder):
        for name, engine in engines.items():
            if taken[name] > seconds and name != "process pool":
                continue
            begin = time.monotonic()
            engine(paths, datasets[name])
            taken[name] += time.monotonic() - begin
            mapped[name] += len(paths)
        result = {"ranks": count, "mapped": mapped,
                  "seconds": {name: round(spent, 1) for name, spent in taken.items()},
                  "load": round(os.getloadavg()[0], 1)}
        print(result, file=sys.stderr, flush=True)
        keep(result)
    shared = same_files(list(datasets.values()))
    result["same_files"] = {name: shared[datasets[name]] for name in engines
                            if datasets[name] in shared}
    result["digests"] = {name: ranks.digest(datasets[name])[:16] for name in engines
                         if mapped[name] == count}
    assert len(set(result["digests"].values())) == 1, result
    answer = ranks.reduce(datasets["process pool"])
    assert len(answer["ranks"]) == count and not answer["missing_ranks"]
    return result


def many_summaries(template, count, folder):
    job, base, target = Job(template, 8), folder / "eight", folder / "many"
    paths = [folder / f"rank{rank}.json" for rank in range(8)]
    for rank, path in enumerate(paths):
        path.write_text(job.trace(rank))
    ranks.map_all(paths, base)
    parts = [json.loads(part) for part in ranks.parts_of(base)]
    table = next((base / "ranks").glob("*.parquet")).read_bytes()  # only its being there counts
    codec = pyarrow.Codec("zstd")
    for name in ("parts", "ranks"):
        (target / name).mkdir(parents=True)
    for rank in range(count):
        part = {**parts[rank % len(parts)], "rank": rank, "world_size": count,
                "source": f"rank{rank}.json"}
        line = json.dumps(part, separators=(",", ":")).encode() + b"\n"
        (target / "parts" / f"{rank:040d}.jsonl.zst").write_bytes(codec.compress(line, asbytes=True))
        (target / "ranks" / f"{rank:040d}.parquet").write_bytes(table)
    begin, cpu = time.monotonic(), all_cpu_s()
    answer = ranks.reduce(target)
    return {"summaries": count, "collectives_a_rank": len(parts[0]["collectives"]["start_ns"]),
            "reduce_s": round(time.monotonic() - begin, 2), "reduce_cpu_s": round(all_cpu_s() - cpu, 2), "peak_mb": peak_mb(),
            "ranks": len(answer["ranks"]), "load": round(os.getloadavg()[0], 1)}


def all_cpu_s():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime + cpu_s()


def timed(work):
    """The least wall time of five runs, and the CPU time of that one."""
    runs = []
    for _ in range(5):
        begin, cpu = time.monotonic(), all_cpu_s()
        work()
        runs.append((time.monotonic() - begin, all_cpu_s() - cpu))
    wall, cpu = min(runs)
    return {"wall_s": round(wall, 3), "cpu_s": round(cpu, 3)}


def eight_ranks(template, program, folder):
    """Eight captures to the answer in one program; thirty-two mapped by one process and by the
    pool."""
    job = Job(template, 32)
    paths = [folder / f"rank{rank}.json" for rank in range(32)]
    for rank, path in enumerate(paths):
        path.write_text(job.trace(rank))
    size = sum(path.stat().st_size for path in paths) / 1e6
    answer = [program, "ranks", "--format", "json", "--rows", "200", *map(str, paths[:8])]
    # 8 of 32 ranks: the program says what is missing and ends with 1.
    found = {"mb_a_rank": round(size / 32, 1),
             "eight": timed(lambda: subprocess.run(answer, stdout=subprocess.DEVNULL,
                                                   stderr=subprocess.DEVNULL, check=False))}
    for name, workers in (("one process", 1), ("pool", None)):
        begin, cpu, dataset = time.monotonic(), all_cpu_s(), folder / f"mapped {name}"
        report = ranks.map_all(paths, dataset,
                               workers) if workers is None else [ranks.map_rank(path, dataset)
                                                                 for path in paths]
        wall, cpu = time.monotonic() - begin, all_cpu_s() - cpu
        assert not any(row.error for row in report)
        found[name] = {"wall_s": round(wall, 2), "cpu_s": round(cpu, 2),
                       "mb_per_s": round(size / wall), "mb_per_cpu_s": round(size / cpu)}
    found["load"] = round(os.getloadavg()[0], 1)
    for path in paths:
        path.unlink()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("trace")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ranks", default="16,64,256")
    parser.add_argument("--engines", type=int, default=0)
    parser.add_argument("--engine-seconds", type=float, default=float("inf"))
    parser.add_argument("--summaries", type=int, default=0)
    parser.add_argument("--eight", action="store_true")
    options = parser.parse_args()
    os.environ["GPUFATHOM"] = str(pathlib.Path(options.program).resolve())
    os.environ["PYTHONPATH"] = str(HERE / "python")
    folder = pathlib.Path(tempfile.mkdtemp())
    result = {"cores": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0], "scales": []}
    try:
        template = Template(options.trace, 3)
        for count in map(int, filter(None, options.ranks.split(","))):
            row = at_scale(template, count, folder)
            print(json.dumps(row), file=sys.stderr, flush=True)
            result["scales"].append(row)
            options.out.write_text(json.dumps(result, indent=1) + "\n")
        def keep(name, row):
            result[name] = row
            options.out.write_text(json.dumps(result, indent=1) + "\n")

        if options.eight:
            keep("eight", eight_ranks(template, os.environ["GPUFATHOM"], folder))
        if options.summaries:
            keep("many", many_summaries(template, options.summaries, folder))
        if options.engines:
            keep("engines", by_engines(template, options.engines, folder, options.engine_seconds,
                                       lambda row: keep("engines", row)))
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
