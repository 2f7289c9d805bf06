#!/usr/bin/env python3
"""Which moments `gpufathom monitor --flight` finds, planted on this machine's GPUs:
flight.py GPUFATHOM OUT.json [--gpus 0,1] [--jobs 1] [--kernels S] [--keep FOLDER]

On each GPU a training loop of PyTorch runs, --jobs of them one after the other, each with slower
steps, four stalls and an idle stretch at times that it says itself; and the recorder is asked once
by a signal. A job takes 140 s after PyTorch's start, because what is usual must be known first. With
--kernels, jobs run under `gpufathom run` and windows of S seconds are taken. The driver is only
read.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

PLAN = [("slower_steps", 83, 26), ("stall", 112, 0.6), ("stall", 115, 1.0), ("stall", 119, 1.6),
        ("stall", 123, 2.2), ("idle", 128, 11.5)]  # kind, second, length
LENGTH = 141


def job():
    import torch
    matrix = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)

    def step(products):
        for _ in range(products):
            matrix.mm(matrix)
        torch.cuda.synchronize()
        time.sleep(0.02)

    step(1)
    begin, waiting = time.time(), list(PLAN)
    while time.time() - begin < LENGTH:
        now = time.time() - begin
        kind, at, length = waiting[0] if waiting else ("", LENGTH + 1, 0)
        if now >= at and kind == "slower_steps":
            step(90)
            if now >= at + length:
                print(json.dumps([kind, begin + at, length]), flush=True)
                waiting.pop(0)
        elif now >= at:
            print(json.dumps([kind, time.time(), length]), flush=True)
            time.sleep(length)
            waiting.pop(0)
        else:
            step(60)


def run_jobs(options, gpu, planted):
    under = [options.gpufathom, "run", "--"] if options.kernels else []
    for _ in range(options.jobs):
        done = subprocess.run([*under, sys.executable, __file__, "--job"], capture_output=True,
                              text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu)})
        planted += [{"gpu": gpu, "kind": kind, "time": at, "length": length}
                    for kind, at, length in map(json.loads, done.stdout.splitlines())]
        if done.returncode:
            print(f"a job on GPU {gpu} ended with {done.returncode}: {done.stderr[-400:]}")


def judged(planted, told):
    """Marks what was found, and what was told and not planted."""
    for each in planted:
        each["found"] = False
    for entry in told:
        entry["planted"] = False
        for each in planted:
            late = 30 if each["kind"] == "slower_steps" else 2
            if (entry["kind"] == each["kind"] and entry["gpu"] == each["gpu"]
                    and each["time"] - 1 <= entry["time"] <= each["time"] + each["length"] + late):
                each["found"] = entry["planted"] = True


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpufathom")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--gpus", default="0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kernels", type=float)
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.gpufathom = os.path.abspath(options.gpufathom)
    names = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                           capture_output=True, text=True).stdout.strip().split("\n")
    planted, begin = [], time.time()
    if options.keep:
        os.makedirs(options.keep)
    with (contextlib.nullcontext(options.keep) if options.keep
          else tempfile.TemporaryDirectory()) as folder:
        words = ["--flight-kernels", str(options.kernels)] if options.kernels else []
        monitor = subprocess.Popen([options.gpufathom, "monitor", "--format", "csv", "--devices",
                                    options.gpus, "--flight", folder, *words],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        threads = [threading.Thread(target=run_jobs, args=(options, int(gpu), planted))
                   for gpu in options.gpus.split(",")]
        for thread in threads:
            thread.start()
        time.sleep(45)
        planted.append({"gpu": -1, "kind": "asked", "time": time.time(), "length": 1})
        monitor.send_signal(signal.SIGUSR1)
        for thread in threads:
            thread.join()
        time.sleep(2)
        monitor.terminate()
        said = monitor.communicate(timeout=60)[1]
        log = pathlib.Path(folder) / "moments.jsonl"
        told = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        captures = {}
        for name in sorted({entry["capture"] for entry in told if entry["capture"]}):
            answer = subprocess.run([options.gpufathom, "analyze", str(pathlib.Path(folder) / name)],
                                    capture_output=True, text=True)
            captures[name] = [answer.returncode, " ".join(answer.stdout.split())[:500]]
        ring = {path.name: path.stat().st_size
                for path in sorted((pathlib.Path(folder) / "ring").iterdir())}
    told = [{"time": entry["time_ns"] * 1e-9, **{key: entry.get(key) for key in (
        "gpu", "kind", "text", "capture", "kernel_windows")}} for entry in told]
    judged(planted, told)
    for each in planted + told:
        each["second"] = round(each.pop("time") - begin, 2)
    result = {"what": "moments that the flight recorder found, planted in jobs of PyTorch",
              "command": " ".join(["tests/gpu/flight.py", *sys.argv[1:]]),
              "date": time.strftime("%Y-%m-%d"), "hardware": names,
              "seconds": round(time.time() - begin, 1), "exit_code": monitor.returncode,
              "said": said, "planted": planted, "told": told,
              "found": sum(each["found"] for each in planted),
              "told_and_not_planted": sum(not entry["planted"] for entry in told),
              "captures": captures, "ring_bytes": ring}
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{result['found']} of {len(planted)} planted moments found, "
          f"{result['told_and_not_planted']} told that were not planted")


if __name__ == "__main__":
    job() if sys.argv[1:] == ["--job"] else main()
