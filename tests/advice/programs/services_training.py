"""Training as scripts do it: plain loops, accelerate, torchvision and timm, most without marks."""
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SHAPES, TRAINED
from setting import Running, pair

UNMARKED = TRAINED | {"marks": False}


@functools.cache
def accelerator():
    """One for all programs of the process, as its state is shared anyway."""
    from accelerate import Accelerator

    return Accelerator(mixed_precision="bf16")


@pair("dataset_on_gpu", **UNMARKED)
def dataset_on_gpu(setting, mended):
    """A DataLoader takes samples one by one from tensors on the GPU; mended, a batch at once."""
    from torch.utils.data import DataLoader, TensorDataset

    rows, width = setting.pick(256, 8), setting.pick(1024, 16)
    values = torch.randn(setting.pick(200_000, 100), 256, device=setting.device)
    labels = torch.randint(0, 10, (len(values),), device=setting.device)
    loader = DataLoader(TensorDataset(values, labels), rows, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                          nn.Linear(width, 10)).to(setting.device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=setting.cuda)

    def endless():
        while True:
            if not mended:
                yield from loader
                continue
            order = torch.randperm(len(values), device=setting.device)
            for places in order.split(rows)[: len(values) // rows]:
                yield values[places], labels[places]

    batches = endless()

    def step():
        for _ in range(2):
            some, aim = next(batches)
            optimiser.zero_grad()
            F.cross_entropy(model(some), aim).backward()
            optimiser.step()

    return Running(step, 2 * rows)


@pair("gradients_zeroed", **TRAINED)
def gradients_zeroed(setting, mended):
    """zero_grad(set_to_none=False): gradients are cleared, then added to; mended, made anew."""
    width = setting.pick(6144, 16)
    model = nn.Sequential(*(part for _ in range(6)
                            for part in (nn.Linear(width, width), nn.GELU())))
    model = model.to(setting.device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=setting.cuda)
    rows = setting.pick(512, 4)
    some = torch.randn(rows, width, device=setting.device)

    def step():
        optimiser.zero_grad(set_to_none=mended)
        with setting.autocast():
            loss = F.mse_loss(model(some), some)
        loss.backward()
        optimiser.step()

    return Running(step, rows)


@pair("penalty_by_hand", **UNMARKED)
def penalty_by_hand(setting, mended):
    """The squares of each weight are added to the loss; mended, the optimiser's weight_decay."""
    from torchvision.models import resnet50

    model = resnet50(weights=None).to(setting.device, memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=setting.cuda,
                                weight_decay=2e-4 if mended else 0)
    rows, side = setting.pick(64, 2), setting.pick(128, 64)
    pictures = torch.randn(rows, 3, side, side, device=setting.device)
    pictures = pictures.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            loss = F.cross_entropy(model(pictures), labels)
        if not mended:
            loss = loss + 1e-4 * sum(weight.pow(2).sum() for weight in model.parameters())
        loss.backward()
        optimiser.step()

    return Running(step, rows)


@pair("group_for_each_parameter", **UNMARKED)
def group_for_each_parameter(setting, mended):
    """AdamW has a group for each parameter of timm's ViT; mended, one for each layer's rate."""
    import timm

    model = timm.create_model("vit_small_patch16_224", num_classes=100,
                              depth=setting.pick(12, 1)).to(setting.device)
    groups = {}
    for name, weight in model.named_parameters():
        layer = int(name.split(".")[1]) if name.startswith("blocks") else -1
        rate = 1e-3 * 0.75 ** (12 - layer)
        groups.setdefault(layer if mended else name, {"params": [], "lr": rate})
        groups[layer if mended else name]["params"].append(weight)
    optimiser = torch.optim.AdamW([*groups.values()], weight_decay=0.05)
    rows = setting.pick(48, 1)
    pictures = torch.randn(rows, 3, 224, 224, device=setting.device)
    labels = torch.randint(0, 100, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        optimiser.step()

    return Running(step, rows)


def denoiser(width, depth):
    """Residual convolutions, as a denoiser of latents has them."""
    layers = [nn.Conv2d(8, width, 3, padding=1)]
    for _ in range(depth):
        layers += [nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1)]
    return nn.Sequential(*layers, nn.Conv2d(width, 8, 3, padding=1))


@pair("average_kept_on_host", **UNMARKED)
def average_kept_on_host(setting, mended):
    """accelerate; the moving average of weights is kept in host memory; mended, on the GPU."""
    run = accelerator()
    model = denoiser(setting.pick(512, 16), setting.pick(10, 1)).to(setting.device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=setting.cuda)
    model, optimiser = run.prepare(model, optimiser)
    home = setting.device if mended else "cpu"
    weights = [weight.detach() for weight in model.parameters()]
    average = [weight.to(home, copy=True) for weight in weights]
    rows, side = setting.pick(32, 1), setting.pick(32, 8)
    latents = torch.randn(rows, 8, side, side, device=setting.device)

    def step():
        optimiser.zero_grad()
        run.backward(F.mse_loss(model(latents), latents))
        optimiser.step()
        now = weights if mended else [weight.cpu() for weight in weights]
        torch._foreach_lerp_(average, now, 0.001)

    return Running(step, rows)


@pair("noise_made_on_host", **UNMARKED)
def noise_made_on_host(setting, mended):
    """accelerate; a diffusion model's noise and times are drawn on the host; mended, on the GPU."""
    run = accelerator()
    model = denoiser(setting.pick(128, 16), setting.pick(3, 1)).to(setting.device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=setting.cuda)
    model, optimiser = run.prepare(model, optimiser)
    rows, side = setting.pick(128, 1), setting.pick(64, 8)
    latents = torch.randn(rows, 8, side, side, device=setting.device)
    kept = torch.linspace(0.99, 0.01, 1000, device=setting.device)

    def step():
        where = {"device": setting.device} if mended else {}
        noise = torch.randn(latents.shape, **where).to(setting.device)
        times = torch.randint(0, 1000, (rows,), **where).to(setting.device)
        share = kept[times].view(-1, 1, 1, 1)
        optimiser.zero_grad()
        found = model(share.sqrt() * latents + (1 - share).sqrt() * noise)
        run.backward(F.mse_loss(found, noise))
        optimiser.step()

    return Running(step, rows)


@pair("pictures_decoded_on_host", **UNMARKED)
def pictures_decoded_on_host(setting, mended):
    """JPEGs are decoded on the processor one by one; mended, by the GPU all at once."""
    from torchvision.io import decode_jpeg, encode_jpeg
    from torchvision.models import resnet18

    rows, side = setting.pick(32, 2), setting.pick(384, 64)
    rough = F.interpolate(torch.rand(rows, 3, 24, 24) * 255, size=(side, side), mode="bicubic")
    files = [encode_jpeg(one, quality=90) for one in rough.clamp(0, 255).to(torch.uint8)]
    model = resnet18(weights=None).to(setting.device, memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=setting.cuda)
    labels = torch.randint(0, 1000, (rows,), device=setting.device)

    def step():
        if mended and setting.cuda:
            pictures = torch.stack(decode_jpeg(files, device="cuda"))
        else:
            pictures = torch.stack([decode_jpeg(file) for file in files]).to(setting.device)
        pictures = pictures.contiguous(memory_format=torch.channels_last).float() / 255
        optimiser.zero_grad()
        with setting.autocast():
            loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        optimiser.step()

    return Running(step, rows)


class Shared(nn.Module):
    """One block for all layers, as ALBERT has it."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = (nn.LayerNorm(width), nn.Linear(width, 4 * width),
                                         nn.Linear(4 * width, width))

    def forward(self, states):
        return states + self.down(F.gelu(self.up(self.norm(states))))


@pair("autocast_reentered", **UNMARKED | SHAPES | {"memory": True})
def autocast_reentered(setting, mended):
    """Autocast is entered around each use of shared weights, which it casts anew; mended, once."""
    width, rows = setting.pick(2048, 16), setting.pick(2048, 4)
    block = Shared(width).to(setting.device)
    optimiser = torch.optim.AdamW(block.parameters(), lr=1e-5, fused=setting.cuda)
    some = torch.randn(rows, width, device=setting.device)

    def whole(states):
        for _ in range(12):
            states = block(states)
        return states

    def parts(states):
        for _ in range(12):
            with setting.autocast():
                states = block(states)
        return states

    def step():
        optimiser.zero_grad()
        if mended:
            with setting.autocast():
                found = whole(some)
        else:
            found = parts(some)
        found.float().pow(2).mean().backward()
        optimiser.step()

    return Running(step, rows)


class Rotated(nn.Module):
    """A block whose attention turns queries and keys by angles."""

    def __init__(self, width, heads, keep):
        super().__init__()
        self.heads, self.keep = heads, keep
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def turned(self, states, wave):
        left, right = states.chunk(2, -1)
        return states * wave.cos() + torch.cat((-right, left), -1) * wave.sin()

    def forward(self, states, wave):
        rows, length, width = states.shape
        parts = self.qkv(self.norms[0](states)).view(rows, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        query, key = self.turned(query, wave), self.turned(key, wave)  # FP32, as the angles are
        if self.keep:
            query, key = query.to(value.dtype), key.to(value.dtype)
        value = value.to(query.dtype)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True).to(states.dtype)
        states = states + self.out(mixed.transpose(1, 2).reshape(rows, length, width))
        return states + self.down(F.gelu(self.up(self.norms[1](states))))


@pair("rotary_upcasts", **TRAINED | SHAPES)
def rotary_upcasts(setting, mended):
    """Angles in FP32 make queries, keys and attention FP32; mended, they are cast back."""
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    rows, length = setting.pick(4, 1), setting.pick(2048, 16)
    blocks = nn.ModuleList(Rotated(width, heads, mended) for _ in range(setting.pick(4, 1)))
    blocks = blocks.to(setting.device, torch.bfloat16)
    optimiser = torch.optim.AdamW(blocks.parameters(), lr=1e-5, fused=setting.cuda)
    some = torch.randn(rows, length, width, device=setting.device, dtype=torch.bfloat16)
    angles = torch.outer(torch.arange(length), 10000 ** -torch.linspace(0, 1, width // heads // 2))
    wave = torch.cat((angles, angles), -1).to(setting.device)

    def step():
        optimiser.zero_grad()
        states = some
        for block in blocks:
            states = block(states, wave)
        states.float().pow(2).mean().backward()
        optimiser.step()

    return Running(step, rows)


@pair("adapter_in_float32", **UNMARKED)
def adapter_in_float32(setting, mended):
    """peft makes the adapters of a BF16 model FP32 by default; mended, it leaves them BF16."""
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    width, words = setting.pick(2048, 32), setting.pick(16000, 100)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=words, hidden_size=width, intermediate_size=3 * width,
        num_hidden_layers=setting.pick(4, 1), num_attention_heads=setting.pick(16, 2),
        num_key_value_heads=setting.pick(8, 2),
    )).to(setting.device, torch.bfloat16)
    how = LoraConfig(r=64, target_modules=["q_proj", "v_proj", "o_proj", "up_proj", "down_proj"])
    model = get_peft_model(model, how, autocast_adapter_dtype=not mended)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=1e-4, fused=setting.cuda)
    rows, length = setting.pick(8, 1), setting.pick(512, 8)
    tokens = torch.randint(0, words, (rows, length), device=setting.device)

    def step():
        optimiser.zero_grad()
        model(input_ids=tokens, labels=tokens, use_cache=False).loss.backward()
        optimiser.step()

    return Running(step, rows)


@pair("graph_breaks_at_checks", **UNMARKED)
def graph_breaks_at_checks(setting, mended):
    """Each layer of a compiled network asks whether all is finite; mended, it does not ask."""
    width, rows = setting.pick(1024, 16), setting.pick(2048, 4)
    layers = nn.ModuleList(Shared(width) for _ in range(setting.pick(8, 2)))
    layers = layers.to(setting.device, torch.bfloat16)
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    def forward(states):
        for layer in layers:
            states = layer(states)
            if not mended and not torch.isfinite(states).all():
                raise ValueError("a layer's answer is not finite")
        return states.float().pow(2).mean()

    torch._dynamo.reset()
    compiled = torch.compile(forward, backend="inductor" if setting.cuda else "eager")

    @torch.no_grad()
    def step():
        return compiled(some)

    return Running(step, rows)
