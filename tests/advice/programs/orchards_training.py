"""Training: weather, pictures, words, spectra, and what is kept beside it."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

from libraries_text import SHAPES, TRAINED
from services_training import UNMARKED
from setting import Running, pair
from studies_science import fully


@pair("losses_kept_with_graphs", **UNMARKED)
def losses_kept_with_graphs(setting, mended):
    """After each step a loss of a held-out batch goes to a list, with all that made it.

    So new memory is asked of the driver in each step; mended, it is worked out under no_grad.
    """
    width, rows = setting.pick(2048, 16), setting.pick(8192, 4)
    net = fully(width, width, width, width, width, width, width).to(setting.device, torch.bfloat16)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-4, fused=setting.cuda)
    how = {"device": setting.device, "dtype": torch.bfloat16}
    some, aims, held, held_aims = (torch.randn(rows, width, **how) for _ in range(4))
    losses = []

    def step():
        optimiser.zero_grad()
        F.mse_loss(net(some), aims).backward()
        optimiser.step()
        with torch.set_grad_enabled(not mended):
            losses.append(F.mse_loss(net(held), held_aims))

    return Running(step, rows, losses.clear)


@pair("scaled_losses_in_bfloat16", **UNMARKED)
def scaled_losses_in_bfloat16(setting, mended):
    """A GradScaler was left from FP16: in BF16 it divides all gradients and looks for infinities.

    The host waits for what it found; mended, no scaler.
    """
    width, rows = setting.pick(4096, 16), setting.pick(256, 4)
    net = fully(*[width] * setting.pick(9, 3)).to(setting.device)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler(setting.type, enabled=not mended)
    some, aims = (torch.randn(rows, width, device=setting.device) for _ in "ab")

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            loss = F.mse_loss(net(some).float(), aims)
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()

    return Running(step, rows)


@pair("spectra_with_gradients", **UNMARKED | SHAPES)
def spectra_with_gradients(setting, mended):
    """Spectra of wines have requires_grad since somebody drew a map of what the network looks at.

    So each step makes and adds up gradients of 65536 numbers each; mended, it was taken off.
    """
    rows, wide, width = setting.pick(4096, 4), setting.pick(65536, 32), setting.pick(1024, 8)
    net = fully(wide, width, width, 16).to(setting.device, torch.bfloat16)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-4, fused=setting.cuda)
    some = torch.randn(rows, wide, device=setting.device, dtype=torch.bfloat16)
    some.requires_grad_(not mended)
    aims = torch.randint(0, 16, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        F.cross_entropy(net(some).float(), aims).backward()
        optimiser.step()

    return Running(step, rows)


@pair("sparse_gradients_of_a_small_table", **UNMARKED)
def sparse_gradients_of_a_small_table(setting, mended):
    """A table of 2000 stops of buses has sparse gradients, of 524288 lookups in each step.

    They are sorted and added up for SparseAdam; mended, the gradient is a small dense table.
    """
    stops, wide, rows, each = setting.pick((2000, 256, 4096, 128), (9, 8, 4, 6))
    table = nn.Embedding(stops, wide, sparse=not mended).to(setting.device)
    net = fully(wide, setting.pick(512, 8), 1).to(setting.device)
    rule = torch.optim.Adam if mended else torch.optim.SparseAdam
    both = [rule(table.parameters(), lr=1e-3),
            torch.optim.Adam(net.parameters(), lr=1e-3, fused=setting.cuda)]
    passed = torch.randint(0, stops, (rows, each), device=setting.device)
    late = torch.rand(rows, device=setting.device)

    def step():
        for optimiser in both:
            optimiser.zero_grad()
        F.mse_loss(net(table(passed).mean(1))[:, 0], late).backward()
        for optimiser in both:
            optimiser.step()

    return Running(step, rows)


@pair("roots_in_each_step", **UNMARKED | {"measured": 10})
def roots_in_each_step(setting, mended):
    """An optimiser after Shampoo works out roots of its matrices in each step; mended, in 100."""
    width, rows, often = setting.pick(384, 8), setting.pick(16384, 4), 100 if mended else 1
    net = fully(width, width, width, width).to(setting.device)
    some, aims = (torch.randn(rows, width, device=setting.device) for _ in "ab")
    weights = [layer.weight for layer in net if isinstance(layer, nn.Linear)]
    sums = [torch.eye(width, device=setting.device) for _ in weights]
    roots, turn = [torch.eye(width, device=setting.device) for _ in weights], [0]

    def root(matrix):
        values, vectors = torch.linalg.eigh(matrix)
        return (vectors * values.clamp_min(1e-6).pow(-0.25)) @ vectors.T

    def step():
        net.zero_grad()
        F.mse_loss(net(some), aims).backward()
        with torch.no_grad():
            for place, weight in enumerate(weights):
                sums[place].mul_(0.95).addmm_(weight.grad, weight.grad.T)
                if turn[0] % often == 0:
                    roots[place] = root(sums[place])
                weight.sub_(1e-3 * (roots[place] @ weight.grad))
        turn[0] += 1

    return Running(step, rows)


class Pictures(Dataset):
    """Pictures as NumPy keeps them."""

    def __init__(self, side):
        self.kept = np.random.default_rng(0).random((32, 3, side, side), np.float32)

    def __len__(self):
        return 1_000_000

    def __getitem__(self, place):
        return self.kept[place % len(self.kept)]


def as_numpy(pictures):
    return np.stack(pictures)


def as_tensor(pictures):
    return torch.from_numpy(np.stack(pictures))


@pair("collated_as_numpy", **TRAINED | {"measured": 10})
def collated_as_numpy(setting, mended):
    """Workers hand their batches over as NumPy's arrays, which are pickled through a pipe.

    Mended, as tensors, which lie in shared memory.
    """
    side, rows, width = setting.pick(224, 8), setting.pick(64, 2), setting.pick(64, 8)
    loader = DataLoader(Pictures(side), rows, num_workers=setting.pick(4, 1), prefetch_factor=2,
                        collate_fn=as_tensor if mended else as_numpy)
    batches = [iter(loader)]
    net = nn.Sequential(nn.Conv2d(3, width, 7, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten(), nn.Linear(width, 20))
    net = net.to(setting.device, memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-3, fused=setting.cuda)
    aims = torch.randint(0, 20, (rows,), device=setting.device)

    def step():
        pictures = torch.as_tensor(next(batches[0])).to(setting.device)
        optimiser.zero_grad()
        with setting.autocast():
            found = net(pictures.contiguous(memory_format=torch.channels_last))
        F.cross_entropy(found.float(), aims).backward()
        optimiser.step()

    return Running(step, rows, batches.clear)


@pair("times_selected_by_label", **TRAINED | {"measured": 10})
def times_selected_by_label(setting, mended):
    """xarray looks for each sample's moment by its date, and for that of six hours later.

    Mended, places are counted from the first hour and taken from one array.
    """
    import pandas
    import xarray

    hours, high, wide = setting.pick(8760, 40), 32, setting.pick(64, 4)
    rows, width = setting.pick(16, 2), setting.pick(1024, 8)
    dates = pandas.date_range("2024-01-01", periods=hours, freq="h")
    plain = np.random.default_rng(0).standard_normal((hours, high, wide), np.float32)
    fields = xarray.DataArray(plain, dims=("time", "lat", "lon"), coords={"time": dates})
    net = fully(high * wide, width, high * wide).to(setting.device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=setting.cuda)
    draw, later = np.random.default_rng(1), pandas.Timedelta(hours=6)

    def batch():
        places = draw.integers(0, hours - 6, rows)
        if mended:
            return plain[places], plain[places + 6]
        times = dates[places]
        return tuple(np.stack([fields.sel(time=when + after, method="nearest").values
                               for when in times]) for after in (0 * later, later))

    def step():
        seen, aims = (torch.from_numpy(part).flatten(1).to(setting.device) for part in batch())
        optimiser.zero_grad()
        F.mse_loss(net(seen), aims).backward()
        optimiser.step()

    return Running(step, rows)
