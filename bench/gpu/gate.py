#!/usr/bin/env python3
"""Runs to judge a gate for speed by: three programs, each without and with planted slow-downs of 1,
2 and 5 %.

gate.py OUT SECONDS --gpufathom PROGRAM    measures for about SECONDS, writes OUT/gate.json.gz
gate.py --work NAME LOG SECONDS            one process of it, under `gpufathom record --kernels`

A process goes through rounds; a round holds one run of each kind, in random order: two without a
slow-down, one with each. A run is a few steps and ends when the GPU has done them. What every run's
kernels took is taken from the recording, so any rule can be tried on it later: gate_curve.py does.

Slow-downs are planted into work that the program does anyway: an element-wise kernel over a tenth
of
the step's time gets as many more elements as make the step's kernels 1, 2 or 5 % longer.
"""

import argparse
import csv
import gzip
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
KINDS = {"base": 0.0, "again": 0.0, "one": 0.01, "two": 0.02, "five": 0.05}
BALLAST = 0.1
PROCESSES = 3
RUN_SECONDS = 0.022
MOST_STEPS = 24
DEVICE = "cuda"


def resnet(torch):
    import torchvision

    net = torchvision.models.resnet18().to(DEVICE).to(memory_format=torch.channels_last)
    images = torch.randn(64, 3, 224, 224, device=DEVICE).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (64,), device=DEVICE)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()

    return step


def transformer(torch):
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0.0, batch_first=True)
    net = torch.nn.TransformerEncoder(layer, 4).to(DEVICE).bfloat16()
    words = torch.randn(16, 512, 1024, device=DEVICE, dtype=torch.bfloat16)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5, foreach=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        net(words).float().square().mean().backward()
        optimizer.step()

    return step


def decode(torch):
    """Many small kernels of one token at a time, bound by memory."""
    sizes = 2048, 8192
    weights = [
        (
            torch.randn(sizes[1], sizes[0], device=DEVICE, dtype=torch.bfloat16) * 0.01,
            torch.randn(sizes[0], sizes[1], device=DEVICE, dtype=torch.bfloat16) * 0.01,
        )
        for _ in range(12)
    ]
    state = torch.randn(8, sizes[0], device=DEVICE, dtype=torch.bfloat16)
    norm = torch.nn.functional.layer_norm

    def step():
        with torch.no_grad():
            token = state
            for up, down in weights:
                hidden = torch.nn.functional.silu(norm(token, (sizes[0],)) @ up.t())
                token = token + hidden @ down.t()

    return step


PROGRAMS = {"resnet": resnet, "transformer": transformer, "decode": decode}


class Ballast:
    """y = a * x over as many elements as wanted; x and y are far larger than any cache."""

    def __init__(self, torch, elements):
        self.torch = torch
        self.x = torch.ones(elements, device=DEVICE)
        self.y = torch.empty_like(self.x)

    def run(self, elements):
        self.torch.mul(self.x[:elements], 1.0001, out=self.y[:elements])


def kernel_seconds(torch, body, times):
    """Time of the kernels of `body` back to back: they are queued behind a kernel that waits."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    found = []
    for _ in range(5):
        torch.cuda.synchronize()
        torch.cuda._sleep(60_000_000)
        begin.record()
        for _ in range(times):
            body()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end) / 1e3 / times)
    return sorted(found)[2]


def calibrate(torch, step):
    """Elements of the ballast for each kind, and steps of a run."""
    plain = kernel_seconds(torch, step, 3)
    whole = plain / (1 - BALLAST)
    probe = Ballast(torch, 64 << 20)
    small = kernel_seconds(torch, lambda: probe.run(32 << 20), 8)
    large = kernel_seconds(torch, lambda: probe.run(64 << 20), 8)
    per_element = (large - small) / (32 << 20)
    base = int(whole * BALLAST / per_element)
    elements = {kind: base + int(whole * more / per_element) for kind, more in KINDS.items()}
    return elements, min(max(2, round(RUN_SECONDS / whole)), MOST_STEPS), whole


def work(name, log, seconds):
    import torch

    sys.path.insert(0, str(HERE.parents[1] / "python"))
    import gpufathom

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    begin = time.monotonic()
    step = PROGRAMS[name](torch)
    for _ in range(20):
        step()
    torch.cuda.synchronize()
    elements, steps, whole = calibrate(torch, step)
    ballast = Ballast(torch, max(elements.values()))

    def run(kind):
        with gpufathom.step():
            for _ in range(steps):
                step()
                ballast.run(elements[kind])
            torch.cuda.synchronize()

    for kind in 3 * list(KINDS):
        run(kind)
    order = random.Random(os.getpid())
    runs = ["warm_up"] * 3 * len(KINDS)
    walls = []
    ready = time.monotonic()
    while time.monotonic() - ready < seconds:
        kinds = list(KINDS)
        order.shuffle(kinds)
        for kind in kinds:
            start = time.perf_counter()
            run(kind)
            walls.append(time.perf_counter() - start)
            runs.append(kind)
    json.dump(
        {
            "program": name,
            "runs": runs,
            "steps": steps,
            "step_seconds": whole,
            "elements": elements,
            "wall_s": walls,
            "set_up_s": ready - begin,
            "gpu": torch.cuda.get_device_name(),
            "torch": torch.__version__,
        },
        open(log, "w"),
    )


def ask(program, capture, sql):
    # A recording that is not whole gives its rows and exit code 1.
    words = [program, "query", str(capture), sql, "--format", "csv", "--rows", "0"]
    found = subprocess.run(words, capture_output=True, text=True).stdout
    return list(csv.reader(io.StringIO(found)))[1:]


def read(program, capture, log):
    """For every run: kernel time by name and step, and the means of what was sampled meanwhile."""
    import numpy

    told = json.loads(log.read_text())
    spans = numpy.array(
        [
            [int(v) for v in row]
            for row in ask(
                program, capture, "select start_ns, duration_ns from steps order by start_ns"
            )
        ]
    )
    if len(spans) != len(told["runs"]):
        told["lost"] = f"{len(spans)} runs recorded of {len(told['runs'])}"
    names, kernels = {}, []
    for start, took, name in ask(
        program, capture, "select start_ns, duration_ns, name from " "kernels order by start_ns"
    ):
        kernels.append((int(start), int(took), names.setdefault(name, len(names))))
    kernels = numpy.array(kernels)
    samples = {}
    for metric, at, value in ask(
        program,
        capture,
        "select metric, start_ns, value from "
        "counter_samples where value is not null order by start_ns",
    ):
        samples.setdefault(metric, ([], []))
        samples[metric][0].append(int(at))
        samples[metric][1].append(float(value))
    samples = {
        metric: (numpy.array(at), numpy.array(values)) for metric, (at, values) in samples.items()
    }
    told["names"] = [name[:120] for name in names]
    told["by_run"] = []
    for start, took in spans:
        low, high = numpy.searchsorted(kernels[:, 0], (start, start + took))
        mine = kernels[low:high]
        by_name = numpy.bincount(mine[:, 2], mine[:, 1], len(names)).astype(int)
        per_step = []
        if len(mine) and len(mine) % told["steps"] == 0:
            per_step = mine[:, 1].reshape(told["steps"], -1).sum(1).tolist()
        row = {
            "wall_ns": int(took),
            "kernels": len(mine),
            "step_ns": per_step,
            "name_ns": {int(i): int(by_name[i]) for i in numpy.flatnonzero(by_name)},
        }
        for metric, (at, values) in samples.items():
            first, last = numpy.searchsorted(at, (start, start + took))
            if last > first:
                row.setdefault("means", {})[metric] = float(values[first:last].mean())
        told["by_run"].append(row)
    return told


def process(program, worker, name, number, seconds, work_folder, gpu):
    capture = work_folder / f"{name}.{number}.gpf"
    log = work_folder / f"{name}.{number}.json"
    done = subprocess.run(
        [
            program,
            "record",
            "-q",
            "--kernels",
            "--window",
            "0",
            "--devices",
            str(gpu),
            "-o",
            str(capture),
            "--",
            sys.executable,
            worker,
            "--work",
            name,
            str(log),
            str(seconds),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu)},
    )
    return capture, log, done.returncode, done.stderr[-2000:]


def measure(out, seconds, program, worker, set_up, gpu):
    import concurrent.futures
    import tempfile

    out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    results, failures, lock = [], [], threading.Lock()

    def keep():
        with lock:
            whole = {
                "schema": "gpufathom.gate/1",
                "kinds": KINDS,
                "processes": results,
                "failures": failures,
                "took_s": time.monotonic() - begin,
            }
            with gzip.open(out / "gate.json.new", "wt") as file:
                json.dump(whole, file)
            os.replace(out / "gate.json.new", out / "gate.json.gz")

    def digest(capture, log):
        try:
            results.append(read(program, capture, log))
        except Exception as error:  # the rest is still worth having
            failures.append(f"{capture.name}: {error!r}"[:2000])
        capture.unlink(missing_ok=True)
        keep()

    # The first import reads gigabytes; what follows takes as long each time.
    subprocess.run(
        [sys.executable, "-c", "import torch, torchvision; torch.ones(1).cuda()"],
        stderr=subprocess.DEVNULL,
    )
    jobs = [(name, number) for number in range(PROCESSES) for name in PROGRAMS]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
        6
    ) as readers:
        for done, (name, number) in enumerate(jobs):
            left = seconds - 12 - (time.monotonic() - begin)  # the last one's reading
            each = left / (len(jobs) - done) - set_up
            if each < 0.5:
                failures.append(f"{name} {number}: no time left")
                continue
            started = time.monotonic()
            capture, log, code, said = process(
                program, worker, name, number, each, pathlib.Path(folder), gpu
            )
            set_up = max(1, time.monotonic() - started - each)
            print(f"{name} {number}: {time.monotonic() - started:.1f} s, {said[-300:]}", flush=True)
            if code or not log.exists():
                failures.append(f"{name} {number}: {code} {said}")
                keep()
                continue
            readers.submit(digest, capture, log)
    keep()
    print(
        json.dumps(
            {
                "took_s": round(time.monotonic() - begin),
                "processes": len(results),
                "runs": sum(len(r["runs"]) for r in results),
                "failures": failures,
            }
        )
    )


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    options = argparse.ArgumentParser()
    options.add_argument("out", type=pathlib.Path)
    options.add_argument("seconds", type=float)
    options.add_argument("--gpufathom", default=str(HERE.parents[1] / "build/bundle/gpufathom"))
    options.add_argument("--set-up", type=float, default=8, help="seconds until a process measures")
    options.add_argument("--gpu", type=int, default=0)
    options.add_argument("--worker", default=__file__, help="what runs instead, in tests")
    given = options.parse_args()
    program = os.path.abspath(given.gpufathom)
    return measure(given.out, given.seconds, program, given.worker, given.set_up, given.gpu)


if __name__ == "__main__":
    sys.exit(main())
