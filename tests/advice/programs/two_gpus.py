"""Programs of two ranks: one healthy, two with a planted fault, and those two mended."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

from healthy import fused_adamw
from setting import Running, Setting, pair, program


def layers_of(setting: Setting, count=8):
    width = setting.pick(4096, 32)
    layers = [layer for _ in range(count) for layer in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)
    return model, width


def in_buckets(setting: Setting, model):
    devices = [setting.rank] if setting.cuda else None
    return DistributedDataParallel(model, device_ids=devices, gradient_as_bucket_view=True)


def train(setting: Setting, batch, reduced_at_end=False, extra=0):
    model, width = layers_of(setting)
    trained = model if reduced_at_end else in_buckets(setting, model)
    inputs = torch.randn(batch, width, device=setting.device, dtype=torch.bfloat16)
    square = torch.randn(width, width, device=setting.device, dtype=torch.bfloat16)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        if extra:
            with torch.profiler.record_function("augmentation"):
                for _ in range(extra):
                    square @ square
        trained(inputs).square().mean().backward()
        if reduced_at_end:
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
                parameter.grad /= setting.world
        optimiser.step()

    return Running(step, batch)


@program("ddp_overlapped", ranks=2)
def ddp_overlapped(setting):
    return train(setting, setting.pick(16384, 8))


@pair("exposed_communication", ranks=2)
def exposed_communication(setting, mended):
    """Gradients are reduced one by one after backward; mended, in buckets beside it."""
    return train(setting, setting.pick(4096, 8), reduced_at_end=not mended)


@pair("straggler", ranks=2)
def straggler(setting, mended):
    """Rank 1 has more to do in every step than rank 0; mended, both have the same."""
    burdened = setting.rank == 1 and not mended
    return train(setting, setting.pick(8192, 8), extra=40 if burdened else 0)
