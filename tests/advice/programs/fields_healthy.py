"""Programs of other fields with nothing to mend: inference, science, tables, sound."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from setting import Running, program
from fields_text import bfloat, encoder, features_of
from fields_vision import Denoiser, half


@program("prompt_of_llama", marks=False, active=2, measured=20)
def prompt_of_llama(setting):
    """A long prompt through two layers of Llama, by the operators that PyTorch has for it."""
    width, heads, length = setting.pick(4096, 32), setting.pick(32, 2), setting.pick(4096, 16)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, hidden):
            parts = self.qkv(self.norm1(hidden)).view(4, length, 3, heads, -1)
            parts = parts.permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(*parts, is_causal=True)
            hidden = hidden + self.out(mixed.transpose(1, 2).reshape(hidden.shape))
            return hidden + self.down(F.silu(self.up(self.norm2(hidden))))

    model = bfloat(setting, nn.Sequential(Layer(), Layer()))
    hidden = torch.randn(4, length, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return model(hidden)

    return Running(step, 4)


@program("waves_by_fft", marks=False, active=2, measured=20)
def waves_by_fft(setting):
    """A large spectral simulation: nothing but transforms and one multiplication."""
    side = setting.pick(512, 8)
    field = torch.randn(side, side, side, device=setting.device)
    shape = (side, side, side // 2 + 1)
    wave = torch.rand(shape, device=setting.device, dtype=torch.complex64)

    def step():
        return torch.fft.irfftn(torch.fft.rfftn(field).mul_(wave), field.shape)

    return Running(step, 1)


@program("graphed_denoiser", marks=False, active=1, measured=8, shapes=False)
def graphed_denoiser(setting):
    """Sixteen pictures at once through a denoiser, ten steps of a CUDA graph."""
    net = half(setting, Denoiser(4, setting.pick(256, 16)))
    side = setting.pick(128, 8)
    state = torch.randn(16, 4, side, side, device=setting.device, dtype=torch.bfloat16)
    state = state.contiguous(memory_format=torch.channels_last)
    moment = torch.randn(1, 64, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def advance():
        state.add_(net(state, moment), alpha=-0.01).clamp_(-3, 3)

    advance()
    run = advance
    if setting.cuda:
        side_stream = torch.cuda.Stream()
        with torch.cuda.stream(side_stream):
            advance()
        torch.cuda.current_stream().wait_stream(side_stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            advance()
        run = graph.replay

    def step():
        for _ in range(setting.pick(10, 2)):
            run()

    return Running(step, 16)


@program("merged_tables", active=2, shapes=False)
def merged_tables(setting):
    """One large table for all features, large batches, wide layers."""
    rows, width, batch = setting.pick(2_000_000, 100), 128, setting.pick(65536, 4)
    table = nn.EmbeddingBag(rows, width, mode="sum", device=setting.device, dtype=torch.bfloat16)
    wide = nn.Sequential(nn.Linear(32 * width, 2048), nn.ReLU(), nn.Linear(2048, 1))
    head = bfloat(setting, wide)
    index = torch.randint(0, rows, (batch * 32, 4), device=setting.device)

    @torch.no_grad()
    def step():
        return head(table(index).view(batch, -1)).sigmoid()

    return Running(step, batch)


@program("contrastive", active=2, shapes=False)
def contrastive(setting):
    """Two large batches of features against each other: products fill the GPU."""
    batch, width = setting.pick(16384, 8), setting.pick(4096, 16)
    towers = bfloat(setting, nn.ModuleList(nn.Linear(width, width) for _ in range(2))).train()
    optimiser = torch.optim.SGD(towers.parameters(), lr=1e-4, fused=setting.cuda)
    sides = [torch.randn(batch, width, device=setting.device, dtype=torch.bfloat16) for _ in towers]
    target = torch.arange(batch, device=setting.device)

    def step():
        optimiser.zero_grad(set_to_none=True)
        one, other = (tower(side) for tower, side in zip(towers, sides))
        F.cross_entropy(one @ other.T / math.sqrt(width), target).backward()
        optimiser.step()

    return Running(step, batch)


@program("requests_in_flight", marks=False, active=4)
def requests_in_flight(setting):
    """Requests of different sizes, in a few fixed ones; copies run beside the kernels."""
    length = setting.pick(512, 16)
    model = encoder(setting, 8, 1024, 30000, length)
    sizes = [length, length // 2, length // 4]
    hosts = [torch.randint(0, 30000, (setting.pick(65536, 64) // size, size)) for size in sizes]
    hosts = [host.pin_memory() if setting.cuda else host for host in hosts]
    answers = [torch.empty(len(host), pin_memory=setting.cuda) for host in hosts]
    turn = [0]

    @torch.no_grad()
    def step():
        place = turn[0] % 3
        turn[0] += 1
        tokens = hosts[place].to(setting.device, non_blocking=True)
        score = features_of(model, tokens)[:, 0, 0].float()
        answers[place].copy_(score, non_blocking=True)

    return Running(step, 128)


@program("spectra_in_batches", marks=False, active=2)
def spectra_in_batches(setting):
    """Sound in large batches: transforms and convolutions on the GPU, nothing fetched."""
    batch, samples = setting.pick(128, 2), setting.pick(160_000, 2000)
    net = nn.Sequential(
        nn.Conv1d(256, 1024, 5, padding=2), nn.GELU(), nn.Conv1d(1024, 1024, 5, 2, 2), nn.GELU(),
        nn.Conv1d(1024, 1024, 5, 2, 2),
    ).to(setting.device, torch.bfloat16)
    sound = torch.randn(batch, samples, device=setting.device)
    window = torch.hann_window(512, device=setting.device)

    @torch.no_grad()
    def step():
        power = torch.stft(sound, 512, 160, window=window, return_complex=True)[:, :256]
        return net(power.abs().to(torch.bfloat16)).mean((1, 2))

    return Running(step, batch)
