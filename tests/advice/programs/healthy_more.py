"""More programs with nothing to mend, of other kinds: inference, graphs, one long kernel."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from healthy import fused_adamw, replayed
from models import ConvNet
from planted_host import Prefetched, image_trainer
from setting import Running, program


@program("conv_inference", marks=False)
def conv_inference(setting):
    net = ConvNet(setting.pick((64, 128, 256, 512), (8, 8)), depth=2).eval()
    net = net.to(setting.device, torch.bfloat16, memory_format=torch.channels_last)
    batch, side = setting.pick(256, 2), setting.pick(224, 32)
    images = torch.randn(batch, 3, side, side, device=setting.device, dtype=torch.bfloat16)
    images = images.contiguous(memory_format=torch.channels_last)
    torch.backends.cudnn.benchmark = True
    return Running(torch.no_grad()(lambda: net(images)), batch)


@program("graphed_training")
def graphed_training(setting):
    width, rows = setting.pick(2048, 16), setting.pick(8192, 8)
    layers = [part for _ in range(6) for part in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=setting.cuda,
                                  capturable=setting.cuda)

    def work():
        optimiser.zero_grad(set_to_none=False)
        model(hidden).square().mean().backward()
        optimiser.step()

    return Running(replayed(setting, work), rows)


@program("prefetched_images")
def prefetched_images(setting):
    batch, side = setting.pick(256, 2), setting.pick(128, 16)
    ahead = Prefetched(setting, [torch.rand(batch, 3, side, side).bfloat16() for _ in range(3)])
    labels = torch.randint(0, 8, (batch,), device=setting.device)
    train = image_trainer(setting)
    return Running(lambda: train(ahead.take(), labels), batch)


@program("long_products", shapes=False, marks=False)
def long_products(setting):
    width = setting.pick(8192, 16)
    left = torch.randn(width, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        state = left
        for _ in range(4):
            state = state @ left

    return Running(step, 1)


@program("large_lstm")
def large_lstm(setting):
    width, batch, length = setting.pick(2048, 8), setting.pick(256, 2), setting.pick(64, 4)
    model = nn.LSTM(width, width, num_layers=2).to(setting.device, torch.bfloat16)
    inputs = torch.randn(length, batch, width, device=setting.device, dtype=torch.bfloat16)
    return Running(torch.no_grad()(lambda: model(inputs)), batch)


@program("long_attention", marks=False)
def long_attention(setting):
    length = setting.pick(16384, 32)
    shape = (2, 16, length, 128)
    query, key, value = (
        torch.randn(shape, device=setting.device, dtype=torch.bfloat16, requires_grad=True)
        for _ in range(3)
    )

    def step():
        query.grad = key.grad = value.grad = None
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        mixed.backward(mixed)

    return Running(step, shape[0])


@program("conv3d")
def conv3d(setting):
    channels, side = setting.pick(128, 4), setting.pick(64, 8)
    layers = [nn.Conv3d(channels, channels, 3, padding=1) for _ in range(3)]
    net = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    net = net.to(memory_format=torch.channels_last_3d)
    shape = (setting.pick(4, 1), channels, side, side, side)
    volume = torch.randn(shape, device=setting.device, dtype=torch.bfloat16)
    volume = volume.contiguous(memory_format=torch.channels_last_3d)
    torch.backends.cudnn.benchmark = True
    return Running(torch.no_grad()(lambda: net(volume)), shape[0])


@program("sparse_table", shapes=False)
def sparse_table(setting):
    rows, width = setting.pick(4_000_000, 100), 128
    table = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    asked = torch.randint(0, rows, (setting.pick(65536, 4), 32), device=setting.device)

    @torch.no_grad()
    def step():
        F.embedding_bag(asked, table, mode="sum")

    return Running(step, asked.shape[0])


@program("micro_batches", active=3)
def micro_batches(setting):
    """Gradients of four micro-batches are summed before the optimiser steps."""
    width, rows = setting.pick(4096, 16), setting.pick(8192, 8)
    layers = [part for _ in range(4) for part in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    parts = torch.randn(4, rows, width, device=setting.device, dtype=torch.bfloat16)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        for part in parts.unbind():
            (model(part).square().mean() / 4).backward()
        optimiser.step()

    return Running(step, 4 * rows)
