"""The small models that the programs train and run."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Self-attention; `eager` multiplies, masks and normalises one by one."""

    def __init__(self, width, heads, causal=True, eager=False):
        super().__init__()
        self.heads, self.causal, self.eager = heads, causal, eager
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, hidden):
        batch, length, width = hidden.shape
        qkv = self.qkv(hidden).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        if self.eager:
            mixed = self._one_by_one(query, key, value)
        else:
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def _one_by_one(self, query, key, value):
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
        if self.causal:
            length = query.shape[-2]
            later = torch.ones(length, length, dtype=torch.bool, device=query.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        return torch.matmul(torch.softmax(scores, dim=-1), value)


class Block(nn.Module):
    def __init__(self, width, heads, causal=True, eager=False):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal, eager)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, hidden):
        hidden = hidden + self.attention(self.norm1(hidden))
        return hidden + self.mlp(self.norm2(hidden))


class LanguageModel(nn.Module):
    """GPT where causal, BERT where not."""

    def __init__(self, width, layers, heads, words=32768, length=1024, causal=True, eager=False):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList(Block(width, heads, causal, eager) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        hidden = self.words(tokens) + self.places[: tokens.shape[1]]
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(self.norm(hidden))


def language_loss(model, tokens):
    logits = model(tokens)
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), tokens.view(-1))


class Residual(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Identity()
        if stride != 1 or inside != outside:
            self.shortcut = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, image):
        hidden = F.relu(self.norm1(self.conv1(image)), inplace=True)
        hidden = self.norm2(self.conv2(hidden))
        return F.relu(hidden + self.shortcut(image), inplace=True)


class ConvNet(nn.Module):
    """A residual network of four stages."""

    def __init__(self, widths=(64, 128, 256, 512), depth=1, classes=1000):
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 7, 2, 3, bias=False)
        self.norm = nn.BatchNorm2d(widths[0])
        self.pool = nn.MaxPool2d(3, 2, 1)
        blocks, inside = [], widths[0]
        for stage, outside in enumerate(widths):
            for index in range(depth):
                stride = 2 if stage and not index else 1
                blocks.append(Residual(inside, outside, stride))
                inside = outside
        self.blocks = nn.Sequential(*blocks)
        self.classify = nn.Linear(inside, classes)

    def forward(self, image):
        hidden = self.pool(F.relu(self.norm(self.stem(image)), inplace=True))
        return self.classify(self.blocks(hidden).mean((2, 3)))


class ConvVae(nn.Module):
    def __init__(self, width=64, latent=128):
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, 1), nn.SiLU(),
            nn.Conv2d(width, 2 * width, 4, 2, 1), nn.SiLU(),
            nn.Conv2d(2 * width, 4 * width, 4, 2, 1), nn.SiLU(),
        )
        self.spread = nn.Conv2d(4 * width, 2 * latent, 1)
        self.decode = nn.Sequential(
            nn.ConvTranspose2d(latent, 4 * width, 4, 2, 1), nn.SiLU(),
            nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1), nn.SiLU(),
            nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.SiLU(),
            nn.Conv2d(width, 8, 3, 1, 1),
        )

    def forward(self, image):
        mean, log_variance = self.spread(self.encode(image)).chunk(2, 1)
        sample = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        decoded = self.decode(sample)[:, :3]
        divergence = (mean.square() + log_variance.exp() - log_variance - 1).mean()
        return F.mse_loss(decoded, image) + 1e-3 * divergence


class Ranking(nn.Module):
    """A recommendation model in the manner of DLRM, all features in one embedding table."""

    def __init__(self, features=26, rows=200_000, width=64):
        super().__init__()
        self.features, self.width = features, width
        self.table = nn.Embedding(features * rows, width)
        first = torch.arange(features) * rows
        self.register_buffer("first", first)
        self.bottom = nn.Sequential(nn.Linear(16, 512), nn.ReLU(), nn.Linear(512, width))
        pairs = (features + 1) ** 2
        self.top = nn.Sequential(
            nn.Linear(width + pairs + 7, 1024), nn.ReLU(),
            nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 8),
        )

    def forward(self, dense, sparse):
        below = self.bottom(dense)
        rows = self.table(sparse + self.first)
        together = torch.cat([below.unsqueeze(1), rows], 1)
        crossed = torch.bmm(together, together.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([below, F.pad(crossed, (0, 7))], 1))


class DecodeBlock(nn.Module):
    """One layer of text generation with a cache of keys and values, a token for each sequence."""

    def __init__(self, width, heads, batch, length, device, dtype):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)
        shape = (batch, heads, length, width // heads)
        self.keys = torch.randn(shape, device=device, dtype=dtype)
        self.values = torch.randn(shape, device=device, dtype=dtype)

    def forward(self, hidden, place):
        batch, width = hidden.shape
        qkv = self.qkv(self.norm1(hidden)).view(batch, 3, self.heads, width // self.heads)
        query, key, value = qkv.unbind(1)
        self.keys[:, :, place] = key
        self.values[:, :, place] = value
        mixed = F.scaled_dot_product_attention(query.unsqueeze(2), self.keys, self.values)
        hidden = hidden + self.out(mixed.reshape(batch, width))
        return hidden + self.down(F.silu(self.up(self.norm2(hidden))))


class Decoder(nn.Module):
    def __init__(self, width, layers, heads, batch, length, words, device, dtype=torch.bfloat16):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(
            DecodeBlock(width, heads, batch, length, device, dtype) for _ in range(layers)
        )
        self.head = nn.Linear(width, words, bias=False)
        self.to(device, dtype)

    def forward(self, tokens, place=17):
        hidden = self.words(tokens)
        for block in self.blocks:
            hidden = block(hidden, place)
        return self.head(hidden).argmax(-1)
