"""Cost of the usual questions on large captures, as ratios to a bare simdjson walk: one table, all
in turns.

  ./dev bench table [--bytes 1000000000] [--rounds 5] [--only TEXT] [--against PROGRAM] [--peers]
  [-o docs/results/table.json]

A Kineto trace of --bytes (ingest.py), the same as gzip and as a capture file, asked in the ways of
QUESTIONS; an XLA profile of
200 MB (xplane.py), an export of Nsight Systems of a million kernels, and an hour's recording
(long_recording.py). Of each the median of processor time (user + system), of wall time and of peak
memory over all rounds, on two cores.
  walk      processor time over that of a walk over the plain trace; for captures of other programs, over as many of its bytes
Two walks at once run before and after each question (ratchet.py). --against asks another build the
same in the same rounds. `repr` is Python's alone: the time of printing the table of kernels of the
open capture file for the first time, and again.
--peers asks what others do for the same in the same rounds, once a round: ISA-L decodes the gzip;
HolisticTraceAnalysis reads a trace of --peer-bytes and breaks down its time; XProf makes its trace
viewer's data of the XLA profile; TraceLens makes its report of the same trace as HTA. They come from
PyPI, TraceLens from GitHub (PyPI's package of that name is another program), into .cache/.
"""
import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import time

import ingest
import ratchet
import spent

ROOT = pathlib.Path(__file__).resolve().parent.parent
GROUPS = "select name, count(*), sum(duration_ns) from activities group by name order by 3 desc limit 5"
# Questions and their files.
QUESTIONS = {
    "JSON: text answer": ["analyze", "JSON"],
    "times and sizes vary: text answer": ["analyze", "VARIED"],
    "gzip: text answer": ["analyze", "GZIP"],
    "capture file without its answer: text": ["analyze", "CAPTURE"],
    "capture file with its answer: text": ["analyze", "ANSWERED"],
    "page of a capture file": ["analyze", "CAPTURE", "-o", "MADE.html"],
    "whatif of a capture file": ["whatif", "CAPTURE"],
    "query: count": ["query", "CAPTURE", "select count(*) from host_ops"],
    "query: group by": ["query", "CAPTURE", GROUPS],
    "import of JSON without its answer": ["import", "JSON", "-o", "MADE.gpf", "--no-answer"],
    "import of JSON with its answer": ["import", "JSON", "-o", "MADE.gpf"],
    "page of JSON": ["analyze", "JSON", "-o", "MADE.html"],
    "XLA profile: text answer": ["analyze", "PROFILE"],
    "Nsight Systems: text answer": ["analyze", "EXPORT"],
    "an hour's recording: mean of one metric": ["query", "HOUR", "select avg(value) from counter_samples where metric = 'gpu.busy'"],
}
PYTHON = """
import sys, time, gpufathom
run = gpufathom.open(sys.argv[1], allow_incomplete=True)
taken = []
for _ in range(2):
    start = time.process_time()
    repr(run.kernels)
    taken.append(time.process_time() - start)
print(*taken, len(run.kernels))
"""
TRACELENS = """
import sys, tempfile
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch
with tempfile.TemporaryDirectory() as folder:
    generate_perf_report_pytorch(sys.argv[1], output_csvs_dir=folder)
"""
# Environments of other programs, which ask for different versions of each other.
PEER_PACKAGES = {
    "peers": ["HolisticTraceAnalysis==0.5.0", "xprof==2.24.2", "isal==1.9.1"],
    "tracelens": ["TraceLens @ git+https://github.com/AMD-AGI/TraceLens@v1.0.0"],
}
# Other programs' environments, questions and files, and the question here to compare with.
PEERS = {
    "ISA-L: decode the gzip": ("peers", "import sys; from isal import igzip\nwith igzip.open(sys.argv[1]) as f:\n while f.read(1 << 20): pass", "GZIP", ["analyze", "GZIP"]),
    "HolisticTraceAnalysis: idle and temporal breakdown": ("peers", ingest.HTA, "PART", ["analyze", "PART"]),
    "TraceLens: report as CSV": ("tracelens", TRACELENS, "PART", ["analyze", "PART"]),
    "XProf: trace viewer": ("peers", "import sys; from xprof.convert import raw_to_tool_data as r; r.xspace_to_tool_data([sys.argv[1]], 'trace_viewer', {})",
                            "PROFILE", ["analyze", "PROFILE"]),
}


def peers_python(environment):
    """Its Python, with the packages of an environment."""
    python = ROOT / ".cache" / environment / "bin" / "python"
    if not (python.parent / ".installed").exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEER_PACKAGES[environment]], check=True)
        (python.parent / ".installed").touch()
    return python


def of_peers(files, programs, rounds):
    """Processor time and peak memory of each peer, and its time over that of each program for the
    same file: medians of all in turns."""
    found = {}
    for what, (environment, code, file, words) in PEERS.items():
        python = peers_python(environment)
        taken = []
        for _ in range(rounds):
            ours = {name: once(program, words, files)[0] for name, program in programs.items()}
            cpu, peak, _ = ratchet.run([python, "-W", "ignore", "-c", code, files[file]])
            taken.append((cpu, peak / 1e6, *(cpu / own for own in ours.values())))
        cpu, peak, *ratios = (round(statistics.median(each), 3) for each in zip(*taken))
        found[what] = {"bytes": files[file].stat().st_size, "cpu_s": cpu, "peak_mb": peak,
                       "over": dict(zip(programs, ratios))}
    return found


def nsight_export(path, kernels=1_000_000):
    """An export of Nsight Systems: launches and their kernels, an NVTX range around every ten."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    db = sqlite3.connect(part)
    db.execute("create table META_DATA_EXPORT(name text, value text)")
    db.execute("create table StringIds(id integer primary key, value text)")
    db.executemany("insert into StringIds values(?,?)",
                   [(0, "cudaLaunchKernel_v7000"),
                    *((i, f"kernel_{i}<float, {i % 7}>") for i in range(1, 501))])
    db.execute("create table CUPTI_ACTIVITY_KIND_KERNEL(start int, end int, deviceId int, streamId int, correlationId int, globalPid int, "
               "demangledName int, gridX int, gridY int, gridZ int, blockX int, blockY int, blockZ int)")
    db.execute("create table CUPTI_ACTIVITY_KIND_RUNTIME(start int, end int, eventClass int, globalTid int, correlationId int, nameId int, returnValue int)")
    db.execute("create table NVTX_EVENTS(start int, end int, eventType int, text text, globalTid int)")
    db.executemany("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?,?,0,7,?,16777216,?,?,1,1,128,1,1)",
                   ((5000 + 10000 * i, 12000 + 10000 * i + i % 1000, i, i * 7 % 500 + 1, i % 97 + 1)
                    for i in range(kernels)))
    db.executemany("insert into CUPTI_ACTIVITY_KIND_RUNTIME values(?,?,0,16777217,?,0,0)",
                   ((1000 + 10000 * i, 4000 + 10000 * i, i) for i in range(kernels)))
    db.executemany("insert into NVTX_EVENTS values(?,?,59,?,16777217)",
                   ((500 + 100000 * i, 99000 + 100000 * i, f"layer {i % 100}")
                    for i in range(kernels // 10)))
    db.commit()
    db.close()
    part.rename(path)


def imported(plain, name, *options):
    path = ingest.CACHE / name
    path.unlink(missing_ok=True)
    ratchet.run([ratchet.PROGRAM, "import", plain, "-o", path, *options])
    return path


def of_export():
    path = ingest.CACHE / "table.sqlite"
    nsight_export(path)
    return path


def of_hour():
    path = ingest.CACHE / "recording_1h.gpf"
    if not path.exists():
        subprocess.run([ROOT / "build/bench/long_recording", path, "1"], check=True)
    return path


def inputs(size, questions, peer_size=None):
    """The files that the questions name, and what is known of the trace."""
    plain, facts = ingest.trace(size, ".json")
    made = {"VARIED": lambda: ingest.trace(size, ".json", varied=True)[0],
            "GZIP": lambda: ingest.trace(size, ".json.gz")[0],
            "CAPTURE": lambda: imported(plain, "table.gpf", "--no-answer"),
            "ANSWERED": lambda: imported(plain, "table_answer.gpf"),
            "PROFILE": lambda: ratchet.profile(200_000_000), "EXPORT": of_export, "HOUR": of_hour}
    files = {"JSON": plain}
    if peer_size:
        files["PART"] = ingest.trace(peer_size, ".json")[0]
    named = {word for words in questions.values() for word in words}
    return files | {word: make() for word, make in made.items()
                    if word in named or peer_size or word == "CAPTURE"}, facts


def once(program, words, files):
    """Processor time, wall time and peak memory of a question."""
    made = {"MADE.gpf": ingest.CACHE / "table_made.gpf",
            "MADE.html": ingest.CACHE / "table_made.html"}
    command = [program, *(files.get(word) or made.get(word) or word for word in words)]
    for path in made.values():
        path.unlink(missing_ok=True)
    start = time.perf_counter()
    cpu, peak, _ = ratchet.run(command)
    return cpu, time.perf_counter() - start, peak / 1e6


def measure(files, questions, programs, rounds):
    """The medians of each question and program, all in turns."""
    taken = {(what, name): [] for what in questions for name in programs}
    plain = files["JSON"]
    for _ in range(rounds):
        for what, words in questions.items():
            file = next(files[word] for word in words if word in files)
            bytes_of = file if what.split(":")[0] in ("XLA profile", "Nsight Systems",
                                                      "an hour's recording") else plain
            walks = [ratchet.walk(plain)]
            seen = {name: once(program, words, files) for name, program in programs.items()}
            walks.append(ratchet.walk(plain))
            walked = statistics.mean(walks) * bytes_of.stat().st_size / plain.stat().st_size
            for name, (cpu, wall, peak) in seen.items():
                taken[what, name].append((cpu / walked, cpu, wall, peak))
    return {what: {name: dict(zip(("walk", "cpu_s", "wall_s", "peak_mb"),
                                  (round(statistics.median(each), 3)
                                   for each in zip(*taken[what, name]))))
                   for name in programs} for what in questions}


def of_python(capture, rounds):
    """Seconds of the first and of the second `repr` of the table of kernels, and its rows."""
    runs = [subprocess.run([sys.executable, "-c", PYTHON, capture], check=True, capture_output=True,
                           text=True, cwd=ROOT,
                           env={**os.environ, "PYTHONPATH": str(ROOT / "python")}).stdout.split()
            for _ in range(rounds)]
    first, again = (round(statistics.median(float(run[i]) for run in runs), 5) for i in (0, 1))
    return {"rows": int(runs[0][2]), "first_s": first, "again_s": again}


def main():
    p = argparse.ArgumentParser(prog="bench/run table", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bytes", type=int, default=1_000_000_000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", action="append", metavar="TEXT",
                   help="questions that hold this text; may be given again")
    p.add_argument("--against", type=pathlib.Path, metavar="PROGRAM",
                   help="another build of gpufathom, in the same rounds")
    p.add_argument("--peers", action="store_true", help="also what others do, from PyPI")
    p.add_argument("--peer-bytes", type=int, default=140_000_000,
                   help="of the trace that the slower of them read")
    p.add_argument("-o", "--output", type=pathlib.Path, help="write all figures as JSON")
    o = p.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    os.environ["XDG_STATE_HOME"] = str(ingest.CACHE)  # for the key that imports make
    asked = {what: words for what, words in QUESTIONS.items()
             if not o.only or any(text in what for text in o.only)}
    files, facts = inputs(o.bytes, asked, o.peer_bytes if o.peers else None)
    programs = {"now": ratchet.PROGRAM} if not o.against else {"before": o.against.resolve(),
                                                               "now": ratchet.PROGRAM}
    load = os.getloadavg()[0]
    questions = measure(files, asked, programs, o.rounds)
    print(f"{'':<42}" + "".join(f"{name + ': /walk':>15}{'cpu s':>9}{'wall s':>9}{'MB':>7}"
                                for name in programs))
    for what, row in questions.items():
        print(f"{what:<42}" + "".join(f"{row[n]['walk']:>15.2f}{row[n]['cpu_s']:>9.3f}{row[n]['wall_s']:>9.3f}{row[n]['peak_mb']:>7.0f}" for n in programs))
    python = of_python(files["CAPTURE"], o.rounds)
    print(f"Python, repr of {python['rows']} kernels: {python['first_s'] * 1e3:.1f} ms, again {python['again_s'] * 1e3:.2f} ms")
    peers = of_peers(files, programs, min(o.rounds, 3)) if o.peers else {}
    for what, row in peers.items():
        over = ", ".join(f"{ratio:.2f} x {name}" for name, ratio in row["over"].items())
        print(f"{what:<52}{row['cpu_s']:>9.3f} s{row['peak_mb']:>8.0f} MB   {over}")
    if o.output:
        cpu = spent.processor()
        result = {"machine": {"cpu": cpu, "hardware": "two shared cores, CPU only",
                              "load_average": load},
                  "command": "./dev bench table " + " ".join(sys.argv[1:]), "date": time.strftime("%Y-%m-%d"), "trace": facts,
                  "bytes": {name: path.stat().st_size for name, path in files.items()}, "questions": questions, "peers": peers, "python_repr": python}
        (ROOT / o.output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
