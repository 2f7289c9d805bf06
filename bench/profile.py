"""The functions in which a large trace's text answer spends its time, of one build or of two.

  ./dev bench profile [--bytes 1000000000] [--against PROGRAM] [--verb analyze] [--most 10] [-o
  RESULT.json]

perf samples each build --rounds times (by the clock, so that it needs no counters of the processor);
shares are given in walks: what a bare simdjson walk over the same trace takes (ratchet.py), between
the runs. The system's own work, such as clearing pages and copying the file, is one row.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import ingest
import ratchet
import spent

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYSTEM = "the system (pages, copies of the file)"


def sampled(command):
    """Samples by function."""
    with tempfile.NamedTemporaryFile() as data:
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "5000", "-o", data.name,
                        *map(str, command)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        lines = subprocess.run(["perf", "report", "-i", data.name, "--stdio", "--no-children",
                                "--sort", "sym", "-n", "--percentage", "absolute"],
                               capture_output=True, text=True, check=True).stdout.splitlines()
    counts = collections.Counter()
    for line in lines:
        parts = line.split(None, 3)  # share, samples, [.] or [k], function
        if len(parts) == 4 and parts[0].endswith("%"):
            name = parts[3].split("(anonymous namespace)::")[-1].split("(")[0].removeprefix("gf::")
            counts[SYSTEM if parts[2] == "[k]" else name] += int(parts[1])
    return counts


def main():
    p = argparse.ArgumentParser(prog="bench/run profile", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bytes", type=int, default=1_000_000_000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--verb", default="analyze")
    p.add_argument("--most", type=int, default=10)
    p.add_argument("--against", type=pathlib.Path, metavar="PROGRAM", help="another build")
    p.add_argument("-o", "--output", type=pathlib.Path, help="write all figures as JSON")
    o = p.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    trace, facts = ingest.trace(o.bytes, ".json")
    programs = {"now": ratchet.PROGRAM}
    if o.against:
        programs = {"before": o.against.resolve(), **programs}
    walks, cpu = [], collections.defaultdict(list)
    counts = {name: collections.Counter() for name in programs}
    for _ in range(o.rounds):
        walks.append(ratchet.walk(trace))
        for name, program in programs.items():
            command = [program, o.verb, trace, "-o", "/dev/null"]
            cpu[name].append(ratchet.run(command)[0])
            counts[name].update(sampled(command))
    walk = statistics.median(walks)
    result = {}
    for name in programs:
        whole = statistics.median(cpu[name]) / walk
        each = {function: round(whole * count / counts[name].total(), 3)
                for function, count in counts[name].most_common(o.most)}
        result[name] = {"walks": round(whole, 2), "largest": each,
                        "rest": round(whole - sum(each.values()), 3)}
        print(f"{name}: {whole:.2f} walks")
        for function, share in each.items():
            print(f"  {share:6.3f}  {function}")
        print(f"  {result[name]['rest']:6.3f}  all others")
    if o.output:
        model = spent.processor()
        about = {"machine": {"cpu": model, "hardware": "two shared cores, CPU only",
                             "load_average": os.getloadavg()[0]}, "trace": facts,
                 "command": "./dev bench profile", "date": time.strftime("%Y-%m-%d")}
        (ROOT / o.output).write_text(json.dumps({**about, **result}, indent=2) + "\n",
                                     encoding="utf-8")


if __name__ == "__main__":
    main()
