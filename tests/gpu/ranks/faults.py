#!/usr/bin/env python3
"""Two GPUs train with planted faults, and the profiler's traces of both ranks are kept beside the
truth.

    python3 tests/gpu/ranks/faults.py OUT [--seconds 150] [--device cpu] [--only PART,...]

One pair of processes runs all parts, so that NCCL starts once. Every part gives PART.rank0.json.gz
and PART.rank1.json.gz; truth.json says what was planted, on which rank, and how long a step takes
with and without it. `planted` is a series of collectives of which some are delayed on one rank:
which, and by how much. Parts that begin with `small_` train a model whose launches take longer than
its kernels.
"""
import argparse
import datetime
import gzip
import json
import os
import pathlib
import random
import statistics
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule

ACTIVE = 6
# part: the fault, the rank that has it, the model
PARTS = {
    "none": ("none", 0, "large"),
    "slow_input": ("slow_input", 1, "large"),
    "extra_kernels": ("extra_kernels", 0, "large"),
    "extra_sync": ("extra_sync", 1, "large"),
    "uneven_batch": ("uneven_batch", 0, "large"),
    "stall_once": ("stall_once", 1, "large"),
    "plain_input": ("plain_input", 1, "large"),
    "read_backs": ("read_backs", 0, "large"),
    "held_lock": ("held_lock", 1, "large"),
    "neighbor": ("neighbor", 0, "large"),
    "small_none": ("none", 0, "small"),
    "small_plain_input": ("plain_input", 0, "small"),
    "small_read_backs": ("read_backs", 1, "small"),
    "small_held_lock": ("held_lock", 0, "small"),
    "small_neighbor": ("neighbor", 1, "small"),
}
# width, layers, rows of a batch
SIZES = {"large": (2048, 8, 8192), "small": (512, 24, 512), "cpu": (32, 2, 8)}


class Faults:
    """The work of a part beside the training step; `late` is the rank that does it."""

    def __init__(self, rank, device):
        self.rank, self.device = rank, device
        width = 4096 if device.type == "cuda" else 64
        self.square = torch.randn(width, width, device=device, dtype=torch.bfloat16)

    def slow_input(self, late, step):
        if self.rank == late:
            with record_function("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
                time.sleep(0.020)

    def extra_kernels(self, late, step):
        if self.rank == late:
            with record_function("extra_augmentation"):
                for _ in range(60):
                    self.square @ self.square

    def extra_sync(self, late, step):
        """See Model.forward: a read-back after every layer."""

    def uneven_batch(self, late, step):
        """See batch_of."""

    def stall_once(self, late, step):
        if self.rank == late and step == 6:
            with record_function("checkpoint"):
                time.sleep(0.060)

    def plain_input(self, late, step):
        """As a loader of one's own, which no profiler knows."""
        if self.rank == late:
            next_batch()

    def read_backs(self, late, step):
        """See Model.forward."""

    def held_lock(self, late, step):
        """See thread_beside."""

    def neighbor(self, late, step):
        """See process_beside."""

    def none(self, late, step):
        """Nothing."""


def next_batch():
    time.sleep(0.012)


def thread_beside(ended):
    """Another thread of the process that never lets go of the interpreter by itself: statistics in
    Python, say."""
    total = 0
    while not ended.is_set():
        total += sum(value * value for value in range(1000))


def process_beside(device, on, ended):
    """Another user of a GPU: a few products, then a short pause, while `on`."""
    square = torch.randn(4096, 4096, device=device) if "cuda" in device else torch.randn(64, 64)
    square @ square  # loads the libraries
    while not ended.is_set():
        if not on.wait(0.1):
            continue
        for _ in range(4):
            square @ square
        if "cuda" in device:
            torch.cuda.synchronize(device)
        time.sleep(0.001)


class Model(nn.Module):
    """`fault` is that of this rank: it reads values back after each layer, and may sleep too."""

    def __init__(self, width, depth, fault):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.fault = fault
        self.seen = 0.0

    def forward(self, values):
        for layer in self.layers:
            values = torch.relu(layer(values))
            if self.fault in ("extra_sync", "read_backs"):
                for _ in range(4):
                    self.seen += values[0, 0].item()
            if self.fault == "extra_sync":
                time.sleep(0.001)
        return values


def batch_of(fault, full):
    return full * 3 if fault == "uneven_batch" else full


def make_step(part, rank, device):
    fault, late, size = PARTS[part]
    faults = Faults(rank, device)
    own = fault if rank == late else "none"
    width, depth, full = SIZES[size if device.type == "cuda" else "cpu"]
    model = Model(width, depth, own).to(device, torch.bfloat16)
    trained = DistributedDataParallel(model, device_ids=[rank] if device.type == "cuda" else None)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    source = torch.randn(batch_of(own, full), width, dtype=torch.bfloat16)
    if device.type == "cuda":
        source = source.pin_memory()
    number = 0

    def step():
        nonlocal number
        getattr(faults, fault)(late, number)
        inputs = source.to(device, non_blocking=True)
        optimiser.zero_grad(set_to_none=True)
        trained(inputs).float().square().mean().backward()
        optimiser.step()
        number += 1

    return step


def seconds_of(step, device, count=8):
    """Median step time of both ranks together, without a profiler."""
    times = []
    for _ in range(count):
        if device.type == "cuda":
            torch.cuda.synchronize()
        dist.barrier()
        begin = time.perf_counter()
        step()
        if device.type == "cuda":
            torch.cuda.synchronize()
        dist.barrier()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def activities(device):
    return [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device.type == "cuda" else [])


def export(profiler, out, part, rank):
    plain = out / f"{part}.rank{rank}.json"
    profiler.export_chrome_trace(str(plain))
    with gzip.open(f"{plain}.gz", "wb", 6) as packed:
        packed.write(plain.read_bytes())
    plain.unlink()


def run_part(part, rank, device, out, neighbors):
    fault, late, size = PARTS[part]
    step = make_step(part, rank, device)
    beside, ended = None, threading.Event()
    if fault == "neighbor" and rank == late:
        neighbors[late].set()
        time.sleep(0.3)
    if fault == "held_lock" and rank == late:
        beside = threading.Thread(target=thread_beside, args=(ended,))
        beside.start()
    for _ in range(2):
        step()
    with profile(activities=activities(device),
                 schedule=schedule(wait=0, warmup=2, active=ACTIVE, repeat=1)) as profiler:
        for _ in range(2 + ACTIVE):
            step()
            profiler.step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    export(profiler, out, part, rank)
    seconds = seconds_of(step, device)
    ended.set()
    neighbors[late].clear()
    if beside:
        beside.join()
    return {"fault": fault, "late_rank": late, "model": size,
            "step_ms_alone": round(seconds * 1e3, 4), "active": ACTIVE}


def run_planted(rank, device, out, count=120):
    """All-reduces of several sizes; of a random half one rank comes late by a known time."""
    plan = random.Random(15)
    sizes = [1 << power for power in (14, 18, 20, 22)]
    rows = [{"index": index, "elements": plan.choice(sizes), "rank": plan.randrange(2),
             "delay_us": plan.choice([0, 0, 300, 800, 2000])} for index in range(count)]
    buffers = {size: torch.zeros(size, device=device) for size in sizes}
    cycles_a_us = 1000.0
    if device.type == "cuda":
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(1_000_000)
        begin.record()
        torch.cuda._sleep(20_000_000)
        end.record()
        torch.cuda.synchronize()
        cycles_a_us = 20_000_000 / (begin.elapsed_time(end) * 1e3)
    for size in sizes:
        dist.all_reduce(buffers[size])
    with profile(activities=activities(device)) as profiler:
        for row in rows:
            if row["delay_us"] and row["rank"] == rank:
                if device.type == "cuda":
                    torch.cuda._sleep(int(row["delay_us"] * cycles_a_us))
                else:
                    time.sleep(row["delay_us"] * 1e-6)
            dist.all_reduce(buffers[row["elements"]])
        if device.type == "cuda":
            torch.cuda.synchronize()
    export(profiler, out, "planted", rank)
    return {"collectives": rows, "cycles_a_us": round(cycles_a_us, 2)}


def worker(rank, options, neighbors):
    cuda = options.device == "cuda"
    device = torch.device("cuda", rank) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(rank)
    torch.manual_seed(0)
    begin = time.monotonic()
    dist.init_process_group("nccl" if cuda else "gloo", rank=rank, world_size=2,
                            init_method=f"file://{options.meeting}",
                            timeout=datetime.timedelta(seconds=60))
    out = pathlib.Path(options.out)
    truth = {"gpu": torch.cuda.get_device_name(rank) if cuda else "cpu", "torch": torch.__version__,
             "parts": {}}
    jobs = {"planted": lambda: run_planted(rank, device, out)}
    for name in PARTS:
        jobs[name] = lambda part=name: run_part(part, rank, device, out, neighbors)
    if options.only:
        jobs = {part: jobs[part] for part in options.only.split(",")}
    for part, job in jobs.items():
        left = torch.tensor([1 if time.monotonic() - begin < options.seconds - 12 else 0],
                            device=device)
        dist.all_reduce(left, op=dist.ReduceOp.MIN)
        if not left.item():
            truth["parts"][part] = {"skipped": "no time left"}
            continue
        truth["parts"][part] = job()
        if rank == 0:
            print(f"{part}: {time.monotonic() - begin:.1f} s", flush=True)
            (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--only", help="parts, separated by commas")
    options = parser.parse_args()
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    options.meeting = f"/tmp/gpufathom-ranks-{os.getpid()}"
    # The links' multicast is not available on every shared host.
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    context = multiprocessing.get_context("spawn")
    neighbors, ended, beside = [context.Event() for _ in range(2)], context.Event(), []
    for rank in sorted({late for fault, late, _ in PARTS.values() if fault == "neighbor"}):
        device = f"cuda:{rank}" if options.device == "cuda" else "cpu"
        beside.append(context.Process(target=process_beside, args=(device, neighbors[rank], ended)))
        beside[-1].start()
    try:
        multiprocessing.spawn(worker, args=(options, neighbors), nprocs=2)
    finally:
        ended.set()
        for process in beside:
            process.join(10)


if __name__ == "__main__":
    main()
