"""Services of hospitals, towns and shops: pictures, series, words, graphs."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize, parametrizations

from libraries_text import SERVED, SHAPES, bfloat
from setting import Running, pair
from studies_science import fully


@pair("repeats_without_size", **SERVED)
def repeats_without_size(setting, mended):
    """In each layer what is known of a patient is repeated for each of his visits.

    repeat_interleave asks the GPU how many there are; mended, it is told (output_size).
    """
    patients, width, depth = setting.pick(4096, 6), setting.pick(512, 16), setting.pick(12, 2)
    counts = torch.randint(2, 14, (patients,), device=setting.device)
    total = int(counts.sum())
    layers = [bfloat(setting, nn.ModuleList((nn.Linear(width, width), nn.Linear(width, width))))
              for _ in range(depth)]
    how = {"device": setting.device, "dtype": torch.bfloat16}
    people, seen = torch.randn(patients, width, **how), torch.randn(total, width, **how)
    size = total if mended else None

    @torch.no_grad()
    def step():
        known, visits = people, seen
        for own, each in layers:
            known = F.gelu(own(known))
            visits = F.gelu(each(visits)) + known.repeat_interleave(counts, 0, output_size=size)
        return visits

    return Running(step, patients)


@pair("said_words_counted_by_one_hot", **SERVED | SHAPES)
def said_words_counted_by_one_hot(setting, mended):
    """A penalty on words that were said counts them by the sum of a one-hot tensor.

    Mended, by scatter_add.
    """
    rows, length, words = setting.pick(32, 2), setting.pick(256, 4), setting.pick(32000, 40)
    width = setting.pick(2048, 16)
    net = bfloat(setting, fully(width, 4 * width, width, 4 * width, width, words))
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    said = torch.randint(0, words, (rows, length), device=setting.device)
    ones = torch.ones(rows, length, device=setting.device)

    @torch.no_grad()
    def step():
        for _ in range(2):
            scores = net(some).float()
            if mended:
                counts = torch.zeros_like(scores).scatter_add_(1, said, ones)
            else:
                counts = F.one_hot(said, words).sum(1)
            word = (scores - 0.3 * counts).argmax(1, keepdim=True)
            said.copy_(torch.cat((said[:, 1:], word), 1))
        return word

    return Running(step, rows)


class Crossed(nn.Module):
    """A block of a sampler whose places look at a text."""

    def __init__(self, width, text, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.query, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.both = nn.Linear(text, 2 * width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, states):
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def projected(self, text):
        return [self.split(part) for part in self.both(text).chunk(2, -1)]

    def forward(self, states, key, value):
        query = self.split(self.query(self.norms[0](states)))
        mixed = F.scaled_dot_product_attention(query, key, value)
        states = states + self.out(mixed.transpose(1, 2).flatten(2))
        return states + self.down(F.gelu(self.up(self.norms[1](states))))


@pair("text_projected_again", **SERVED | SHAPES)
def text_projected_again(setting, mended):
    """Keys and values of a text are made anew in each layer and each of eight steps of a sampler.

    Mended, once for a picture: the text does not change.
    """
    width, wide, heads = setting.pick(1024, 32), setting.pick(4096, 16), setting.pick(16, 2)
    layers = bfloat(setting, nn.ModuleList(
        Crossed(width, wide, heads) for _ in range(setting.pick(6, 2))))
    rows, how = setting.pick(8, 1), {"device": setting.device, "dtype": torch.bfloat16}
    text = torch.randn(rows, setting.pick(1024, 8), wide, **how)
    noise = torch.randn(rows, setting.pick(256, 8), width, **how)

    @torch.no_grad()
    def step():
        latents = noise
        kept = [layer.projected(text) for layer in layers] if mended else None
        for _ in range(setting.pick(8, 2)):
            states = latents
            for place, layer in enumerate(layers):
                key, value = kept[place] if mended else layer.projected(text)
                states = layer(states, key, value)
            latents = latents - 0.1 * states
        return latents

    return Running(step, rows)


@pair("histories_padded_and_masked", **SERVED | SHAPES)
def histories_padded_and_masked(setting, mended):
    """What a customer bought is a list of 200 places of which some eight are used.

    All are looked up, masked and added; mended, embedding_bag gets those that there are.
    """
    goods, wide, rows = setting.pick(2_000_000, 50), 64, setting.pick(4096, 4)
    places, kinds = setting.pick(200, 8), setting.pick(4, 2)
    table = torch.randn(goods, wide, device=setting.device)
    sizes = torch.randint(1, setting.pick(16, 4), (kinds, rows), device=setting.device)
    inside = torch.arange(places, device=setting.device) < sizes[..., None]
    bought = torch.randint(0, goods, (kinds, rows, places), device=setting.device) * inside
    listed = [some[mask] for some, mask in zip(bought, inside)]
    starts = sizes.cumsum(1) - sizes
    net = fully(kinds * wide, setting.pick(1024, 8), setting.pick(1024, 8), 1).to(setting.device)

    @torch.no_grad()
    def step():
        found = []
        for kind in range(kinds):
            if mended:
                found.append(F.embedding_bag(listed[kind], table, starts[kind], mode="sum"))
            else:
                all_of = F.embedding(bought[kind], table)
                found.append((all_of * inside[kind][..., None]).sum(1))
        return net(torch.cat(found, 1))

    return Running(step, rows)


@pair("weights_averaged_unread", **SERVED | SHAPES)
def weights_averaged_unread(setting, mended):
    """nn.MultiheadAttention returns averaged weights by default, which nobody reads.

    Mended, need_weights=False.
    """
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    layers = bfloat(setting, nn.ModuleList(
        nn.MultiheadAttention(width, heads, batch_first=True) for _ in range(setting.pick(3, 1))))
    norms = bfloat(setting, nn.ModuleList(nn.LayerNorm(width) for _ in layers))
    some = torch.randn(setting.pick(8, 1), setting.pick(1536, 8), width, device=setting.device,
                       dtype=torch.bfloat16)
    asked = {"need_weights": False} if mended else {}

    @torch.no_grad()
    def step():
        states = some
        for layer, norm in zip(layers, norms):
            inner = norm(states)
            states = states + layer(inner, inner, inner, **asked)[0]
        return states

    return Running(step, len(some))


@pair("enlarged_before_the_classes", **SERVED | SHAPES)
def enlarged_before_the_classes(setting, mended):
    """A map of tissues: 512 features are enlarged eight times, then each pixel gets its class.

    Mended, classes first, which are enlarged then: both are linear, so they may change places.
    """
    width, side, rows = setting.pick(512, 8), setting.pick(64, 4), setting.pick(4, 1)
    parts = []
    for _ in range(3):
        parts += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU(inplace=True)]
    net = bfloat(setting, nn.Sequential(*parts)).to(memory_format=torch.channels_last)
    head = bfloat(setting, nn.Conv2d(width, 24, 1)).to(memory_format=torch.channels_last)
    some = torch.randn(rows, width, side, side, device=setting.device, dtype=torch.bfloat16)
    some = some.to(memory_format=torch.channels_last)

    def larger(states):
        return F.interpolate(states, scale_factor=8, mode="bilinear", align_corners=False)

    @torch.no_grad()
    def step():
        states = net(some)
        return (larger(head(states)) if mended else head(larger(states))).argmax(1)

    return Running(step, rows)


@pair("positions_interpolated_again", **SERVED | SHAPES)
def positions_interpolated_again(setting, mended):
    """Positions of a volume of a scanner are interpolated from a learned grid in each pass.

    Mended, once: all volumes have one size.
    """
    width, side, small = setting.pick(768, 8), setting.pick(32, 4), setting.pick(12, 2)
    grid = torch.randn(1, width, small, small, small, device=setting.device)
    net = bfloat(setting, nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 3 * width),
                                        nn.GELU(), nn.Linear(3 * width, width)))
    some = torch.randn(1, side**3, width, device=setting.device, dtype=torch.bfloat16)

    def positions():
        whole = F.interpolate(grid, (side, side, side), mode="trilinear", align_corners=False)
        return whole.flatten(2).transpose(1, 2).to(torch.bfloat16).contiguous()

    kept = positions()

    @torch.no_grad()
    def step():
        states = some + (kept if mended else positions())
        return states + net(states)

    return Running(step, 1)


@pair("orthogonal_in_each_moment", **SERVED)
def orthogonal_in_each_moment(setting, mended):
    """A recurrent network's orthogonal matrix is made by matrix_exp at each of 32 moments.

    Mended, once for a series, by parametrize.cached().
    """
    width, rows, moments = setting.pick(256, 8), setting.pick(2048, 4), setting.pick(32, 3)
    turn = parametrizations.orthogonal(nn.Linear(width, width, bias=False))
    turn = turn.to(setting.device).eval()
    pulses = torch.randn(moments, rows, width, device=setting.device)

    def series():
        states = torch.zeros_like(pulses[0])
        for pulse in pulses:
            states = torch.tanh(turn(states) + pulse)
        return states

    @torch.no_grad()
    def step():
        if not mended:
            return series()
        with parametrize.cached():
            return series()

    return Running(step, rows)


@pair("labels_compared_each_turn", **SERVED)
def labels_compared_each_turn(setting, mended):
    """Groups of people who met: the least label wanders along meetings, until torch.equal says that
    nothing changed, in each of 64 turns; mended, it is asked after each sixteen.
    """
    people, meetings = setting.pick(200_000, 100), setting.pick(1_000_000, 300)
    turns, apart = setting.pick(64, 4), setting.pick(16, 2)
    one = torch.randint(0, people, (meetings,), device=setting.device)
    other = (one + torch.randint(1, 3, (meetings,), device=setting.device)) % people
    first = torch.arange(people, device=setting.device).flip(0)

    @torch.no_grad()
    def step():
        labels = first
        for turn in range(turns):
            new = labels.scatter_reduce(0, other, labels[one], "amin")
            asked = not mended or turn % apart == apart - 1
            if asked and torch.equal(new, labels):
                break
            labels = new
        return labels

    return Running(step, people)
