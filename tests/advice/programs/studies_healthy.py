"""Studies with nothing large to mend."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES, TRAINED, bfloat
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, program
from studies_agents import blocks_of
from studies_loops import compiled, photographs
from studies_models import Experts, tower


@program("experts_together", **SERVED)
def experts_together(setting):
    """Eight wide experts of a layer by grouped products over many tokens."""
    width, rows = setting.pick(4096, 32), setting.pick(32768, 64)
    net = bfloat(setting, nn.Sequential(*(Experts(width, 2 * width, 8, True) for _ in "ab")))
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some)

    return Running(step, rows)


@program("preferences_learned", **TRAINED | SHAPES)
def preferences_learned(setting):
    """DPO: chosen and rejected texts in one pass of the policy and one of the reference."""
    width, depth, heads = setting.pick(2048, 32), setting.pick(4, 1), setting.pick(16, 2)
    policy, reference = (blocks_of(setting, width, depth, heads) for _ in "ab")
    reference.requires_grad_(False)
    optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-6, fused=setting.cuda)
    pairs, length = setting.pick(16, 2), setting.pick(1024, 4)
    both = torch.randn(2 * pairs, length, width, device=setting.device, dtype=torch.bfloat16)

    def margin(model):
        good, bad = model(both).float().mean((1, 2)).chunk(2)
        return good - bad

    def step():
        with torch.no_grad():
            known = margin(reference)
        optimiser.zero_grad()
        (-F.logsigmoid(0.1 * (margin(policy) - known))).mean().backward()
        optimiser.step()

    return Running(step, pairs)


@program("pictures_and_texts", **UNMARKED)
def pictures_and_texts(setting):
    """Two towers trained in BF16 to agree, 8192 pairs at once."""
    width, rows = setting.pick(4096, 16), setting.pick(8192, 4)
    left, right = (nn.Sequential(tower(width, 2), nn.Linear(width, setting.pick(1024, 8)))
                   .to(setting.device, torch.bfloat16) for _ in "ab")
    optimiser = torch.optim.AdamW([*left.parameters(), *right.parameters()], lr=1e-5,
                                  fused=setting.cuda)
    one, two = torch.randn(2, rows, width, device=setting.device, dtype=torch.bfloat16)
    aim = torch.arange(rows, device=setting.device)

    def step():
        optimiser.zero_grad()
        alike = F.normalize(left(one), dim=1) @ F.normalize(right(two), dim=1).T * 20
        (F.cross_entropy(alike, aim) + F.cross_entropy(alike.T, aim)).backward()
        optimiser.step()

    return Running(step, rows)


@program("long_text_read", **SERVED)
def long_text_read(setting):
    """A text of 32768 places is read by causal attention in BF16."""
    width, heads, length = setting.pick(4096, 32), setting.pick(32, 2), setting.pick(32768, 16)
    layers = bfloat(setting, nn.ModuleList(Mixer(width, heads) for _ in range(2)))
    some = torch.randn(1, length, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        states = some
        for layer in layers:
            parts = layer.qkv(layer.norms[0](states)).view(1, length, 3, heads, -1)
            mixed = F.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), is_causal=True)
            states = states + layer.out(mixed.transpose(1, 2).reshape(1, length, width))
            states = states + layer.down(F.gelu(layer.up(layer.norms[1](states))))
        return states

    return Running(step, length)


@program("forecast_by_spectra", **SERVED)
def forecast_by_spectra(setting):
    """A neural operator's two layers on a grid of the weather: spectra and products of channels."""
    rows, high, wide = setting.pick(4, 1), setting.pick(720, 8), setting.pick(1440, 16)
    width, kept = setting.pick(64, 4), setting.pick(96, 3)
    spectra = [torch.randn(kept, kept, width, width, dtype=torch.complex64, device=setting.device)
               for _ in "ab"]
    field = torch.randn(rows, width, high, wide, device=setting.device)

    @torch.no_grad()
    def step():
        states = field
        for weight in spectra:
            waves = torch.fft.rfft2(states)
            few = torch.einsum("rchw,hwcd->rdhw", waves[:, :, :kept, :kept], weight)
            found = torch.zeros_like(waves)
            found[:, :, :kept, :kept] = few
            states = torch.fft.irfft2(found, s=(high, wide))
        return states

    return Running(step, rows)


@program("voice_from_spectra", **SERVED)
def voice_from_spectra(setting):
    """A vocoder's convolutions over time in BF16, channels last, for 64 voices."""
    width = setting.pick(512, 16)
    layers = []
    for _ in range(setting.pick(6, 1)):
        layers += [nn.Conv2d(width, width, (1, 7), padding=(0, 3)), nn.LeakyReLU(0.1, inplace=True)]
    net = bfloat(setting, nn.Sequential(*layers)).to(memory_format=torch.channels_last)
    some = torch.randn(setting.pick(64, 1), width, 1, setting.pick(1024, 16), device=setting.device,
                       dtype=torch.bfloat16).to(memory_format=torch.channels_last)

    @torch.no_grad()
    def step():
        return net(some)

    return Running(step, len(some))


@program("photos_loaded_ahead", **TRAINED)
def photos_loaded_ahead(setting):
    """ResNet-152 trained in mixed precision, twelve workers and pinned copies ahead of it."""
    from torchvision.models import resnet18, resnet152

    net = resnet18 if setting.tiny else resnet152
    return photographs(setting, net, setting.pick(96, 2), setting.pick(12, 1))


@program("compiled_with_graphs", **SERVED)
def compiled_with_graphs(setting):
    """Blocks of a transformer compiled with mode="reduce-overhead", for 64 texts."""
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(4, 1)))))
    some = torch.randn(setting.pick(64, 1), setting.pick(512, 8), width, device=setting.device,
                       dtype=torch.bfloat16)
    run = compiled(setting, net, mode="reduce-overhead")

    @torch.no_grad()
    def step():
        return run(some)

    return Running(step, len(some))
