"""Cost of `analyze` against the committed best; exit code 1 if anything costs more.

  ./dev bench ratchet [--rounds 5] [--lower] [--raise ROW] [--against PROGRAM] [FILE...] [-o
  RESULT.json]

Inputs are made of the captures in examples/ (as in ingest.py and xplane.py): of 200 MB a trace as
JSON, answered as JSON and as the short text, which asks for less, and as a capture file; of 40 MB
the same as gzip, one whose times and sizes vary, a profile of JAX, a capture that is opened again,
the same that keeps its answer, its page, its whatif; and a job of 16 ranks
(tests/ranks/synthetic.py). Of each:
  instructions  an event, counted by Valgrind on one processor: the same on every machine
  misses        an event that go past a cache of 1 MB, as Valgrind's model has it: what waits for memory
  bytes         peak memory an event
  cpu           user and system time over that of a bare simdjson walk over the plain JSON (simdjson_walk.cpp), of which two run at once,
                on two cores, before and after each run; the median of all rounds
The walk stays in its core's cache and analyze does not, so cpu depends on what the machine's
neighbours do to memory: one build read 3.4 and 4.7 within one day. It is held with wide room, for
what counts do not show (the system's work, waiting), the counts with little. bench/ratchet.json
holds the best so far, ROOM how far above it fails. --lower writes what became better; --raise
writes a row's figures as they are, and its commit says for what.

--against PROGRAM measures another build in the same rounds, --only with FILEs those alone; both
print a table of before and after.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time
import typing

import ingest
import spent
import xplane

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "ranks"))
import synthetic  # noqa: E402

BEST = ROOT / "bench" / "ratchet.json"
LARGE, SMALL, RANKS = 200_000_000, 40_000_000, 16
# The peak memory of one program differs by 3 % from run to run, as its threads overlap otherwise.
ROOM = {"instructions": 1.02, "misses": 1.04, "bytes": 1.08, "cpu": 1.5}
# How many pages of the program's own file are in its memory is for the system to say: one build read
# a kept answer with 10.8 MB and with 13.1.
OWN_BYTES = 3_500_000
CACHE = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]
PROGRAM = "build/gpufathom"


def start(command):
    return spent.start(command, ROOT)


def finish(running, command):
    """Processor time, peak memory and output of a run."""
    done = spent.finish(running)
    if done.status not in (0, 1):  # 1: an answer that is not whole, as that of a made-up job
        sys.exit(f"{' '.join(map(str, command))} ended with status {done.status}")
    return done.cpu, done.peak_bytes, done.output


def run(command):
    return finish(start(command), command)


def walk(plain):
    """Processor time of one walk, while another one keeps the second core as busy as analyze does:
    two cores are often one core's two threads, each of which is slower beside the other."""
    command = ["build/bench/simdjson_walk", plain]
    both = [start(command), start(command)]
    return statistics.mean(finish(process, command)[0] for process in both)


def profile(size):
    path = ingest.CACHE / f"profile_{size}.xplane.pb"
    if not path.exists():
        xplane.make(path, size)
    return path


def imported(plain, *options):
    """Written by the build that is measured: the file's form may have changed."""
    path = plain.with_name(plain.stem + "".join(options).replace("--", "_") + ".gpf")
    path.unlink(missing_ok=True)
    run([PROGRAM, "import", plain, "-o", path, *options])
    return path


def job():
    """A folder with a capture of each rank."""
    folder = ingest.CACHE / f"ranks_{RANKS}"
    if not folder.exists():
        folder.mkdir(parents=True)
        ranks = synthetic.Job(synthetic.Template(ROOT / "tests/advice/captures/straggler.rank0.json.gz"), RANKS)
        for rank in range(RANKS):
            (folder / f"rank{rank}.json").write_text(ranks.trace(rank))
    return folder


def inputs():
    """The questions about each file, by label, and the plain traces that the walk reads, by
    size."""
    plain = {size: ingest.trace(size, ".json")[0] for size in (LARGE, SMALL)}
    large, small = (imported(plain[size], "--no-answer") for size in (LARGE, SMALL))
    return {"json": Asked(plain[LARGE], LARGE),
            "text": Asked(plain[LARGE], LARGE, "analyze", "text"),
            "capture": Asked(large, LARGE),
            "gzip": Asked(ingest.trace(SMALL, ".json.gz")[0], SMALL),
            "varied": Asked(ingest.trace(SMALL, ".json", varied=True)[0], SMALL, "analyze", "text"),
            "xplane": Asked(profile(SMALL), SMALL),
            "reopened": Asked(small, SMALL, "analyze", "text"),
            "kept": Asked(imported(plain[SMALL]), SMALL, "analyze", "text"),
            "page": Asked(small, SMALL, "analyze", "html"),
            "whatif": Asked(small, SMALL, "whatif", "json"),
            "ranks": Asked(job(), SMALL, "ranks", "json", ("--allow-incomplete",))}, plain


class Asked(typing.NamedTuple):
    path: pathlib.Path
    size: int  # of the plain trace that is walked beside it
    verb: str = "analyze"
    form: str = "json"
    more: tuple = ()

    def of(self, program):
        return [program, self.verb, self.path, *self.more, "--format", self.form, "-o", "/dev/null"]

    def events(self):
        files = [self.path] if self.path.is_file() else sorted(self.path.iterdir())
        return sum(json.loads(run(["build/bench/ingest", each, "load"])[2])["events"]
                   for each in files)


def count(command, core):
    """Instructions and misses of a run on one processor: scheduling changes neither there."""
    said = subprocess.run(["taskset", "-c", str(core), "valgrind", "--tool=cachegrind",
                           "--cache-sim=yes", *CACHE,
                           "--cachegrind-out-file=/dev/null", *map(str, command)], cwd=ROOT,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False).stderr
    found = [re.search(what + r":\s*([\d,]+)", said) for what in ("I +refs", "LL misses")]
    if not all(found):
        sys.exit(f"{' '.join(map(str, command))} was not counted:\n{said}")
    return [int(each[1].replace(",", "")) for each in found]


def counts(files, programs):
    """Instructions and misses of each program and file, two at once."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    tasks = [(name, label) for name in programs for label in files]
    with concurrent.futures.ThreadPoolExecutor(len(cores)) as pool:
        halves = [pool.submit(lambda core, part: [count(files[l].of(programs[n]), core)
                                                  for n, l in part], core, tasks[i::len(cores)])
                  for i, core in enumerate(cores)]
        return {task: found for i, half in enumerate(halves)
                for task, found in zip(tasks[i::len(cores)], half.result())}


def measure(files, plain, programs, rounds):
    """Counts and median times of each program and file, all in turns."""
    counted = counts(files, programs)
    taken = {(name, label): [] for name in programs for label in files}
    for _ in range(rounds):
        for label, asked in files.items():
            walks = [walk(plain[asked.size])]
            once = {name: run(asked.of(program)) for name, program in programs.items()}
            walks.append(walk(plain[asked.size]))
            for name, (cpu, peak, _) in once.items():
                taken[name, label].append((cpu / statistics.mean(walks), cpu, peak))
    result = {}
    for label, asked in files.items():
        events = asked.events()
        result[label] = {"events": events}
        for name in programs:
            ratio, cpu, peak = (statistics.median(each) for each in zip(*taken[name, label]))
            instructions, misses = counted[name, label]
            result[label][name] = {"instructions": round(instructions / events, 1),
                                   "misses": round(misses / events, 3),
                                   "bytes": round(peak / events, 1), "cpu": round(ratio, 3),
                                   "cpu_s": round(cpu, 3)}
    return result


def show(result, programs):
    print(f"{'':<28}{'events':>10}" + "".join(f"{name + ': instr/event':>20}{'misses':>9}{'bytes':>7}{'cpu/walk':>10}{'cpu s':>7}" for name in programs))
    for label, row in result.items():
        print(f"{label:<28}{row['events']:>10}"
              + "".join(f"{row[n]['instructions']:>20.1f}{row[n]['misses']:>9.3f}{row[n]['bytes']:>7.1f}{row[n]['cpu']:>10.3f}{row[n]['cpu_s']:>7.3f}" for n in programs))


def allowed(what, best, events):
    own = OWN_BYTES / events if what == "bytes" else 0
    return max(best * ROOM[what], best + own)


def judge(result, best):
    """The costs above what the committed best allows."""
    return [f"{label}: {what} {row['now'][what]} is above {limit:.1f}, best {best[label][what]}"
            for label, row in result.items() if label in best
            for what in ROOM if what in best[label]
            for limit in [allowed(what, best[label][what], row["events"])]
            if row["now"][what] > limit]


def cheaper(first, second):
    """The lower figures of two measurements."""
    for label, row in first.items():
        row["now"] = {what: min(row["now"][what], second[label]["now"][what])
                      for what in row["now"]}
    return first


def rewritten(result, best, raised):
    """The bar: lower where something became better, as measured where it may rise."""
    return {label: {what: row["now"][what] if label in raised or what not in best.get(label, {})
                    else min(row["now"][what], best[label][what])
                    for what in ROOM} for label, row in result.items()}


def main():
    p = argparse.ArgumentParser(prog="bench/run ratchet", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--lower", action="store_true",
                   help="write what became better into bench/ratchet.json")
    p.add_argument("--raise", dest="raised", action="append", default=[], metavar="ROW",
                   help="write a row's figures as they are")
    p.add_argument("--against", type=pathlib.Path, metavar="PROGRAM",
                   help="another build of gpufathom, in the same rounds")
    p.add_argument("--only", action="store_true",
                   help="measure the files given and not those of the ratchet")
    p.add_argument("files", nargs="*", type=pathlib.Path)
    p.add_argument("-o", "--output", type=pathlib.Path, help="write all figures as JSON")
    o = p.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("Valgrind counts the instructions: ./dev setup, or apt-get install valgrind")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    os.environ["XDG_STATE_HOME"] = str(ingest.CACHE)  # for the key that imports make
    files, plain = inputs()
    gated = {} if o.only else files
    programs = {"now": PROGRAM} if not o.against else {"before": o.against.resolve(),
                                                       "now": PROGRAM}
    measured = measure({**gated, **{f.name: Asked(f.resolve(), LARGE) for f in o.files}}, plain,
                       programs, o.rounds)
    show(measured, programs)
    if o.output:
        cpu = spent.processor()
        about = {"machine": {"cpu": cpu, "hardware": "two shared cores, CPU only",
                             "load_average": os.getloadavg()[0]},
                 "command": "./dev bench ratchet " + " ".join(sys.argv[1:]),
                 "date": time.strftime("%Y-%m-%d")}
        (ROOT / o.output).write_text(json.dumps({**about, "captures": measured}, indent=2) + "\n",
                                     encoding="utf-8")
    of_ratchet = {label: measured[label] for label in gated}
    best = json.loads(BEST.read_text(encoding="utf-8")) if BEST.exists() else {}
    if o.lower or o.raised:
        BEST.write_text(json.dumps(rewritten(of_ratchet, best, o.raised), indent=2) + "\n",
                        encoding="utf-8")
        return
    # what a neighbour of this machine does may last for some rounds: twice is no accident
    if judge(of_ratchet, best):
        print("once more")
        of_ratchet = cheaper(of_ratchet, measure(gated, plain, programs, o.rounds))
        show(of_ratchet, programs)
    if dearer := judge(of_ratchet, best):
        sys.exit("\n".join(dearer))


if __name__ == "__main__":
    main()
