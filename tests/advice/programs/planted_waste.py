"""Programs whose planted fault makes the GPU do work that it need not, and those mended."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from models import Block, ConvNet, language_loss
from planted_detours import stack_of_layers
from planted_host import text_trainer
from setting import Running, pair


@pair("anomaly_mode")
def anomaly_mode(setting, mended):
    """Anomaly detection is left on: each backward node is asked for NaN; mended, it is off."""
    model, tokens, optimiser = text_trainer(setting, layers=4, batch=2)

    def step():
        with torch.autograd.set_detect_anomaly(not mended):
            optimiser.zero_grad(set_to_none=True)
            language_loss(model, tokens).backward()
            optimiser.step()

    return Running(step, tokens.shape[0])


def recomputing(setting, mended, layers, batch, length, reentrant):
    width = setting.pick(1024, 32)
    blocks = nn.ModuleList(Block(width, setting.pick(16, 2)) for _ in range(layers))
    blocks = blocks.to(setting.device, torch.bfloat16)
    shape = (setting.pick(batch, 2), setting.pick(length, 8), width)
    hidden = torch.randn(shape, device=setting.device, dtype=torch.bfloat16, requires_grad=True)

    def step():
        blocks.zero_grad(set_to_none=True)
        state = hidden
        for block in blocks:
            state = block(state) if mended else checkpoint(block, state, use_reentrant=reentrant)
        state.float().square().mean().backward()

    return Running(step, shape[0])


@pair("recomputation")
def recomputation(setting, mended):
    """Every block runs again in the backward pass though memory is free; mended, once."""
    return recomputing(setting, mended, 4, 16, 1024, False)


@pair("recomputation_reentrant", shapes=False, marks=False)
def recomputation_reentrant(setting, mended):
    """The same by the older, reentrant way."""
    return recomputing(setting, mended, 3, 8, 2048, True)


def wide(setting, mended, type):
    width = setting.pick(2048, 16)
    kind = torch.bfloat16 if mended else type
    weight = torch.randn(width, width, device=setting.device, dtype=kind) / width**0.5
    hidden = torch.randn(setting.pick(8192, 8), width, device=setting.device, dtype=kind)
    return weight, hidden


@pair("fp64_products", measured=10)
def fp64_products(setting, mended):
    """A constant from NumPy made everything double; mended, it is bfloat16."""
    weight, hidden = wide(setting, mended, torch.float64)

    @torch.no_grad()
    def step():
        state = hidden
        for _ in range(4):
            state = torch.tanh(state @ weight)

    return Running(step, hidden.shape[0])


@pair("fp64_loss", marks=False)
def fp64_loss(setting, mended):
    """Only the similarity matrix is in double; mended, it is in bfloat16."""
    model, width = stack_of_layers(setting, 1024, 6)
    rows = setting.pick(8192, 8)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    kind = torch.bfloat16 if mended else torch.float64

    def step():
        model.zero_grad(set_to_none=True)
        features = F.normalize(model(hidden).float(), dim=1).to(kind)
        F.cross_entropy((features @ features.T).float() * 10,
                        torch.arange(rows, device=setting.device)).backward()

    return Running(step, rows)


def grouped(setting, mended, batch, queries, length, heads, groups):
    """Attention of `heads` query heads to keys and values of `heads / groups`."""
    batch, length = setting.pick(batch, 2), setting.pick(length, 16)
    device, kind = setting.device, torch.bfloat16
    query = torch.randn(batch, heads, queries, 128, device=device, dtype=kind)
    keys = torch.randn(batch, heads // groups, length, 128, device=device, dtype=kind)

    @torch.no_grad()
    def step():
        state = query
        for _ in range(6):
            if mended:
                state = F.scaled_dot_product_attention(state, keys, keys, enable_gqa=True)
            else:
                key = keys.repeat_interleave(groups, 1)
                value = keys.repeat_interleave(groups, 1)
                state = F.scaled_dot_product_attention(state, key, value)

    return Running(step, batch)


@pair("repeated_keys")
def repeated_keys(setting, mended):
    """Keys and values are copied for every query head; mended, attention groups the heads."""
    return grouped(setting, mended, 16, 128, 4096, 32, 8)


@pair("expanded_keys", shapes=False, marks=False)
def expanded_keys(setting, mended):
    """The same with expand and reshape, as Llama's repeat_kv does, in long prompts."""
    batch, length, heads, groups = setting.pick(8, 1), setting.pick(2048, 16), 32, 4
    kind = torch.bfloat16
    query = torch.randn(batch, heads, setting.pick(64, 4), 128, device=setting.device, dtype=kind)
    keys = torch.randn(batch, heads // groups, length, 128, device=setting.device, dtype=kind)

    def repeat(tensor):
        shape = (batch, heads // groups, groups, length, 128)
        return tensor[:, :, None].expand(shape).reshape(batch, heads, length, 128)

    @torch.no_grad()
    def step():
        state = query
        for _ in range(8):
            if mended:
                state = F.scaled_dot_product_attention(state, keys, keys, enable_gqa=True)
            else:
                state = F.scaled_dot_product_attention(state, repeat(keys), repeat(keys))

    return Running(step, batch)


@pair("permuted_norm")
def permuted_norm(setting, mended):
    """LayerNorm over channels by permute and contiguous there and back; mended, channels last."""
    channels, side = setting.pick(256, 8), setting.pick(56, 8)
    shape = (setting.pick(64, 2), channels, side, side)
    norm = nn.LayerNorm(channels).to(setting.device, torch.bfloat16)
    images = torch.randn(shape, device=setting.device, dtype=torch.bfloat16)
    images = images.permute(0, 2, 3, 1).contiguous() if mended else images

    @torch.no_grad()
    def step():
        state = images
        for _ in range(6):
            if mended:
                state = norm(state)
            else:
                moved = norm(state.permute(0, 2, 3, 1).contiguous())
                state = moved.permute(0, 3, 1, 2).contiguous()

    return Running(step, shape[0])


@pair("transposed_weights", marks=False)
def transposed_weights(setting, mended):
    """A constant weight is transposed and copied in every step; mended, it is used as it is."""
    width, rows = setting.pick(8192, 16), setting.pick(256, 4)
    weights = [torch.randn(width, width, device=setting.device).bfloat16() for _ in range(4)]
    hidden = torch.randn(rows, width, device=setting.device).bfloat16()

    @torch.no_grad()
    def step():
        state = hidden
        for weight in weights:
            state = state @ (weight.t() if mended else weight.t().contiguous())
            state = state * 0.01

    return Running(step, rows)


@pair("hot_index_add")
def hot_index_add(setting, mended):
    """A million rows are added to eight by atomics; mended, by a product with a one-hot matrix."""
    rows, width, groups = setting.pick(1 << 20, 64), 64, 8
    values = torch.randn(rows, width, device=setting.device)
    group = torch.randint(0, groups, (rows,), device=setting.device)
    hot = F.one_hot(group, groups).T.float().contiguous()

    @torch.no_grad()
    def step():
        if mended:
            return hot @ values
        return torch.zeros(groups, width, device=setting.device).index_add_(0, group, values)

    return Running(step, rows)


@pair("hot_scatter", shapes=False)
def hot_scatter(setting, mended):
    """A histogram of sixteen bins by scatter_add; mended, by comparison and sum."""
    rows, bins = setting.pick(1 << 24, 64), 16
    bin_of = torch.randint(0, bins, (rows,), device=setting.device)
    ones = torch.ones(rows, device=setting.device)
    numbers = torch.arange(bins, device=setting.device)

    @torch.no_grad()
    def step():
        if mended:
            return torch.stack([(bin_of == number).sum() for number in numbers.unbind()])
        return torch.zeros(bins, device=setting.device).scatter_add_(0, bin_of, ones)

    return Running(step, rows)


@pair("growing_cat")
def growing_cat(setting, mended):
    """A token is appended to the cache by cat, which copies it all; mended, into its place."""
    batch, heads, length = setting.pick(32, 1), 16, setting.pick(4096, 16)
    shape = (batch, heads, length, 128)
    cache = [torch.randn(shape, device=setting.device, dtype=torch.bfloat16) for _ in range(4)]
    token = torch.randn(batch, heads, 1, 128, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        state = token
        for held in cache:
            if mended:
                held[:, :, -1:] = state
                keys = held
            else:
                keys = torch.cat([held[:, :, :-1], state], 2)
            state = F.scaled_dot_product_attention(state, keys, keys)

    return Running(step, batch)


@pair("dense_embedding")
def dense_embedding(setting, mended):
    """A table of a million rows gets a dense gradient; mended, a sparse one."""
    rows, width = setting.pick(1_000_000, 100), setting.pick(128, 8)
    table = nn.Embedding(rows, width, sparse=mended).to(setting.device)
    asked = torch.randint(0, rows, (setting.pick(16384, 8),), device=setting.device)
    optimiser = torch.optim.SGD(table.parameters(), lr=0.1)

    def step():
        optimiser.zero_grad(set_to_none=True)
        table(asked).square().mean().backward()
        optimiser.step()

    return Running(step, asked.shape[0])


@pair("casts_of_weights", marks=False)
def casts_of_weights(setting, mended):
    """Weights in FP32 are cast by autocast in every step of inference; mended, stored as BF16."""
    model, width = stack_of_layers(setting, 4096, 8, torch.bfloat16 if mended else torch.float32)
    hidden = torch.randn(setting.pick(256, 4), width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        with setting.autocast():
            model(hidden)

    return Running(step, hidden.shape[0])


@pair("unfused_activation")
def unfused_activation(setting, mended):
    """GELU written out in eight operators; mended, the one that is there."""
    model, width = stack_of_layers(setting, 2048, 1)
    rows = setting.pick(32768, 8)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    def gelu(x):
        return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

    @torch.no_grad()
    def step():
        state = hidden
        for _ in range(4):
            state = model[0](state)
            state = F.gelu(state, approximate="tanh") if mended else gelu(state)

    return Running(step, rows)


@pair("few_long_rows")
def few_long_rows(setting, mended):
    """Softmax over eight rows of sixteen million, a block each; mended, in two levels."""
    rows, length = 8, setting.pick(1 << 24, 64)
    scores = torch.randn(rows, length, device=setting.device)

    @torch.no_grad()
    def step():
        if not mended:
            return torch.softmax(scores, 1)
        parts = scores.view(rows, -1, setting.pick(4096, 8))
        total = torch.logsumexp(torch.logsumexp(parts, 2), 1)
        return torch.exp(scores - total[:, None])

    return Running(step, rows)


@pair("convolutions_without_tf32")
def convolutions_without_tf32(setting, mended):
    """Convolutions in FP32 proper; mended, with TF32."""
    net = ConvNet(setting.pick((64, 128, 256, 512), (8, 8))).to(setting.device)
    batch, side = setting.pick(64, 2), setting.pick(224, 32)
    images = torch.randn(batch, 3, side, side, device=setting.device)

    @torch.no_grad()
    def step():
        torch.backends.cudnn.allow_tf32 = mended
        net(images)
        torch.backends.cudnn.allow_tf32 = True

    return Running(step, batch)


@pair("softmax_in_fp32")
def softmax_in_fp32(setting, mended):
    """Attention one by one, its softmax in FP32, as many published models do; mended, fused."""
    length = setting.pick(2048, 16)
    shape = (setting.pick(4, 1), 16, length, 64)
    query = torch.randn(shape, device=setting.device, dtype=torch.bfloat16, requires_grad=True)
    later = torch.full((length, length), float("-inf"), device=setting.device).triu(1).bfloat16()

    def step():
        query.grad = None
        state = query
        for _ in range(3):
            if mended:
                state = F.scaled_dot_product_attention(state, state, state, is_causal=True)
            else:
                scores = torch.matmul(state, state.mT) / 8.0 + later
                weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(state.dtype)
                state = torch.matmul(weights, state)
        state.float().square().mean().backward()

    return Running(step, shape[0])
