"""Programs in PyTorch: torch_models.py --what NAME --seconds S.

With --count, the kernels of a step of each by torch.profiler.
"""
import contextlib
import os
import random
import sys
import time

import clock  # finds the models of tests/advice
import torch
import torch.nn as nn
import torch.nn.functional as F
from models import ConvNet, Decoder, LanguageModel, Ranking, language_loss
from nets import Denoiser, Experts, PatchClassifier, Segmenter

DEVICE = "cpu" if "--tiny" in sys.argv else "cuda"
TINY = DEVICE == "cpu"


def pick(full, tiny):
    return tiny if TINY else full


def wait():
    if not TINY:
        torch.cuda.synchronize()


def adamw(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-4, fused=not TINY)


def gpt_training():
    words, length = pick(32768, 64), pick(1024, 16)
    net = LanguageModel(pick(1024, 32), pick(4, 1), pick(16, 2), words, length)
    net = net.to(DEVICE, torch.bfloat16)
    tokens = torch.randint(0, words, (pick(8, 2), length), device=DEVICE)
    optimiser = adamw(net)

    def step():
        optimiser.zero_grad(set_to_none=True)
        language_loss(net, tokens).backward()
        optimiser.step()

    return step


def decoder():
    batch, words = pick(16, 2), pick(32000, 64)
    net = Decoder(pick(2048, 32), pick(8, 1), pick(16, 2), batch, pick(1024, 32), words, DEVICE)
    tokens = torch.zeros(batch, dtype=torch.long, device=DEVICE)

    @torch.no_grad()
    def step():
        tokens.copy_(net(tokens))

    return step


def decode_graphs():
    from healthy import replayed
    from setting import Setting

    return replayed(Setting(DEVICE, TINY), decoder())


def decode_compiled():
    batch, words = pick(16, 2), pick(32000, 64)
    net = Decoder(pick(2048, 32), pick(4, 1), pick(16, 2), batch, pick(1024, 32), words, DEVICE)
    tokens = torch.zeros(batch, dtype=torch.long, device=DEVICE)
    forward = torch.compile(net, mode="reduce-overhead")

    @torch.no_grad()
    def step():
        torch.compiler.cudagraph_mark_step_begin()
        forward(tokens)

    for _ in range(4):
        step()
    return step


def diffusion():
    net = Denoiser(pick(128, 8)).to(DEVICE, torch.bfloat16)
    side = pick(64, 16)
    noisy = torch.randn(pick(32, 2), 4, side, side, device=DEVICE, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        noisy.mul_(0.99).add_(net(noisy), alpha=-0.01)

    return step


def dlrm():
    rows, batch = pick(100_000, 100), pick(16384, 8)
    model = Ranking(rows=rows).to(DEVICE)
    dense = torch.randn(batch, 16, device=DEVICE)
    sparse = torch.randint(0, rows, (batch, model.features), device=DEVICE)
    towers = [p for n, p in model.named_parameters() if not n.startswith("table")]
    model.table.weight.requires_grad_(False)
    optimiser = torch.optim.SGD(towers, lr=1e-4)

    def step():
        optimiser.zero_grad(set_to_none=True)
        model(dense, sparse).square().mean().backward()
        optimiser.step()

    return step


def moe():
    width = pick(1024, 16)
    net = nn.Sequential(*(Experts(width) for _ in range(4))).to(DEVICE, torch.bfloat16)
    hidden = torch.randn(pick(16384, 64), width, device=DEVICE, dtype=torch.bfloat16)
    optimiser = adamw(net)

    def step():
        optimiser.zero_grad(set_to_none=True)
        net(hidden).square().mean().backward()
        optimiser.step()

    return step


class Slow(torch.utils.data.IterableDataset):
    """Batches that take a worker about 20 ms each."""

    def __init__(self, batch, side):
        self.shape = (batch, 3, side, side)

    def __iter__(self):
        while True:
            begin = time.perf_counter()
            batch = torch.randint(0, 256, self.shape, dtype=torch.uint8)
            time.sleep(max(0.0, 0.02 - (time.perf_counter() - begin)))
            yield batch


def input_bound():
    loader = torch.utils.data.DataLoader(Slow(pick(32, 2), pick(128, 16)), batch_size=None,
                                         num_workers=2, pin_memory=not TINY)
    batches = iter(loader)
    net = ConvNet(pick((64, 128, 256, 512), (8, 8)))
    net = net.to(DEVICE, memory_format=torch.channels_last)
    optimiser = adamw(net)

    def step():
        images = next(batches).to(DEVICE, non_blocking=True)
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = net(images.to(memory_format=torch.channels_last).float()).square().mean()
        loss.backward()
        optimiser.step()

    return step


def vision_training():
    side = pick(224, 32)
    net = PatchClassifier(pick(768, 16), pick(6, 1), pick(12, 2), side).to(DEVICE)
    images = torch.randn(pick(96, 2), 3, side, side, device=DEVICE)
    labels = torch.randint(0, 1000, (pick(96, 2),), device=DEVICE)
    optimiser = adamw(net)

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = F.cross_entropy(net(images), labels)
        loss.backward()
        optimiser.step()

    return step


def segmentation():
    side, batch = pick(256, 16), pick(16, 2)
    net = Segmenter(pick(64, 8)).to(DEVICE)
    images = torch.randn(batch, 3, side, side, device=DEVICE)
    labels = torch.randint(0, 21, (batch, side, side), device=DEVICE)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, dtype=torch.bfloat16 if TINY else torch.float16):
            loss = F.cross_entropy(net(images).float(), labels)
        loss.backward()
        optimiser.step()

    return step


def speech_encoder():
    """Sound to features, as a recogniser's first half does: convolutions in time, attention."""
    width, length = pick(1024, 16), pick(1500, 32)
    type_ = torch.float32 if TINY else torch.float16
    ears = nn.Sequential(nn.Conv1d(80, width, 3, 1, 1), nn.GELU(),
                         nn.Conv1d(width, width, 3, 2, 1), nn.GELU())
    layer = nn.TransformerEncoderLayer(width, pick(16, 2), 4 * width, 0.0, "gelu",
                                       batch_first=True, norm_first=True)
    thought = nn.TransformerEncoder(layer, pick(8, 1), enable_nested_tensor=False)
    ears, thought = ears.to(DEVICE, type_), thought.to(DEVICE, type_)
    sound = torch.randn(pick(8, 2), 80, 2 * length, device=DEVICE, dtype=type_)

    @torch.no_grad()
    def step():
        thought(ears(sound).transpose(1, 2))

    return step


def multi_stream():
    streams = [None] * 3 if TINY else [torch.cuda.Stream() for _ in range(3)]
    width = pick(768, 16)
    matrices = [torch.randn(width, width, device=DEVICE, dtype=torch.bfloat16) for _ in range(4)]

    def step():
        for matrix, stream in zip(matrices, streams):
            with torch.cuda.stream(stream) if stream else contextlib.nullcontext():
                for _ in range(8):
                    torch.mm(matrix, matrices[3])

    return step


def server():
    """Requests that come at irregular times: 4 to 20 ms of nothing before each."""
    work = decoder()
    pause = random.Random(0)

    def step():
        time.sleep(pause.uniform(0.004, 0.020))
        work()
        wait()

    return step


def own_profiler():
    """Training whose author has left torch.profiler in it: 2 s of it, in the middle."""
    from torch.profiler import ProfilerActivity, profile

    inner = gpt_training()
    born = time.monotonic()
    held = []

    def step():
        age = time.monotonic() - born
        if not held and age > 1.0:
            held.append(profile(activities=[ProfilerActivity.CPU] + (
                [] if TINY else [ProfilerActivity.CUDA])))
            held[0].__enter__()
        elif len(held) == 1 and age > 1.5:
            wait()
            held[0].__exit__(None, None, None)
            held.append(None)
        inner()

    return step


PROGRAMS = {
    "gpt_training": gpt_training, "decode_eager": decoder, "decode_graphs": decode_graphs,
    "decode_compiled": decode_compiled, "diffusion": diffusion, "dlrm": dlrm, "moe": moe,
    "input_bound": input_bound, "multi_stream": multi_stream, "server": server,
    "own_profiler": own_profiler, "vision_training": vision_training,
    "segmentation": segmentation, "speech_encoder": speech_encoder,
}
# Like others, or slow to start.
UNCOUNTED = ("own_profiler", "server", "input_bound", "decode_compiled")


def count_all():
    """Kernels a step of each program as torch.profiler counts them, in a process of their own."""
    from torch.profiler import ProfilerActivity, profile

    counts = {}
    for name, build in PROGRAMS.items():
        if name in UNCOUNTED:
            continue
        step = build()
        for _ in range(5):
            step()
        wait()
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            for _ in range(2):
                step()
            wait()
        kernels = [
            event for event in profiler.events()
            if event.device_type == torch.autograd.DeviceType.CUDA
            and not event.name.startswith(("Memcpy", "Memset", "ProfilerStep", "gpu_"))
        ]
        counts[name] = len(kernels) / 2
    clock.say({"program": "counts", "kernels_per_step": counts, "pid": os.getpid()})


def main():
    if "--count" in sys.argv:
        return count_all()
    options = clock.arguments(list(PROGRAMS))
    torch.manual_seed(0)
    step = PROGRAMS[options.what]()
    for _ in range(8):
        step()
    wait()
    if options.ncu:
        torch.cuda.profiler.start()
        step()
        wait()
        return torch.cuda.profiler.stop()
    one_by_one = {"steps_per_wait": 1} if options.what in ("server", "input_bound") else {}
    clock.say(clock.loop(options.what, step, wait, options.seconds, torch=torch.__version__,
                         **one_by_one))


if __name__ == "__main__":
    main()
