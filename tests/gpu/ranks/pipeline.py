#!/usr/bin/env python3
"""Pipeline and tensor parallel training on two GPUs with planted faults; both ranks are recorded
and timed.

    python3 tests/gpu/ranks/pipeline.py OUT [--seconds 300] [--gpufathom build/gpufathom] [--device
    cpu]

Pipelines are PyTorch's own schedules (GPipe, 1F1B, interleaved); the tensor parallel model reduces
over two groups in turn. Each part runs under torch.profiler (profiled/PART.rankN.json.gz) and some
once more under `record
--kernels` (recorded/PART.rankN.gpf). truth.json: what was planted where, and the time of a step
without any recorder.

Faults: `neighbor` another process works on the rank's GPU, `slow_host` the host sleeps in each
layer, `slow_input` the step waits for its input, `heavy_stage` half as many layers more,
`slow_link` one of two groups has a single channel. The session `no_p2p` runs without direct
transfers between the GPUs.
"""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch.nn as nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from faults import export, process_beside
from groups import Reduce

ACTIVE, MICRO_BATCHES, LAYERS = 5, 8, 4
# part: layout, fault, the rank that has it
PARTS = {
    "1f1b_none": ("1f1b", "none", 0),
    "1f1b_neighbor": ("1f1b", "neighbor", 1),
    "1f1b_slow_host": ("1f1b", "slow_host", 0),
    "1f1b_slow_input": ("1f1b", "slow_input", 0),
    "1f1b_heavy_stage": ("1f1b", "heavy_stage", 1),
    "tensor_none": ("tensor", "none", 0),
    "tensor_neighbor": ("tensor", "neighbor", 1),
    "tensor_slow_host": ("tensor", "slow_host", 0),
    "tensor_slow_input": ("tensor", "slow_input", 1),
    "gpipe_none": ("gpipe", "none", 0),
    "gpipe_neighbor": ("gpipe", "neighbor", 0),
    "gpipe_slow_host": ("gpipe", "slow_host", 1),
    "gpipe_slow_input": ("gpipe", "slow_input", 0),
    "interleaved_none": ("interleaved", "none", 0),
    "interleaved_slow_host": ("interleaved", "slow_host", 1),
    "tensor_slow_link": ("tensor", "slow_link", 0),
}
RECORDED = ["1f1b_none", "1f1b_slow_host", "tensor_none", "tensor_slow_link", "gpipe_slow_input",
            "tensor_slow_input"]
WITHOUT_P2P = ["1f1b_none", "tensor_none"]


class Copy(torch.autograd.Function):
    """The values as they are forwards, the sum over a group backwards."""

    @staticmethod
    def forward(context, values, group):
        context.group = group
        return values.view_as(values)

    @staticmethod
    def backward(context, gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient, group=context.group)
        return gradient, None


class Layer(nn.Module):
    """Two products; with a group each is cut over its ranks. `seconds` is what a slow host loses
    here."""

    def __init__(self, width, seconds, group=None):
        super().__init__()
        inner = width // 2 if group is not None else width
        self.wide = nn.Linear(width, inner, bias=False)
        self.narrow = nn.Linear(inner, width, bias=False)
        self.seconds, self.group = seconds, group

    def forward(self, values):
        if self.seconds:
            time.sleep(self.seconds)
        part = Copy.apply(values, self.group) if self.group is not None else values
        part = self.narrow(torch.relu(self.wide(part)))
        return values + (Reduce.apply(part, self.group) if self.group is not None else part)


class Setting:
    def __init__(self, rank, cuda):
        self.rank, self.cuda = rank, cuda
        self.device = torch.device("cuda", rank) if cuda else torch.device("cpu")
        self.width, self.batch = (4096, 3072) if cuda else (16, 4)
        self.groups = {}

    def group(self, name):
        """Groups of the same two ranks: `narrow` has a single channel, as a link that is slow
        has."""
        if name not in self.groups:
            options = None
            if name == "narrow" and self.cuda:
                options = dist.ProcessGroupNCCL.Options()
                options.config.max_ctas = 1
                options.config.min_ctas = 1
            self.groups[name] = dist.new_group([0, 1], pg_options=options, group_desc=name)
        return self.groups[name]

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()


def loss_of(output, target):
    return (output - target).float().square().mean()


def pipeline_step(setting, layout, count, seconds):
    """Stages of a pipeline; interleaved, each rank holds two of half the layers."""
    chunks = 2 if layout == "interleaved" else 1
    stages = []
    for chunk in range(chunks):
        layers = [Layer(setting.width, seconds) for _ in range(count // chunks)]
        module = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
        stages.append(PipelineStage(module, 2 * chunk + setting.rank, 2 * chunks, setting.device))
    if chunks == 2:
        plan = ScheduleInterleaved1F1B(stages, MICRO_BATCHES, loss_fn=loss_of)
    else:
        plan = {"gpipe": ScheduleGPipe,
                "1f1b": Schedule1F1B}[layout](stages[0], MICRO_BATCHES, loss_fn=loss_of)
    parameters = [one for stage in stages for one in stage.submod.parameters()]
    values = torch.randn(setting.batch * MICRO_BATCHES, setting.width, device=setting.device,
                         dtype=torch.bfloat16)

    def run():
        if setting.rank == 0:
            plan.step(values)
        else:
            plan.step(target=values)

    return run, parameters


def tensor_step(setting, count, seconds, narrow):
    groups = [setting.group("first"), setting.group("narrow" if narrow else "second")]
    layers = [Layer(setting.width, seconds, groups[index % 2]) for index in range(count)]
    model = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    values = torch.randn(2 * setting.batch, setting.width, device=setting.device,
                         dtype=torch.bfloat16)

    def run():
        loss_of(model(values), values).backward()

    return run, list(model.parameters())


def make_step(setting, part):
    layout, fault, where = PARTS[part]
    mine = setting.rank == where
    seconds = 0.0015 if fault == "slow_host" and mine else 0.0
    if layout == "tensor":
        run, parameters = tensor_step(setting, 2 * LAYERS, seconds, fault == "slow_link")
    else:
        run, parameters = pipeline_step(setting, layout,
                                        LAYERS
                                        + (LAYERS // 2 if fault == "heavy_stage" and mine else 0),
                                        seconds)
    optimizer = torch.optim.SGD(parameters, lr=1e-4)

    def step():
        if fault == "slow_input" and mine:
            with record_function("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
                time.sleep(0.020)
        optimizer.zero_grad(set_to_none=True)
        run()
        optimizer.step()

    return step


def milliseconds_of(setting, step, turns=3, count=6):
    """Step times without a recorder: the slower rank's, median of turns."""
    times = []
    for _ in range(turns):
        setting.wait()
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(count):
            step()
        setting.wait()
        took = torch.tensor([(time.perf_counter() - begin) * 1e3 / count], device=setting.device)
        dist.all_reduce(took, dist.ReduceOp.MAX)
        times.append(took.item())
    return [round(one, 4) for one in times]


def agree(setting, value, how=dist.ReduceOp.MIN):
    shared = torch.tensor([value], device=setting.device)
    dist.all_reduce(shared, how)
    return shared.item()


def profiled(setting, part, out):
    step = make_step(setting, part)
    for _ in range(3):
        step()
    alone = milliseconds_of(setting, step)
    wanted = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if setting.cuda else [])
    with profile(activities=wanted,
                 schedule=schedule(wait=0, warmup=2, active=ACTIVE, repeat=1)) as profiler:
        for _ in range(2 + ACTIVE):
            step()
            profiler.step()
    setting.wait()
    export(profiler, out, part, setting.rank)
    return {"step_ms_alone": statistics.median(alone), "turns_ms": alone, "active": ACTIVE}


def join(rank, cuda, meeting):
    if cuda:
        torch.cuda.set_device(rank)
    torch.manual_seed(rank)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("nccl" if cuda else "gloo", rank=rank, world_size=2,
                            init_method=f"file://{meeting}",
                            timeout=datetime.timedelta(seconds=60))
    return Setting(rank, cuda)


def profile_parts(rank, options, parts, meeting, out, neighbors):
    setting = join(rank, options.device == "cuda", meeting)
    truth = {}
    for part in parts:
        late = time.time() > options.deadline - 10
        if agree(setting, 0.0 if late else 1.0) == 0.0:
            truth[part] = {"skipped": "no time left"}
            continue
        _, fault, where = PARTS[part]
        if rank == 0 and fault == "neighbor":
            neighbors[where].set()
            time.sleep(0.2)
        dist.barrier()
        began = time.monotonic()
        truth[part] = profiled(setting, part, out)
        dist.barrier()
        if rank == 0:
            neighbors[where].clear()
            print(f"{out.name} {part}: {truth[part]['turns_ms']} ms, {time.monotonic() - began:.1f} s", flush=True)
            (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    dist.destroy_process_group()


def joules_of(options):
    """What the board's own counter says, which changes every 100 ms."""
    if not options.joules:
        return 0.0
    nvml, board, millijoules = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p(), ctypes.c_ulonglong()
    nvml.nvmlInit_v2()
    assert nvml.nvmlDeviceGetHandleByIndex_v2(options.rank, ctypes.byref(board)) == 0
    assert nvml.nvmlDeviceGetTotalEnergyConsumption(board, ctypes.byref(millijoules)) == 0
    return millijoules.value / 1e3


def child(options):
    """One rank of one part, as `gpufathom record` starts it: it runs for options.run seconds."""
    import gpufathom

    setting = join(options.rank, options.device == "cuda", options.meeting)
    step = make_step(setting, options.child)
    for _ in range(3):
        step()
    setting.wait()
    begin = time.perf_counter()
    for _ in range(4):
        step()
    setting.wait()
    count = int(agree(setting, options.run / ((time.perf_counter() - begin) / 4)))
    before, began = joules_of(options), time.time()
    for _ in range(count):
        with gpufathom.step():
            step()
    setting.wait()
    if options.joules:
        pathlib.Path(options.joules).write_text(json.dumps({
            "steps": count, "seconds": round(time.time() - began, 4),
            "joules": round(joules_of(options) - before, 3)}) + "\n")
    dist.barrier()
    dist.destroy_process_group()


def record_part(options, part, out):
    meeting = f"/tmp/gpufathom-pipeline-{os.getpid()}-{part}"
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path("python").resolve()),
                                "WORLD_SIZE": "2"}
    ranks = []
    for rank in range(2):
        record = [options.gpufathom, "record", "--kernels", "--delay", "7", "-q",
                  *options.record.split(), "--devices", str(rank),
                  "-o", str(out / f"{part}.rank{rank}.gpf"), "--"] if options.gpufathom else []
        command = [*record, sys.executable, __file__, str(out), "--child", part, "--rank",
                   str(rank), "--meeting", meeting,
                   "--device", options.device, "--run", str(options.run)]
        if options.device == "cuda":
            command += ["--joules", str(out / f"{part}.rank{rank}.joules.json")]
        ranks.append(subprocess.Popen(command,
                                      env=environment
                                      | {"RANK": str(rank), "LOCAL_RANK": str(rank)}))
    return [one.wait(60) for one in ranks]


def record_parts(options, parts, out, neighbors):
    truth = {}
    for part in parts:
        if time.time() > options.deadline - 20:
            truth[part] = {"skipped": "no time left"}
            continue
        where = PARTS[part][2]
        if PARTS[part][1] == "neighbor":
            neighbors[where].set()
        began = time.monotonic()
        truth[part] = {"exit_codes": record_part(options, part, out)}
        neighbors[where].clear()
        print(f"recorded {part}: {truth[part]} {time.monotonic() - began:.1f} s", flush=True)
    return truth


def session(options, name, parts, neighbors):
    """One pair of processes for many parts, so that NCCL starts once."""
    out = pathlib.Path(options.out) / name
    out.mkdir(parents=True, exist_ok=True)
    meeting = f"/tmp/gpufathom-pipeline-{os.getpid()}-{name}"
    try:
        if parts:
            multiprocessing.spawn(profile_parts, args=(options, parts, meeting, out, neighbors),
                                  nprocs=2)
    except Exception as error:  # a rank that died costs the rest of its session, not the other sessions
        print(f"{name}: {error}", flush=True)
    found = out / "truth.json"
    return json.loads(found.read_text()) if found.exists() else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--gpufathom", default="", help="record with this program, too")
    parser.add_argument("--record", default="--window 1",
                        help="options of `record`; for energy: '--window 0 --metrics energy'")
    parser.add_argument("--only", default="", help="parts, with commas")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--run", type=float, default=6.0, help=argparse.SUPPRESS)
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--meeting", default="", help=argparse.SUPPRESS)
    parser.add_argument("--joules", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    # The links' multicast is not available on every shared host.
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    if options.child:
        return child(options)
    options.deadline = time.time() + options.seconds
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    parts = [part for part in PARTS if not options.only or part in options.only.split(",")]
    context = multiprocessing.get_context("spawn")
    neighbors, ended = [context.Event() for _ in range(2)], context.Event()
    others = [context.Process(target=process_beside,
                              args=(f"cuda:{rank}" if options.device == "cuda" else "cpu",
                                    neighbors[rank], ended))
              for rank in range(2)]
    for other in others:
        other.start()
    truth = {"command": " ".join(sys.argv), "date": datetime.date.today().isoformat(),
             "torch": torch.__version__,
             "hardware": f"2 x {torch.cuda.get_device_name(0)}" if options.device == "cuda" else "CPU",
             "parts": {part: dict(zip(("layout", "fault", "rank"), PARTS[part])) for part in PARTS}}
    try:
        truth["profiled"] = session(options, "profiled", parts, neighbors)
        if options.gpufathom:
            out = pathlib.Path(options.out) / "recorded"
            out.mkdir(exist_ok=True)
            truth["recorded"] = record_parts(options, [part for part in RECORDED if part in parts],
                                             out, neighbors)
        os.environ["NCCL_P2P_DISABLE"] = "1"
        truth["no_p2p"] = session(options, "no_p2p",
                                  [part for part in WITHOUT_P2P if part in parts], neighbors)
    finally:
        ended.set()
        (pathlib.Path(options.out) / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    for other in others:
        other.join(10)


if __name__ == "__main__":
    main()
