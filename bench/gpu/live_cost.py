#!/usr/bin/env python3
"""Cost of the live path for programs of about 40 000 kernels a second, in pairs that alternate:
live_cost.py GPUFATHOM OUT.json [--rounds 5] [--parts kernels,attach,recorder,flight,cupti,turns]
                                [--devices all]

kernels   paced.cu's three programs, each round: alone, beside `record`, and beneath `record
          --kernels --window 1.5 --every 3`, whose windows alternate with the time between them;
          what counts is the rate that the program itself says for each tenth of a second
attach    a reinforcement-learning loop in PyTorch (host-bound, eager) under `gpufathom run`: six
          recordings with kernels in one process, and the time between them
recorder  processor time of `record` at 1 kHz and of `--metrics energy` after their start, and what
          they lose: recordings of 16 s less one of 4 s
flight    tokens a second of a decoder that serves 64 sequences in CUDA graphs, alone and beside
          `monitor --flight`, in turns in one process
cupti     cupti_cost.cu: what each thing that a recorder asks of CUPTI costs a launch by itself
turns     where the host is the limit, which varies by more than the cost from one run to the next:
          three processes of the same work, of which one runs under `gpufathom run`, take turns of a
          twentieth of a second on one core; each turn is compared with the first one's just before
          or after, and the third, of which nothing is recorded, says how far that can be trusted
"""
import argparse
import contextlib
import csv
import datetime
import io
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
EDGE = 250_000_000  # a window opens and closes within this


def rates(text):
    """(begin, end, kernels a second) of every tenth of a second that the program told."""
    lines = [tuple(map(int, line.split())) for line in text.splitlines()
             if len(line.split()) == 2 and line[0].isdigit()]
    return [(before[0], at, count * 1e9 / (at - before[0]))
            for before, (at, count) in zip(lines, lines[1:])]


def mean_in(told, spans):
    """Kernels a second over all tenths that lie within one of the spans."""
    within = [(end - begin, rate) for begin, end, rate in told
              if any(first <= begin and end <= last for first, last in spans)]
    time_in = sum(length for length, rate in within)
    return sum(length * rate for length, rate in within) / time_in if time_in else None


def settled(told):
    """From the first half second on."""
    return mean_in(told, [(told[0][0] + 500_000_000, told[-1][1])]) if len(told) > 8 else None


def slower(alone, now):
    return alone / now - 1 if alone and now else None


def windows_of(gpufathom, capture):
    # Ends with 1 where the recording lost something.
    text = subprocess.run([gpufathom, "query", "--format", "csv", "--rows", "0", capture,
                           "select start_ns, duration_ns from recording_windows order by start_ns"],
                          capture_output=True, text=True).stdout
    return [(int(row["start_ns"]), int(row["start_ns"]) + int(row["duration_ns"]))
            for row in csv.DictReader(io.StringIO(text))]


def kernels_part(options, folder):
    program, rows = build_paced(folder), []
    for turn in range(options.rounds):
        for way in options.programs.split(","):
            row = {"program": way, "round": turn}
            alone = subprocess.run([program, way, "2.5"], capture_output=True, text=True)
            row["alone"] = settled(rates(alone.stdout))
            beside = subprocess.run([*options.record, "-q", "-o", f"{folder}/l.gpf",
                                     "--", program, way, "2.5"], capture_output=True, text=True)
            row["levels"] = settled(rates(beside.stdout))
            capture = f"{folder}/k.gpf"
            traced = subprocess.run(
                [*options.record, "-q", "--kernels", "--window", "1.5", "--every", "3",
                 "--summary", f"{capture}.json", "-o", capture, "--", program, way, "7"],
                capture_output=True, text=True)
            told = rates(traced.stdout)
            windows = windows_of(options.gpufathom, capture)
            edges = [told[0][0], *(edge for window in windows for edge in window), told[-1][1]]
            between = list(zip(edges[::2], edges[1::2]))
            row["in_window"] = mean_in(told, [(first + EDGE, last) for first, last in windows])
            row["between"] = mean_in(told, [(first + EDGE, last) for first, last in between])
            summary = json.load(open(f"{capture}.json"))
            row["windows"], row["kernels"] = len(windows), summary.get("kernels")
            row["recorder_cores"] = summary["recorder_cpu_seconds"] * 1e9 / summary["duration_ns"]
            rows.append(row)
            print(row, flush=True)
    return {"rows": rows, "slower": {
        way: {what: spread([slower(row["alone"], row[what]) for row in rows
                            if row["program"] == way])
              for what in ("levels", "between", "in_window")}
        for way in options.programs.split(",")}}


def spread(values):
    values = sorted(value for value in values if value is not None)
    if not values:
        return None
    return {"median": statistics.median(values), "least": values[0], "most": values[-1],
            "pairs": len(values)}


def rl_loop(seconds):
    """Policy's steps, printed as paced.cu prints launches. Without seconds, it takes turns, in
    steps."""
    import torch
    from jobs import Policy
    step = Policy().step
    print("ready", flush=True)
    for wanted in sys.stdin if not seconds else ():
        begin, used = time.monotonic_ns(), time.thread_time_ns()
        for _ in range(int(wanted)):
            step()
        torch.cuda.synchronize()
        print(time.monotonic_ns() - begin, time.thread_time_ns() - used, flush=True)
    begin, line, count = time.monotonic(), time.time_ns(), 0
    while time.monotonic() - begin < seconds:
        step()
        count += 1
        now = time.time_ns()
        if now - line >= 100_000_000:
            print(now, count, flush=True)
            line, count = now, 0
    torch.cuda.synchronize()


class Turns:
    """Programs that do equal work when asked, the first threads of all on one core."""
    def __init__(self, commands):
        cores = sorted(os.sched_getaffinity(0))
        self.core = cores[-1]
        path = f"/sys/devices/system/cpu/cpu{self.core}/topology/thread_siblings_list"
        near = pathlib.Path(path).read_text() if os.path.exists(path) else str(self.core)
        near = {core for part in near.strip().split(",") for core in range(
            int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}
        self.others = set(cores) - near or set(cores)
        self.programs, first = [], []
        for command in commands:
            program = subprocess.Popen([*command, *first], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
            self.programs.append(program)
            said = program.stdout.readline().split()  # ready, and what the others are to take
            first = first or said[1:]

    def pin(self):
        for program in self.programs:
            for thread in os.listdir(f"/proc/{program.pid}/task"):
                with contextlib.suppress(OSError):  # it may have ended
                    os.sched_setaffinity(int(thread), {self.core} if int(thread) == program.pid
                                         else self.others)

    def one(self, which, work):
        program = self.programs[which]
        program.stdin.write(f"{work}\n")
        program.stdin.flush()
        return list(map(int, program.stdout.readline().split()))

    def phase(self, work, turns):
        """[wall ns, own ns] of each program, turn by turn; who is first goes round."""
        self.pin()
        rows = []
        for turn in range(turns):
            row = [None] * len(self.programs)
            for place in range(len(row)):
                which = (turn + place) % len(row)
                row[which] = self.one(which, work)
            rows.append(row)
        return rows

    def end(self):
        for program in self.programs:
            program.stdin.close()
            program.wait(20)


def middle(values):
    """The median and where it is with 95 % confidence, by ranks: 1.96 sqrt(n) / 2 from the
    middle."""
    values = sorted(values)
    reach = 0.98 * len(values) ** 0.5
    return {"median": statistics.median(values), "turns": len(values),
            "low": values[max(0, math.floor(len(values) / 2 - reach))],
            "high": values[min(len(values) - 1, math.ceil(len(values) / 2 + reach))]}


def compared(rows):
    """The slowdown of the second and the third program against the first, by the wall clock and
    by the processor time of their first thread."""
    return {name: {clock: middle([row[which][index] / row[0][index] - 1 for row in rows])
                   for index, clock in enumerate(("wall", "processor"))}
            for which, name in ((1, "traced"), (2, "nothing"))}


def turns_of(options, folder, command, work, under):
    others = Turns([command, [*under, *command], command])
    traced, answer = others.programs[1], {"core": others.core, "work_a_turn": work}
    try:
        others.phase(work, 3)
        before = others.phase(work, options.turns)
        answer["ns_a_turn"] = statistics.median(row[0][0] for row in before)
        answer["under run, not recorded"] = compared(before)
        capture = f"{folder}/t.gpf"
        with subprocess.Popen(
                [*options.record, "-q", "--source", "nvml", "--kernels", "--window", "0", "--pid",
                 str(traced.pid), "-o", capture],
                preexec_fn=lambda: os.sched_setaffinity(0, others.others)) as recorder:
            time.sleep(1.5)
            others.phase(work, 3)
            answer["in a window"] = compared(others.phase(work, options.turns))
            recorder.send_signal(signal.SIGINT)
        answer["recorder_exit_code"] = recorder.returncode
        counted = subprocess.run([options.gpufathom, "query", "--format", "csv", capture,
                                  "select count(*) from kernels"], capture_output=True, text=True)
        answer["kernels_recorded"] = int(counted.stdout.split()[-1])
        answer["after the window"] = compared(others.phase(work, options.turns))
        answer["levels"] = levels_in_turns(options, folder, others, work)
    finally:
        others.end()
    answer["exit_codes"] = [program.returncode for program in others.programs]
    print(json.dumps(answer), flush=True)
    return answer


def levels_in_turns(options, folder, others, work):
    """The first program beside `record`, and without it before and after, again and again."""
    means = []
    for number in range(2 * options.rounds + 1):
        if number % 2:
            with subprocess.Popen([*options.record, "-q", "-o", f"{folder}/l.gpf", "--duration",
                                   "60"], preexec_fn=lambda: os.sched_setaffinity(
                                       0, others.others)) as recorder:
                time.sleep(1.5)  # it begins
                rows = [others.one(0, work) for _ in range(10)]
                recorder.send_signal(signal.SIGINT)
        else:
            rows = [others.one(0, work) for _ in range(10)]
        means.append([statistics.median(row[clock] for row in rows) for clock in (0, 1)])
    return {clock: spread([2 * means[i][index] / (means[i - 1][index] + means[i + 1][index]) - 1
                           for i in range(1, len(means) - 1, 2)])
            for index, clock in enumerate(("wall", "processor"))}


def turns_part(options, folder):
    program, answer = build_paced(folder), {"turns": options.turns}
    under = [options.gpufathom, "run", "--"]
    for way, work in (("host", 2048), ("gpu", 2048)):
        if way in options.programs.split(","):
            answer[way] = turns_of(options, folder, [program, way, "turns"], work, under)
    answer["reinforcement learning"] = turns_of(
        options, folder, [sys.executable, __file__, "--rl", "0", options.gpufathom, "-"], 6, under)
    return answer


def build_paced(folder):
    program = f"{folder}/paced"
    if not os.path.exists(program):
        subprocess.run(["nvcc", "-O2", "-std=c++17", "-arch=native", "-o", program,
                        str(HERE / "paced.cu")], check=True)
    return program


def attach_part(options, folder):
    with subprocess.Popen([options.gpufathom, "run", "--", sys.executable, __file__, "--rl", "27",
                           options.gpufathom, "-"], stdout=subprocess.PIPE, text=True) as program:
        lines, ready = [], threading.Event()

        def read():
            for line in program.stdout:
                lines.append(line)
                ready.set()
        reader = threading.Thread(target=read)
        reader.start()
        ready.wait(60)
        begin = time.time_ns()
        time.sleep(3)
        inside, kernels = [], 0
        for number in range(6):
            capture = f"{folder}/a.gpf"
            subprocess.run([*options.record, "-q", "--kernels", "--window", "0",
                            "--duration", "1.5", "--pid", str(program.pid), "-o", capture])
            inside += windows_of(options.gpufathom, capture)
            counted = subprocess.run([options.gpufathom, "query", "--format", "csv", capture,
                                      "select count(*) from kernels"], capture_output=True,
                                     text=True)
            kernels += int(counted.stdout.split()[-1])
            time.sleep(1.5)
        reader.join()
    told = rates("".join(lines))
    before = mean_in(told, [(begin + EDGE, inside[0][0] - EDGE)])
    pairs = []
    for number, window in enumerate(inside):
        until = inside[number + 1][0] if number + 1 < len(inside) else told[-1][1]
        pairs.append({"in_window": mean_in(told, [(window[0] + EDGE, window[1])]),
                      "between": mean_in(told, [(window[1] + EDGE, until - EDGE)])})
    return {"steps_a_second_before": before, "pairs": pairs,
            "kernels_a_second": kernels * 1e9 / sum(last - first for first, last in inside),
            "in_window_against_before": spread([slower(before, p["in_window"]) for p in pairs]),
            "between_against_before": spread([slower(before, p["between"]) for p in pairs]),
            "in_window_against_between": spread([slower(p["between"], p["in_window"])
                                                 for p in pairs])}


def recorder_part(options, folder):
    program, answer = build_paced(folder), {}
    with subprocess.Popen([program, "gpu", "100"], stdout=subprocess.DEVNULL) as busy:
        time.sleep(1)
        for name, more in (("levels", []), ("levels at 500 Hz", ["--rate", "500"]),
                           ("energy", ["--metrics", "energy"])):
            runs = []
            for seconds in (4, 16):
                summary = f"{folder}/r.json"
                done = subprocess.run([*options.record, "--duration", str(seconds), *more,
                                       "--summary", summary, "-o", f"{folder}/r.gpf"],
                                      capture_output=True, text=True)
                runs.append({"asked_s": seconds, "code": done.returncode,
                             "said": done.stderr[-600:],
                             "summary": json.load(open(summary))})
            short, long = (run["summary"] for run in runs)
            answer[name] = {"cores_after_start": (long["recorder_cpu_seconds"]
                            - short["recorder_cpu_seconds"]) * 1e9
                            / (long["duration_ns"] - short["duration_ns"]), "runs": runs}
            print(name, answer[name]["cores_after_start"], flush=True)
        busy.send_signal(signal.SIGTERM)
    return answer


def flight_part(options, folder):
    import torch
    from jobs import Decoder
    batch = 64
    replay = Decoder(batch, 12).replay

    def tokens_a_second(seconds):
        begin, done = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            for _ in range(10):
                replay()
                done += batch
            torch.cuda.synchronize()  # the server hands the tokens on
        return done / (time.perf_counter() - begin)

    tokens_a_second(4)  # clocks settle
    pairs = []
    for number in range(max(options.rounds, 6)):
        pair = {}
        for way in ("alone", "flight") if number % 2 else ("flight", "alone"):
            monitor = None
            if way == "flight":
                monitor = subprocess.Popen([options.gpufathom, "monitor", "--csv", "--devices",
                                            options.devices, "--flight", f"{folder}/flight"],
                                           stdout=subprocess.DEVNULL)
            tokens_a_second(1.5)
            pair[way] = tokens_a_second(3)
            if monitor:
                monitor.terminate()
                monitor.wait()
        pairs.append(pair)
        print(pair, flush=True)
    return {"pairs": pairs, "slower": spread([slower(p["alone"], p["flight"]) for p in pairs])}


CUPTI = {"host": "alone traced wide pinned runtime driver both pc pc_serialized",
         "gpu": "alone traced pinned both pc pc_serialized",
         "graph": "alone traced wide pinned pc"}


def cupti_part(options, folder):
    program, rows = f"{folder}/cupti_cost", []
    subprocess.run(["nvcc", "-O2", "-std=c++17", "-arch=native", "-o", program,
                    str(HERE / "cupti_cost.cu"), "-lcupti", "-lcuda"], check=True)
    for number in range(min(options.rounds, 3)):
        for work, variants in CUPTI.items():
            for variant in variants.split():
                try:
                    done = subprocess.run([program, variant, work, "0.8"], capture_output=True,
                                          text=True, timeout=20)
                    said = (done.stdout.strip() or done.stderr[-300:])
                except subprocess.TimeoutExpired:
                    said = "no end in 20 s"
                row = json.loads(said) if said.startswith("{") else {
                    "variant": variant, "work": work, "failed": said}
                rows.append({"round": number, **row})
                print(rows[-1], flush=True)
    rate = {(row["round"], row["work"], row["variant"]): row["kernels_a_second"]
            for row in rows if "failed" not in row}
    return {"rows": rows, "us_a_kernel": {
        work: {variant: spread([1e6 / now - 1e6 / rate[number, work, "alone"]
                                for (number, of, what), now in rate.items()
                                if (of, what) == (work, variant)])
               for variant in variants.split()[1:]} for work, variants in CUPTI.items()}}


PARTS = {"cupti": cupti_part, "kernels": kernels_part, "attach": attach_part,
         "recorder": recorder_part,
         "flight": flight_part, "turns": turns_part}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpufathom")
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", default="kernels,attach,recorder,flight")
    parser.add_argument("--devices", default="all")
    parser.add_argument("--turns", type=int, default=90)
    parser.add_argument("--programs", default="gpu,host,graph", help="of paced.cu, for `kernels`")
    parser.add_argument("--rl", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rl is not None:
        rl_loop(options.rl)
        return
    options.gpufathom = os.path.abspath(options.gpufathom)
    options.record = [options.gpufathom, "record", "--devices", options.devices]
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True).stdout.strip()
    answer = {"what": "what the live path costs programs of 40 000 kernels a second, in pairs",
              "command": f"bench/gpu/live_cost.py build/gpufathom OUT.json --rounds "
              f"{options.rounds} --parts {options.parts}",
              "date": datetime.date.today().isoformat(), "hardware": smi, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as folder:
        for part in options.parts.split(","):
            begin = time.monotonic()
            try:
                answer[part] = PARTS[part](options, folder)
            except Exception as error:  # the other parts are worth having
                answer[part] = {"failed": repr(error)}
            answer[part]["seconds"] = round(time.monotonic() - begin, 1)
            pathlib.Path(options.out).write_text(json.dumps(answer, indent=1) + "\n")
            print(part, json.dumps(answer[part])[:400], flush=True)


if __name__ == "__main__":
    main()
