#!/usr/bin/env python3
"""Rates of single kernels in twelve programs against Nsight Compute: unseen_rates.py GPUFATHOM
KERNEL_RATES OUT_DIR [--seconds 3] [--only NAMES] [--budget-seconds 500]

One process runs the programs one after the other; each is recorded for --seconds at 5 kHz with its
kernels. A second process runs one step of each beneath Nsight Compute. OUT_DIR/rates.json has, for
each program, what bench/gpu/rates_against_ncu.py says of the two; captures.tar the captures, as
many as 15 MB hold.
"""
import argparse
import csv
import datetime
import json
import lzma
import os
import pathlib
import queue
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
METRICS = ",".join((
    "gpu__time_duration.sum", "smsp__cycles_elapsed.sum", "smsp__cycles_elapsed.avg",
    "smsp__inst_executed.sum", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_elapsed", "dram__bytes_read.sum",
    "dram__bytes_write.sum"))


def programs():
    """Name: a function that makes the step."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    def trained(net, inputs, loss_of, half=True, optimizer=torch.optim.SGD, **more):
        net = net.cuda()
        optimizer = optimizer(net.parameters(), 1e-4, **more)

        def step():
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", torch.bfloat16, enabled=half):
                loss = loss_of(net, *inputs)
            loss.backward()
            optimizer.step()
        return step

    def random(*shape, kind=torch.float32):
        return torch.randn(*shape, device="cuda", dtype=kind)

    def conv3(inside, outside, stride=1):
        return nn.Sequential(nn.Conv3d(inside, outside, 3, stride, 1), nn.InstanceNorm3d(outside),
                             nn.LeakyReLU(0.01, True))

    class Volume(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = conv3(1, 24), conv3(24, 48, 2)
            self.third = nn.Sequential(conv3(48, 96, 2), conv3(96, 96))
            self.up = nn.ConvTranspose3d(96, 48, 2, 2)
            self.join = conv3(96, 48)
            self.out = nn.ConvTranspose3d(48, 4, 2, 2)

        def forward(self, x):
            second = self.second(self.first(x))
            return self.out(self.join(torch.cat([self.up(self.third(second)), second], 1)))

    def unet3d():
        wanted = torch.randint(0, 4, (2, 64, 96, 96), device="cuda")
        return trained(Volume(), [random(2, 1, 64, 96, 96)],
                       lambda net, x: F.cross_entropy(net(x), wanted))

    class Transducer(nn.Module):
        def __init__(self):
            super().__init__()
            self.hear, self.speak = nn.LSTM(80, 512, 2,
                                            batch_first=True), nn.GRU(128, 256, 1, batch_first=True)
            self.left, self.right = nn.Linear(512, 256), nn.Linear(256, 256)
            self.out = nn.Linear(256, 128)

        def forward(self, sound, words):
            heard, said = self.left(self.hear(sound)[0]), self.right(self.speak(words)[0])
            return self.out(torch.tanh(heard[:, :, None] + said[:, None]))

    def rnnt():
        wanted = torch.randint(0, 128, (16, 120, 24), device="cuda")
        return trained(Transducer(), [random(16, 120, 80), random(16, 24, 128)],
                       lambda net, sound, words: F.cross_entropy(
                           net(sound, words).flatten(0, 2), wanted.flatten()))

    def policy():
        net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(),
                            nn.Linear(256, 8))
        move = random(8, 64) * 0.01

        def losses(net, state):
            total = 0
            for _ in range(4):
                action = torch.softmax(net(state), 1)
                state = torch.tanh(state + action @ move).detach()
                total = total - (action * state[:, :8]).sum(1).mean()
            return total
        return trained(net, [random(256, 64)], losses, half=False)

    def gaussian_process():
        x, y = random(1024, 8), random(1024, 1)
        length = torch.ones(8, device="cuda", requires_grad=True)

        def step():
            scaled = x * length
            square = (scaled * scaled).sum(1)
            covariance = torch.exp(scaled @ scaled.t() - 0.5 * (square[:, None] + square))
            covariance = covariance + 0.1 * torch.eye(1024, device="cuda")
            factor = torch.linalg.cholesky(covariance)
            solved = torch.cholesky_solve(y, factor)
            loss = 0.5 * (y * solved).sum() + factor.diagonal().log().sum()
            loss.backward()
            with torch.no_grad():
                length.sub_(1e-4 * length.grad.clamp(-1, 1))
            length.grad = None
        return step

    def mixer():
        class Block(nn.Module):
            def __init__(self, places, width):
                super().__init__()
                self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
                self.across = nn.Sequential(nn.Linear(places, 384), nn.GELU(),
                                            nn.Linear(384, places))
                self.along = nn.Sequential(nn.Linear(width, 2048), nn.GELU(),
                                           nn.Linear(2048, width))

            def forward(self, x):
                x = x + self.across(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
                return x + self.along(self.norms[1](x))
        return trained(nn.Sequential(*[Block(256, 512) for _ in range(4)]), [random(32, 256, 512)],
                       lambda net, x: net(x).float().pow(2).mean())

    def graph_network():
        edges = torch.randint(0, 50_000, (2, 400_000), device="cuda")
        layers = nn.ModuleList([nn.Linear(128, 128) for _ in range(3)])

        def losses(net, x):
            for layer in net:
                x = F.relu(layer(torch.zeros_like(x).index_add_(0, edges[1], x[edges[0]])) * 0.1)
            return x.pow(2).mean()
        return trained(layers, [random(50_000, 128)], losses, half=False)

    def vision():
        layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True)
        return trained(nn.TransformerEncoder(layer, 3, enable_nested_tensor=False),
                       [random(32, 197, 768)], lambda net, x: net(x).float().pow(2).mean(),
                       optimizer=torch.optim.AdamW, fused=True)

    def upscale():
        net = nn.Sequential(nn.Conv2d(3, 64, 5, 1, 2), nn.PReLU(), nn.Conv2d(64, 64, 3, 1, 1),
                            nn.PReLU(), nn.Conv2d(64, 32, 3, 1, 1), nn.PReLU(),
                            nn.Conv2d(32, 48, 3, 1, 1), nn.PixelShuffle(4))
        big = random(4, 3, 768, 768)
        return trained(net.to(memory_format=torch.channels_last), [random(4, 3, 192, 192)],
                       lambda net, x: F.l1_loss(net(x), big))

    def waves():
        field, speed = random(2048, 2048), random(2048, 2048).abs() * 0.1
        before = field.clone()

        def step():
            nonlocal field, before
            for _ in range(4):
                around = sum(field.roll(by, way) for by in (1, -1) for way in (0, 1)) - 4 * field
                field, before = 2 * field - before + speed * around, field
            field = torch.fft.irfft2(torch.fft.rfft2(field) * 0.99)
        return step

    def retrieval():
        store, asked = random(500_000, 128,
                              kind=torch.float16), random(256, 128, kind=torch.float16)

        def step():
            best = (asked @ store.t()).topk(20, 1)
            near = store[best.indices.flatten()].view(256, 20, 128)
            order = (near * asked[:, None]).sum(2).argsort(1)
            return near.gather(1, order[..., None].expand(-1, -1, 128)).mean(1)
        return step

    def ranking():
        tables = nn.ModuleList([nn.EmbeddingBag(200_000, 64, mode="sum") for _ in range(8)])
        top = nn.Sequential(nn.Linear(8 * 64, 512), nn.ReLU(), nn.Linear(512, 1))
        net = nn.ModuleList([tables, top])
        chosen = torch.randint(0, 200_000, (8, 8192, 10), device="cuda")

        def losses(net, chosen):
            looked_up = [table(rows) for table, rows in zip(net[0], chosen)]
            return net[1](torch.cat(looked_up, 1)).float().sigmoid().mean()
        return trained(net, [chosen], losses, half=False)

    def sparse_attention():
        query, key, value = (random(4, 16, 4096, 64, kind=torch.bfloat16) for _ in range(3))
        place = random(1024, 1024, kind=torch.bfloat16) * 0.03

        def step():
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            flat = mixed.transpose(1, 2).reshape(4, 4096, 1024) @ place
            return F.rms_norm(flat, (1024,)).float().softmax(-1).sum()
        return step

    return {f.__name__: f for f in (unet3d, rnnt, policy, gaussian_process, mixer, graph_network,
                                    vision, upscale, waves, retrieval, ranking, sparse_attention)}


def run_programs(names, seconds):
    """Each for `seconds`; without, one step of each between marks, which a profiler sees."""
    import torch
    for name, make in programs().items():
        if names and name not in names:
            continue
        torch.manual_seed(0)
        step = make()
        for _ in range(12):
            step()
        torch.cuda.synchronize()
        if not seconds:
            torch.cuda.profiler.start()
            torch.cuda._sleep(1000)
            step()
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()
        else:
            print(name, flush=True)
            begin, steps = time.perf_counter(), 0
            while time.perf_counter() - begin < seconds:
                step()
                steps += 1
                if steps % 8 == 0:  # no more than a moment ahead of the GPU
                    torch.cuda.synchronize()
            torch.cuda.synchronize()
            took = time.perf_counter() - begin
            print(f"{name} {took / steps * 1e3:.4f}", flush=True)
        del step
        torch.cuda.empty_cache()


def recorded(options, folder):
    """Records each program; its step in ms and its capture, by name."""
    answers = {}
    run = [options.gpufathom, "run", "--", sys.executable, __file__, "--run",
           str(options.seconds + 3.5), "--only", options.only, options.gpufathom, "-", "-"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as program:
        told = queue.Queue()

        def read():
            for line in program.stdout:
                told.put(line.split())
            told.put(None)
        threading.Thread(target=read, daemon=True).start()
        while words := told.get():
            name = words[0]
            if len(words) > 1:
                answers[name]["step_ms"] = float(words[1])
                continue
            capture = f"{folder}/{name}.gpf"
            done = subprocess.run(
                [options.gpufathom, "record", "-q", "--kernels", "--window", "0", "--rate", "5000",
                 "--duration", str(options.seconds), "--pid", str(program.pid), "--summary",
                 f"{capture}.json", "-o", capture], capture_output=True, text=True)
            answers[name] = {"capture": capture, "code": done.returncode,
                             "said": done.stderr[-300:]}
            print("recorded", name, done.returncode, flush=True)
    return answers


def counted(options, folder):
    """Nsight Compute's rows of each program, as its own CSV file."""
    log = f"{folder}/ncu.csv"
    with open(log, "w") as out:
        subprocess.run(
            ["timeout", str(options.budget_seconds - (time.monotonic() - options.began)), "ncu",
             "--clock-control", "none", "--cache-control", "none", "--profile-from-start", "off",
             "--csv", "--page", "raw", "--metrics", METRICS, sys.executable, __file__, "--run", "0",
             "--only", options.only, options.gpufathom, "-", "-"],
            stdout=out, stderr=subprocess.STDOUT)
    with open(log) as text:
        rows = list(csv.reader(line for line in text if line.startswith('"')))
    if len(rows) < 3:
        return {}
    parts, name = [], rows[0].index("Kernel Name")
    for row in rows[2:]:
        if "spin" in row[name]:
            parts.append([])
        elif parts:
            parts[-1].append(row)
    names = [each for each in programs_named(options.only)]
    files = {}
    for program, part in zip(names, parts):
        files[program] = f"{folder}/{program}.csv"
        with open(files[program], "w", newline="") as out:
            csv.writer(out, quoting=csv.QUOTE_ALL).writerows([*rows[:2], *part])
    return files


NAMES = ("unet3d rnnt policy gaussian_process mixer graph_network vision upscale waves retrieval "
         "ranking sparse_attention").split()


def programs_named(only):
    chosen = [name for name in only.split(",") if name]
    return [name for name in NAMES if not chosen or name in chosen]


def compared(options, folder, name, capture, counts):
    rates = f"{folder}/{name}.rates.json"
    with open(rates, "w") as out:
        done = subprocess.run([options.kernel_rates, capture], stdout=out, stderr=subprocess.PIPE,
                              text=True, timeout=120)
    if done.returncode:
        return {"kernel_rates": done.stderr[-400:]}
    with open(rates) as text:
        solved = json.load(text)
    answer = {key: solved[key] for key in
              ("samples", "shift_ns", "correlation", "alignment", "explained", "solve_seconds")}
    answer["kernel_types"] = len(solved["kernels"])
    if counts:
        done = subprocess.run([sys.executable, HERE / "rates_against_ncu.py", rates, counts,
                               f"{folder}/{name}.against.json"], capture_output=True, text=True)
        if done.returncode == 0:
            with open(f"{folder}/{name}.against.json") as text:
                answer["against_ncu"] = json.load(text)
        else:
            answer["against_ncu_failed"] = done.stderr[-400:]
    return answer


TABLE = ("sm.active_any", "issue.active", "tensor.active", "sm.occupancy", "dram.read",
         "dram.write")


def print_table(path):
    """Median errors of kept results in %, and the number of values that the intervals cover."""
    values = covered = 0
    for name, program in json.loads(pathlib.Path(path).read_text())["programs"].items():
        against = program.get("against_ncu", {})
        found = [against.get("metrics", {}).get(metric) for metric in TABLE]
        if not any(found):
            print(f"| {name} | – |" + " – |" * len(TABLE) + " not aligned |")
            continue
        of_program = sum(metric["kernels"] for metric in found)
        covers = sum(metric["in_cycles"]["covered"] * metric["kernels"] for metric in found)
        values, covered = values + of_program, covered + covers
        cells = [f"{100 * metric['in_cycles']['median_error_of_users']:.1f}"
                 if metric["resolved"] else "–" for metric in found]
        print(f"| {name} | {against['pairs']} | {' | '.join(cells)} | {100 * covers / of_program:.0f} % |")
    print(f"the intervals cover {100 * covered / values:.1f} % of {values} values")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--table":
        print_table(sys.argv[2])
        return
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpufathom")
    parser.add_argument("kernel_rates")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget-seconds", type=float, default=500)
    parser.add_argument("--run", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run is not None:
        run_programs([name for name in options.only.split(",") if name], options.run)
        return
    options.began = time.monotonic()
    options.gpufathom = os.path.abspath(options.gpufathom)
    options.kernel_rates = os.path.abspath(options.kernel_rates)
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True).stdout.strip()
    result = {"what": "solved rates of kernels of twelve programs against Nsight Compute",
              "command": "bench/gpu/unseen_rates.py build/gpufathom build/bench/kernel_rates OUT",
              "date": datetime.date.today().isoformat(), "hardware": smi, "programs": {}}
    with tempfile.TemporaryDirectory() as folder:
        captures = recorded(options, folder)
        files = counted(options, folder)
        packed = f"{options.out}/captures.tar"
        with tarfile.open(packed, "w") as tar:
            for name, found in captures.items():
                row = {key: found.get(key) for key in ("step_ms", "code", "said")}
                if os.path.exists(found["capture"]):
                    row |= compared(options, folder, name, found["capture"], files.get(name))
                    small = f"{folder}/{name}.gpf.xz"
                    with open(found["capture"],
                              "rb") as raw, lzma.open(small, "wb", preset=1) as out:
                        out.write(raw.read())
                    if os.path.getsize(packed) + os.path.getsize(small) < 15_000_000:
                        tar.add(small, f"{name}.gpf.xz")
                        if name in files:
                            tar.add(files[name], f"{name}.ncu.csv")
                result["programs"][name] = row
                pathlib.Path(options.out,
                             "rates.json").write_text(json.dumps(result, indent=1) + "\n")
                print(name, json.dumps(row)[:300], flush=True)


if __name__ == "__main__":
    main()
