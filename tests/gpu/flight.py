#!/usr/bin/env python3
"""Which moments `gpufathom monitor --flight` finds, planted on this machine's GPUs, and what it
tells of healthy jobs: flight.py GPUFATHOM OUT.json [--gpus 0,1] [--plan
train:600,serve:600,planted]
                       [--watch 0,1] [--no-counters 0] [--kernels S] [--keep FOLDER]

On each GPU the jobs of the plan run one after the other:
  train:S    a small GPT in PyTorch that waits for its data a little in each step and validates after
             every 400 steps, for S seconds: healthy, so that nothing may be told
  learn:S    a reinforcement-learning loop, for which the host is the limit: healthy
  serve:S    a decoder in CUDA graphs whose requests come at random, idle while there is none: healthy
  serve:S:D  then D seconds of large matrix products in the same process: a clock drop where
             nvidia-smi sees the SM clock fall by 15 % and more, else nothing was planted
  planted    slower steps, four stalls and an idle stretch at times that it says itself; takes 141 s,
             because what is usual must be known first
The recorder is asked once by a signal. --watch: the GPUs that it watches (those with jobs);
what it tells of others is listed by itself. --no-counters: GPUs whose hardware counters are held by
another session while it starts, so that it takes GPM there. With --kernels, jobs run under
`gpufathom run` and windows of S seconds are taken. The driver is only read. What is known is
written every ten seconds; SIGTERM ends the jobs early and judges what there is.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PLAN = [("slower_steps", 83, 26), ("stall", 112, 0.6), ("stall", 115, 1.0), ("stall", 119, 1.6),
        ("stall", 123, 2.2), ("idle", 128, 11.5)]  # kind, second, length
LENGTH = 141
DROPPED = 0.85  # of the clock before


def say(*words):
    print(json.dumps(words), flush=True)


def products(size=8192):
    import torch
    matrix = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)

    def step(count, pause=0.02):
        for _ in range(count):
            matrix.mm(matrix)
        torch.cuda.synchronize()
        time.sleep(pause)
    return step


def planted():
    step = products()
    step(1)
    begin, waiting = time.time(), list(PLAN)
    while time.time() - begin < LENGTH:
        now = time.time() - begin
        kind, at, length = waiting[0] if waiting else ("", LENGTH + 1, 0)
        if now >= at and kind == "slower_steps":
            step(90)
            if now >= at + length:
                say(kind, begin + at, length)
                waiting.pop(0)
        elif now >= at:
            say(kind, time.time(), length)
            time.sleep(length)
            waiting.pop(0)
        else:
            step(60)


def train(seconds, vary=0):
    import random

    import torch
    chance = random.Random(0)
    torch.manual_seed(0)
    width, words, batch = 1024, 512, 16
    layer = torch.nn.TransformerEncoderLayer(width, 16, 4 * width, 0.0, "gelu", batch_first=True,
                                             norm_first=True)
    net = torch.nn.Sequential(torch.nn.Embedding(8192, width), torch.nn.TransformerEncoder(
        layer, 12, enable_nested_tensor=False), torch.nn.Linear(width, 8192)).cuda()
    adam = torch.optim.AdamW(net.parameters(), 1e-4, fused=True)
    data = torch.randint(0, 8192, (64, batch, words + 1)).pin_memory()

    def loss_of(number):
        time.sleep(0.012)  # the loader
        length = min(words, max(32, int(chance.lognormvariate(5, 0.8)))) if vary else words
        tokens = data[number % 64][:, :length + 1].cuda(non_blocking=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = net(tokens[:, :-1])
        return torch.nn.functional.cross_entropy(out.flatten(0, 1).float(), tokens[:, 1:].flatten())

    begin, number = None, 0
    while begin is None or time.time() - begin < seconds:
        loss = loss_of(number)
        adam.zero_grad()
        loss.backward()
        adam.step()
        loss.item()
        number += 1
        if begin is None and number == 10:
            begin = time.time()
            say("healthy", begin)
        if number % 400 == 0:
            with torch.no_grad():
                for other in range(20):
                    loss_of(other).item()
    say("steps", number)


def serve(seconds, dense=0):
    import random

    import torch
    from jobs import Decoder
    chance, replay = random.Random(0), Decoder(32, 16).replay
    began = time.time()
    for _ in range(50):
        replay()
    torch.cuda.synchronize()
    token_s = (time.time() - began) / 50
    begin, requests = time.time(), 0
    arrives = begin
    say("healthy", begin)
    while time.time() - begin < seconds:
        # Batches of 20 to 120 tokens come at random, at 75 % of what the GPU can serve.
        arrives += chance.expovariate(1) * 70 * token_s / 0.75
        time.sleep(max(0, arrives - time.time()))
        for number in range(chance.randint(20, 120)):
            replay()
            if number % 5 == 4:
                torch.cuda.synchronize()  # tokens are handed on
        torch.cuda.synchronize()
        requests += 1
    say("steps", requests)
    if dense:
        step = products()
        say("clock_drop", time.time(), dense)
        end = time.time() + dense
        while time.time() < end:
            step(60, 0)


def learn(seconds):
    import torch
    from jobs import Policy
    step, begin, number = Policy().step, time.time(), 0
    say("healthy", begin)
    while time.time() - begin < seconds:
        step()
        number += 1
        if number % 50 == 0:
            torch.cuda.synchronize()  # the reward is read
    say("steps", number)


def job(words):
    kind, *numbers = words.split(":")
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/gpu"))
    {"planted": planted, "train": train, "serve": serve, "learn": learn}[kind](*map(float, numbers))


class Clocks(threading.Thread):
    """The SM clock of every GPU a second, from nvidia-smi: (time, GPU, MHz)."""
    def __init__(self):
        super().__init__(daemon=True)
        self.readings = []
        self.smi = subprocess.Popen(
            ["nvidia-smi", "--query-gpu=index,clocks.sm", "--format=csv,noheader,nounits", "-lms",
             "1000"], stdout=subprocess.PIPE, text=True)

    def run(self):
        for line in self.smi.stdout:
            with contextlib.suppress(ValueError):
                gpu, clock = map(int, line.split(","))
                self.readings.append((time.time(), gpu, clock))

    def between(self, gpu, begin, end):
        return sorted(clock for at, of, clock in list(self.readings)
                      if of == gpu and begin <= at <= end)


class Jobs(threading.Thread):
    def __init__(self, options, gpu, stop):
        super().__init__()
        self.options, self.gpu, self.stop = options, gpu, stop
        self.planted, self.healthy, self.ended, self.process = [], [], [], None

    def run(self):
        under = [self.options.gpufathom, "run", "--"] if self.options.kernels else []
        for words in self.options.plan:
            if self.stop.is_set():
                return
            with tempfile.TemporaryFile("w+") as errors:
                begin = time.time()
                self.process = subprocess.Popen(
                    [*under, sys.executable, os.path.abspath(__file__), "--job", words],
                    stdout=subprocess.PIPE, stderr=errors, text=True,
                    env={**os.environ, "CUDA_VISIBLE_DEVICES": str(self.gpu)})
                for line in self.process.stdout:
                    self.heard(words, *json.loads(line))
                self.close(words)
                code = self.process.wait()
                errors.seek(0)
                self.ended.append({"gpu": self.gpu, "job": words, "exit_code": code,
                                   "seconds": round(time.time() - begin, 1),
                                   "said": errors.read()[-400:] if code else ""})

    def heard(self, words, kind, value, length=0):
        if kind == "healthy":
            self.healthy.append({"gpu": self.gpu, "job": words, "begin": value, "end": None})
        elif kind == "steps":
            self.close(words)
            self.healthy[-1]["steps"] = value
        else:
            self.planted.append({"gpu": self.gpu, "kind": kind, "time": value, "length": length})

    def close(self, words):
        if self.healthy and self.healthy[-1]["job"] == words and not self.healthy[-1]["end"]:
            self.healthy[-1]["end"] = time.time()


def dropped(planted, clocks, healthy):
    """What was planted, without clock drops that the driver's clock does not show: against what it
    was in the same job."""
    kept = []
    for each in planted:
        if each["kind"] == "clock_drop":
            begin, end = each["time"], each["time"] + each["length"]
            job_began = max([job_["begin"] for job_ in healthy if job_["gpu"] == each["gpu"]
                             and job_["begin"] < begin], default=begin - 500)
            before = clocks.between(each["gpu"], job_began, begin)
            now = clocks.between(each["gpu"], begin + 3, min(end, time.time()))
            each["mhz_before"] = before[len(before) // 20] if before else None
            each["mhz"] = statistics.median(now) if now else None
            if not (before and now and each["mhz"] < DROPPED * each["mhz_before"]):
                each["kind"] = "no clock drop"
        kept.append(each)
    return kept


def judged(planted, told, gpus):
    """Marks what was found, and what was told and not planted."""
    for each in planted:
        each["found"] = False
    for entry in told:
        entry["planted"] = False
        entry["elsewhere"] = entry["gpu"] >= 0 and entry["gpu"] not in gpus
        for each in planted:
            late = 30 if each["kind"] == "slower_steps" else 2
            if (entry["kind"] == each["kind"] and entry["gpu"] == each["gpu"]
                    and each["time"] - 1 <= entry["time"] <= each["time"] + each["length"] + late):
                each["found"] = entry["planted"] = True


def result_of(options, begin, jobs, clocks, folder, asked):
    log = pathlib.Path(folder) / "moments.jsonl"
    told = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    told = [{"time": entry["time_ns"] * 1e-9, **{key: entry.get(key) for key in (
        "gpu", "kind", "text", "capture", "kernel_windows")}} for entry in told]
    planted = dropped([dict(each) for each in asked + [entry for each in jobs
                                                       for entry in each.planted]], clocks,
                      [entry for each in jobs for entry in each.healthy])
    judged(planted, told, {each.gpu for each in jobs})
    real = [each for each in planted if each["kind"] != "no clock drop"]
    healthy = [dict(each) for job_ in jobs for each in job_.healthy]
    for each in planted + told:
        each["second"] = round(each.pop("time") - begin, 2)
    for each in healthy:
        each["seconds"] = round((each["end"] or time.time()) - each["begin"], 1)
        each["begin"] = round(each["begin"] - begin, 2)
        each["end"] = round(each["end"] - begin, 2) if each["end"] else None
        each["told"] = sum(entry["gpu"] == each["gpu"] and each["begin"] <= entry["second"]
                           <= (each["end"] or 1e9) for entry in told)
    names = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                            "--format=csv,noheader"],
                           capture_output=True, text=True).stdout.strip().split("\n")
    return {"what": "moments that the flight recorder told, of planted and of healthy jobs",
            "command": " ".join(["tests/gpu/flight.py", "build/gpufathom", "OUT.json",
                                 *sys.argv[3:]]),
            "date": time.strftime("%Y-%m-%d"), "hardware": names,
            "seconds": round(time.time() - begin, 1),
            "healthy_seconds": round(sum(each["seconds"] for each in healthy), 1),
            "told_of_healthy_jobs": sum(each["told"] for each in healthy),
            "found": sum(each["found"] for each in real), "of_planted": len(real),
            "told_and_not_planted": sum(not entry["planted"] and not entry["elsewhere"]
                                        for entry in told),
            "told_elsewhere": sum(entry["elsewhere"] for entry in told),
            "jobs": [entry for job_ in jobs for entry in job_.ended],
            "healthy": healthy, "planted": planted, "told": told}


def write(options, result):
    part = options.out.with_suffix(".part")
    part.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    part.replace(options.out)


@contextlib.contextmanager
def held_counters(options):
    """The counters of some GPUs are another's for as long as this lasts."""
    if not options.no_counters:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        holder = subprocess.Popen(
            [options.gpufathom, "record", "-q", "--source", "pm", "--devices", options.no_counters,
             "--duration", "60", "-o", f"{folder}/held.gpf"], stdout=subprocess.DEVNULL)
        time.sleep(4)
        yield
        holder.send_signal(signal.SIGINT)
        holder.wait(30)


def fly(options, folder):
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    begin, clocks, asked, known = time.time(), Clocks(), [], [0.0]
    clocks.start()
    words = ["--flight-kernels", str(options.kernels)] if options.kernels else []
    errors = open(f"{folder}/said", "w+")
    jobs = [Jobs(options, int(gpu), stop) for gpu in options.gpus.split(",")]
    with held_counters(options):
        monitor = subprocess.Popen(
            [options.gpufathom, "monitor", "--format", "csv", "--devices",
             options.watch or options.gpus, "--flight", folder, *words],
            stdout=subprocess.DEVNULL, stderr=errors, text=True)
        time.sleep(5 if options.no_counters else 0)
    for each in jobs:
        each.start()
    written = time.time()
    while any(each.is_alive() for each in jobs):
        stop.wait(1)
        if not asked and time.time() - begin > 45:
            asked.append({"gpu": -1, "kind": "asked", "time": time.time(), "length": 1})
            monitor.send_signal(signal.SIGUSR1)
        if monitor.poll() is not None:
            print(f"the monitor ended with {monitor.returncode}", flush=True)
            stop.set()
        if stop.is_set():
            for each in jobs:
                if each.process:
                    each.process.terminate()
            for each in jobs:
                each.join(30)
        if time.time() - written > 10:
            written = time.time()
            with contextlib.suppress(ValueError):  # a line is half written
                write(options, result_of(options, begin, jobs, clocks, folder, asked))
    known[0] = processor_s(monitor.pid)
    time.sleep(2)
    monitor.terminate()
    code = monitor.wait(60)
    clocks.smi.terminate()
    result = result_of(options, begin, jobs, clocks, folder, asked)
    errors.seek(0)
    result.update(exit_code=code, said=errors.read(), cores=known[0] and round(
        known[0] / result["seconds"], 4))
    result["clocks_mhz"] = {gpu: [seen[0], statistics.median(seen), seen[-1]] for gpu, seen in (
        (gpu, clocks.between(gpu, 0, time.time())) for gpu in
        sorted({gpu for _, gpu, _ in clocks.readings}))}
    write(options, result)
    captures = {}
    for name in sorted({entry["capture"] for entry in result["told"] if entry["capture"]}):
        answer = subprocess.run([options.gpufathom, "analyze", str(pathlib.Path(folder) / name)],
                                capture_output=True, text=True)
        captures[name] = [answer.returncode, " ".join(answer.stdout.split())[:500]]
    result["captures"] = captures
    result["ring_bytes"] = {path.name: path.stat().st_size for path in
                            sorted((pathlib.Path(folder) / "ring").iterdir())}
    write(options, result)
    print(f"{result['found']} of {result['of_planted']} planted moments found, "
          f"{result['told_and_not_planted']} told that were not planted, "
          f"{result['told_of_healthy_jobs']} in {result['healthy_seconds']} s of healthy jobs")


def processor_s(pid):
    """The processor time of a process and its running children."""
    total, hertz = 0, os.sysconf("SC_CLK_TCK")
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            if int(path.parent.name) == pid or int(fields[1]) == pid:
                total += (int(fields[11]) + int(fields[12])) / hertz
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpufathom")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--gpus", default="0")
    parser.add_argument("--watch")
    parser.add_argument("--plan", default="planted", type=lambda text: text.split(","))
    parser.add_argument("--no-counters")
    parser.add_argument("--kernels", type=float)
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.gpufathom = os.path.abspath(options.gpufathom)
    if options.keep:
        os.makedirs(options.keep)
    with (contextlib.nullcontext(options.keep) if options.keep
          else tempfile.TemporaryDirectory()) as folder:
        fly(options, folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        job(sys.argv[2])
    else:
        main()
