"""Do kernels of CUDA graphs find the operators that captured them? Against the same program without
graphs.

A perceptron and a transformer layer run forward, a perceptron trains a step, each captured into a
graph. Four profiles of each: without graphs, of the capture with its replays, of the replays alone,
and of two captures with different batches. What `gpufathom work` says of the replays must be what
the run without graphs has: the same operators, shapes and calls, step for step.
Usage: graph_operators.py GPUFATHOM OUT.json [KEEP-TRACES-FOLDER]
"""
import collections
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

REPLAYS = 5


def perceptron(batch):
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256), nn.LayerNorm(256),
                          nn.GELU()).cuda()
    inputs = torch.randn(batch, 256, device="cuda")
    return lambda: model(inputs)


def transformer(batch):
    model = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True,
                                       dropout=0.0).cuda().half().eval()
    inputs = torch.randn(batch, 64, 256, device="cuda", dtype=torch.half)

    def run():
        with torch.no_grad():
            return model(inputs)
    return run


def training(batch):
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)
    inputs, targets = torch.randn(batch, 256,
                                  device="cuda"), torch.randint(0, 10, (batch,), device="cuda")

    def run():
        optimizer.zero_grad(set_to_none=False)
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
    return run


def warm(run):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


def captured(run):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph


def profiled(path, what):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 with_stack=True) as profiler:
        kept = what()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(path)
    return kept


def replay(graph):
    for _ in range(REPLAYS):
        graph.replay()


def capture_and_replay(run):
    graph = captured(run)
    replay(graph)
    return graph


def work(gpufathom, trace, *more):
    done = subprocess.run([gpufathom, "work", trace, "--window", "all", "--format", "json", *more],
                          capture_output=True, text=True, timeout=120)
    try:
        return json.loads(done.stdout), done.stderr.strip()
    except json.JSONDecodeError:
        return None, done.stderr.strip()


def rows(answer):
    """Kernels and calls by operator and shapes."""
    found = collections.Counter()
    for row in (answer or {}).get("operators", []):
        found[f'{row["name"]} {row["shapes"]} {row["phase"]}'] += row["kernels"]
    return dict(sorted(found.items()))


def judge(gpufathom, folder, name, make):
    run, large = make(32), make(64)
    path = {kind: os.path.join(folder, f"{name}_{kind}.json")
            for kind in ("eager", "capture", "replay", "two")}
    warm(run)
    warm(large)
    profiled(path["eager"], lambda: [run() for _ in range(REPLAYS)])
    graph = profiled(path["capture"], lambda: capture_and_replay(run))
    profiled(path["replay"], lambda: replay(graph))
    profiled(path["two"], lambda: (capture_and_replay(run), capture_and_replay(large)))
    expected, _ = work(gpufathom, path["eager"])
    result = {"without_graphs": rows(expected)}
    ways = {"own_capture": (path["capture"],),
            "by_capture": (path["replay"], "--graphs", path["capture"]),
            "by_run": (path["replay"], "--graphs", path["eager"]), "two_batches": (path["two"],)}
    for way, words in ways.items():
        answer, said = work(gpufathom, *words)
        got = rows(answer)
        differ = {key: [result["without_graphs"].get(key, 0), got.get(key, 0)]
                  for key in set(got) | set(result["without_graphs"])
                  if got.get(key, 0) != result["without_graphs"].get(key, 0)}
        result[way] = {"kernels": sum(got.values()),
                       "without_operator": sum(n for key, n in got.items() if key.startswith("(")),
                       "differ": differ, "said": said[:300]}
    return result


def main():
    gpufathom, out = sys.argv[1:3]
    keep = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder:
        result = {"command": "tests/gpu/graph_operators.py",
                  "date": datetime.date.today().isoformat(), "gpu": torch.cuda.get_device_name(0), "torch": torch.__version__, "replays": REPLAYS,
                  "programs": {make.__name__: judge(gpufathom, folder, make.__name__, make)
                               for make in (perceptron, transformer, training)}}
        with open(out, "w") as file:
            json.dump(result, file, indent=1)
        if keep:
            for kind in ("capture", "replay"):
                shutil.copy(os.path.join(folder, f"perceptron_{kind}.json"), keep)
    for name, program in result["programs"].items():
        print(name, {way: (found["kernels"], found["without_operator"], len(found["differ"]))
                     for way, found in program.items() if way != "without_graphs"})


if __name__ == "__main__":
    main()
