"""Services of pictures and retrieval: detection, diffusion, embeddings, streams of frames."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES
from services_decoding import bfloat, graphed
from setting import Running, pair


class Mixer(nn.Module):
    """A block of a diffusion transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, states):
        rows, length, width = states.shape
        parts = self.qkv(self.norms[0](states)).view(rows, length, 3, self.heads, -1)
        mixed = F.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4))
        states = states + self.out(mixed.transpose(1, 2).reshape(rows, length, width))
        return states + self.down(F.gelu(self.up(self.norms[1](states)), approximate="tanh"))


@pair("timestep_searched", **SERVED)
def timestep_searched(setting, mended):
    """A sampler searches its times for the place of each one, on the GPU; mended, it counts."""
    width, heads, count = setting.pick(512, 32), setting.pick(8, 2), setting.pick(20, 2)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(6, 1)))))
    rows, length = setting.pick(4, 1), setting.pick(256, 8)
    latents = torch.randn(rows, length, width, device=setting.device, dtype=torch.bfloat16)
    inside = latents.clone()
    run = graphed(setting, lambda: net(inside))
    times = torch.linspace(999, 0, count, device=setting.device)
    spread = torch.linspace(14, 0, count + 1, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        states = latents
        for number, time in enumerate(times):
            place = number if mended else (times == time).nonzero()[0].item()
            now, then = spread[place], spread[place + 1]
            inside.copy_(states / (now**2 + 1).sqrt())
            states = states + (then - now) * run()
        return states

    return Running(step, rows)


@pair("class_by_class", **SERVED | SHAPES)
def class_by_class(setting, mended):
    """A detector suppresses boxes class by class; mended, torchvision's batched_nms for all."""
    from torchvision.models import resnet50
    from torchvision.ops import batched_nms, nms

    net = bfloat(setting, resnet50(weights=None)).to(memory_format=torch.channels_last)
    rows, boxes, kinds = setting.pick(4, 1), setting.pick(2000, 20), setting.pick(40, 3)
    side = setting.pick(512, 64)
    pictures = torch.randn(rows, 3, side, side, device=setting.device, dtype=torch.bfloat16)
    pictures = pictures.contiguous(memory_format=torch.channels_last)
    corner = torch.rand(rows, boxes, 2, device=setting.device) * side
    found = torch.cat((corner, corner + 40), -1)
    scores = torch.rand(rows, boxes, device=setting.device)
    labels = torch.randint(0, kinds, (rows, boxes), device=setting.device)
    group = labels + kinds * torch.arange(rows, device=setting.device)[:, None]

    @torch.no_grad()
    def step():
        net(pictures)
        if mended:
            return batched_nms(found.flatten(0, 1), scores.flatten(), group.flatten(), 0.5)
        kept = []
        for some, worth, label in zip(found, scores, labels):
            for kind in range(kinds):
                mask = label == kind
                kept.append(nms(some[mask], worth[mask], 0.5))
        return kept

    return Running(step, rows)


@pair("corpus_normalised_again", **SERVED)
def corpus_normalised_again(setting, mended):
    """sentence-transformers' cos_sim normalises the corpus for each query; mended, dot_score."""
    from sentence_transformers import util

    count, width = setting.pick(500_000, 100), setting.pick(768, 16)
    corpus = torch.randn(count, width, device=setting.device, dtype=torch.bfloat16)
    queries = torch.randn(setting.pick(16, 2), width, device=setting.device, dtype=torch.bfloat16)
    if mended:
        corpus, queries = F.normalize(corpus), F.normalize(queries)

    @torch.no_grad()
    def step():
        scores = util.dot_score(queries, corpus) if mended else util.cos_sim(queries, corpus)
        return scores.topk(10)

    return Running(step, len(queries))


@pair("hits_in_heaps", **SERVED)
def hits_in_heaps(setting, mended):
    """sentence-transformers' semantic_search keeps the best in heaps of Python; mended, topk."""
    from sentence_transformers import util

    count, width = setting.pick(200_000, 100), setting.pick(768, 16)
    corpus = F.normalize(torch.randn(count, width, device=setting.device))
    queries = F.normalize(torch.randn(setting.pick(64, 2), width, device=setting.device))

    @torch.no_grad()
    def step():
        if mended:
            scores, places = util.dot_score(queries, corpus).topk(setting.pick(50, 3))
            return scores.tolist(), places.tolist()
        return util.semantic_search(queries, corpus, top_k=setting.pick(50, 3),
                                    corpus_chunk_size=20_000, score_function=util.dot_score)

    return Running(step, len(queries))


@pair("prefetch_not_ahead", **SERVED)
def prefetch_not_ahead(setting, mended):
    """The copying stream waits for the network before each copy; mended, it copies beside it."""
    from torchvision.models import resnet18

    net = bfloat(setting, resnet18(weights=None)).to(memory_format=torch.channels_last)
    rows, side = setting.pick(64, 1), setting.pick(448, 32)
    frames = [torch.randint(0, 255, (rows, 3, side, side), dtype=torch.uint8) for _ in range(2)]
    if setting.cuda:
        frames = [frame.pin_memory() for frame in frames]
    places = [torch.empty_like(frame, device=setting.device) for frame in frames]
    beside = setting.stream()
    done = [torch.cuda.Event() if setting.cuda else None for _ in places]
    turn = [0]

    @torch.no_grad()
    def step():
        one, other = turn[0] % 2, (turn[0] + 1) % 2
        turn[0] += 1
        main = torch.cuda.current_stream() if beside else None
        if beside:
            main.wait_stream(beside)
            if mended:  # what is overwritten was read by the network of one turn before
                beside.wait_event(done[other])
                with setting.on(beside):
                    places[other].copy_(frames[other], non_blocking=True)
        pictures = places[one].contiguous(memory_format=torch.channels_last).to(torch.bfloat16)
        answer = net(pictures / 255)
        if beside:
            done[one].record()
        if not mended:
            if beside:
                beside.wait_stream(main)
            with setting.on(beside):
                places[other].copy_(frames[other], non_blocking=True)
        return answer

    return Running(step, rows)


@pair("norms_not_folded", **SERVED | SHAPES)
def norms_not_folded(setting, mended):
    """Batch norms run by themselves in inference; mended, folded into the convolutions."""
    from torch.fx.experimental.optimization import fuse
    from torchvision.models import resnet50

    net = resnet50(weights=None).eval()
    net = bfloat(setting, fuse(net) if mended else net).to(memory_format=torch.channels_last)
    rows, side = setting.pick(128, 1), setting.pick(224, 64)
    pictures = torch.randn(rows, 3, side, side, device=setting.device, dtype=torch.bfloat16)
    pictures = pictures.contiguous(memory_format=torch.channels_last)

    @torch.no_grad()
    def step():
        return net(pictures)

    return Running(step, rows)


@pair("padded_before_convolution", **SERVED)
def padded_before_convolution(setting, mended):
    """Borders are added by F.pad before each convolution; mended, by the convolution itself."""
    width, depth = setting.pick(128, 8), setting.pick(12, 1)
    convs = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1 if mended else 0)
                          for _ in range(depth))
    bfloat(setting, convs).to(memory_format=torch.channels_last)
    rows, side = setting.pick(64, 1), setting.pick(96, 8)
    some = torch.randn(rows, width, side, side, device=setting.device, dtype=torch.bfloat16)
    some = some.contiguous(memory_format=torch.channels_last)

    @torch.no_grad()
    def step():
        states = some
        for conv in convs:
            states = F.relu_(conv(states if mended else F.pad(states, (1, 1, 1, 1))))
        return states

    return Running(step, rows)
