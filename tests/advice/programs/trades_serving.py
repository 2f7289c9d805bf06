"""Services of many trades: shops, studios, ports, call centres and galleries."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES, bfloat
from services_serving import Mixer
from setting import Running, pair
from studies_science import fully


@pair("adapters_gathered_by_row", **SERVED | SHAPES)
def adapters_gathered_by_row(setting, mended):
    """Each request's own adapter is gathered from a table of all, weights and all, in each layer.

    Mended, products with all adapters side by side, of which each row keeps its own.
    """
    width, rank, kinds = setting.pick(4096, 16), setting.pick(16, 2), setting.pick(32, 3)
    rows = setting.pick(512, 4)
    how = {"device": setting.device, "dtype": torch.bfloat16}
    layers = [(torch.randn(width, width, **how) / width**0.5,
               torch.randn(kinds, width, rank, **how) / width**0.5,
               torch.randn(kinds, rank, width, **how) / width**0.5) for _ in range(6)]
    flat = [(base, down.transpose(0, 1).reshape(width, -1), up.reshape(-1, width))
            for base, down, up in layers]
    asked = torch.randint(0, kinds, (rows,), device=setting.device)
    own = F.one_hot(asked, kinds).repeat_interleave(rank, 1).to(torch.bfloat16)
    some = torch.randn(rows, width, **how)

    @torch.no_grad()
    def step():
        states = some
        for base, down, up in flat if mended else layers:
            if mended:
                added = (states @ down).mul_(own) @ up
            else:
                added = torch.bmm(torch.bmm(states[:, None], down[asked]), up[asked])[:, 0]
            states = torch.tanh((states @ base).add_(added))
        return states

    return Running(step, rows)


@pair("cache_cleared_in_full", **SERVED)
def cache_cleared_in_full(setting, mended):
    """A cache for the longest talk is filled with zeros before each batch of short prompts.

    Mended, it is left as it is: what is read of it has been written before.
    """
    width, heads, length = setting.pick(1024, 32), setting.pick(8, 2), setting.pick(64, 4)
    rows, longest = setting.pick(32, 2), setting.pick(8192, 16)
    layers = bfloat(setting, nn.ModuleList(Mixer(width, heads) for _ in range(setting.pick(8, 2))))
    how = {"device": setting.device, "dtype": torch.bfloat16}
    caches = [torch.zeros(2, rows, heads, longest, width // heads, **how) for _ in layers]
    some = torch.randn(rows, length, width, **how)

    @torch.no_grad()
    def step():
        states = some
        for layer, cache in zip(layers, caches):
            if not mended:
                cache.zero_()
            parts = layer.qkv(layer.norms[0](states)).view(rows, length, 3, heads, -1)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            cache[0, :, :, :length], cache[1, :, :, :length] = key, value
            key, value = cache[:, :, :, :length]
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            states = states + layer.out(mixed.transpose(1, 2).reshape(rows, length, width))
            states = states + layer.down(F.gelu(layer.up(layer.norms[1](states))))
        return states

    return Running(step, rows)


@pair("scales_measured_each_time", **SERVED | SHAPES)
def scales_measured_each_time(setting, mended):
    """Products in FP8: the scale of what each layer gets is measured in each pass.

    Mended, scales that were measured once are in the weights', and a cast is all that is left.
    """
    width, rows = setting.pick(2048, 32), setting.pick(16384, 32)
    eight, most = torch.float8_e4m3fn, 400.0
    one = torch.ones((), device=setting.device)
    weights = [(torch.randn(width, width, device=setting.device) / width**0.5).to(eight).t()
               for _ in range(setting.pick(8, 2))]
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16).relu_()

    def product(small, weight, scale, other):
        return torch._scaled_mm(small, weight, scale_a=scale, scale_b=other,
                                out_dtype=torch.bfloat16)

    def measured(states):
        scale = most / states.abs().max().float()
        return (states * scale).clamp(-most, most).to(eight), scale.reciprocal()

    # Outputs of each layer, so that the mended one knows the scales beforehand.
    states, sizes = some, [some.max().float()]
    for weight in weights:
        small, scale = measured(states)
        states = product(small, weight, scale, one).relu_()
        sizes.append(states.max().float())
    before = (some * (most / sizes[0])).clamp(-most, most).to(eight)
    folded = [size / after for size, after in zip(sizes, sizes[1:])]

    @torch.no_grad()
    def step():
        if mended:
            small = before
            for weight, scale in zip(weights, folded):
                found = product(small, weight, one, scale).relu_()
                small = found.to(eight)
            return found
        states = some
        for weight in weights:
            small, scale = measured(states)
            states = product(small, weight, scale, one).relu_()
        return states

    return Running(step, rows)


class Rounded(nn.Linear):
    """A layer trained for eight bits: weights and what it gets are rounded to steps of a scale."""

    watching = True

    def prepare(self):
        self.register_buffer("low", torch.zeros((), device=self.weight.device))
        self.register_buffer("high", torch.full((), 8.0, device=self.weight.device))
        if not self.watching:
            self.weight.data = self.stepped(self.weight, self.weight.abs().amax() / 127)

    def stepped(self, values, scale):
        return (values / scale).round_().clamp_(-128, 127).mul_(scale)

    def forward(self, states):
        weight = self.weight
        if self.watching:
            self.low.copy_(torch.minimum(self.low, states.amin()))
            self.high.copy_(torch.maximum(self.high, states.amax()))
            weight = self.stepped(weight, weight.abs().amax() / 127)
        scale = (torch.maximum(self.high, -self.low) / 127).to(states.dtype)
        return F.linear(self.stepped(states, scale), weight, self.bias)


@pair("observers_left_on", **SERVED)
def observers_left_on(setting, mended):
    """A network trained for eight bits still observes ranges and rounds its weights in each pass.

    Mended, the weights are rounded once and ranges are as they were learned.
    """
    width, rows = setting.pick(4096, 16), setting.pick(1024, 4)
    layers = [Rounded(width, width) for _ in range(setting.pick(6, 2))]
    net = bfloat(setting, nn.Sequential(*layers))
    with torch.no_grad():
        for layer in layers:
            layer.watching = not mended
            layer.prepare()
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some)

    return Running(step, rows)


@pair("processors_copy_scores", **SERVED)
def processors_copy_scores(setting, mended):
    """Ten rules on what may be said each make a copy of the scores of all words.

    Mended, one sum with a row that holds all of them.
    """
    rows, width, words = setting.pick(128, 4), setting.pick(2048, 16), setting.pick(128256, 64)
    head = torch.randn(words, width, device=setting.device, dtype=torch.bfloat16) / width**0.5
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    banned = torch.rand(8, words, device=setting.device) < 0.01
    liked = torch.randn(words, device=setting.device)
    warmth = 0.7
    whole = (liked / warmth).masked_fill(banned.any(0), float("-inf"))

    rules = [lambda scores, mask=mask: scores.masked_fill(mask, float("-inf")) for mask in banned]
    rules += [lambda scores: scores + liked, lambda scores: scores / warmth]

    @torch.no_grad()
    def step():
        scores = F.linear(some, head).float()
        if mended:
            scores = torch.add(whole, scores, alpha=1 / warmth)
        else:
            for rule in rules:
                scores = rule(scores)
        return scores.softmax(-1).multinomial(1)

    return Running(step, rows)


@pair("guidance_of_one", **SERVED)
def guidance_of_one(setting, mended):
    """A sampler whose guidance is 1 still runs the pass without a text, whose share is nought.

    Mended, it runs only the pass with the text.
    """
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(6, 1)))))
    shape = (setting.pick(8, 1), setting.pick(1024, 8), width)
    noise, text = (torch.randn(shape, device=setting.device, dtype=torch.bfloat16) for _ in "ab")
    guidance = 1.0

    @torch.no_grad()
    def step():
        latents = noise
        for _ in range(2):
            if mended:
                found = net(latents + text)
            else:
                without, found = net(torch.cat((latents, latents + text))).chunk(2)
                found = without + guidance * (found - without)
            latents = latents - 0.1 * found
        return latents

    return Running(step, len(noise))


@pair("previews_decoded", **SERVED)
def previews_decoded(setting, mended):
    """The decoder draws a whole picture after each of eight steps of a sampler, for a preview that
    nobody sees; mended, after the last.
    """
    width, heads, side = setting.pick(768, 32), setting.pick(12, 2), setting.pick(32, 4)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(4, 1)))))
    parts, many = [nn.Conv2d(width, setting.pick(512, 8), 1)], setting.pick(512, 8)
    for _ in range(3):
        parts += [nn.Conv2d(many, many // 2, 3, padding=1), nn.SiLU(), nn.Upsample(scale_factor=2)]
        many //= 2
    decoder = nn.Sequential(*parts, nn.Conv2d(many, 3, 3, padding=1))
    decoder = bfloat(setting, decoder).to(memory_format=torch.channels_last)
    rows = setting.pick(16, 1)
    noise = torch.randn(rows, side * side, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        latents = noise
        for turn in range(8):
            latents = latents - 0.1 * net(latents)
            if turn == 7 or not mended:
                plane = latents.view(rows, side, side, width).permute(0, 3, 1, 2)
                picture = decoder(plane)
        return picture

    return Running(step, rows)


@pair("frames_seen_again", **SERVED)
def frames_seen_again(setting, mended):
    """Cameras of a port: with each new frame the network sees the seven before it again.

    Mended, what it found in them is kept.
    """
    from torchvision.models import resnet18, resnet50

    net = (resnet18 if setting.tiny else resnet50)(weights=None)
    width, net.fc = net.fc.in_features, nn.Identity()
    net = bfloat(setting, net).to(memory_format=torch.channels_last)
    head = bfloat(setting, fully(8 * width, setting.pick(1024, 8), 20))
    cameras, side = setting.pick(16, 1), setting.pick(224, 32)
    frames = torch.randn(8, cameras, 3, side, side, device=setting.device, dtype=torch.bfloat16)
    found = torch.zeros(8, cameras, width, device=setting.device, dtype=torch.bfloat16)
    turn = [0]

    @torch.no_grad()
    def step():
        turn[0] += 1
        here = turn[0] % 8
        if mended:
            new = frames[here].contiguous(memory_format=torch.channels_last)
            found[here] = net(new)
            seen = found
        else:
            new = frames.flatten(0, 1).contiguous(memory_format=torch.channels_last)
            seen = net(new).view(8, cameras, width)
        return head(seen.roll(-here, 0).transpose(0, 1).flatten(1)).argmax(1)

    return Running(step, cameras)


@pair("features_joined_by_pandas", **SERVED)
def features_joined_by_pandas(setting, mended):
    """A shop joins its tables of customers and goods by pandas for each batch of requests.

    Mended, the tables lie on the GPU and are read by number.
    """
    import pandas

    count, goods, wide = setting.pick(100_000, 50), setting.pick(50_000, 40), 16
    rows, width = setting.pick(2048, 8), setting.pick(1024, 16)
    net = fully(2 * wide, width, width, width, 1).to(setting.device)
    people = np.random.randn(count, wide).astype(np.float32)
    things = np.random.randn(goods, wide).astype(np.float32)
    one = pandas.DataFrame(people, columns=[f"p{n}" for n in range(wide)])
    two = pandas.DataFrame(things, columns=[f"g{n}" for n in range(wide)])
    one["person"], two["thing"] = np.arange(count), np.arange(goods)
    columns = [f"p{n}" for n in range(wide)] + [f"g{n}" for n in range(wide)]
    here = [torch.from_numpy(table).to(setting.device) for table in (people, things)]

    @torch.no_grad()
    def step():
        asked = np.random.randint(0, count, rows), np.random.randint(0, goods, rows)
        if mended:
            places = torch.from_numpy(np.stack(asked)).to(setting.device)
            seen = torch.cat([table[place] for table, place in zip(here, places)], 1)
        else:
            table = pandas.DataFrame({"person": asked[0], "thing": asked[1]})
            table = table.merge(one, how="left", on="person").merge(two, how="left", on="thing")
            seen = torch.from_numpy(table[columns].to_numpy(np.float32)).to(setting.device)
        return net(seen).flatten().cpu()

    return Running(step, rows)


@pair("weights_swapped_for_customers", **SERVED)
def weights_swapped_for_customers(setting, mended):
    """One network gets the weights of each of four customers in turn by load_state_dict.

    Mended, each customer has a network.
    """
    width, depth, rows = setting.pick(2048, 16), setting.pick(12, 2), setting.pick(64, 4)
    nets = [bfloat(setting, fully(*[width] * (depth + 1))) for _ in range(4)]
    shared = bfloat(setting, fully(*[width] * (depth + 1)))
    kept = [net.state_dict() for net in nets]
    some = torch.randn(4, rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        found = []
        for net, weights, asked in zip(nets, kept, some):
            if not mended:
                shared.load_state_dict(weights)
                net = shared
            found.append(net(asked))
        return torch.stack(found)

    return Running(step, 4 * rows)
