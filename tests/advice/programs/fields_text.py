"""Faults around language: requests, prompts, decoding, attention of published models."""
import math
import re

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from models import Block, Decoder, LanguageModel
from setting import Running, pair

FEW = {"measured": 10, "active": 2}


def bfloat(setting, model):
    return model.to(setting.device, torch.bfloat16).eval()


def encoder(setting, layers=6, width=768, words=30000, length=512):
    width = setting.pick(width, 32)
    return bfloat(
        setting,
        LanguageModel(width, setting.pick(layers, 1), max(width // 64, 2), words, length, False),
    )


def features_of(model, tokens):
    """The output of the last block for each token: no logits."""
    hidden = model.words(tokens) + model.places[: tokens.shape[1]]
    for block in model.blocks:
        hidden = block(hidden)
    return model.norm(hidden)


def logits_of(model, token, place):
    """The decoder's logits of the next token of each row."""
    hidden = model.words(token)
    for block in model.blocks:
        hidden = block(hidden, place)
    return model.head(hidden)


def random_words(random, count, letters="etaoinshrdlu"):
    return ["".join(random.choice(list(letters), random.integers(2, 9))) for _ in range(count)]


class Tokenizer:
    """Joins the most frequent pairs of letters, in Python, as one writes it first."""

    def __init__(self, random):
        pairs = {a + b for a in "etaoinshrdlu" for b in "etaoinshrdlu"}
        self.rank = {pair: rank for rank, pair in enumerate(random.permutation(sorted(pairs)))}

    def parts(self, word):
        parts = list(word)
        while len(parts) > 1:
            ranks = [self.rank.get(a + b, 999) for a, b in zip(parts, parts[1:])]
            best = min(range(len(ranks)), key=ranks.__getitem__)
            if ranks[best] == 999:
                break
            parts[best : best + 2] = [parts[best] + parts[best + 1]]
        return parts

    def encode(self, text, length, words):
        found = [part for word in re.findall(r"\w+", text) for part in self.parts(word)]
        return ([sum(map(ord, part)) % words for part in found] + [0] * length)[:length]


@pair("tokens_made_again", marks=False, **FEW)
def tokens_made_again(setting, mended):
    """Texts that were seen before are cut into tokens again; mended, the tokens are kept."""
    length, batch = setting.pick(512, 16), setting.pick(8, 2)
    model, random = encoder(setting, length=length), np.random.default_rng(11)
    tokenizer = Tokenizer(random)
    texts = [" ".join(random_words(random, length // 4)) for _ in range(3 * batch)]
    kept = {}

    def tokens_of(text):
        if mended and text in kept:
            return kept[text]
        kept[text] = tokenizer.encode(text, length, 30000)
        return kept[text]

    if mended:
        for text in texts:
            tokens_of(text)

    @torch.no_grad()
    def step():
        chosen = random.choice(len(texts), batch, replace=False)
        tokens = torch.tensor([tokens_of(texts[index]) for index in chosen])
        return features_of(model, tokens.to(setting.device)).mean(1).float().cpu()

    return Running(step, batch)


@pair("padded_to_longest", marks=False, **FEW)
def padded_to_longest(setting, mended):
    """Short texts are padded to the longest of the batch; mended, sorted into eight groups."""
    length, batch = setting.pick(1024, 16), setting.pick(64, 8)
    model, random = encoder(setting, layers=4, words=8000, length=length), np.random.default_rng(12)

    @torch.no_grad()
    def step():
        sizes = np.clip(random.lognormal(math.log(length / 6), 0.6, batch), 8, length - 1)
        sizes = sizes.astype(int)
        sizes[0] = length
        groups = np.array_split(np.sort(sizes), 8) if mended else [sizes]
        answers = []
        for group in groups:
            longest = min(length, -(-int(group.max()) // 8) * 8)
            tokens = torch.randint(1, 8000, (len(group), longest), device=setting.device)
            answers.append(features_of(model, tokens)[:, 0])
        return torch.cat(answers)

    return Running(step, batch)


@pair("prefix_again", marks=False, active=1, measured=6, shapes=False)
def prefix_again(setting, mended):
    """No cache: each new token runs the whole text again; mended, only its own place."""
    words, prompt, new = 8000, setting.pick(768, 8), setting.pick(24, 3)
    width, batch = setting.pick(1024, 32), setting.pick(16, 2)
    whole = encoder(setting, 6, 1024, words, prompt + new)
    layers, heads = setting.pick(6, 1), setting.pick(16, 2)
    decoder = Decoder(width, layers, heads, batch, prompt + new, words, setting.device)

    @torch.no_grad()
    def step():
        tokens = torch.randint(0, words, (batch, prompt), device=setting.device)
        for index in range(new):
            if mended and index:
                chosen = decoder(tokens[:, -1], prompt + index)
            else:
                chosen = whole.head(features_of(whole, tokens)[:, -1]).argmax(-1)
            tokens = torch.cat([tokens, chosen[:, None]], 1)
        return tokens

    return Running(step, batch * new)


@pair("attentions_asked_for", **FEW)
def attentions_asked_for(setting, mended):
    """BERT returns all attentions, which nobody reads, so it has to make them; mended, not."""
    from transformers import BertConfig, BertModel

    width = setting.pick(768, 32)
    config = BertConfig(
        hidden_size=width, num_hidden_layers=setting.pick(6, 1), intermediate_size=4 * width,
        num_attention_heads=setting.pick(12, 2),
        attn_implementation="sdpa" if mended else "eager",
    )
    model = bfloat(setting, BertModel(config))
    tokens = torch.randint(0, 30000, (setting.pick(32, 2), setting.pick(512, 16)))
    tokens = tokens.to(setting.device)

    @torch.no_grad()
    def step():
        return model(tokens, output_attentions=not mended).pooler_output

    return Running(step, tokens.shape[0])


@pair("logits_everywhere", marks=False, **FEW)
def logits_everywhere(setting, mended):
    """All logits of a prompt are computed, in FP32, though only the last is used; mended, the last."""
    words, length, batch = setting.pick(100_000, 64), setting.pick(1024, 16), setting.pick(8, 2)
    width = setting.pick(1024, 32)
    model = bfloat(setting, LanguageModel(width, 2, setting.pick(16, 2), words, length))
    tokens = torch.randint(0, words, (batch, length), device=setting.device)

    @torch.no_grad()
    def step():
        hidden = features_of(model, tokens)
        logits = model.head(hidden[:, -1:] if mended else hidden).float()
        return torch.log_softmax(logits / 0.8, -1)[:, -1].argmax(-1)

    return Running(step, batch)


@pair("text_while_decoding", marks=False, active=1, measured=6, shapes=False)
def text_while_decoding(setting, mended):
    """Each token is fetched, all text made anew and searched for a stop; mended, on the GPU."""
    words, batch, new = 8000, setting.pick(48, 2), setting.pick(32, 3)
    model = Decoder(setting.pick(1024, 32), setting.pick(4, 1), setting.pick(16, 2), batch, 64,
                    words, setting.device)
    letters = random_words(np.random.default_rng(13), words)
    stop = re.compile(r"\b(?:hello|there) (?:the )?(?:end|stop)\b")

    @torch.no_grad()
    def step():
        token = torch.randint(0, words, (batch,), device=setting.device)
        said = [[] for _ in range(batch)]
        ended = torch.zeros(batch, dtype=torch.bool, device=setting.device)
        for place in range(new):
            token = model(token, place)
            if mended:
                ended |= token == 17
                continue
            for mine, chosen in zip(said, token.tolist()):
                mine.append(chosen)
                text = " ".join(letters[index] for index in mine)
                if stop.search(text.lower().strip()):
                    ended[:] = True
        return ended.any().item()

    return Running(step, batch * new)


class Adapted(nn.Module):
    """A linear layer with three small adapters, each of two thin products."""

    def __init__(self, width, apart, rank=16):
        super().__init__()
        self.base, self.apart = nn.Linear(width, width), apart
        self.down = nn.ModuleList(nn.Linear(width, rank, bias=False) for _ in range(3))
        self.up = nn.ModuleList(nn.Linear(rank, width, bias=False) for _ in range(3))

    def forward(self, hidden):
        out = self.base(hidden)
        if self.apart:
            for down, up in zip(self.down, self.up):
                out = out + up(down(hidden)) * 0.25
        return out


@pair("adapters_apart", shapes=False, active=2)
def adapters_apart(setting, mended):
    """Adapters run beside each layer in inference; mended, they are merged into the weights."""
    width = setting.pick(1024, 32)
    depth = setting.pick(24, 2)
    layers = [part for _ in range(depth) for part in (Adapted(width, not mended), nn.GELU())]
    model = bfloat(setting, nn.Sequential(*layers))
    hidden = torch.randn(setting.pick(64, 2), width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return model(hidden).float().mean()

    return Running(step, hidden.shape[0])


@pair("training_mode", **FEW)
def training_mode(setting, mended):
    """model.eval() was forgotten: inference drops at random everywhere; mended, it is not."""
    width, layers = setting.pick(512, 32), setting.pick(6, 1)
    layer = nn.TransformerEncoderLayer(width, 8, 4 * width, 0.1, batch_first=True, norm_first=True)
    model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    model = model.to(setting.device, torch.bfloat16).train(not mended)
    hidden = torch.randn(setting.pick(64, 2), setting.pick(512, 8), width, device=setting.device,
                         dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return model(hidden).mean(1)

    return Running(step, hidden.shape[0])


@pair("heads_one_by_one", active=1)
def heads_one_by_one(setting, mended):
    """Attention loops over its heads in Python; mended, one call for all."""
    width, heads = setting.pick(768, 32), setting.pick(12, 2)
    layers = setting.pick(4, 1)
    places = [nn.Linear(width, 3 * width) for _ in range(layers)]
    model = bfloat(setting, nn.ModuleList(places)).train()
    batch, length = setting.pick(8, 2), setting.pick(256, 8)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-4)

    def attention(query, key, value):
        if mended:
            parts = [part.unflatten(-1, (heads, -1)) for part in (query, key, value)]
            parts = [part.transpose(1, 2) for part in parts]
            return F.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2)
        mixed = []
        for q, k, v in zip(*(part.chunk(heads, -1) for part in (query, key, value))):
            scores = q @ k.transpose(1, 2) / math.sqrt(width / heads)
            mixed.append(scores.softmax(-1) @ v)
        return torch.cat(mixed, -1)

    def step():
        hidden = torch.randn(batch, length, width, device=setting.device, dtype=torch.bfloat16)
        optimiser.zero_grad(set_to_none=True)
        for layer in model:
            hidden = hidden + attention(*layer(hidden).chunk(3, -1))
        hidden.float().square().mean().backward()
        optimiser.step()

    return Running(step, batch)


@pair("vocabulary_sorted", marks=False, shapes=False, **FEW)
def vocabulary_sorted(setting, mended):
    """Sampling sorts all logits of each sequence; mended, takes the 64 largest first."""
    words, width, batch = setting.pick(128_000, 100), setting.pick(2048, 16), setting.pick(512, 2)
    head = bfloat(setting, nn.Linear(width, words, bias=False))

    @torch.no_grad()
    def step():
        hidden = torch.randn(batch, width, device=setting.device, dtype=torch.bfloat16)
        logits = head(hidden).float() / 0.7
        if mended:
            value, index = logits.topk(64)
        else:
            value, index = logits.sort(-1, descending=True)
        share = value.softmax(-1)
        share = share.masked_fill(share.cumsum(-1) - share > 0.9, 0.0)
        return index.gather(1, torch.multinomial(share[:, :8192], 1))

    return Running(step, batch)


@pair("angles_from_numpy", marks=False, shapes=False, active=2)
def angles_from_numpy(setting, mended):
    """Each layer makes the angles of its places in NumPy and copies them; mended, once."""
    width, length, layers = setting.pick(1024, 16), setting.pick(512, 8), setting.pick(12, 2)
    model = bfloat(setting, nn.Sequential(*(nn.Linear(width, width) for _ in range(layers))))
    batch = setting.pick(16, 2)

    def angles():
        speed = 10000.0 ** (-np.arange(0, width, 2) / width)
        angle = np.outer(np.arange(length), speed)
        both = np.concatenate([np.cos(angle), np.sin(angle)], 1).astype(np.float32)
        return torch.from_numpy(both).to(setting.device).to(torch.bfloat16)

    once = angles()

    @torch.no_grad()
    def step():
        hidden = torch.randn(batch, length, width, device=setting.device, dtype=torch.bfloat16)
        for layer in model:
            cos, sin = (once if mended else angles()).chunk(2, 1)
            first, second = layer(hidden).chunk(2, -1)
            hidden = torch.cat([first * cos - second * sin, first * sin + second * cos], -1)
        return hidden.mean()

    return Running(step, batch)


@pair("beams_on_host", marks=False, active=1, measured=6, shapes=False)
def beams_on_host(setting, mended):
    """Beams are kept as lists by the host, which chooses at each place; mended, on the GPU."""
    words, beams, texts = 8000, setting.pick(8, 2), setting.pick(16, 2)
    new, rows = setting.pick(20, 2), beams * texts
    model = Decoder(setting.pick(512, 32), setting.pick(4, 1), setting.pick(8, 2), rows, 64, words,
                    setting.device)

    def on_host(score, token, lines):
        best, index = score.topk(2 * beams, 1)
        best, index = best.tolist(), index.tolist()
        grown, source = [], []
        for text in range(texts):
            found = sorted(zip(best[text], index[text]), reverse=True)[:beams]
            for value, place in found:
                beam, word = divmod(place, words)
                grown.append((value, lines[text * beams + beam][1] + [word]))
                source.append(text * beams + beam)
        token = torch.tensor([line[1][-1] for line in grown]).to(setting.device)
        score = torch.tensor([line[0] for line in grown]).to(setting.device)
        return score.view(texts, beams), token, grown, torch.tensor(source).to(setting.device)

    @torch.no_grad()
    def step():
        token = torch.randint(0, words, (rows,), device=setting.device)
        score = torch.zeros(texts, beams, device=setting.device)
        lines = [(0.0, []) for _ in range(rows)]
        base = torch.arange(texts, device=setting.device)[:, None] * beams
        for place in range(new):
            odds = torch.log_softmax(logits_of(model, token, place).float(), -1)
            total = (odds.view(texts, beams, words) + score[..., None]).flatten(1)
            if mended:
                score, index = total.topk(beams, 1)
                token = (index % words).view(rows)
                source = (base + index // words).view(rows)
            else:
                score, token, lines, source = on_host(total, token, lines)
            for block in model.blocks:
                block.keys, block.values = block.keys[source], block.values[source]
        return score.cpu()

    return Running(step, texts)


class Gated(nn.Module):
    """Llama's second half of a block; its norm written out in FP32, or the operator."""

    def __init__(self, width, fused):
        super().__init__()
        self.weight, self.fused = nn.Parameter(torch.ones(width)), fused
        self.gate, self.up = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, hidden):
        if self.fused:
            normal = F.rms_norm(hidden, hidden.shape[-1:], self.weight, 1e-6)
        else:
            wide = hidden.to(torch.float32)
            wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
            normal = self.weight * wide.to(hidden.dtype)
        return hidden + self.down(F.silu(self.gate(normal)) * self.up(normal))


@pair("norm_by_hand", marks=False, **FEW)
def norm_by_hand(setting, mended):
    """RMSNorm out of six operators in FP32; mended, the one that is there."""
    width = setting.pick(1024, 16)
    depth = setting.pick(16, 2)
    model = bfloat(setting, nn.Sequential(*(Gated(width, mended) for _ in range(depth))))

    @torch.no_grad()
    def step():
        rows = setting.pick(16384, 8)
        return model(torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)).mean()

    return Running(step, 1)


@pair("one_hot_lookup", marks=False, **FEW)
def one_hot_lookup(setting, mended):
    """Words are looked up by a product with a one-hot matrix; mended, as an embedding."""
    words, width, rows = setting.pick(32000, 50), setting.pick(1024, 16), setting.pick(8192, 8)
    table = torch.randn(words, width, device=setting.device, dtype=torch.bfloat16)
    block = bfloat(setting, Block(width, setting.pick(16, 2)))

    @torch.no_grad()
    def step():
        tokens = torch.randint(0, words, (rows,), device=setting.device)
        hidden = table[tokens] if mended else F.one_hot(tokens, words).to(table.dtype) @ table
        return block(hidden.view(-1, setting.pick(512, 4), width)).mean()

    return Running(step, rows)
