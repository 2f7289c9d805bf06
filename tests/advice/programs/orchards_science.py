"""Telescopes, holograms, maps of land, colours and molecules."""
import torch
import torch.nn as nn

from libraries_text import SERVED, SHAPES
from setting import Running, pair


@pair("complex_for_real", **SERVED | SHAPES)
def complex_for_real(setting, mended):
    """Voltages of a radio telescope are real, but torch.fft.fft makes all places of them.

    Half of these are thrown away; mended, rfft.
    """
    beams, length = setting.pick(1024, 3), setting.pick(65536, 16)
    some = torch.randn(beams, length, device=setting.device)
    window = torch.hann_window(length, device=setting.device)

    @torch.no_grad()
    def step():
        seen = some * window
        if mended:
            return torch.fft.rfft(seen).abs().square().mean(0)
        power = torch.fft.fft(seen).abs().square()
        return power[:, :length // 2 + 1].mean(0)

    return Running(step, beams)


@pair("shifted_before_and_after", **SERVED)
def shifted_before_and_after(setting, mended):
    """A hologram goes from plane to plane; the field is shifted before and after each transform.

    Mended, what it is multiplied by was shifted once, and the field never.
    """
    side, planes = setting.pick(4096, 8), setting.pick(4, 2)
    field = torch.randn(side, side, device=setting.device, dtype=torch.complex64)
    lines = torch.linspace(-1, 1, side + 1, device=setting.device)[:side]
    turn = torch.polar(torch.ones(side, side, device=setting.device),
                       -20 * (lines[:, None].square() + lines.square()))
    turn_shifted = torch.fft.ifftshift(turn)

    @torch.no_grad()
    def step():
        here = field
        for _ in range(planes):
            if mended:
                here = torch.fft.ifft2(torch.fft.fft2(here) * turn_shifted)
                continue
            waves = torch.fft.fftshift(torch.fft.fft2(torch.fft.ifftshift(here)))
            here = torch.fft.fftshift(torch.fft.ifft2(torch.fft.ifftshift(waves * turn)))
        return here

    return Running(step, planes)


@pair("labels_in_64_bits", **SERVED | SHAPES)
def labels_in_64_bits(setting, mended):
    """A map of twelve kinds of land was made 64-bit whole numbers when it was read.

    Areas and borders of each kind are counted; mended, the bytes of the file.
    """
    high, wide, kinds = setting.pick(16384, 8), setting.pick(8192, 8), setting.pick(12, 2)
    land = torch.randint(0, kinds, (high, wide), device=setting.device, dtype=torch.uint8)
    land = land if mended else land.long()

    @torch.no_grad()
    def step():
        borders = (land[1:] != land[:-1]).sum() + (land[:, 1:] != land[:, :-1]).sum()
        return torch.stack([(land == kind).sum() for kind in range(kinds)] + [borders])

    return Running(step, 1)


@pair("turns_past_the_goal", **SERVED | {"active": 3})
def turns_past_the_goal(setting, mended):
    """Colours of one film are carried to another by 200 turns of Sinkhorn's method.

    Nothing changes any more after twenty; mended, 25 turns.
    """
    colours, turns = setting.pick(8192, 8), setting.pick(25 if mended else 200, 3)
    one, other = torch.rand(2, colours, 3, device=setting.device)
    kernel = torch.exp(-torch.cdist(one, other).square() / 0.2)
    share = torch.full((colours,), 1 / colours, device=setting.device)

    @torch.no_grad()
    def step():
        left = torch.ones_like(share)
        for _ in range(turns):
            right = share / (left @ kernel)
            left = share / (kernel @ right)
        return (left[:, None] * kernel * right) @ other

    return Running(step, colours)


@pair("forces_with_a_graph", **SERVED | SHAPES)
def forces_with_a_graph(setting, mended):
    """Forces of a molecule's run are slopes of an energy, with create_graph as in training.

    So slopes are made of operators that could be differentiated again; mended, without it.
    """
    atoms, wide, width = setting.pick(131072, 6), setting.pick(32, 4), setting.pick(256, 8)
    parts, high = [], wide
    for _ in range(4):
        parts += [nn.Linear(high, width), nn.SiLU()]
        high = width
    net = nn.Sequential(*parts, nn.Linear(width, 1)).to(setting.device).eval()
    net.requires_grad_(False)
    centres = torch.randn(3, wide, device=setting.device)
    first = torch.randn(atoms, 3, device=setting.device)
    places = [first, torch.zeros_like(first)]

    def step():
        here = places[0].detach().requires_grad_()
        energy = net(torch.sin(here @ centres)).sum()
        slope, = torch.autograd.grad(energy, here, create_graph=not mended)
        places[1] = places[1] * 0.99 - 1e-3 * slope.detach()
        places[0] = places[0] + 1e-3 * places[1]
        return places[0]

    return Running(step, atoms)
