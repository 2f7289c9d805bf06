"""Processor time and memory of `analyze` against the committed best: what became dearer ends with 1.

  ./dev bench ratchet [--rounds 9] [--lower] [--raise FORMAT] [--against PROGRAM] [FILE...] [-o RESULT.json]

Captures of 200 MB are made of those in examples/ (as in ingest.py and xplane.py): JSON, the same as gzip, as a capture file, and a
profile of JAX. Before and after each run come two bare simdjson walks at once over the plain JSON (simdjson_walk.cpp), on two cores:
  cpu       user and system time over a walk's, the median of all rounds: a ratio, so that it holds on a busy machine
  bytes     peak memory an event
bench/ratchet.json holds the best so far. More than 8 % above it in time, of which machines of one kind differ by 3 %, or 5 % in memory
fails. --lower writes what became better; --raise writes a format's figures as they are, and its commit says for what. The seconds of reading and of analysing are printed.

--against PROGRAM measures another build in the same rounds, --only with FILEs those alone; both print a table of before and after.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import ingest
import xplane

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEST = ROOT / "bench" / "ratchet.json"
SIZE = 200_000_000
ROOM = {"cpu": 1.08, "bytes": 1.05}
PROGRAM = "build/gpufathom"


def start(command):
    return subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)


def finish(process, command):
    """Processor time, peak memory and output of a run."""
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output


def run(command):
    return finish(start(command), command)


def walk(plain):
    """Processor time of one walk, while another one keeps the second core as busy as analyze does: two cores are often one core's
    two threads, each of which is slower beside the other."""
    command = ["build/bench/simdjson_walk", plain]
    both = [start(command), start(command)]
    return statistics.mean(finish(process, command)[0] for process in both)


def inputs():
    """The captures of the ratchet by format, and the plain trace that the walk reads."""
    plain, _ = ingest.trace(SIZE, ".json")
    packed, _ = ingest.trace(SIZE, ".json.gz")
    profile = ingest.CACHE / f"profile_{SIZE}.xplane.pb"
    if not profile.exists():
        maker = multiprocessing.Process(target=xplane.make, args=(profile, SIZE))
        maker.start()
        maker.join()
    # Written by the build that is measured: the file's form may have changed.
    imported = ingest.CACHE / "ratchet.gpf"
    imported.unlink(missing_ok=True)
    run([PROGRAM, "import", plain, "-o", imported])
    return {"json": plain, "gzip": packed, "capture": imported, "xplane": profile}, plain


def analyze(program, path):
    return [program, "analyze", path, "--format", "json", "-o", "/dev/null"]


def measure(files, plain, programs, rounds):
    """Of each program and file the medians, all in turns."""
    taken = {(name, label): [] for name in programs for label in files}
    for _ in range(rounds):
        for label, path in files.items():
            walks = [walk(plain)]
            once = {name: run(analyze(program, path)) for name, program in programs.items()}
            walks.append(walk(plain))
            for name, (cpu, peak, _) in once.items():
                taken[name, label].append((cpu / statistics.mean(walks), cpu, peak))
    result = {}
    for label, path in files.items():
        phases = json.loads(run(["build/bench/ingest", path, "all"])[2])
        events = phases["events"]
        result[label] = {"events": events}
        for name in programs:
            ratio, cpu, peak = (statistics.median(each) for each in zip(*taken[name, label]))
            result[label][name] = {"cpu": round(ratio, 3), "cpu_s": round(cpu, 3), "bytes": round(peak / events, 1)}
        result[label]["phases"] = {"reading_s": phases["load_cpu_s"], "analysing_s": phases["analyze_cpu_s"]}
    return result


def show(result, programs):
    print(f"{'':<28}{'events':>10}" + "".join(f"{name + ': cpu/walk':>20}{'cpu s':>9}{'B/event':>9}" for name in programs) + "   reading, analysing s")
    for label, row in result.items():
        phases = row["phases"]
        print(f"{label:<28}{row['events']:>10}" + "".join(f"{row[n]['cpu']:>20.3f}{row[n]['cpu_s']:>9.3f}{row[n]['bytes']:>9.1f}" for n in programs)
              + f"   {phases['reading_s']:.3f}, {phases['analysing_s']:.3f}")


def judge(result, best):
    """What is dearer than the committed best allows."""
    return [f"{label}: {what} {row['now'][what]} is above {best[label][what]} x {ROOM[what]}"
            for label, row in result.items() if label in best
            for what in ROOM if row["now"][what] > best[label][what] * ROOM[what]]


def cheaper(first, second):
    """The lower figures of two measurements."""
    for label, row in first.items():
        row["now"] = {what: min(row["now"][what], second[label]["now"][what]) for what in row["now"]}
    return first


def rewritten(result, best, raised):
    """The bar: lower where something became better, as measured where it may rise."""
    return {label: {what: row["now"][what] if label in raised or label not in best else min(row["now"][what], best[label][what])
                    for what in ROOM} for label, row in result.items()}


def main():
    p = argparse.ArgumentParser(prog="bench/run ratchet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--lower", action="store_true", help="write what became better into bench/ratchet.json")
    p.add_argument("--raise", dest="raised", action="append", default=[], metavar="FORMAT", help="write a format's figures as they are")
    p.add_argument("--against", type=pathlib.Path, metavar="PROGRAM", help="another build of gpufathom, in the same rounds")
    p.add_argument("--only", action="store_true", help="measure the files given and not those of the ratchet")
    p.add_argument("files", nargs="*", type=pathlib.Path)
    p.add_argument("-o", "--output", type=pathlib.Path, help="write all figures as JSON")
    o = p.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    files, plain = inputs()
    gated = {} if o.only else files
    programs = {"now": PROGRAM} if not o.against else {"before": o.against.resolve(), "now": PROGRAM}
    measured = measure({**gated, **{f.name: f.resolve() for f in o.files}}, plain, programs, o.rounds)
    show(measured, programs)
    if o.output:
        cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), platform.machine())
        about = {"machine": {"cpu": cpu, "hardware": "two shared cores, CPU only", "load_average": os.getloadavg()[0]},
                 "command": "./dev bench ratchet " + " ".join(sys.argv[1:]), "date": time.strftime("%Y-%m-%d")}
        (ROOT / o.output).write_text(json.dumps({**about, "captures": measured}, indent=2) + "\n", encoding="utf-8")
    of_ratchet = {label: measured[label] for label in gated}
    best = json.loads(BEST.read_text(encoding="utf-8")) if BEST.exists() else {}
    if o.lower or o.raised:
        BEST.write_text(json.dumps(rewritten(of_ratchet, best, o.raised), indent=2) + "\n", encoding="utf-8")
        return
    if judge(of_ratchet, best):  # what a neighbour of this machine does may last for some rounds: twice is no accident
        print("once more")
        of_ratchet = cheaper(of_ratchet, measure(gated, plain, programs, o.rounds))
        show(of_ratchet, programs)
    if dearer := judge(of_ratchet, best):
        sys.exit("\n".join(dearer))


if __name__ == "__main__":
    main()
