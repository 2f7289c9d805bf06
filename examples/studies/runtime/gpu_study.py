#!/usr/bin/env python3
"""The runtime study on a GPU: LeNet-5, ResNet-50 and a BERT-base-sized encoder, inference: PyTorch
eager, compiled and as CUDA graphs, and JAX.

    gpu_study.py record OUT [--frameworks torch jax compile graphs jax-cpu] [--models lenet5 resnet50 bert]     on the machine with the GPU
    gpu_study.py check OUT --gpufathom build/gpufathom                                    anywhere

`record` writes one small capture for each framework, model and batch size: a PyTorch trace
(.json.gz) or a JAX profile folder. `check` analyses them, compares our GPU-kernel share with one
worked out here from the raw events in exact decimals, and says whether the kernel share rises and
the overhead for one item falls with the batch, as the method predicts. It ends with 1 when one does
not.
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time
from fractions import Fraction

BATCHES = {"lenet5": (1, 64, 1024), "resnet50": (1, 16, 128), "bert": (1, 8, 64)}
PAPER_BATCHES = {"lenet5": (1, 64, 512, 2048, 8192), "resnet50": (1, 8, 32, 128),
                 "bert": (1, 8, 64, 512, 2048)}
# what a processor does in seconds
CPU_BATCHES = {"lenet5": (1, 64, 512, 2048, 8192), "resnet50": (1, 8), "bert": (1, 4)}
TOKENS = {False: 128, True: 512}
STEPS, WARM_UP, ENOUGH_S = 5, 5, 2.0  # fewer where one step takes long


def torch_models(torch, tokens=128):
    nn = torch.nn

    class Bottleneck(nn.Module):
        def __init__(self, inside, width, stride):
            super().__init__()
            conv = lambda a, b, k, s=1: nn.Sequential(nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b))  # noqa: E731
            self.path = nn.Sequential(conv(inside, width, 1), nn.ReLU(),
                                      conv(width, width, 3, stride), nn.ReLU(),
                                      conv(width, 4 * width, 1))
            self.skip = conv(inside, 4 * width, 1,
                             stride) if stride > 1 or inside != 4 * width else nn.Identity()

        def forward(self, x):
            return torch.relu(self.path(x) + self.skip(x))

    def resnet50():
        blocks, inside = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                          nn.MaxPool2d(3, 2, 1)], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Bottleneck(inside, width, stride if i == 0 else 1))
                inside = 4 * width
        return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))

    def lenet5():
        return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.AvgPool2d(2),
                             nn.Conv2d(6, 16, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
                             nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                             nn.Linear(84, 10))

    class Encoder(nn.Module):
        """Attention written out: PyTorch's own encoder layer has a fused path for inference that
        eager programs rarely take."""
        def __init__(self, width=768, heads=12):
            super().__init__()
            self.heads, self.qkv, self.out = heads, nn.Linear(width,
                                                              3 * width), nn.Linear(width, width)
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            b, n, w = x.shape
            q, k, v = self.qkv(x).view(b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
            attended = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, w)
            x = self.first(x + self.out(attended))
            return self.second(x + self.down(torch.nn.functional.gelu(self.up(x))))

    return {"lenet5": (lenet5, (1, 28, 28)), "resnet50": (resnet50, (3, 224, 224)),
            "bert": (lambda: nn.Sequential(*(Encoder() for _ in range(12))), (tokens, 768))}


def captured(torch, model, data):
    """The model as one CUDA graph: what it launches is recorded once, then started as a whole."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # libraries set themselves up outside of the capture
        for _ in range(3):
            model(data)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(data)
    return lambda _: graph.replay()


def steps_for(step, wait):
    """Warms up; how many steps to record: fewer of long ones."""
    taken = 0.0
    for _ in range(WARM_UP):
        begin = time.perf_counter()
        step()
        wait()
        last = time.perf_counter() - begin
        taken += last
        if taken > ENOUGH_S:
            break
    return max(2, min(STEPS, int(ENOUGH_S / last)))


def record_torch(out, model_name, batches, way="torch", tokens=128):
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function
    wait = torch.cuda.synchronize
    make, shape = torch_models(torch, tokens)[model_name]
    made = make().cuda().eval()
    for batch in batches:
        model, data = made, torch.randn(batch, *shape, device="cuda")
        with torch.inference_mode():
            if way == "compile":
                model = torch.compile(model)
            elif way == "graphs":
                model = captured(torch, model, data)
            steps = steps_for(lambda: model(data), wait)
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
                for step in range(steps):
                    with record_function(f"ProfilerStep#{step}"):
                        model(data)
                        wait()
        path = out / f"{way}_{model_name}_b{batch}.json"
        p.export_chrome_trace(str(path))
        path.with_suffix(".json.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
        print("recorded", path.stem, flush=True)


def jax_models(jax, jnp, tokens=128):
    lax, key = jax.lax, jax.random.PRNGKey(0)

    def weight(*shape):
        return jax.random.normal(key, shape) * 0.02

    def conv(x, w, stride=1, padding="SAME"):
        return lax.conv_general_dilated(x, w, (stride, stride), padding,
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(x, start, op, k, s, padding="VALID"):
        return lax.reduce_window(x, start, op, (1, k, k, 1), (1, s, s, 1), padding)

    def lenet5_weights():
        return weight(5, 5, 1, 6), weight(5, 5, 6, 16), weight(400,
                                                               120), weight(120, 84), weight(84, 10)

    def lenet5(w, x):
        x = pool(jax.nn.relu(conv(x, w[0])), 0.0, lax.add, 2, 2) / 4
        x = pool(jax.nn.relu(conv(x, w[1], padding="VALID")), 0.0, lax.add, 2, 2) / 4
        x = x.reshape(x.shape[0], -1)
        return jax.nn.relu(jax.nn.relu(x @ w[2]) @ w[3]) @ w[4]

    # width, blocks, stride of the first
    stages = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))

    def resnet50_weights():
        blocks, inside = [], 64
        for width, count, _ in stages:
            for i in range(count):
                blocks.append([weight(1, 1, inside, width), weight(3, 3, width, width),
                               weight(1, 1, width, 4 * width)] + ([weight(1, 1, inside, 4 * width)]
                                                                  if i == 0 else []))
                inside = 4 * width
        return weight(7, 7, 3, 64), blocks, weight(2048, 1000)

    def resnet50(w, x):
        stem, blocks, head = w
        norm = lambda v: (v - v.mean((0, 1, 2))) * lax.rsqrt(v.var((0, 1, 2)) + 1e-5)  # noqa: E731
        x = pool(jax.nn.relu(norm(conv(x, stem, 2))), -jnp.inf, lax.max, 3, 2, "SAME")
        strides = [stride if i == 0 else 1 for _, count, stride in stages for i in range(count)]
        for s, (a, b, c, *skip) in zip(strides, blocks):
            y = norm(conv(jax.nn.relu(norm(conv(jax.nn.relu(norm(conv(x, a))), b, s))), c))
            x = jax.nn.relu(y + (norm(conv(x, skip[0], s)) if skip else x))
        return x.mean((1, 2)) @ head

    def bert_weights():
        return [(weight(768, 2304), weight(768, 768), weight(768, 3072), weight(3072, 768))
                for _ in range(12)]

    def bert(layers, x):
        norm = lambda v: (v - v.mean(-1, keepdims=True)) * lax.rsqrt(v.var(-1, keepdims=True) + 1e-5)  # noqa: E731
        for qkv, out, up, down in layers:
            b, n, w = x.shape
            q, k, v = jnp.moveaxis((x @ qkv).reshape(b, n, 3, 12, 64), 2, 0)
            scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8.0)
            x = norm(x + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(b, n, w) @ out)
            x = norm(x + jax.nn.gelu(x @ up) @ down)
        return x

    return {"lenet5": (lenet5, lenet5_weights, (28, 28, 1)),
            "resnet50": (resnet50, resnet50_weights, (224, 224, 3)),
            "bert": (bert, bert_weights, (tokens, 768))}


def record_jax(out, model_name, batches, way="jax", tokens=128):
    if way == "jax-cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    function, make_weights, shape = jax_models(jax, jnp, tokens)[model_name]
    weights, step = make_weights(), jax.jit(function)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    for batch in batches:
        data = jax.random.normal(jax.random.PRNGKey(1), (batch, *shape))
        steps = steps_for(lambda: step(weights, data).block_until_ready(), lambda: None)
        jax.profiler.start_trace(str(out / f"{way}_{model_name}_b{batch}"),
                                 profiler_options=options)
        for i in range(steps):
            with jax.profiler.StepTraceAnnotation("infer", step_num=i):
                step(weights, data).block_until_ready()
        jax.profiler.stop_trace()
        print("recorded", batch, flush=True)


def batches_of(args, framework, model):
    if framework == "jax-cpu":
        return CPU_BATCHES[model]
    return (PAPER_BATCHES if args.paper else BATCHES)[model]


def record(args):
    args.out.mkdir(parents=True, exist_ok=True)
    tokens = TOKENS[args.paper]
    if args.one:  # a process for each framework and model: nothing of one is resident in the next
        framework, model, batches = args.one.split(":")
        batches = [int(batch) for batch in batches.split(",")]
        return record_jax(args.out, model, batches, framework,
                          tokens) if framework.startswith("jax") else record_torch(args.out, model, batches, framework, tokens)
    failed, end = 0, time.monotonic() + args.budget_seconds
    for framework in args.frameworks:
        for model in args.models:
            batches = batches_of(args, framework, model)
            name = f"{framework}:{model}:{','.join(str(b) for b in batches)}"
            command = [sys.executable, __file__, "record", args.out, "--one",
                       name] + (["--paper"] if args.paper else [])
            try:
                done = subprocess.run(command, capture_output=True, text=True,
                                      timeout=max(end - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                print(name, "ended: the time was out", flush=True)
                continue
            told = "out of memory, the batches before it recorded" if "OutOfMemory" in done.stderr or "RESOURCE_EXHAUSTED" in done.stderr else "FAILED\n" + done.stderr[-1500:]
            print(name, "recorded" if done.returncode == 0 else told, flush=True)
            failed += told.startswith("FAILED") and done.returncode != 0
    sys.exit(1 if failed else 0)


def union(spans):
    total, end = Fraction(0), None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + (b - a), b
        elif b > end:
            total, end = total + (b - end), b
    return total


def kernel_busy_ns(capture):
    """Union of kernel spans worked out from the raw events of a trace.json: independent of
    everything in gpufathom."""
    files = [capture] if capture.is_file() else sorted(capture.rglob("*.trace.json.gz"))
    if not files:
        return None
    with gzip.open(files[0], "rt", encoding="utf-8", errors="replace") as f:
        events = json.load(f, parse_float=Fraction, parse_int=Fraction)["traceEvents"]
    gpu = {e["pid"] for e in events if e.get("name") == "process_name"
           and "/device:GPU" in e["args"]["name"]}
    streams = {(e["pid"], e["tid"]) for e in events if e.get("name") == "thread_name"
               and e["pid"] in gpu and e["args"]["name"].startswith("Stream #")}
    is_kernel = lambda e: e.get("cat") == "kernel" if not gpu else (e.get("pid"), e.get("tid")) in streams and "kernel_details" in e.get("args", {})  # noqa: E731
    return union([(e["ts"] * 1000, (e["ts"] + e["dur"]) * 1000) for e in events
                  if e.get("ph") == "X" and is_kernel(e)])


def queues_of(runtime):
    """Of each queue the share of time in which it is empty, the phases when it is and when it is not (figure 3.6), its depth over the window
    (figure 3.7); with the mean phases of an operation (figure 3.5)."""
    means = {phase["phase"]: phase["spread"]["mean"] for operation in runtime["operations"][:1] for phase in operation["phases"]}
    return [{"queue": queue["id"], **{name: queue[name] for name in ("items", "mean_depth", "empty")},
             **{name: {phase["phase"]: phase["share"] for phase in queue[name] if phase["share"]} for name in ("when_empty", "when_loaded")},
             "operation": means, "queue.at_ms": [round((part["start_ns"] - queue["curve"][0]["start_ns"]) / 1e6, 3) for part in queue["curve"]],
             "queue.depth": [round(part["mean"], 3) for part in queue["curve"]]} for queue in runtime["queues"]]


def check(args):
    rows, queues, wrong = [], [], 0
    for framework in args.frameworks:
        for model in args.models:
            before = None
            for batch in batches_of(args, framework, model):
                capture = args.out / (f"{framework}_{model}_b{batch}" if framework.startswith("jax")
                                      else f"{framework}_{model}_b{batch}.json.gz")
                if not capture.exists():
                    continue
                answer = subprocess.run([args.gpufathom, "analyze", capture, "--batch", str(batch), "--window", "all", "--format", "json"], check=True, capture_output=True)
                r = json.loads(answer.stdout)["runtime"]
                on_cpu = framework == "jax-cpu"
                ours, raw = r["phases"][1 if on_cpu
                                        else 0]["ns"], None if on_cpu else kernel_busy_ns(capture)
                share = r["kernels"]["cpu_kernel"] if on_cpu else r["phases"][0]["share"]
                row = {"framework": framework, "model": model, "batch": batch, "modes": " ".join(r["modes"]), "kernel_share": share, "phases": {p["phase"]: p["share"] for p in r["phases"]}, "overhead_per_item_ns": r["kernels"]["overhead_per_item_ns"],
                       "kernel_busy_ns": ours, "raw_kernel_busy_ns": None if raw is None else float(raw)}
                rows.append(row)
                queues += ({"framework": framework, "model": model, "batch": batch, **queue} for queue in queues_of(r))
                agrees = raw is None or abs(ours - raw) <= max(Fraction(len(r["operations"]) + 1), raw / 100000)
                grows = before is None or (row["kernel_share"] >= before["kernel_share"] and row["overhead_per_item_ns"] <= before["overhead_per_item_ns"])
                wrong += (not agrees) + (not grows)
                print(f"{framework:7} {model:8} b{batch:<5} kernels {row['kernel_share']:6.1%}  overhead {row['overhead_per_item_ns'] / 1000:9.2f} us an item  "
                      f"{'no raw events' if raw is None else 'raw events agree' if agrees else f'RAW EVENTS SAY {float(raw)} ns, we {ours}'}{'' if grows else '  AGAINST THE PREDICTION'}")
                before = row
    (args.out / "study.json").write_text(json.dumps({"rows": rows, "queues": queues}, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if wrong or not rows else 0)


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("verb", choices=("record", "check"))
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--gpufathom", default="build/gpufathom")
    p.add_argument("--frameworks", nargs="+", default=["torch", "jax"],
                   choices=["torch", "jax", "compile", "graphs", "jax-cpu"])
    p.add_argument("--models", nargs="+", default=list(BATCHES))
    p.add_argument("--paper", action="store_true", help="the sizes of the paper")
    p.add_argument("--budget-seconds", type=float, default=3600)
    p.add_argument("--one", help=argparse.SUPPRESS)
    args = p.parse_args()
    record(args) if args.verb == "record" else check(args)


if __name__ == "__main__":
    main()
