"""ResNet-50, BERT-base and DLRM in PyTorch, written out: nothing is downloaded. make(name, tiny,
device) gives a Workload: the module with its loss, the optimizer, and data of a batch.
"""
import dataclasses
import functools
from typing import Any, Callable

import torch
from torch import nn
from torch.nn import functional

from sizes import SIZES, TINY


def conv(inside, outside, kernel, stride=1):
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outside))


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        self.path = nn.Sequential(
            conv(inside, width, 1), nn.ReLU(inplace=True), conv(width, width, 3, stride),
            nn.ReLU(inplace=True), conv(width, 4 * width, 1))
        same = stride == 1 and inside == 4 * width
        self.skip = nn.Identity() if same else conv(inside, 4 * width, 1, stride)

    def forward(self, images):
        return functional.relu(self.path(images) + self.skip(images), inplace=True)


class ResNet50(nn.Module):
    def __init__(self, image, width, blocks, classes):
        super().__init__()
        stages, inside = [conv(3, width, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], width
        for stage, count in enumerate(blocks):
            for block in range(count):
                stride = 2 if stage > 0 and block == 0 else 1
                stages.append(Bottleneck(inside, width, stride))
                inside = 4 * width
            width *= 2
        self.body = nn.Sequential(*stages, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(inside, classes)

    def forward(self, images, labels):
        return functional.cross_entropy(self.head(self.body(images)), labels)


class EncoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, hidden):
        batch, tokens, width = hidden.shape
        projected = self.project(hidden).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value)
        attended = attended.transpose(1, 2).reshape(batch, tokens, width)
        hidden = self.first(hidden + self.out(attended))
        return self.second(hidden + self.down(functional.gelu(self.up(hidden))))


class Bert(nn.Module):
    """The masked-language model: every token is predicted, as many programs do it, and none is
    dropped."""

    def __init__(self, layers, width, heads, tokens, words):
        super().__init__()
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(EncoderLayer(width, heads) for _ in range(layers))
        self.transform, self.last = nn.Linear(width, width), nn.LayerNorm(width)
        self.head = nn.Linear(width, words)
        self.register_buffer("places", torch.arange(tokens), persistent=False)

    def forward(self, tokens, labels):
        hidden = self.norm(self.word(tokens) + self.place(self.places))
        for layer in self.layers:
            hidden = layer(hidden)
        scores = self.head(self.last(functional.gelu(self.transform(hidden))))
        return functional.cross_entropy(scores.flatten(0, 1), labels.flatten())


def perceptron(widths):
    layers = []
    for inside, outside in zip(widths, widths[1:]):
        layers += [nn.Linear(inside, outside), nn.ReLU()]
    return nn.Sequential(*layers)


class Dlrm(nn.Module):
    """The recommendation model. With dense gradients of its small tables a step touches all of
    them; with sparse ones, as MLPerf trains it, the rows that it looked up."""

    DENSE = 13

    def __init__(self, tables, rows, width, bottom, top, sparse=False):
        super().__init__()
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(rows, width, mode="sum", sparse=sparse) for _ in range(tables))
        self.dense = DlrmDense(tables, width, bottom, top)

    def forward(self, features, labels):
        dense, chosen = features
        looked_up = [table(chosen[:, i:i + 1]) for i, table in enumerate(self.tables)]
        return self.dense(dense, torch.stack(looked_up, 1), labels)


class DlrmDense(nn.Module):
    """What is left of the model without its tables, whose sparse gradients no compiler takes."""

    def __init__(self, tables, width, bottom, top):
        super().__init__()
        self.bottom = perceptron((Dlrm.DENSE, *bottom, width))
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(perceptron((pairs + width, *top)), nn.Linear(top[-1], 1))
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1),
                             persistent=False)

    def forward(self, features, looked_up, labels):
        bottom = self.bottom(features)
        vectors = torch.cat([bottom.unsqueeze(1), looked_up.to(bottom.dtype)], 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))
        crossed = products[:, self.pairs[0], self.pairs[1]]
        scores = self.top(torch.cat([bottom, crossed], 1)).squeeze(1)
        return functional.binary_cross_entropy_with_logits(scores.float(), labels)


@dataclasses.dataclass
class Workload:
    module: Any
    optimizer: Any
    data: Callable  # batch -> (input, labels)


def make(name, tiny, device):
    sizes = (TINY if tiny else SIZES)[name]
    if name == "resnet50":
        module = ResNet50(**sizes).to(device)
        optimizer = torch.optim.SGD(module.parameters(), lr=1e-3, momentum=0.9)
        side, classes = sizes["image"], sizes["classes"]

        def data(batch):
            return (torch.randn(batch, 3, side, side, device=device),
                    torch.randint(classes, (batch,), device=device))
    elif name == "bert":
        module = Bert(**sizes).to(device)
        optimizer = torch.optim.AdamW(module.parameters(), lr=1e-5)
        shape, words = sizes["tokens"], sizes["words"]

        def data(batch):
            tokens = torch.randint(words, (batch, shape), device=device)
            return tokens, tokens
    else:
        module = Dlrm(**sizes, sparse=name == "dlrm_sparse").to(device)
        optimizer = torch.optim.SGD(module.parameters(), lr=1e-3)
        tables, rows = sizes["tables"], sizes["rows"]

        def data(batch):
            features = (torch.randn(batch, Dlrm.DENSE, device=device),
                        torch.randint(rows, (batch, tables), device=device))
            return features, torch.rand(batch, device=device)
    return Workload(module, optimizer, data)


@functools.cache
def flops_per_item(name, tiny, batch=4):
    """Operations of matrix products and convolutions of one item, forward and backward, from
    shapes."""
    from torch.utils.flop_counter import FlopCounterMode

    with torch.device("meta"):  # sparse gradients do the same products, which "meta" cannot count
        workload = make("dlrm" if name == "dlrm_sparse" else name, tiny, "meta")
        inputs, labels = workload.data(batch)
        with FlopCounterMode(display=False) as counter:
            workload.module(inputs, labels).backward()
    return counter.get_total_flops() / batch
