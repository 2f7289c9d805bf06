#!/usr/bin/env python3
"""Loads for `gpufathom energy`, to be run under `gpufathom record --metrics energy`.

resnet: energy_breakdown.py resnet fp32|amp eager|compile BATCH SECONDS
        A ResNet-50 training loop; after the warm-up each step is marked with the NVTX range
        gpufathom.step.
items:  energy_breakdown.py items SECONDS OUT.jsonl [PATTERN]
        The kernels of energy_unseen.py whose names match, each for so long: name, start, end (ns
        since 1970) and calls.
"""
import json
import re
import sys
import time

import torch


def resnet(precision, mode, batch, seconds):
    import torchvision

    torch.manual_seed(0)
    amp = precision == "amp"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    net = torchvision.models.resnet50().cuda()
    x, y = torch.randn(batch, 3, 224, 224,
                       device="cuda"), torch.randint(0, 1000, (batch,), device="cuda")
    if amp:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)
    forward = torch.compile(net) if mode == "compile" else net

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=amp):
            loss = torch.nn.functional.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()

    for _ in range(6):
        step()
    torch.cuda.synchronize()
    start, times = time.perf_counter(), []
    while time.perf_counter() - start < seconds:
        t = time.perf_counter()
        torch.cuda.nvtx.range_push("gpufathom.step")
        step()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        times.append(time.perf_counter() - t)
    times.sort()
    print(json.dumps({"precision": precision, "mode": mode, "batch": batch, "steps": len(times),
                      "median_ms": 1e3 * times[len(times) // 2], "torch": torch.__version__}),
          flush=True)


def items(seconds, path, pattern):
    sys.path.insert(0, __file__.rsplit("/", 1)[0])
    import batches
    import energy_unseen

    with open(path, "w") as out:
        for name, build in energy_unseen.items():
            if not re.search(pattern, name):
                continue
            f = batches.warmed_up(build)
            batch = batches.calls_in(f, 0.03)
            graph = batches.graph_of(f, batch)
            graph.replay()
            torch.cuda.synchronize()
            start, calls, queue = time.time_ns(), 0, []
            while time.time_ns() - start < seconds * 1e9:
                graph.replay()
                calls += batch
                event = torch.cuda.Event()
                event.record()
                queue.append(event)
                if len(queue) > 3:
                    queue.pop(0).synchronize()
            torch.cuda.synchronize()
            out.write(json.dumps({"name": name, "start_ns": start, "end_ns": time.time_ns(),
                                  "calls": calls}) + "\n")
            out.flush()
            del f, graph
            torch.cuda.empty_cache()
            time.sleep(0.2)


if __name__ == "__main__":
    if len(sys.argv) >= 6 and sys.argv[1] == "resnet":
        resnet(sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
    elif len(sys.argv) >= 4 and sys.argv[1] == "items":
        items(float(sys.argv[2]), sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else ".")
    else:
        sys.exit(__doc__)
