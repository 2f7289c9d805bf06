"""A training loop to measure tools on. Prints one JSON object: the median and mean step time after
the warm-up, and all times.

--model resnet50: ImageNet shapes, channels last, bfloat16 autocast. --model mnist: a small CNN on
28x28 images, batch 128, whose steps the host cannot feed fast enough: the hardest case for any tool
that slows the host.
"""
import argparse
import json
import os
import statistics
import time

import torch
import torch.nn as nn

p = argparse.ArgumentParser()
p.add_argument("--model", default="resnet50", choices=["resnet50", "mnist"])
p.add_argument("--batch", type=int, default=0)
p.add_argument("--steps", type=int, default=200)
p.add_argument("--warmup", type=int, default=20)
p.add_argument("--seconds", type=float, default=0, help="run this long instead of --steps")
p.add_argument("--profile", default="", help="record all steps with torch.profiler into this trace")
p.add_argument("--nvtx", action="store_true",
               help="mark each step with the NVTX range gpufathom.step")
p.add_argument("--sync", action="store_true",
               help="wait for the GPU after each step (else only every 10)")
p.add_argument("--ncu", action="store_true",
               help="only the last step between cudaProfilerStart and Stop")
a = p.parse_args()
torch.manual_seed(0)
device = "cuda"

if a.model == "resnet50":
    import torchvision
    batch = a.batch or 64
    net = torchvision.models.resnet50().to(device).to(memory_format=torch.channels_last)
    x = torch.randn(batch, 3, 224, 224, device=device).to(memory_format=torch.channels_last)
    y = torch.randint(0, 1000, (batch,), device=device)
else:
    batch = a.batch or 128
    net = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(),
                        nn.Linear(128, 10)).to(device)
    x = torch.randn(batch, 1, 28, 28, device=device)
    y = torch.randint(0, 10, (batch,), device=device)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)


def step():
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=a.model == "resnet50"):
        loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()


for _ in range(a.warmup):
    step()
torch.cuda.synchronize()
profiler = None
if a.profile:
    from torch.profiler import ProfilerActivity, profile
    profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    profiler.__enter__()
group = 1 if a.sync else 10
times = []
start = time.perf_counter()
start_ns = time.time_ns()
while (time.perf_counter() - start < a.seconds) if a.seconds else len(times) * group < a.steps:
    last = a.ncu and (len(times) + 1) * group >= a.steps
    if last:
        torch.cuda.profiler.start()
    t = time.perf_counter()
    for _ in range(group):
        if a.nvtx:
            torch.cuda.nvtx.range_push("gpufathom.step")
        step()
        if a.nvtx:
            torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    times.append((time.perf_counter() - t) / group * 1e3)
    if last:
        torch.cuda.profiler.stop()
end_ns = time.time_ns()
if profiler:
    profiler.__exit__(None, None, None)
    profiler.export_chrome_trace(a.profile)
print(json.dumps({
    "model": a.model, "batch": batch, "steps": len(times) * group, "median_ms": statistics.median(times), "mean_ms": statistics.fmean(times),
    "start_ns": start_ns, "end_ns": end_ns, "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "pid": os.getpid(),
    "times_ms": [round(t, 4) for t in times],
}))
