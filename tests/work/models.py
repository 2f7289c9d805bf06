"""Small models whose work can be counted: every one gives `step()` and the FLOPs that
torch.utils.flop_counter sees in one step.

Shared by tests/work/flop_counter.py (no GPU) and tests/gpu/work.py. Sizes are chosen by `scale`: 1
for a CPU, 8 for a GPU.
"""
import math

import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn import functional as F


class WrittenOutAttention(nn.Module):
    """A transformer block whose attention consists of single operations."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        return scores.masked_fill(mask, float("-inf")).softmax(-1) @ v

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads,
                                             width // self.heads).permute(2, 0, 3, 1, 4)
        attended = self.attend(*parts).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(attended)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class FusedAttention(WrittenOutAttention):
    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


class Checkpointed(nn.Module):
    """Runs its block again in the backward pass, all of it: an early stop would leave a product in
    the profile that is not carried out."""

    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        with torch.utils.checkpoint.set_checkpoint_early_stop(False):
            return torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)


class Transformer(nn.Module):
    def __init__(self, block, vocabulary, width, layers):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.blocks = nn.Sequential(*(block() for _ in range(layers)))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.blocks(self.words(tokens)))


def convnet(scale):
    def unit(inputs, outputs, stride=1, groups=1):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, groups=groups, bias=False),
                             nn.BatchNorm2d(outputs), nn.ReLU())
    width = 16 * scale
    return nn.Sequential(unit(3, width, 2), nn.MaxPool2d(3, 2, 1), unit(width, 2 * width, 2),
                         unit(2 * width, 2 * width, groups=2 * width),
                         nn.ConvTranspose2d(2 * width, width, 2, 2), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(width, 10))


def mlp(sizes):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def attention_inputs(scale):
    return torch.randint(0, 512, (4 * scale, 32 * scale))


def build(name, scale):
    """(model, inputs) by name."""
    width, heads, layers = 64 * scale, 4, 2
    if name == "written_out_attention":
        return Transformer(lambda: WrittenOutAttention(width, heads), 512, width,
                           layers), attention_inputs(scale)
    if name == "fused_attention":
        return Transformer(lambda: FusedAttention(width, heads), 512, width,
                           layers), attention_inputs(scale)
    if name == "checkpointed":
        return Transformer(lambda: Checkpointed(FusedAttention(width, heads)), 512, width,
                           layers), attention_inputs(scale)
    if name == "convnet":
        return convnet(scale), torch.randn(8 * scale, 3, 64, 64)
    if name == "odd_sizes":
        return mlp([255 * scale + 1, 511 * scale - 1, 511 * scale - 1,
                    33]), torch.randn(64 * scale + 3, 255 * scale + 1)
    if name == "padded":  # multiples of 8, of no tile
        return mlp([264 * scale, 520 * scale, 520 * scale,
                    8 * scale]), torch.randn(72 * scale, 264 * scale)
    raise SystemExit(f"no model {name}")


NAMES = ["written_out_attention", "fused_attention", "checkpointed", "convnet", "odd_sizes",
         "padded"]


class Training:
    def __init__(self, name, scale=1, device="cpu", dtype=None):
        torch.manual_seed(0)
        model, inputs = build(name, scale)
        self.model, self.inputs = model.to(device), inputs.to(device)
        if dtype is not None:
            self.model = self.model.to(dtype)
            self.inputs = self.inputs.to(dtype) if self.inputs.is_floating_point() else self.inputs
        fused = device != "cpu"
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=fused)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.model(self.inputs).float().square().mean().backward()
        self.optimizer.step()
