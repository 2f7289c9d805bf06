"""Programs whose planted fault stops the host: repeated preparation, pauses, other threads."""
import gc
import io
import json
import os
import tempfile
import threading
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from healthy import fused_adamw, replayed
from models import Decoder, language_loss
from planted_detours import stack_of_layers
from planted_host import image_trainer, text_trainer
from setting import Running, pair


@pair("autotuning", active=3, measured=4)
def autotuning(setting, mended):
    """cuDNN searches anew for each size of picture; mended, all are padded to one size."""
    torch.backends.cudnn.benchmark = True
    channels, batch, largest = setting.pick(64, 4), setting.pick(32, 2), setting.pick(224, 64)
    layers = [nn.Conv2d(3, channels, 3, padding=1), nn.ReLU()]
    layers += [nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU()]
    layers += [nn.Conv2d(channels, 8, 3, padding=1)]
    net = nn.Sequential(*layers).to(setting.device)
    optimiser = fused_adamw(net, setting)
    images = torch.rand(batch, 3, largest, largest, device=setting.device)
    sides = iter(range(largest, 16, -2))

    def step():
        side = largest if mended else next(sides)
        optimiser.zero_grad(set_to_none=True)
        with setting.autocast():
            loss = net(images[:, :, :side, :side]).square().mean()
        loss.backward()
        optimiser.step()

    return Running(step, batch)


@pair("autotuning_in_inference", active=4, measured=4, shapes=False, marks=False)
def autotuning_in_inference(setting, mended):
    """The same in inference on crops; mended, cuDNN chooses by its rules."""
    channels = setting.pick(64, 4)
    layers = [nn.Conv2d(3, channels, 3, padding=1)]
    layers += [nn.Conv2d(channels, channels, 3, padding=1) for _ in range(5)]
    net = nn.Sequential(*layers).to(setting.device).half()
    images = torch.rand(8, 3, 256, 256, device=setting.device).half()
    sides = iter(range(255, 100, -1))

    @torch.no_grad()
    def step():
        torch.backends.cudnn.benchmark = not mended
        side = next(sides)
        net(images[:, :, :side, :side])

    return Running(step, 8)


@pair("recompiled_number", active=2, measured=4)
def recompiled_number(setting, mended):
    """A Python number that grows is a constant of the compiled function; mended, a tensor."""
    torch._dynamo.reset()
    torch._dynamo.config.recompile_limit = 1000
    torch._dynamo.config.accumulated_recompile_limit = 1000
    width = setting.pick(2048, 16)
    weight = torch.randn(width, width, device=setting.device, dtype=torch.bfloat16)
    hidden = torch.randn(setting.pick(4096, 8), width, device=setting.device).bfloat16()

    @torch.compile(dynamic=False)
    def forward(state, count):
        return torch.tanh(state @ weight) * count

    count = 0
    held = torch.zeros((), device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        nonlocal count
        count += 1
        forward(hidden, held.fill_(count) if mended else count)

    return Running(step, hidden.shape[0], torch._dynamo.reset)


@pair("graph_capture", active=3, measured=10)
def graph_capture(setting, mended):
    """A CUDA graph is captured in every step; mended, once."""
    model, width = stack_of_layers(setting, 2048, 24)
    hidden = torch.randn(setting.pick(512, 4), width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def work():
        model(hidden)

    replay = replayed(setting, work)

    def step():
        if mended or not setting.cuda:
            return replay()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        graph.replay()

    return Running(step, hidden.shape[0])


@pair("growing_buffer", measured=10, active=4)
def growing_buffer(setting, mended):
    """Results are kept in a tensor that grows, so each step allocates anew; mended, in place."""
    rows, width = setting.pick(4096, 4), setting.pick(4096, 4)
    weight = torch.randn(width, width, device=setting.device, dtype=torch.bfloat16)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    whole = torch.empty(rows * 40, width, device=setting.device, dtype=torch.bfloat16)
    kept, turn = hidden, 0

    @torch.no_grad()
    def step():
        nonlocal kept, turn
        turn += 1
        found = hidden @ weight
        if mended:
            whole[(turn % 40) * rows:][:rows] = found
        else:
            kept = torch.cat([kept, found]) if turn < 40 else hidden

    return Running(step, rows)


@pair("busy_thread", active=5)
def busy_thread(setting, mended):
    """A thread of the process computes in Python and holds the lock; mended, it is not there."""
    model, width = stack_of_layers(setting, 1024, 8)
    rows = setting.pick(2048, 8)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    ended = threading.Event()

    def compute():
        number = 0
        while not ended.is_set():
            for step in range(100_000):
                number = (number * 31 + step) % 1_000_003

    thread = threading.Thread(target=compute, daemon=True)
    if not mended:
        thread.start()

    @torch.no_grad()
    def step():
        return float(model(hidden).float().sum())

    def close():
        ended.set()
        if not mended:
            thread.join()

    return Running(step, rows, close)


@pair("garbage_collection", shapes=False)
def garbage_collection(setting, mended):
    """All of Python's objects are collected after each step; mended, they are frozen."""
    model, tokens, optimiser = text_trainer(setting, layers=2, batch=4)
    many = [{"number": number, "list": [number]} for number in range(setting.pick(400_000, 10))]

    def step():
        optimiser.zero_grad(set_to_none=True)
        language_loss(model, tokens).backward()
        optimiser.step()
        if not mended:
            gc.collect()

    return Running(step, tokens.shape[0], many.clear)


@pair("slow_log")
def slow_log(setting, mended):
    """A large state is written as JSON in every step; mended, it is not."""
    model, tokens, optimiser = text_trainer(setting, layers=2, batch=4)
    state = {str(number): [number] * 4 for number in range(setting.pick(60_000, 10))}

    def write_log():
        with open(os.devnull, "w") as out:
            json.dump(state, out)

    def step():
        optimiser.zero_grad(set_to_none=True)
        language_loss(model, tokens).backward()
        optimiser.step()
        if not mended:
            write_log()

    return Running(step, tokens.shape[0])


@pair("checkpoint_each_step", active=3)
def checkpoint_each_step(setting, mended):
    """The weights are saved in every step; mended, they are not."""
    model, width = stack_of_layers(setting, 2048, 6)
    rows = setting.pick(8192, 4)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        model(hidden).square().mean().backward()
        optimiser.step()
        if not mended:
            torch.save(model.state_dict(), io.BytesIO())

    return Running(step, rows)


@pair("slow_source", marks=False)
def slow_source(setting, mended):
    """The next batch is waited for in the step; mended, a thread has it ready."""
    model, width = stack_of_layers(setting, 2048, 6)
    rows = setting.pick(4096, 4)
    batch = torch.randn(rows, width).bfloat16()
    batch = batch.pin_memory() if setting.cuda else batch
    optimiser = fused_adamw(model, setting)

    def step():
        if not mended:
            time.sleep(0.015)
        optimiser.zero_grad(set_to_none=True)
        model(batch.to(setting.device, non_blocking=True)).square().mean().backward()
        optimiser.step()

    return Running(step, rows)


@pair("cpu_augmentation")
def cpu_augmentation(setting, mended):
    """Pictures are resized and normalised by operators on the processor; mended, on the GPU."""
    train = image_trainer(setting)
    batch, side = setting.pick(64, 2), setting.pick(128, 16)
    pictures = torch.rand(batch, 3, side * 2, side * 2)
    there = pictures.to(setting.device)
    labels = torch.randint(0, 8, (batch,), device=setting.device)

    def step():
        images = there if mended else pictures
        images = F.interpolate(images, size=(side, side), mode="bilinear")
        images = ((images - 0.45) / 0.22).clamp(-3, 3)
        train(images.to(setting.device), labels)

    return Running(step, batch)


@pair("sample_loop")
def sample_loop(setting, mended):
    """The network runs for one sample after the other; mended, for the batch."""
    model, width = stack_of_layers(setting, 1024, 4)
    rows = setting.pick(64, 4)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        if mended:
            return model(hidden)
        return torch.cat([model(hidden[row : row + 1]) for row in range(rows)])

    return Running(step, rows)


@pair("decode_without_graph", shapes=False, marks=False)
def decode_without_graph(setting, mended):
    """A token of a small model, kernel by kernel; mended, as one CUDA graph."""
    width, words = setting.pick(1024, 32), setting.pick(8192, 64)
    net = Decoder(width, 8, setting.pick(16, 2), setting.pick(4, 1), 128, words, setting.device)
    tokens = torch.zeros(setting.pick(4, 1), dtype=torch.long, device=setting.device)

    @torch.no_grad()
    def work():
        tokens.copy_(net(tokens))

    return Running(replayed(setting, work) if mended else work, tokens.shape[0])


@pair("clipping_loop")
def clipping_loop(setting, mended):
    """Gradients are clipped and averaged parameter by parameter; mended, many at once."""
    model, tokens, optimiser = text_trainer(setting, layers=8, batch=1)
    average = [parameter.detach().clone() for parameter in model.parameters()]

    def step():
        optimiser.zero_grad(set_to_none=True)
        language_loss(model, tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=mended)
        optimiser.step()
        with torch.no_grad():
            if mended:
                torch._foreach_lerp_(average, list(model.parameters()), 0.01)
            else:
                for mean, parameter in zip(average, model.parameters()):
                    mean.mul_(0.99).add_(parameter, alpha=0.01)

    return Running(step, tokens.shape[0])


@pair("matrix_loop", marks=False)
def matrix_loop(setting, mended):
    """Small matrices are inverted one by one; mended, as a batch."""
    count = setting.pick(128, 4)
    matrices = torch.randn(count, 64, 64, device=setting.device)
    matrices = matrices @ matrices.mT + torch.eye(64, device=setting.device)

    @torch.no_grad()
    def step():
        if mended:
            return torch.linalg.inv(matrices)
        return torch.stack([torch.linalg.inv(matrix) for matrix in matrices])

    return Running(step, count)


@pair("new_loader_each_step", active=3, measured=6, stacks=True, shapes=False)
def new_loader_each_step(setting, mended):
    """Worker processes are started for every pass of four batches; mended, they stay."""
    samples = torch.randn(setting.pick(1024, 16), 256)
    data = torch.utils.data.TensorDataset(samples)
    loader = torch.utils.data.DataLoader(data, batch_size=len(samples) // 4, num_workers=2,
                                         persistent_workers=mended)
    model, width = stack_of_layers(setting, 2048, 4)

    def step():
        for (batch,) in loader:
            wide = batch.to(setting.device).bfloat16().repeat(1, -(-width // 256))[:, :width]
            model(wide).square().mean().backward()

    def close():
        if mended and loader._iterator is not None:
            loader._iterator._shutdown_workers()

    return Running(step, len(samples), close)


@pair("files_in_step", shapes=False)
def files_in_step(setting, mended):
    """Batches are read from a file in the step; mended, they are in page-locked memory."""
    model, width = stack_of_layers(setting, 2048, 6)
    rows = setting.pick(8192, 8)
    batch = torch.randn(rows, width).bfloat16()
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "batch.pt")
    torch.save(batch, path)
    batch = batch.pin_memory() if setting.cuda else batch

    def step():
        inputs = batch if mended else torch.load(path)
        model(inputs.to(setting.device, non_blocking=mended)).square().mean().backward()

    def close():
        os.unlink(path)
        os.rmdir(folder)

    return Running(step, rows, close)
