#!/usr/bin/env python3
"""Real changes to real programs, told by `compare`: changes.py GPUFATHOM OUT [--budget-seconds S]
[--turns N] [--only NAME...]

Each change is a program before and after. Both run in turns, each time in a process of its own:
unprofiled, whose step times are the truth, beneath torch.profiler after that, and once more beneath
`gpufathom record --kernels`. OUT gets changes.json: for each change the truth and what `gpufathom
compare BEFORE... --after AFTER...` said of the step in either kind of capture, and the captures.
With --again nothing runs: the captures that lie in OUT are compared once more.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARM_UP, TIMED, PROFILED, RECORDED = 12, 60, 12, 20


def encoder(torch, width=512, layers=4, batch=32, length=128):
    layer = torch.nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, dropout=0.0)
    return torch.nn.TransformerEncoder(layer,
                                       layers).cuda(), torch.randn(batch, length, width,
                                                                   device="cuda")


def network(torch, batch=64, last=False):
    import torchvision

    model = torchvision.models.resnet18().cuda()
    images = torch.randn(batch, 3, 160, 160, device="cuda")
    return (model.to(memory_format=torch.channels_last),
            images.to(memory_format=torch.channels_last)) if last else (model, images)


def training(torch, model, inputs, dtype=None, run=None, **adam):
    """A step that trains: forward, loss, backward, optimizer."""
    optimizer = torch.optim.Adam(model.parameters(), 1e-4, **adam)
    run = model if run is None else run  # a compiled module has no truth value

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype or torch.float16, enabled=dtype is not None):
            loss = run(inputs).float().square().mean()
        loss.backward()
        optimizer.step()
        return loss
    return step


def precision(torch, after):
    return training(torch, *encoder(torch, 1024), torch.bfloat16 if after else None)


def tf32(torch, after):
    torch.backends.cuda.matmul.allow_tf32 = bool(after)
    return training(torch, *encoder(torch, 1024))


def compiled(torch, after):
    model, inputs = encoder(torch)
    return training(torch, model, inputs, torch.bfloat16, torch.compile(model) if after else None)


def fused(torch, after):
    model, inputs = encoder(torch, 256, 12, 8)
    return training(torch, model, inputs, torch.bfloat16,
                    **({"fused": True} if after else {"foreach": False}))


def channels_last(torch, after):
    return training(torch, *network(torch, 256, after), torch.float16)


def flash(torch, after):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    query = torch.randn(8, 16, 2048, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    def step():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION if after else SDPBackend.MATH):
            torch.nn.functional.scaled_dot_product_attention(query, query,
                                                             query).square().mean().backward()
    return step


def larger_batch(torch, after):
    return training(torch, *network(torch, 128 if after else 64), torch.float16)


def loader(torch, after):
    """Images are made on the host, a step at a time or all before."""
    import numpy

    model, images = network(torch, 32)
    chance = numpy.random.default_rng(0)
    make = lambda: torch.from_numpy(chance.standard_normal((32, 3, 160, 160), dtype=numpy.float32)).cuda()  # noqa: E731
    ready = [make() for _ in range(4)]
    trains, place = training(torch, model, images, torch.float16), iter(range(10**9))

    def step():
        images.copy_(ready[next(place) % 4] if after else make())
        trains()
    return step


def synchronised(torch, after):
    trains = training(torch, *encoder(torch, 256, 6, 8), torch.bfloat16)
    losses = []

    def step():
        loss = trains().detach()
        losses.append(loss if after else loss.item())
    return step


def graphed(torch, after):
    model, inputs = encoder(torch, 256, 6, 4, 64)
    model.eval()
    if not after:
        def step():
            with torch.no_grad():
                model(inputs)
        return step
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        for _ in range(3):
            model(inputs)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        model(inputs)
    return graph.replay


def recomputed(torch, after):
    from torch.utils.checkpoint import checkpoint

    model, inputs = encoder(torch, 1024)
    inputs.requires_grad_()

    def run(values):
        for layer in model.layers:
            values = checkpoint(layer, values, use_reentrant=False) if after else layer(values)
        return values
    return training(torch, model, inputs, torch.bfloat16, run)


def unchanged(torch, _):
    return training(torch, *encoder(torch, 768), torch.bfloat16)


CHANGES = {change.__name__: change for change in (precision, tf32, compiled, fused, channels_last,
                                                  flash, larger_batch, loader, synchronised,
                                                  graphed, recomputed, unchanged)}


def work(name, after, trace):
    """One process: prints the unprofiled milliseconds of its steps, and writes a trace; without a
    trace it marks steps for a recorder."""
    import torch

    sys.path.insert(0, str(ROOT / "python"))
    import gpufathom

    torch.manual_seed(0)
    step = CHANGES[name](torch, after)
    for _ in range(WARM_UP):
        step()
    torch.cuda.synchronize()
    if not trace:
        for _ in range(RECORDED + 4):
            with gpufathom.step():
                step()
        torch.cuda.synchronize()
        return
    times = []
    for _ in range(6):
        begin = time.perf_counter()
        for _ in range(TIMED // 6):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3 / (TIMED // 6))
    with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=2, active=PROFILED),
                                record_shapes=True) as profiler:
        for _ in range(3 + PROFILED):
            step()
            profiler.step()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(trace)
    print(json.dumps(times))


def run(command, seconds=150):
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds,
                          env={**os.environ, "PYTHONUNBUFFERED": "1"})
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {(done.stderr or done.stdout)[-400:]}")
    return done.stdout


def truth_of(before, after):
    """Ratio of the step, as (low, middle, high): 95 % by the spread of the turns' medians
    (Student's t)."""
    quantile = {2: 4.303, 3: 2.776, 4: 2.447}[len(before)]
    logs = [[math.log(statistics.median(turn)) for turn in side] for side in (before, after)]
    middle = statistics.mean(logs[1]) - statistics.mean(logs[0])
    spread = sum(statistics.variance(side) / len(side) for side in logs) ** 0.5
    return [round(math.exp(middle + sign * quantile * spread), 4) for sign in (-1, 0, 1)]


def said(gpufathom, before, after):
    done = subprocess.run([gpufathom, "compare", *before, "--after", *after, "--format", "json"],
                          capture_output=True, text=True)
    text = subprocess.run([gpufathom, "compare", *before, "--after", *after], capture_output=True,
                          text=True).stdout
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"exit": done.returncode, "error": done.stderr[-300:]}
    return {"exit": done.returncode, "text": text.splitlines()[:12],
            "answer": {key: answer.get(key) for key in ("changes", "likeness")}}


def quality_of(gpufathom, capture):
    done = subprocess.run([gpufathom, "analyze", capture, "--format", "json"], capture_output=True,
                          text=True)
    try:
        return {"exit": done.returncode,
                "rows": {row["code"]: row["detail"] for row in json.loads(done.stdout)["quality"]}}
    except json.JSONDecodeError:
        return {"exit": done.returncode, "error": done.stderr[-300:]}


SIDES, KINDS = ("before", "after"), {"trace": "json.gz", "recording": "gpf"}


def captures(out, name, side, kind, turns):
    return [str(out / f"{name}.{side}.{turn}.{KINDS[kind]}") for turn in range(turns)]


def measure(given, name):
    """Step times of each turn; the captures lie in OUT then."""
    times = {side: [] for side in SIDES}
    for turn in range(given.turns):
        for side in SIDES:
            trace, recording = (captures(given.out, name, side, kind, given.turns)[turn]
                                for kind in KINDS)
            worker = [sys.executable, __file__, "--work", name, side]
            times[side].append(json.loads(run([*worker, trace]).splitlines()[-1]))
            run([given.gpufathom, "record", "-q", "--kernels", "--window", "0", "-o", recording,
                 "--", *worker])
    return times


def main():
    options = argparse.ArgumentParser()
    options.add_argument("gpufathom")
    options.add_argument("out", type=pathlib.Path)
    options.add_argument("--budget-seconds", type=float, default=900)
    options.add_argument("--turns", type=int, default=2)
    options.add_argument("--again", action="store_true")
    options.add_argument("--only", nargs="*", default=list(CHANGES))
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    told = given.out / "changes.json"
    known = {row["change"]: row for row in json.loads(told.read_text())} if given.again else {}
    begin, rows = time.monotonic(), []
    for name in given.only:
        if time.monotonic() - begin > given.budget_seconds:
            rows.append({"change": name, "error": "no time was left"})
            continue
        row = {"change": name}
        try:
            row["step_ms"] = known[name]["step_ms"] if given.again else measure(given, name)
            row["truth"] = truth_of(*(row["step_ms"][side] for side in SIDES))
            for kind in KINDS:
                files = [captures(given.out, name, side, kind, given.turns) for side in SIDES]
                row[kind] = said(given.gpufathom, *files)
                row[kind]["quality"] = {pathlib.Path(file).name: quality_of(given.gpufathom, file)
                                        for side in files for file in side}
        except Exception as error:  # one change's failure is its result
            row["error"] = f"{type(error).__name__}: {error}"
        rows.append(row)
        print(name, row.get("truth"), row.get("error", ""),
              *([change["verdict"], round(change["ratio"], 3)] for kind in KINDS
                for change in (row.get(kind, {}).get("answer") or {}).get("changes") or []),
              flush=True)
        told.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        work(sys.argv[2], sys.argv[3] == "after", sys.argv[4] if len(sys.argv) > 4 else None)
    else:
        main()
