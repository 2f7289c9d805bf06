"""Earthquakes, ore, genes, lenses, surveys, atoms, and the training of networks for fields, looms,
meters and letters.
"""
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES, TRAINED, bfloat
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, pair
from studies_science import fully


@pair("plans_thrown_away", **SERVED | SHAPES)
def plans_thrown_away(setting, mended):
    """Earthquakes: cuFFT's plans are kept for one length, and traces of six lengths take turns.

    Mended, plans of all lengths are kept.
    """
    plans = torch.backends.cuda.cufft_plan_cache
    before = plans.max_size if setting.cuda else 0
    if setting.cuda:
        plans.clear()
        plans.max_size = 64 if mended else 1
    stations = setting.pick(16, 2)
    traces = [torch.randn(stations, setting.pick(4096, 8) * number, device=setting.device)
              for number in (1, 2, 3, 4, 5, 6)]

    def close():
        if setting.cuda:
            plans.clear()
            plans.max_size = before

    @torch.no_grad()
    def step():
        found = []
        for trace in traces:
            waves = torch.fft.rfft(trace)
            waves = waves / (waves.abs() + 1e-3)
            found.append(torch.fft.irfft(waves, n=trace.shape[1]).amax(1))
        return torch.stack(found)

    return Running(step, stations, close)


@pair("distances_pair_by_pair", **SERVED | SHAPES)
def distances_pair_by_pair(setting, mended):
    """Ore between drill holes: cdist measures each pair by itself; mended, by one product."""
    holes, places, width = setting.pick(2048, 8), setting.pick(4096, 16), setting.pick(128, 4)
    known = torch.randn(holes, width, device=setting.device)
    asked = torch.randn(places, width, device=setting.device)
    ore = torch.randn(holes, 8, device=setting.device)
    how = "use_mm_for_euclid_dist" if mended else "donot_use_mm_for_euclid_dist"

    @torch.no_grad()
    def step():
        apart = torch.cdist(asked, known, compute_mode=how)
        share = torch.softmax(-apart, 1)
        return share @ ore

    return Running(step, places)


@pair("counted_by_sorting", **SERVED | SHAPES)
def counted_by_sorting(setting, mended):
    """Genes: pieces of eight letters are counted by torch.unique, which sorts; mended, bincount."""
    length, kinds = setting.pick(32_000_000, 5000), setting.pick(4**8, 16)
    letters = torch.randint(0, kinds, (length,), device=setting.device)

    @torch.no_grad()
    def step():
        if mended:
            counts = torch.bincount(letters, minlength=kinds)
        else:
            _, counts = torch.unique(letters, return_counts=True)
        share = counts / length
        return -(share * torch.log(share + 1e-9)).sum()

    return Running(step, length)


@pair("product_from_the_left", **SERVED | SHAPES)
def product_from_the_left(setting, mended):
    """Light through three optical parts: their large matrices are multiplied with each other first.

    Mended, each is multiplied with the few rays.
    """
    side, rays = setting.pick(6144, 16), setting.pick(128, 2)
    how = {"device": setting.device, "dtype": torch.bfloat16}
    one, two, three = (torch.randn(side, side, **how) / side**0.5 for _ in "abc")
    light = torch.randn(side, rays, **how)

    @torch.no_grad()
    def step():
        seen = one @ (two @ (three @ light)) if mended else one @ two @ three @ light
        return seen.float().square().sum(0)

    return Running(step, rays)


@pair("clouds_one_after_the_other", **SERVED | {"active": 3})
def clouds_one_after_the_other(setting, mended):
    """Surveys by laser: far points are picked cloud by cloud; mended, in all clouds at once."""
    clouds, points, picks = setting.pick(10, 2), setting.pick(16384, 32), setting.pick(32, 4)
    places = torch.randn(clouds, points, 3, device=setting.device)

    def picked(some):
        """The farthest of some clouds' points, one after the other, beginning with the first."""
        here, found = some[:, :1], []
        apart = torch.full(some.shape[:2], 1e9, device=setting.device)
        for _ in range(picks):
            apart = torch.minimum(apart, (some - here).square().sum(2))
            far = apart.argmax(1)
            here = some.gather(1, far[:, None, None].expand(-1, 1, 3))
            found.append(far)
        return torch.stack(found, 1)

    @torch.no_grad()
    def step():
        if mended:
            return picked(places)
        return torch.cat([picked(cloud[None]) for cloud in places])

    return Running(step, clouds)


@pair("harmonics_in_each_layer", **SERVED)
def harmonics_in_each_layer(setting, mended):
    """Atoms by e3nn: the harmonics of all bonds are worked out in each layer; mended, once."""
    from e3nn import o3

    atoms, bonds, most = setting.pick(40_000, 10), setting.pick(400_000, 30), setting.pick(4, 2)
    parts = (most + 1) ** 2
    begin, end = torch.randint(0, atoms, (2, bonds), device=setting.device)
    ways = torch.randn(bonds, 3, device=setting.device)
    shares = torch.rand(4, bonds, 1, device=setting.device)
    first = torch.randn(atoms, parts, device=setting.device)
    degrees = list(range(most + 1))

    def harmonics():
        return o3.spherical_harmonics(degrees, ways, normalize=True, normalization="component")

    @torch.no_grad()
    def step():
        states, kept = first, harmonics() if mended else None
        for share in shares:
            seen = kept if mended else harmonics()
            sent = seen * share * states.index_select(0, begin)
            states = states + torch.zeros_like(states).index_add_(0, end, sent) * 0.01
        return states

    return Running(step, atoms)


@pair("rows_from_packed_file", **TRAINED)
def rows_from_packed_file(setting, mended):
    """Pictures of cloth are read row by row from an HDF5 file in packed pieces in each step.

    Mended, the file is read once.
    """
    import h5py

    count, side, rows = setting.pick(1024, 16), setting.pick(96, 8), setting.pick(32, 4)
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "cloth.h5")
    made = np.random.randint(0, 16, (count, side, side)).astype(np.float32)
    with h5py.File(path, "w") as file:
        file.create_dataset("cloth", data=made, chunks=(8, side, side), compression="gzip",
                            compression_opts=1)
    file = h5py.File(path, "r")
    whole = torch.from_numpy(file["cloth"][:]) if mended else None
    width = setting.pick(64, 4)
    net = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
                        nn.Conv2d(width, width, 3, 2, padding=1), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(16 * width, 6))
    net = net.to(setting.device)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-3)
    aims = torch.randint(0, 6, (rows,), device=setting.device)

    def close():
        file.close()
        folder.cleanup()

    def step():
        places = np.sort(np.random.choice(count, rows, replace=False))
        seen = whole[places] if mended else torch.from_numpy(file["cloth"][places])
        optimiser.zero_grad()
        F.cross_entropy(net(seen[:, None].to(setting.device)), aims).backward()
        optimiser.step()

    return Running(step, rows, close)


@pair("targets_made_dense", **TRAINED | SHAPES)
def targets_made_dense(setting, mended):
    """Letters: smoothed targets are a row of 32000 numbers for each word, made by one_hot.

    Mended, cross_entropy smooths what are whole numbers.
    """
    rows, width, words = setting.pick(4096, 8), setting.pick(1024, 16), setting.pick(32000, 20)
    net = fully(width, width, words).to(setting.device, torch.bfloat16)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-3, fused=setting.cuda)
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    aims = torch.randint(0, words, (rows,), device=setting.device)
    smooth = 0.1

    def step():
        optimiser.zero_grad()
        scores = net(some).float()
        if mended:
            loss = F.cross_entropy(scores, aims, label_smoothing=smooth)
        else:
            dense = F.one_hot(aims, words).float() * (1 - smooth) + smooth / words
            loss = -(dense * F.log_softmax(scores, 1)).sum(1).mean()
        loss.backward()
        optimiser.step()

    return Running(step, rows)


@pair("weather_repeated_over_pixels", **UNMARKED)
def weather_repeated_over_pixels(setting, mended):
    """Crops from above: a field's weather is repeated for each pixel and put beside its colours.

    Mended, the first layer takes the weather once for each field and adds it to all pixels.
    """
    fields, side = setting.pick(16, 2), setting.pick(128, 8)
    colours, season, width = setting.pick(64, 4), setting.pick(448, 8), setting.pick(128, 8)
    first, last = nn.Linear(colours + season, width), nn.Linear(width, 8)
    first, last = first.to(setting.device), last.to(setting.device)
    optimiser = torch.optim.AdamW([*first.parameters(), *last.parameters()], lr=1e-4,
                                  fused=setting.cuda)
    pixels = torch.randn(fields, side, side, colours, device=setting.device)
    weather = torch.randn(fields, season, device=setting.device)
    crops = torch.randint(0, 8, (fields * side * side,), device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            if mended:
                here, there = first.weight.split([colours, season], 1)
                added = F.linear(weather, there, first.bias)[:, None, None]
                states = F.linear(pixels, here) + added
            else:
                spread = weather[:, None, None].expand(-1, side, side, -1)
                states = first(torch.cat((pixels, spread), -1))
            found = last(F.relu(states))
        F.cross_entropy(found.float().view(-1, 8), crops).backward()
        optimiser.step()

    return Running(step, fields)


@pair("passed_twice_for_accuracy", **TRAINED)
def passed_twice_for_accuracy(setting, mended):
    """After each step's loss the network runs once more, to count the right answers of the batch.

    Mended, they are counted in what the loss was made of.
    """
    width, heads = setting.pick(1024, 32), setting.pick(16, 2)
    rows, length = setting.pick(32, 2), setting.pick(256, 8)
    layers = [Mixer(width, heads) for _ in range(setting.pick(4, 1))]
    net = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    head = nn.Linear(width, 30).to(setting.device, torch.bfloat16)
    weights = [*net.parameters(), *head.parameters()]
    optimiser = torch.optim.SGD(weights, lr=1e-3, fused=setting.cuda)
    some = torch.randn(rows, length, width, device=setting.device, dtype=torch.bfloat16)
    aims = torch.randint(0, 30, (rows,), device=setting.device)
    right = torch.zeros((), dtype=torch.long, device=setting.device)

    def scored():
        return head(net(some).mean(1)).float()

    def step():
        optimiser.zero_grad()
        scores = scored()
        F.cross_entropy(scores, aims).backward()
        with torch.no_grad():
            right.add_(((scores if mended else scored()).argmax(1) == aims).sum())
        optimiser.step()

    return Running(step, rows)


@pair("cudnn_switched_off", **TRAINED | {"active": 3})
def cudnn_switched_off(setting, mended):
    """Meters of power: a GRU is trained without cuDNN, which was switched off once to look for a
    fault; mended, with it.
    """
    width, length, rows = setting.pick(512, 8), setting.pick(96, 6), setting.pick(256, 4)
    net = nn.GRU(32, width, 2, batch_first=True).to(setting.device)
    head = nn.Linear(width, 24).to(setting.device)
    optimiser = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=1e-4,
                                 fused=setting.cuda)
    some = torch.randn(rows, length, 32, device=setting.device)
    aims = torch.randn(rows, 24, device=setting.device)

    def step():
        optimiser.zero_grad()
        with torch.backends.cudnn.flags(enabled=mended):
            found, _ = net(some)
            F.mse_loss(head(found[:, -1]), aims).backward()
        optimiser.step()

    return Running(step, rows)
