#!/usr/bin/env python3
"""Four or eight GPUs train in groups with planted faults; the profiler's traces of all ranks are
kept beside the truth.

    python3 tests/gpu/ranks/groups.py OUT --ranks 4 [--seconds 90] [--only PART[,PART]] [--device
    cpu]

Parts: data parallel (dp), fully sharded (fsdp), tensor parallel in groups of 2 and 4 inside data
parallel (tp2, tp4), a layer of experts with all-to-all (moe). Each runs without a fault, and some
with one: a rank whose input is late, a rank with more kernels, a rank that reads back after each
layer, a group that is late as a whole. truth.json says which, and how long a step takes without a
profiler. Every part gives PART.rankN.json.gz.
"""
import argparse
import datetime
import gzip
import json
import os
import pathlib
import statistics
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule

ACTIVE = 4
# part, model, fault, the ranks that are late as a function of the number of ranks
PARTS = [
    ("dp_none", "dp", "none", lambda ranks: []),
    ("dp_late_input", "dp", "late_input", lambda ranks: [ranks - 1]),
    ("dp_more_kernels", "dp", "more_kernels", lambda ranks: [1]),
    ("tp2_none", "tp2", "none", lambda ranks: []),
    ("tp2_group_late", "tp2", "late_input", lambda ranks: [2, 3]),
    ("moe_none", "moe", "none", lambda ranks: []),
    ("moe_more_kernels", "moe", "more_kernels", lambda ranks: [2]),
    ("dp_read_back", "dp", "read_back", lambda ranks: [2]),
    ("fsdp_none", "fsdp", "none", lambda ranks: []),
    ("fsdp_late_input", "fsdp", "late_input", lambda ranks: [0]),
    ("tp4_none", "tp4", "none", lambda ranks: []),
]


class Reduce(torch.autograd.Function):
    """The sum over a group forwards, the gradient as it is backwards."""

    @staticmethod
    def forward(context, values, group):
        values = values.clone()
        dist.all_reduce(values, group=group)
        return values

    @staticmethod
    def backward(context, gradient):
        return gradient, None


class Dense(nn.Module):
    """A stack of linear layers; with a group each pair of layers is cut over its ranks."""

    def __init__(self, width, depth, group=None, cut=1, reads_back=False):
        super().__init__()
        self.wide = nn.ModuleList([nn.Linear(width, 2 * width // cut, bias=False)
                                   for _ in range(depth)])
        self.narrow = nn.ModuleList([nn.Linear(2 * width // cut, width, bias=False)
                                     for _ in range(depth)])
        self.group, self.reads_back = group, reads_back

    def forward(self, values):
        for wide, narrow in zip(self.wide, self.narrow):
            part = narrow(torch.relu(wide(values)))
            values = values + (Reduce.apply(part, self.group) if self.group is not None else part)
            if self.reads_back:
                values[0, 0].item()
                time.sleep(0.002)
        return values


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(context, values):
        out = torch.empty_like(values)
        dist.all_to_all_single(out, values.contiguous())
        return out

    @staticmethod
    def backward(context, gradient):
        return Exchange.apply(gradient)


class Experts(nn.Module):
    """Every rank holds one expert: tokens go to it and come back."""

    def __init__(self, width, depth):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(depth)])

    def forward(self, values):
        for expert in self.experts:
            values = values + Exchange.apply(torch.relu(expert(Exchange.apply(values))))
        return values


def make_model(kind, ranks, rank, groups, width, depth, device, reads_back):
    if kind == "moe":
        return Experts(width, depth).to(device, torch.bfloat16)
    if kind.startswith("tp"):
        cut = int(kind[2:])
        tensor, data = groups[kind]
        model = Dense(width, depth, tensor, cut).to(device, torch.bfloat16)
        if ranks == cut:
            return model
        return DistributedDataParallel(model, device_ids=[rank] if device.type == "cuda" else None,
                                       process_group=data)
    model = Dense(width, depth, reads_back=reads_back).to(device, torch.bfloat16)
    if kind == "fsdp":
        from torch.distributed.fsdp import fully_shard
        for layer in list(model.wide) + list(model.narrow):
            fully_shard(layer)
        return fully_shard(model)
    return DistributedDataParallel(model, device_ids=[rank] if device.type == "cuda" else None)


def make_step(kind, fault, late, ranks, rank, groups, device):
    cuda = device.type == "cuda"
    width, depth, batch = (2048, 6, 8192) if cuda else (32, 2, 8)
    is_late = rank in late
    model = make_model(kind, ranks, rank, groups, width, depth, device,
                       fault == "read_back" and is_late)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    source = torch.randn(batch, width, dtype=torch.bfloat16)
    source = source.pin_memory() if cuda else source
    square = torch.randn(4096 if cuda else 64, 4096 if cuda else 64, device=device,
                         dtype=torch.bfloat16)

    def step():
        if fault == "late_input" and is_late:
            with record_function("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
                time.sleep(0.015)
        if fault == "more_kernels" and is_late:
            with record_function("extra_augmentation"):
                for _ in range(40):
                    square @ square
        inputs = source.to(device, non_blocking=True)
        optimiser.zero_grad(set_to_none=True)
        model(inputs).float().square().mean().backward()
        optimiser.step()

    return step


def seconds_of(step, device, count=8):
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


def run_part(name, kind, fault, late, ranks, rank, groups, device, out):
    step = make_step(kind, fault, late, ranks, rank, groups, device)
    for _ in range(3):
        step()
    wanted = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device.type == "cuda" else [])
    with profile(activities=wanted,
                 schedule=schedule(wait=0, warmup=2, active=ACTIVE, repeat=1)) as profiler:
        for _ in range(2 + ACTIVE):
            step()
            profiler.step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    plain = out / f"{name}.rank{rank}.json"
    profiler.export_chrome_trace(str(plain))
    with gzip.open(f"{plain}.gz", "wb", 6) as packed:
        packed.write(plain.read_bytes())
    plain.unlink()
    return {"model": kind, "fault": fault, "late_ranks": late, "active": ACTIVE,
            "step_ms_alone": round(seconds_of(step, device) * 1e3, 4)}


def make_groups(ranks, rank):
    """For each size of a tensor group: this rank's tensor group and its data-parallel group."""
    found = {}
    for cut in (2, 4):
        if ranks % cut:
            continue
        mine = [None, None]
        for first in range(0, ranks, cut):
            group = dist.new_group(list(range(first, first + cut)))
            if first <= rank < first + cut:
                mine[0] = group
        for offset in range(cut):
            group = dist.new_group(list(range(offset, ranks, cut)))
            if rank % cut == offset:
                mine[1] = group
        found[f"tp{cut}"] = mine
    return found


def worker(rank, options):
    cuda = options.device == "cuda"
    device = torch.device("cuda", rank) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(rank)
    torch.manual_seed(0)
    begin = time.monotonic()
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(options.ranks))
    dist.init_process_group("nccl" if cuda else "gloo", rank=rank, world_size=options.ranks,
                            init_method=f"file://{options.meeting}",
                            timeout=datetime.timedelta(seconds=60))
    groups = make_groups(options.ranks, rank)
    out = pathlib.Path(options.out)
    truth = {"gpu": torch.cuda.get_device_name(rank) if cuda else "cpu", "torch": torch.__version__,
             "ranks": options.ranks, "parts": {}}
    for name, kind, fault, late_of in PARTS:
        if options.only and name not in options.only.split(","):
            continue
        if kind.startswith("tp") and kind not in groups:
            continue
        left = torch.tensor([1 if time.monotonic() - begin < options.seconds - 8 else 0],
                            device=device)
        dist.all_reduce(left, op=dist.ReduceOp.MIN)
        if not left.item():
            truth["parts"][name] = {"skipped": "no time left"}
            continue
        late = [index for index in late_of(options.ranks) if index < options.ranks]
        truth["parts"][name] = run_part(name, kind, fault, late, options.ranks, rank, groups,
                                        device, out)
        if rank == 0:
            print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
            (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    options = parser.parse_args()
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    options.meeting = f"/tmp/gpufathom-groups-{os.getpid()}"
    # The links' multicast is not available on every shared host.
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    multiprocessing.spawn(worker, args=(options,), nprocs=options.ranks)


if __name__ == "__main__":
    main()
