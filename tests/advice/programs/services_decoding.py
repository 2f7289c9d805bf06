"""Services that write token by token, from caches of keys and values."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES
from setting import Running, pair


def bfloat(setting, module):
    return module.to(setting.device, torch.bfloat16).eval().requires_grad_(False)


class Layer(nn.Module):
    """A layer of a decoder; its cache is [rows, heads, places, size]."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.cache = heads, None
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def make_cache(self, rows, places, like):
        size = like.shape[-1] // self.heads
        shape = (2, rows, self.heads, places, size)
        self.cache = torch.randn(shape, device=like.device, dtype=like.dtype)

    def forward(self, states, places, mask=None, length=None):
        """Writes to the cache at `places`, then attends to its first `length`, or as `mask`."""
        rows, count, width = states.shape
        parts = self.qkv(self.norms[0](states)).view(rows, count, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        known = self.cache[:, :rows]
        known[0].index_copy_(2, places, key)
        known[1].index_copy_(2, places, value)
        key, value = known[:, :, :, :length]
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        states = states + self.out(mixed.transpose(1, 2).reshape(rows, count, width))
        return states + self.down(F.silu(self.up(self.norms[1](states))))


class Decoder(nn.Module):
    def __init__(self, setting, words, width, heads, depth, rows, places):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, words, bias=False)
        bfloat(setting, self)
        for layer in self.layers:
            layer.make_cache(rows, places, self.words.weight)

    def forward(self, tokens, places, mask=None, length=None):
        states = self.words(tokens)
        for layer in self.layers:
            states = layer(states, places, mask, length)
        return self.head(states)


def graphed(setting, function):
    """The function's launches as one CUDA graph, and what it returns: arguments stay in place."""
    if not setting.cuda:
        return function
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside), torch.no_grad():
        for _ in range(2):
            function()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        answer = function()

    def replay():
        graph.replay()
        return answer

    return replay


@pair("drafts_checked_one_by_one", **SERVED)
def drafts_checked_one_by_one(setting, mended):
    """Speculative decoding fetches and compares token by token; mended, once for each round."""
    words, places, ahead = setting.pick(32000, 50), setting.pick(1024, 16), 6
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    draft = Decoder(setting, words, width // 2, heads, 2, 1, places)
    target = Decoder(setting, words, width, heads, setting.pick(12, 1), 1, places)
    token = torch.zeros(1, 1, dtype=torch.long, device=setting.device)
    asked = torch.zeros(1, ahead, dtype=torch.long, device=setting.device)
    place = torch.zeros(1, dtype=torch.long, device=setting.device)
    some = torch.arange(ahead, device=setting.device)
    one = graphed(setting, lambda: draft(token, place).argmax(-1))
    many = graphed(setting, lambda: target(asked, some).argmax(-1))

    @torch.no_grad()
    def step():
        written = 0
        for _ in range(6):
            drafted = []
            for number in range(ahead):
                token.copy_(one())
                asked[:, number : number + 1].copy_(token)
                if not mended:
                    drafted.append(token.item())
            found = many()[0]
            if mended:
                written += int((found == asked[0]).cumprod(0).sum()) + 1
                continue
            for number in range(ahead):
                written += 1
                if found[number].item() != drafted[number]:
                    break
        return written

    return Running(step, 36)


@pair("pages_gathered", **SERVED | SHAPES)
def pages_gathered(setting, mended):
    """Pages of the cache are gathered before each attention; mended, each text's lie together."""
    rows, heads, size = setting.pick(32, 2), setting.pick(8, 2), setting.pick(128, 8)
    count, page, depth = setting.pick(128, 2), 16, setting.pick(8, 1)
    pools = [torch.randn(2, rows * count, page, heads, size, device=setting.device,
                         dtype=torch.bfloat16) for _ in range(depth)]
    table = torch.randperm(rows * count, device=setting.device).view(rows, count)
    width = heads * size
    mix = bfloat(setting, nn.ModuleList(nn.Linear(width, width) for _ in range(depth)))
    some = torch.randn(rows, 1, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        states = some
        for pool, layer in zip(pools, mix):
            if mended:
                key, value = pool.view(2, rows, count * page, heads, size)
            else:
                key, value = (part[table].view(rows, count * page, heads, size) for part in pool)
            query = states.view(rows, 1, heads, size).transpose(1, 2)
            mixed = F.scaled_dot_product_attention(query, key.transpose(1, 2),
                                                   value.transpose(1, 2))
            states = states + layer(mixed.transpose(1, 2).reshape(rows, 1, width))
        return states

    return Running(step, rows)


@pair("cache_attended_in_full", **SERVED | SHAPES)
def cache_attended_in_full(setting, mended):
    """Attention goes over all 8192 places of a static cache, 512 of them used; mended, over 512."""
    rows, places, used = setting.pick(16, 2), setting.pick(8192, 64), setting.pick(512, 8)
    width, heads = setting.pick(2048, 32), setting.pick(16, 2)
    model = Decoder(setting, setting.pick(32000, 50), width, heads, setting.pick(6, 1), rows,
                    places)
    tokens = torch.zeros(rows, 1, dtype=torch.long, device=setting.device)
    place = torch.tensor([used - 1], device=setting.device)
    mask = (torch.arange(places, device=setting.device) < used).view(1, 1, 1, -1)

    how = {"length": used} if mended else {"mask": mask}
    return Running(graphed(setting, lambda: model(tokens, place, **how).argmax(-1)), rows)


@pair("cross_cache_reordered", **SERVED)
def cross_cache_reordered(setting, mended):
    """Beams of a speech model reorder the encoder's keys, the same for all; mended, they stay."""
    rows, heads, heard = setting.pick(60, 4), setting.pick(16, 2), setting.pick(1500, 16)
    size, depth, places = setting.pick(64, 8), setting.pick(6, 1), setting.pick(64, 8)
    width = heads * size
    layers = nn.ModuleList(Layer(width, heads) for _ in range(depth))
    bfloat(setting, layers)
    for layer in layers:
        layer.make_cache(rows, places, layer.out.weight)
    across = [torch.randn(2, rows, heads, heard, size, device=setting.device, dtype=torch.bfloat16)
              for _ in range(depth)]
    some = torch.randn(rows, 1, width, device=setting.device, dtype=torch.bfloat16)
    place = torch.tensor([3], device=setting.device)
    order = torch.randint(0, rows, (rows,), device=setting.device)

    @torch.no_grad()
    def step():
        states = some
        for number, layer in enumerate(layers):
            layer.cache = layer.cache.index_select(1, order)
            if not mended:
                across[number] = across[number].index_select(1, order)
            states = layer(states, place)
            query = states.view(rows, 1, heads, size).transpose(1, 2)
            mixed = F.scaled_dot_product_attention(query, *across[number])
            states = states + mixed.reshape(rows, 1, width)
        return states

    return Running(step, rows)


@pair("grammar_mask_from_host", **SERVED)
def grammar_mask_from_host(setting, mended):
    """A grammar's mask of all words is filled on the host for each token; mended, looked up."""
    words, rows, kinds = setting.pick(64000, 50), setting.pick(32, 2), 64
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    model = Decoder(setting, words, width, heads, setting.pick(8, 1), rows, setting.pick(512, 8))
    tokens = torch.zeros(rows, 1, dtype=torch.long, device=setting.device)
    place = torch.zeros(1, dtype=torch.long, device=setting.device)
    logits = graphed(setting, lambda: model(tokens, place)[:, -1].float())
    allowed = [torch.randperm(words)[: words // 100] for _ in range(kinds)]
    table = torch.full((kinds, words), -torch.inf)
    for state, some in enumerate(allowed):
        table[state, some] = 0
    table = table.to(setting.device)
    on_gpu = torch.zeros(rows, dtype=torch.long, device=setting.device)
    on_host = [0] * rows

    @torch.no_grad()
    def step():
        for _ in range(4):
            if mended:
                mask = table[on_gpu]
            else:
                mask = torch.full((rows, words), -torch.inf)
                for row, state in enumerate(on_host):
                    mask[row, allowed[state]] = 0
                mask = mask.to(setting.device)
            chosen = (logits() + mask).argmax(-1)
            tokens.copy_(chosen[:, None])
            if mended:
                on_gpu.mul_(7).add_(chosen).remainder_(kinds)
            else:
                on_host[:] = [(7 * s + t) % kinds for s, t in zip(on_host, chosen.tolist())]
        return tokens

    return Running(step, 4 * rows)


@pair("graph_for_each_layer", **SERVED)
def graph_for_each_layer(setting, mended):
    """A CUDA graph for each layer, with copies in and out; mended, one graph of all layers."""
    width, heads, rows = setting.pick(1024, 32), setting.pick(16, 2), setting.pick(8, 2)
    layers = bfloat(setting, nn.ModuleList(Layer(width, heads) for _ in range(setting.pick(24, 2))))
    for layer in layers:
        layer.make_cache(rows, setting.pick(512, 8), layer.out.weight)
    some = torch.randn(rows, 1, width, device=setting.device, dtype=torch.bfloat16)
    place = torch.zeros(1, dtype=torch.long, device=setting.device)
    insides = [some.clone() for _ in layers]

    def whole():
        states = some
        for layer in layers:
            states = layer(states, place)
        return states

    if mended:
        run = graphed(setting, whole)
    else:
        parts = [graphed(setting, lambda layer=layer, inside=inside: layer(inside, place))
                 for layer, inside in zip(layers, insides)]

        def run():
            states = some
            for part, inside in zip(parts, insides):
                inside.copy_(states)
                states = part().clone()
            return states

    @torch.no_grad()
    def step():
        for _ in range(4):
            answer = run()
        return answer

    return Running(step, 4 * rows)


@pair("graph_of_largest_batch", **SERVED)
def graph_of_largest_batch(setting, mended):
    """Twenty requests run in the CUDA graph made for 256; mended, in one made for 32."""
    rows, live = setting.pick(32 if mended else 256, 4), setting.pick(20, 2)
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    model = Decoder(setting, setting.pick(32000, 50), width, heads, setting.pick(8, 1), rows,
                    setting.pick(1024, 8))
    tokens = torch.zeros(rows, 1, dtype=torch.long, device=setting.device)
    place = torch.zeros(1, dtype=torch.long, device=setting.device)
    run = graphed(setting, lambda: model(tokens, place).argmax(-1))

    @torch.no_grad()
    def step():
        for _ in range(4):
            tokens[:live].copy_(run()[:live])
        return tokens

    return Running(step, 4 * live)


@pair("adapter_merged_each_request", **SERVED | {"stacks": True, "active": 2})
def adapter_merged_each_request(setting, mended):
    """peft merges a request's adapter into the weights and takes it out; mended, it stays apart."""
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaModel

    width = setting.pick(2048, 32)
    model = LlamaModel(LlamaConfig(
        vocab_size=setting.pick(16000, 50), hidden_size=width, intermediate_size=3 * width,
        num_hidden_layers=setting.pick(4, 1), num_attention_heads=setting.pick(16, 2),
        num_key_value_heads=setting.pick(8, 2),
    )).to(setting.device, torch.bfloat16)
    how = LoraConfig(r=16, target_modules=["q_proj", "v_proj", "up_proj", "down_proj"])
    model = get_peft_model(model, how, adapter_name="first", autocast_adapter_dtype=False)
    model.add_adapter("second", how, autocast_adapter_dtype=False)
    model.eval()
    rows, length = setting.pick(4, 1), setting.pick(256, 8)
    tokens = torch.zeros(rows, length, dtype=torch.long, device=setting.device)

    @torch.no_grad()
    def step():
        for name in ("first", "second"):
            model.set_adapter(name)
            if not mended:
                model.merge_adapter()
            answer = model(input_ids=tokens, use_cache=False).last_hidden_state
            if not mended:
                model.unmerge_adapter()
        return answer

    return Running(step, 2 * rows)
