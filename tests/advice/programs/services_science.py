"""Simulations, samplers, search and signals, written in PyTorch."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES
from services_decoding import bfloat
from setting import Running, pair


class Node:
    """A place of the tree: how often it was seen, its worth, and what follows it."""

    def __init__(self, chance):
        self.chance, self.seen, self.worth, self.after = chance, 0, 0.0, []

    def best(self):
        root = math.sqrt(self.seen + 1)
        return max(self.after,
                   key=lambda n: n.worth / (n.seen + 1) + n.chance * root / (n.seen + 1))


@pair("leaf_by_leaf", **SERVED)
def leaf_by_leaf(setting, mended):
    """Tree search asks the network for one leaf at a time; mended, for sixteen leaves at once."""
    width, moves, count = setting.pick(128, 8), 32, setting.pick(64, 4)
    layers = [nn.Conv2d(4, width, 3, padding=1)]
    for _ in range(setting.pick(8, 1)):
        layers += [nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, moves + 1))
    net = bfloat(setting, net)
    at_once = min(16, count) if mended else 1
    boards = torch.randn(at_once, 4, 9, 9, device=setting.device, dtype=torch.bfloat16)

    def descend(root):
        path = [root]
        while path[-1].after:
            path.append(path[-1].best())
        for node in path:  # seen already, so that others of the batch go elsewhere
            node.seen += 1
        return path

    @torch.no_grad()
    def step():
        root = Node(1.0)
        for _ in range(count // at_once):
            paths = [descend(root) for _ in range(at_once)]
            answers = net(boards).float()
            chances = answers[:, :moves].softmax(-1).tolist()
            for path, some, worth in zip(paths, chances, answers[:, moves].tanh().tolist()):
                path[-1].after = path[-1].after or [Node(chance) for chance in some]
                for node in path:
                    node.worth += worth
        return root.seen

    return Running(step, count)


@pair("acceptance_on_host", **SERVED)
def acceptance_on_host(setting, mended):
    """A Metropolis sampler decides in Python whether to accept; mended, by torch.where."""
    rows, width = setting.pick(2_000_000, 50), setting.pick(64, 4)
    data = torch.randn(rows, width, device=setting.device)
    sign = torch.randint(0, 2, (rows,), device=setting.device) * 2.0 - 1
    state = [torch.zeros(width, device=setting.device)]

    def chance(weights):
        return -F.softplus(-sign * (data @ weights)).sum() - weights.square().sum() / 2

    @torch.no_grad()
    def step():
        now = chance(state[0])
        for _ in range(setting.pick(30, 2)):
            other = state[0] + 0.001 * torch.randn_like(state[0])
            then = chance(other)
            accepted = torch.rand((), device=setting.device).log() < then - now
            if mended:
                state[0] = torch.where(accepted, other, state[0])
                now = torch.where(accepted, then, now)
            elif accepted:
                state[0], now = other, then
        return state[0]

    return Running(step, 30)


@pair("neighbour_list_each_step", **SERVED | SHAPES | {"memory": True})
def neighbour_list_each_step(setting, mended):
    """Molecular dynamics finds all neighbours in each step; mended, in one of ten, with a skin."""
    count, side = setting.pick(8000, 50), setting.pick(20.0, 4.0)
    places = torch.rand(count, 3, device=setting.device) * side
    speeds = torch.randn(count, 3, device=setting.device) * 0.1
    reach = 1.3 if mended else 1.0

    def listed():
        apart = torch.cdist(places, places)
        return torch.nonzero((apart < reach) & (apart > 0)).T

    @torch.no_grad()
    def step():
        for number in range(10):
            if number == 0 or not mended:
                one, other = listed()
            way = places[one] - places[other]
            near = way.square().sum(-1, keepdim=True).clamp(min=0.1)
            pull = way * (near < 1) * (near**-3 - 1)
            force = torch.zeros_like(places).index_add_(0, one, pull).clamp_(-1, 1)
            speeds.add_(force, alpha=1e-3)
            places.add_(speeds, alpha=1e-3).remainder_(side)
        return places

    return Running(step, 10 * count)


@pair("spectra_of_prime_length", **SERVED | SHAPES)
def spectra_of_prime_length(setting, mended):
    """Transforms of 16381 places, a prime; mended, filled up with zeros to 16384."""
    rows, length = setting.pick(2048, 4), setting.pick(16381, 61)
    signals = torch.randn(rows, length, device=setting.device)
    size = 1 << (length - 1).bit_length() if mended else length
    low = torch.linspace(1, 0, size // 2 + 1, device=setting.device)

    @torch.no_grad()
    def step():
        return torch.fft.irfft(torch.fft.rfft(signals, n=size) * low, n=size)

    return Running(step, rows)


@pair("inverse_for_one_solve", **SERVED)
def inverse_for_one_solve(setting, mended):
    """A Kalman filter inverts a matrix to multiply it once; mended, Cholesky and a solve."""
    size, wide = setting.pick(3072, 8), setting.pick(512, 4)
    base = torch.randn(size, size, device=setting.device) / size**0.5
    spread = base @ base.T + torch.eye(size, device=setting.device)
    cross = torch.randn(size, wide, device=setting.device)

    @torch.no_grad()
    def step():
        if mended:
            return torch.cholesky_solve(cross, torch.linalg.cholesky_ex(spread)[0])
        return torch.linalg.inv(spread) @ cross

    return Running(step, 1)


@pair("diagonal_made_dense", **SERVED | SHAPES)
def diagonal_made_dense(setting, mended):
    """Degrees become whole matrices to scale a graph's matrix; mended, rows and columns."""
    count, width = setting.pick(6144, 8), setting.pick(512, 4)
    near = torch.rand(count, count, device=setting.device, dtype=torch.bfloat16)
    states = torch.randn(count, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        scale = near.sum(1).rsqrt()
        if mended:
            return (scale[:, None] * near * scale) @ states
        scale = torch.diag(scale)
        return scale @ near @ scale @ states

    return Running(step, count)


@pair("blur_in_two_dimensions", **SERVED)
def blur_in_two_dimensions(setting, mended):
    """torchvision blurs by a square kernel of 41 x 41; mended, along rows, then columns."""
    from torchvision.transforms.functional import gaussian_blur

    rows, side, size = setting.pick(8, 1), setting.pick(512, 64), setting.pick(41, 5)
    pictures = torch.rand(rows, 3, side, side, device=setting.device)
    line = torch.exp(-torch.linspace(-2.5, 2.5, size, device=setting.device).square() / 2)
    line = (line / line.sum()).view(1, 1, 1, -1).expand(3, 1, 1, -1)

    @torch.no_grad()
    def step():
        if not mended:
            return gaussian_blur(pictures, [size, size], [size / 5, size / 5])
        half = size // 2
        wide = F.pad(pictures, (half, half, half, half), mode="reflect")
        wide = F.conv2d(wide, line, groups=3)
        return F.conv2d(wide, line.transpose(2, 3), groups=3)

    return Running(step, rows)


@pair("reverb_by_convolution", **SERVED | SHAPES)
def reverb_by_convolution(setting, mended):
    """torchaudio's convolve with rooms of 3000 places; mended, fftconvolve."""
    from torchaudio.functional import convolve, fftconvolve

    rows = setting.pick(32, 2)
    waves = torch.randn(rows, setting.pick(24_000, 100), device=setting.device)
    rooms = torch.randn(rows, setting.pick(3000, 10), device=setting.device)

    @torch.no_grad()
    def step():
        return (fftconvolve if mended else convolve)(waves, rooms)

    return Running(step, rows)


@pair("triton_tiny_blocks", **SERVED)
def triton_tiny_blocks(setting, mended):
    """A Triton kernel takes 32 numbers in a block of 128 threads; mended, 2048 numbers."""
    if not setting.cuda:
        raise RuntimeError("a kernel of one's own needs a GPU")
    import services_triton

    count, block = 64 << 20, 2048 if mended else 32
    left, right = (torch.randn(count, device=setting.device) for _ in range(2))
    out = torch.empty_like(left)

    def step():
        for _ in range(4):
            services_triton.gate[(count // block,)](left, right, out, count, BLOCK=block,
                                                    num_warps=4)
        return out

    return Running(step, count)
