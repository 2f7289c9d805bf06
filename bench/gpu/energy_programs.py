#!/usr/bin/env python3
"""Eight programs whose energy a model should tell: energy_programs.py NAME SECONDS

decode, prefill, train_fp32, train_bf16, recommender, convolution, graph, sparse. Each runs its step
for so many seconds after a warm-up, every step marked with the NVTX range gpufathom.step, and
prints the steps, and the items and seconds of one. To be run under `gpufathom record --kernels
--metrics energy`.
"""
import json
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
WIDTH, HEADS, LAYERS = 2048, 16, 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, cache=None):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, -1))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def transformer(dtype):
    torch.manual_seed(0)
    return nn.Sequential(*[Block() for _ in range(LAYERS)]).to(DEV, dtype)


def decode():
    net = transformer(torch.bfloat16).eval()
    x = torch.randn(16, 1, WIDTH, device=DEV, dtype=torch.bfloat16)
    caches = [torch.randn(2, 16, HEADS, 1024, WIDTH // HEADS, device=DEV, dtype=torch.bfloat16)
              for _ in net]

    def step():
        with torch.no_grad():
            y = x
            for block, cache in zip(net, caches):
                y = block(y, cache)

    return step, 16


def prefill():
    net = transformer(torch.bfloat16).eval()
    x = torch.randn(4, 2048, WIDTH, device=DEV, dtype=torch.bfloat16)

    def step():
        with torch.no_grad():
            net(x)

    return step, 4 * 2048


def train(dtype):
    net = transformer(torch.float32)
    x = torch.randn(4, 512, WIDTH, device=DEV)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
            loss = net(x).square().mean()
        loss.backward()
        optimizer.step()

    return step, 4 * 512


def recommender():
    tables = nn.ModuleList([nn.EmbeddingBag(2_000_000, 64, mode="sum") for _ in range(12)]).to(DEV)
    top = nn.Sequential(nn.Linear(12 * 64 + 64, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(),
                        nn.Linear(512, 1)).to(DEV)
    bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, 64)).to(DEV)
    batch = 16384
    dense = torch.randn(batch, 13, device=DEV)
    ids = [torch.randint(0, 2_000_000, (batch, 20), device=DEV) for _ in tables]

    def step():
        with torch.no_grad():
            top(torch.cat([bottom(dense)] + [table(i) for table, i in zip(tables, ids)], 1))

    return step, batch


def convolution():
    import torchvision
    net = torchvision.models.resnet50().to(DEV, torch.bfloat16,
                                           memory_format=torch.channels_last).eval()
    x = torch.randn(256, 3, 224, 224, device=DEV,
                    dtype=torch.bfloat16).to(memory_format=torch.channels_last)

    def step():
        with torch.no_grad():
            net(x)

    return step, 256


def graph():
    nodes, edges, width = 1_000_000, 8_000_000, 128
    source, target = torch.randint(0, nodes, (2, edges), device=DEV)
    x = torch.randn(nodes, width, device=DEV)
    layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)]).to(DEV)

    def step():
        with torch.no_grad():
            y = x
            for layer in layers:
                y = F.relu(layer(torch.zeros_like(y).index_add_(0, target, y[source])))

    return step, nodes


def sparse():
    rows, width, per_row = 1 << 19, 64, 32
    columns = torch.randint(0, rows, (rows * per_row,), device=DEV)
    pointers = torch.arange(0, rows * per_row + 1, per_row, device=DEV)
    matrix = torch.sparse_csr_tensor(pointers, columns, torch.randn(rows * per_row, device=DEV),
                                     (rows, rows))
    x = torch.randn(rows, width, device=DEV)

    def step():
        torch.sparse.mm(matrix, x)

    return step, rows


PROGRAMS = {"decode": decode, "prefill": prefill, "train_fp32": lambda: train(torch.float32),
            "train_bf16": lambda: train(torch.bfloat16),
            "recommender": recommender, "convolution": convolution, "graph": graph,
            "sparse": sparse}


def main(name, seconds):
    step, items = PROGRAMS[name]()
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    begin, steps = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        torch.cuda.nvtx.range_push("gpufathom.step")
        step()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        steps += 1
    took = time.perf_counter() - begin
    print(json.dumps({"name": name, "steps": steps, "items": items, "seconds": took / steps,
                      "torch": torch.__version__}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in PROGRAMS:
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]))
