"""Kinds of models that the other sets lack: experts, state spaces, distillation, contrast."""
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES, TRAINED, bfloat
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, pair


class Experts(nn.Module):
    """A layer of experts of which each token has one; `together`: by grouped products."""

    def __init__(self, width, wide, count, together):
        super().__init__()
        self.route = nn.Linear(width, count)
        self.up = nn.Parameter(torch.randn(count, width, wide) / width**0.5)
        self.down = nn.Parameter(torch.randn(count, wide, width) / wide**0.5)
        self.count, self.together = count, together

    def forward(self, states):
        share, expert = self.route(states).softmax(-1).max(-1)
        order = expert.argsort()
        here = states[order]
        sizes = F.one_hot(expert, self.count).sum(0)
        if self.together:
            ends = sizes.cumsum(0).to(torch.int32)
            inner = F.silu(F.grouped_mm(here, self.up, offs=ends))
            found = F.grouped_mm(inner, self.down, offs=ends)
        else:
            pieces = here.split(sizes.tolist())
            found = torch.cat([F.silu(piece @ up) @ down
                               for piece, up, down in zip(pieces, self.up, self.down)])
        return states + torch.empty_like(found).index_copy_(0, order, found) * share[:, None]


@pair("split_sizes_fetched", **SERVED)
def split_sizes_fetched(setting, mended):
    """The number of tokens of each expert is fetched in each layer; mended, by grouped products."""
    width, rows = setting.pick(1024, 32), setting.pick(32768, 64)
    net = bfloat(setting, nn.Sequential(*(
        Experts(width, 2 * width, setting.pick(32, 4), mended) for _ in range(setting.pick(6, 2)))))
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some)

    return Running(step, rows)


def in_order(values, decay, key, query):
    """A state space place by place: values (rows, length, heads, size), decay as logarithm."""
    state, found = 0, []
    for at in range(values.shape[1]):
        fresh = values[:, at, :, :, None] * key[:, at, None, None, :]
        state = decay[:, at].exp()[..., None, None] * state + fresh
        found.append((state * query[:, at, None, None, :]).sum(-1))
    return torch.stack(found, 1)


def in_chunks(values, decay, key, query, chunk):
    """The same by chunks: products within each, and a state from one to the next."""
    rows, length, heads, size = values.shape
    values, decay, key, query = (
        part.view(rows, length // chunk, chunk, *part.shape[2:])
        for part in (values, decay, key, query))
    upto = decay.cumsum(2).transpose(2, 3)  # rows, chunks, heads, chunk
    fall = (upto[..., :, None] - upto[..., None, :]).tril().exp().tril()
    near = (query @ key.transpose(2, 3))[:, :, None] * fall
    values = values.transpose(2, 3)  # rows, chunks, heads, chunk, size
    found = near.to(values.dtype) @ values
    left = (upto[..., -1:] - upto).exp()[..., None]
    states = (values * left).transpose(3, 4) @ key[:, :, None]
    state, before = torch.zeros_like(states[:, 0]), []
    for at in range(states.shape[1]):
        before.append(state)
        state = upto[:, at, :, -1].exp()[..., None, None] * state + states[:, at]
    far = query[:, :, None] @ torch.stack(before, 1).transpose(3, 4)
    found = found + far * upto.exp()[..., None]
    return found.transpose(2, 3).reshape(rows, length, heads, size)


@pair("scan_step_by_step", **SERVED)
def scan_step_by_step(setting, mended):
    """A state space is worked out place by place in Python; mended, in chunks by products."""
    rows, length, heads = setting.pick(8, 1), setting.pick(256, 16), setting.pick(16, 2)
    width = 64 * heads
    into = nn.Linear(width, width + heads + 128).to(setting.device)
    some = torch.randn(rows, length, width, device=setting.device)

    @torch.no_grad()
    def step():
        values, decay, key, query = into(some).split([width, heads, 64, 64], -1)
        values, decay = values.reshape(rows, length, heads, 64), -F.softplus(decay)
        if mended:
            return in_chunks(values, decay, key, query, min(64, length))
        return in_order(values, decay, key, query)

    return Running(step, rows * length)


def tower(width, depth):
    return nn.Sequential(*(part for _ in range(depth) for part in (
        nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))))


@pair("teacher_in_float32", **TRAINED | SHAPES)
def teacher_in_float32(setting, mended):
    """Distillation: the teacher runs outside of autocast, in FP32; mended, within it."""
    width, rows, words = setting.pick(2048, 16), setting.pick(8192, 4), setting.pick(4096, 16)
    teacher = nn.Sequential(tower(width, setting.pick(4, 1)), nn.Linear(width, words))
    student = nn.Sequential(tower(width, setting.pick(2, 1)), nn.Linear(width, words))
    teacher, student = teacher.to(setting.device).eval(), student.to(setting.device)
    optimiser = torch.optim.AdamW(student.parameters(), lr=1e-5, fused=setting.cuda)
    some = torch.randn(rows, width, device=setting.device)

    def step():
        with torch.no_grad():
            if mended:
                with setting.autocast():
                    aim = teacher(some)
            else:
                aim = teacher(some)
        optimiser.zero_grad()
        with setting.autocast():
            found = student(some)
        F.cross_entropy(found.float(), (aim.float() / 2).softmax(-1)).backward()
        optimiser.step()

    return Running(step, rows)


@pair("diagonal_cut_by_mask", **UNMARKED)
def diagonal_cut_by_mask(setting, mended):
    """SimCLR's loss picks positives and negatives by boolean masks; mended, the diagonal is
    filled."""
    rows, width = setting.pick(2048, 4), setting.pick(2048, 16)
    net = nn.Sequential(tower(width, 1), nn.Linear(width, setting.pick(256, 8))).to(setting.device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=setting.cuda)
    views = torch.randn(2 * rows, width, device=setting.device)
    same = torch.arange(rows, device=setting.device).repeat(2)
    itself = torch.eye(2 * rows, dtype=torch.bool, device=setting.device)
    partner = torch.arange(2 * rows, device=setting.device).roll(rows)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            found = F.normalize(net(views), dim=1)
            alike = (found @ found.T).float() / 0.1
        if mended:
            loss = F.cross_entropy(alike.masked_fill(itself, -1e9), partner)
        else:
            pairs = (same[:, None] == same[None])[~itself].view(2 * rows, -1)
            alike = alike[~itself].view(2 * rows, -1)
            good, bad = alike[pairs].view(2 * rows, -1), alike[~pairs].view(2 * rows, -1)
            aim = torch.zeros(2 * rows, dtype=torch.long, device=setting.device)
            loss = F.cross_entropy(torch.cat((good, bad), 1), aim)
        loss.backward()
        optimiser.step()

    return Running(step, rows)


class CarefulNorm(nn.LayerNorm):
    """CLIP's: the norm is worked out in FP32."""

    def forward(self, states):
        return super().forward(states.to(torch.float32)).to(states.dtype)


@pair("norms_in_float32", **SERVED)
def norms_in_float32(setting, mended):
    """Norms of a BF16 tower of CLIP cast to FP32 and back; mended, LayerNorm works in BF16."""
    width, heads = setting.pick(512, 32), setting.pick(8, 2)
    layers = [Mixer(width, heads) for _ in range(setting.pick(6, 1))]
    net = bfloat(setting, nn.Sequential(*layers))
    if not mended:
        for layer in layers:
            layer.norms = nn.ModuleList(CarefulNorm(width) for _ in range(2)).to(setting.device)
    rows, length = setting.pick(384, 2), setting.pick(256, 8)
    some = torch.randn(rows, length, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some).mean(1)

    return Running(step, rows)


@pair("bias_gathered_in_each_layer", **SERVED)
def bias_gathered_in_each_layer(setting, mended):
    """Biases of places (T5, Swin) are looked up from a table in each layer; mended, once for
    all."""
    width, heads, length = setting.pick(1024, 32), setting.pick(16, 2), setting.pick(2048, 8)
    layers = bfloat(setting, nn.ModuleList(Mixer(width, heads) for _ in range(setting.pick(6, 1))))
    tables = torch.randn(len(layers), 64, heads, device=setting.device, dtype=torch.bfloat16)
    place = torch.arange(length, device=setting.device)
    bucket = (place[:, None] - place[None]).clamp(-31, 31) + 31

    def bias_of(table):
        return table[bucket].permute(2, 0, 1).contiguous()[None]

    kept = [bias_of(table) for table in tables] if mended else None
    some = torch.randn(setting.pick(2, 1), length, width, device=setting.device,
                       dtype=torch.bfloat16)

    def attended(layer, states, bias):
        rows = states.shape[0]
        parts = layer.qkv(layer.norms[0](states)).view(rows, length, 3, heads, -1)
        mixed = F.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), attn_mask=bias)
        states = states + layer.out(mixed.transpose(1, 2).reshape(rows, length, width))
        return states + layer.down(F.gelu(layer.up(layer.norms[1](states))))

    @torch.no_grad()
    def step():
        states = some
        for number, layer in enumerate(layers):
            bias = kept[number] if mended else bias_of(tables[number])
            states = attended(layer, states, bias)
        return states

    return Running(step, len(some))


@pair("mask_of_all_places", **SERVED | SHAPES)
def mask_of_all_places(setting, mended):
    """A long text's causal mask is given as a tensor of all pairs; mended, is_causal=True."""
    heads, length = setting.pick(16, 2), setting.pick(16384, 16)
    shape = (3, 1, heads, length, setting.pick(128, 8))
    query, key, value = torch.randn(shape, device=setting.device, dtype=torch.bfloat16)
    mask = torch.zeros(length, length, device=setting.device, dtype=torch.bfloat16)
    mask.masked_fill_(torch.ones_like(mask, dtype=torch.bool).triu_(1), float("-inf"))
    how = {"is_causal": True} if mended else {"attn_mask": mask}

    @torch.no_grad()
    def step():
        states = query
        for _ in range(2):
            states = F.scaled_dot_product_attention(states, key, value, **how)
        return states

    return Running(step, length)


@pair("integers_multiplied_as_floats", **SERVED | SHAPES)
def integers_multiplied_as_floats(setting, mended):
    """A network of whole bytes multiplies them as FP32 numbers; mended, by torch._int_mm."""
    width, rows = setting.pick(4096, 32), setting.pick(8192, 32)
    weights = [torch.randint(-127, 127, (width, width), dtype=torch.int8, device=setting.device)
               for _ in range(4)]
    some = torch.randint(-127, 127, (rows, width), dtype=torch.int8, device=setting.device)

    @torch.no_grad()
    def step():
        states = some
        for weight in weights:
            if mended:
                found = torch._int_mm(states, weight.T)
            else:
                found = F.linear(states.float(), weight.float())
            states = (found / 20000).round_().clamp_(-127, 127).to(torch.int8)
        return states

    return Running(step, rows)


@pair("accumulates_needlessly", **UNMARKED)
def accumulates_needlessly(setting, mended):
    """Gradients of 32 texts are summed over sixteen passes of two; mended, one pass of all."""
    width, heads, length = setting.pick(768, 32), setting.pick(12, 2), setting.pick(128, 8)
    net = nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(4, 1))))
    net = net.to(setting.device, torch.bfloat16)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=setting.cuda)
    some = torch.randn(32, length, width, device=setting.device, dtype=torch.bfloat16)
    parts = some.split(32 if mended else 2)

    def step():
        optimiser.zero_grad()
        for part in parts:
            (net(part).float().square().mean() / len(parts)).backward()
        optimiser.step()

    return Running(step, 32)


@pair("tensors_formatted_for_log", **SERVED)
def tensors_formatted_for_log(setting, mended):
    """log.debug(f"{states}") after each layer, though nothing is logged; mended, with %s."""
    log = logging.getLogger("studies")
    log.setLevel(logging.WARNING)
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    layers = bfloat(setting, nn.ModuleList(Mixer(width, heads) for _ in range(setting.pick(6, 2))))
    some = torch.randn(setting.pick(16, 1), setting.pick(512, 4), width, device=setting.device,
                       dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        states = some
        for number, layer in enumerate(layers):
            states = layer(states)
            if mended:
                log.debug("layer %s: %s", number, states)
            else:
                log.debug(f"layer {number}: {states}")
        return states

    return Running(step, len(some))


@pair("cache_longer_each_turn", **SERVED)
def cache_longer_each_turn(setting, mended):
    """Each turn of a talk allocates its cache anew, a little longer; mended, one for all turns.

    Attention goes to the last places, so that its work is the same in each turn.
    """
    heads, depth, rows = setting.pick(8, 2), setting.pick(16, 1), setting.pick(8, 1)
    least, more, turns = setting.pick(2048, 8), setting.pick(128, 2), 144
    shape = (2, rows, heads, least + more * turns, 128)
    how = {"device": setting.device, "dtype": torch.bfloat16}
    kept = [torch.zeros(shape, **how) for _ in range(depth if mended else 0)]
    query = torch.randn(rows, heads, 1, 128, **how)
    turn = [0]

    @torch.no_grad()
    def step():
        turn[0] = turn[0] % turns + 1
        length = least + more * turn[0]
        if mended:
            caches = [cache[:, :, :, :length] for cache in kept]
        else:
            caches = [torch.empty(2, rows, heads, length, 128, **how) for _ in range(depth)]
        states = query
        for _ in range(2):
            for cache in caches:
                key, value = cache[:, :, :, -least:]
                states = states + F.scaled_dot_product_attention(states, key, value)
        return states

    return Running(step, rows)
