"""Services: complaints, recipes, ports, orchards from the air, letters, clouds of points, lifts."""
import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES, bfloat
from services_serving import Mixer
from setting import Running, pair
from studies_science import fully


@pair("encoder_with_gradients_on", **SERVED | SHAPES)
def encoder_with_gradients_on(setting, mended):
    """Complaints are read by nn.TransformerEncoder in eval mode, but with gradients on.

    So it neither leaves out padding nor takes its fused layers; mended, inference_mode.
    """
    width, heads, depth = setting.pick(768, 16), setting.pick(12, 2), setting.pick(6, 2)
    rows, length = setting.pick(64, 4), setting.pick(512, 8)
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
    net = nn.TransformerEncoder(layer, depth).to(setting.device, torch.float16).eval()
    some = torch.randn(rows, length, width, device=setting.device, dtype=torch.float16)
    sizes = torch.randint(length // 8, length // 2, (rows, 1), device=setting.device)
    empty = torch.arange(length, device=setting.device) >= sizes

    def step():
        with torch.inference_mode() if mended else contextlib.nullcontext():
            return net(some, src_key_padding_mask=empty)

    return Running(step, rows)


@pair("finished_still_decoded", **SERVED | SHAPES)
def finished_still_decoded(setting, mended):
    """Of 256 recipes most end within four words, but all are decoded until the longest ends.

    Mended, those that ended leave the batch after each fourth word.
    """
    rows, length, heads, size, depth = setting.pick((256, 1024, 8, 128, 4), (4, 8, 2, 4, 2))
    words, apart, width = setting.pick(16, 4), setting.pick(4, 2), heads * size
    how = {"device": setting.device, "dtype": torch.bfloat16}
    layers = [(torch.randn(width, 3 * width, **how) / width**0.5,
               torch.randn(width, width, **how) / width**0.5) for _ in range(depth)]
    caches = [torch.randn(2, rows, heads, length, size, **how) for _ in layers]
    first = torch.randn(rows, width, **how)
    # The longest first, as the server sorts them: a row in eight goes on after the fourth word.
    ends = [words if row < max(1, rows // 8) else apart for row in range(rows)]

    @torch.no_grad()
    def step():
        states = first
        for word in range(words):
            if mended and word % apart == 0:
                states = states[:sum(end > word for end in ends)]
            alive = len(states)
            for (qkv, out), cache in zip(layers, caches):
                query, key, value = (states @ qkv).view(alive, 3, heads, size).unbind(1)
                cache[0, :alive, :, word], cache[1, :alive, :, word] = key, value
                mixed = F.scaled_dot_product_attention(
                    query[:, :, None], cache[0, :alive], cache[1, :alive])
                states = states + mixed.flatten(1) @ out
            states = F.layer_norm(states, (width,))
        return states

    return Running(step, rows)


def turned(states, cosines, sines):
    """Rotary positions."""
    left, right = states.chunk(2, -1)
    return states * cosines + torch.cat((-right, left), -1) * sines


@pair("cache_turned_again", **SERVED | SHAPES)
def cache_turned_again(setting, mended):
    """Keys are kept without their positions, and all are turned anew for each new word.

    Mended, each key is turned when it comes.
    """
    rows, length, heads, size, depth = setting.pick((32, 2048, 8, 128, 6), (2, 8, 2, 4, 2))
    words, width = setting.pick(4, 2), heads * size
    how = {"device": setting.device, "dtype": torch.bfloat16}
    layers = [(torch.randn(width, 3 * width, **how) / width**0.5,
               torch.randn(width, width, **how) / width**0.5) for _ in range(depth)]
    caches = [torch.randn(2, rows, heads, length, size, **how) for _ in layers]
    angles = torch.arange(length, device=setting.device)[:, None] / 10000 ** (
        torch.arange(size // 2, device=setting.device) * 2 / size)
    angles = torch.cat((angles, angles), -1)
    cosines, sines = angles.cos().to(torch.bfloat16), angles.sin().to(torch.bfloat16)
    first = torch.randn(rows, width, **how)
    for cache in caches if mended else ():
        cache[0] = turned(cache[0], cosines, sines)

    @torch.no_grad()
    def step():
        states = first
        for word in range(words):
            here = length - words + word
            for (qkv, out), cache in zip(layers, caches):
                query, key, value = (states @ qkv).view(rows, 3, heads, size).unbind(1)
                query = turned(query, cosines[here], sines[here])
                if mended:
                    key = turned(key, cosines[here], sines[here])
                cache[0, :, :, here], cache[1, :, :, here] = key, value
                keys = cache[0] if mended else turned(cache[0], cosines, sines)
                mixed = F.scaled_dot_product_attention(query[:, :, None], keys, cache[1])
                states = states + mixed.flatten(1) @ out
            states = F.layer_norm(states, (width,))
        return states

    return Running(step, rows)


@pair("same_names_embedded_again", **SERVED | SHAPES)
def same_names_embedded_again(setting, mended):
    """Of 2048 goods of a ship's papers some 200 have different names, yet each is embedded.

    Mended, each name once, and its vector is taken wherever it stands.
    """
    rows, kinds, length = setting.pick(2048, 12), setting.pick(200, 3), setting.pick(32, 4)
    width, heads = setting.pick(512, 16), setting.pick(8, 2)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(6, 2)))))
    table = torch.randn(30000, width, device=setting.device, dtype=torch.bfloat16)
    names = [f"goods of kind {number}" for number in range(kinds)]
    tokens = dict(zip(names, torch.randint(0, 30000, (kinds, length)).tolist()))
    papers = [names[number] for number in torch.randint(0, kinds, (rows,)).tolist()]

    def embedded(listed):
        ids = torch.tensor([tokens[name] for name in listed]).to(setting.device)
        return net(table[ids]).mean(1)

    @torch.no_grad()
    def step():
        if not mended:
            return embedded(papers)
        places = {name: place for place, name in enumerate(dict.fromkeys(papers))}
        where = torch.tensor([places[name] for name in papers]).to(setting.device)
        return embedded(list(places))[where]

    return Running(step, rows)


@pair("windows_overlap_too_much", **SERVED | SHAPES)
def windows_overlap_too_much(setting, mended):
    """An orchard from the air is seen in windows that move on by a quarter of their side.

    So each tree is looked at sixteen times; mended, by three quarters.
    """
    side, window, width = setting.pick(1024, 32), setting.pick(256, 16), setting.pick(64, 8)
    stride = window * 3 // 4 if mended else window // 4
    parts, high = [], 3
    for _ in range(4):
        parts += [nn.Conv2d(high, width, 3, padding=1), nn.ReLU(inplace=True)]
        high = width
    net = nn.Sequential(*parts, nn.Conv2d(width, 1, 1))
    net = bfloat(setting, net).to(memory_format=torch.channels_last)
    picture = torch.randn(3, side, side, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        windows = picture.unfold(1, window, stride).unfold(2, window, stride)
        windows = windows.permute(1, 2, 0, 3, 4).flatten(0, 1)
        seen = [net(some.contiguous(memory_format=torch.channels_last))
                for some in windows.split(32)]
        columns = torch.cat(seen).float().flatten(1).T[None]
        ends = (len(range(0, side - window + 1, stride)) - 1) * stride + window
        both = [F.fold(some, (ends, ends), window, stride=stride)
                for some in (columns, torch.ones_like(columns))]
        return both[0] / both[1]

    return Running(step, 1)


@pair("glyphs_by_unfold", **SERVED | SHAPES)
def glyphs_by_unfold(setting, mended):
    """Letters of old prints: a convolution written as F.unfold and a product; mended, F.conv2d."""
    rows, width, side = setting.pick(64, 2), setting.pick(64, 8), setting.pick(64, 6)
    how = {"device": setting.device, "dtype": torch.bfloat16}
    weights = [torch.randn(width, width, 3, 3, **how) / (3 * width**0.5) for _ in range(4)]
    some = torch.randn(rows, width, side, side, **how)
    if mended:
        some = some.to(memory_format=torch.channels_last)
        weights = [weight.to(memory_format=torch.channels_last) for weight in weights]

    def convolved(states, weight):
        if mended:
            return F.conv2d(states, weight, padding=1)
        columns = F.unfold(states, 3, padding=1)
        return (weight.flatten(1) @ columns).view(rows, width, side, side)

    @torch.no_grad()
    def step():
        states = some
        for weight in weights:
            states = F.relu(convolved(states, weight))
        return states

    return Running(step, rows)


@pair("norms_of_eight_numbers", **SERVED | SHAPES)
def norms_of_eight_numbers(setting, mended):
    """nn.LayerNorm over the eight numbers of each of four million points of a scanned quarry.

    Its kernel takes a block for each point; mended, points lie in rows of one kind of number.
    """
    points, width, depth = setting.pick(4_000_000, 50), 8, 4
    weights = torch.randn(depth, width, width, device=setting.device) / width**0.5
    norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth)).to(setting.device).eval()
    some = torch.randn(points, width, device=setting.device)
    some = some.T.contiguous() if mended else some

    def normed(states, norm):
        states = states - states.mean(0)
        states = states * (states.square().mean(0) + norm.eps).rsqrt()
        return states * norm.weight[:, None] + norm.bias[:, None]

    @torch.no_grad()
    def step():
        states = some
        for weight, norm in zip(weights, norms):
            states = normed(weight @ states, norm) if mended else norm(states @ weight.T)
        return states

    return Running(step, points)


@pair("rows_multiplied_apart", **SERVED | SHAPES)
def rows_multiplied_apart(setting, mended):
    """What 8192 lifts see has a place of one moment, and weights have one of one building.

    So products are batches of 8192 products of one row each; mended, one product of 8192 rows.
    """
    rows, width = setting.pick(8192, 6), setting.pick(1024, 16)
    how = {"device": setting.device, "dtype": torch.bfloat16}
    weights = [torch.randn(1, width, width, **how) / width**0.5 for _ in range(4)]
    some = torch.randn(rows, 1, width, **how)

    @torch.no_grad()
    def step():
        states = some[:, 0] if mended else some
        for weight in weights:
            states = F.relu(states @ (weight[0] if mended else weight))
        return states

    return Running(step, rows)


@pair("words_renormed_in_each_lookup", **SERVED)
def words_renormed_in_each_lookup(setting, mended):
    """Tables of words were made with max_norm, so each lookup sorts its words and renorms them.

    The service never changes them; mended, renormed once when loaded.
    """
    count, wide, rows = setting.pick(50000, 40), setting.pick(256, 8), setting.pick(512, 4)
    words, kinds, width = setting.pick(24, 3), setting.pick(6, 2), setting.pick(1024, 16)
    tables = [nn.Embedding(count, wide, max_norm=1.0).to(setting.device) for _ in range(kinds)]
    net = fully(kinds * wide, width, width, 64).to(setting.device)
    asked = torch.randint(0, count, (kinds, rows, words), device=setting.device)
    if mended:
        for table in tables:
            table.weight.data = torch.renorm(table.weight.data, 2, 0, 1.0)
            table.max_norm = None

    @torch.no_grad()
    def step():
        found = [table(some).mean(1) for table, some in zip(tables, asked)]
        return net(torch.cat(found, 1))

    return Running(step, rows)


class Reader(nn.Module):
    """A block that reads texts of which places may be empty."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, states, full):
        parts = self.qkv(self.norms[0](states)).unflatten(-1, (3, self.heads, -1))
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=full)
        states = states + self.out(mixed.transpose(1, 2).flatten(2))
        return states + self.down(F.gelu(self.up(self.norms[1](states))))


@pair("grouped_by_exact_length", **SERVED | {"active": 3})
def grouped_by_exact_length(setting, mended):
    """To have no padding a service reads letters of one length together: one or two each time.

    Mended, letters of like length in four batches, padded and masked.
    """
    letters, width, heads = setting.pick(64, 8), setting.pick(384, 16), setting.pick(6, 2)
    blocks = bfloat(setting, nn.ModuleList(Reader(width, heads) for _ in range(setting.pick(4, 2))))
    drawn = torch.randint(setting.pick(40, 3), setting.pick(200, 9), (letters,))
    lengths = sorted(drawn.tolist())
    texts = [torch.randn(length, width, device=setting.device, dtype=torch.bfloat16)
             for length in lengths]
    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)  # or each length waits for a plan
    groups = []
    for length in sorted(set(lengths)):
        same = [text for text in texts if len(text) == length]
        groups.append((torch.stack(same), None))
    if mended:
        groups = []
        for start in range(0, letters, letters // 4):
            like = texts[start:start + letters // 4]
            padded = nn.utils.rnn.pad_sequence(like, batch_first=True)
            sizes = torch.tensor([len(text) for text in like], device=setting.device)
            full = torch.arange(padded.shape[1], device=setting.device) < sizes[:, None]
            groups.append((padded, full[:, None, None]))

    @torch.no_grad()
    def step():
        found = []
        for states, full in groups:
            for block in blocks:
                states = block(states, full)
            found.append(states[:, 0])
        return torch.cat(found)

    return Running(step, letters, lambda: torch.backends.cuda.enable_cudnn_sdp(before))
