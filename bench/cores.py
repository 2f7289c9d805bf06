"""Wall time of the usual questions on more and more cores.

  ./dev bench cores [--bytes 1000000000] [--cores 1,2,4,8,16] [--rounds 5] [--only TEXT]
  [--against PROGRAM] [-o docs/results/cores.json]

The questions and files of table.py, and the text answer of a trace whose times and sizes vary. A
question is asked on the first N of the cores that this process may use, all in turns; the run with
the least wall time of all rounds counts, because whatever else runs only adds to it. Beside it:
  speedup     the wall time on one core over that on N
  efficiency  the speedup over N: 1 where twice the cores take half the time
  walk        processor time over that of a bare simdjson walk over the plain trace on one core, the
              least of all rounds
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import ingest
import ratchet
import spent
import table

QUESTIONS = {what: table.QUESTIONS[what] for what in (
    "JSON: text answer", "times and sizes vary: text answer", "gzip: text answer",
    "capture file without its answer: text", "import of JSON without its answer",
    "page of a capture file", "whatif of a capture file", "XLA profile: text answer")}


def once(program, words, files):
    """Seconds until the program has ended, and its processor time."""
    made = {"MADE.gpf": ingest.CACHE / "cores_made.gpf",
            "MADE.html": ingest.CACHE / "cores_made.html"}
    for path in made.values():
        path.unlink(missing_ok=True)
    command = [program, *(files.get(word) or made.get(word) or word for word in words)]
    begin, start = spent_by_children(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=table.ROOT)
    return time.perf_counter() - start, spent_by_children() - begin


def spent_by_children():
    used = os.times()
    return used.children_user + used.children_system


def measure(files, questions, programs, cores, rounds):
    """The fastest run of each question, program and number of cores, and the fastest walk."""
    ours = sorted(os.sched_getaffinity(0))
    fastest, walks = {}, []
    for _ in range(rounds):
        os.sched_setaffinity(0, ours[:1])
        walks.append(once("build/bench/simdjson_walk", ["JSON"], files)[1])
        for count in cores:
            os.sched_setaffinity(0, ours[:count])
            for what, words in questions.items():
                for name, program in programs.items():
                    run = once(program, words, files)
                    key = what, name, count
                    fastest[key] = min(run, fastest.get(key, run))
    os.sched_setaffinity(0, ours)
    walk = min(walks)
    return walk, {what: {name: {count: figures(count, *fastest[what, name, count], walk,
                                               fastest[what, name, cores[0]][0] * cores[0])
                                for count in cores}
                         for name in programs}
                  for what in questions}


def figures(count, wall, cpu, walk, on_one):
    return {"wall_s": round(wall, 4), "speedup": round(on_one / wall, 2),
            "efficiency": round(on_one / wall / count, 3), "cpu_s": round(cpu, 3),
            "walk": round(cpu / walk, 2)}


def main():
    p = argparse.ArgumentParser(prog="bench/run cores", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bytes", type=int, default=1_000_000_000)
    p.add_argument("--cores", default="1,2,4,8,16")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", action="append", metavar="TEXT",
                   help="questions that hold this text; may be given again")
    p.add_argument("--against", type=pathlib.Path, metavar="PROGRAM",
                   help="another build of gpufathom, in the same rounds")
    p.add_argument("-o", "--output", type=pathlib.Path, help="write all figures as JSON")
    o = p.parse_args()
    usable = len(os.sched_getaffinity(0))
    cores = [count for count in map(int, o.cores.split(",")) if count <= usable]
    questions = {what: words for what, words in QUESTIONS.items()
                 if not o.only or any(text in what for text in o.only)}
    files, facts = table.inputs(o.bytes, questions)
    programs = {"now": ratchet.PROGRAM} if not o.against else {"before": o.against.resolve(),
                                                               "now": ratchet.PROGRAM}
    walk, measured = measure(files, questions, programs, cores, o.rounds)
    print(f"a walk: {walk:.3f} s")
    for what, rows in measured.items():
        for name, row in rows.items():
            print(f"{what:<36}{name:>7}" + "".join(
                f"{count:>4}: {each['wall_s']:.3f} s {each['efficiency']:.0%} {each['walk']:.2f}"
                for count, each in row.items()))
    if o.output:
        cpu = spent.processor()
        result = {"machine": {"cpu": cpu, "cores": usable, "load_average": os.getloadavg()[0]},
                  "command": "./dev bench cores " + " ".join(sys.argv[1:]),
                  "date": time.strftime("%Y-%m-%d"), "trace": facts, "rounds": o.rounds,
                  "walk_s": round(walk, 4), "questions": measured}
        o.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
