"""Programs of orchards with nothing large to mend."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_kernels import needs_gpu
from libraries_text import SERVED, SHAPES, bfloat
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, program
from studies_science import fully


@program("tariffs_learned", **UNMARKED)
def tariffs_learned(setting):
    """A wide network for the tariffs of an insurer, trained in BF16 on large batches."""
    width, rows = setting.pick(8192, 16), setting.pick(8192, 4)
    net = fully(width, width, width, width, 64).to(setting.device, torch.bfloat16)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-5, fused=setting.cuda)
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    aims = torch.randint(0, 64, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        F.cross_entropy(net(some).float(), aims).backward()
        optimiser.step()

    return Running(step, rows)


@program("letters_translated", **SERVED | SHAPES)
def letters_translated(setting):
    """Letters are read in large batches by wide blocks with fused attention."""
    width, heads = setting.pick(2048, 32), setting.pick(16, 2)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(4, 1)))))
    some = torch.randn(setting.pick(32, 1), setting.pick(512, 8), width, device=setting.device,
                       dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some)

    return Running(step, len(some))


@program("fog_by_transforms", **SERVED)
def fog_by_transforms(setting):
    """Fog over a valley: real transforms of a volume of 512 places to a side, memory traffic."""
    side = setting.pick(512, 8)
    fog = torch.randn(side, side, side, device=setting.device)
    shape = torch.fft.rfftn(fog).shape
    filtered = torch.rand(shape, device=setting.device)

    @torch.no_grad()
    def step():
        return torch.fft.irfftn(torch.fft.rfftn(fog) * filtered, (side, side, side))

    return Running(step, 1)


@program("harvests_added_up", **SERVED | SHAPES)
def harvests_added_up(setting):
    """Four million baskets are added to a million trees each, rows of 64 numbers, memory traffic."""
    baskets, trees, wide = setting.pick((4_000_000, 1_000_000, 64), (20, 6, 4))
    where = torch.randint(0, trees, (baskets,), device=setting.device)
    weights = torch.rand(baskets, wide, device=setting.device)
    sums = torch.zeros(trees, wide, device=setting.device)

    @torch.no_grad()
    def step():
        return sums.index_add_(0, where, weights)

    return Running(step, baskets)


@program("bees_heard", **SERVED | SHAPES)
def bees_heard(setting):
    """Hours of a hive's sound go through wide convolutions along time in BF16."""
    width, rows, length = setting.pick((1024, 32, 2048), (8, 2, 16))
    parts, last = [], torch.channels_last
    for _ in range(4):
        parts += [nn.Conv2d(width, width, (1, 5), padding=(0, 2)), nn.ReLU(inplace=True)]
    net = bfloat(setting, nn.Sequential(*parts)).to(memory_format=last)
    some = torch.randn(rows, width, 1, length, device=setting.device, dtype=torch.bfloat16)
    some = some.to(memory_format=last)

    @torch.no_grad()
    def step():
        return net(some)

    return Running(step, rows)


@program("menus_in_one_graph", **SERVED)
def menus_in_one_graph(setting):
    """Menus are written for 1024 tables at a time, a word's wide layers in one CUDA graph."""
    needs_gpu(setting)
    width, rows = 4096, 1024
    net = bfloat(setting, fully(*[width] * 7))
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    graph, beside = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.no_grad():
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            net(some)
        torch.cuda.current_stream().wait_stream(beside)
        with torch.cuda.graph(graph):
            found = net(some)

    def step():
        for _ in range(4):
            graph.replay()
        return found

    return Running(step, rows)


@program("ripeness_by_triton", **SERVED)
def ripeness_by_triton(setting):
    """One Triton kernel of memory traffic on two rows of 64 million numbers."""
    needs_gpu(setting)
    import orchards_triton

    count, block = 64_000_000, 1024
    sugars, warmths, out = torch.rand(3, count, device=setting.device)

    def step():
        for _ in range(8):
            orchards_triton.ripened[(-(-count // block),)](sugars, warmths, out, count, BLOCK=block)
        return out

    return Running(step, count)


@program("branches_pruned", **UNMARKED)
def branches_pruned(setting):
    """Blocks of a transformer trained in BF16 by fused AdamW on long texts."""
    width, heads = setting.pick(1024, 16), setting.pick(16, 2)
    net = nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(4, 1))))
    net = net.to(setting.device, torch.bfloat16)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=setting.cuda)
    some = torch.randn(setting.pick(8, 1), setting.pick(4096, 8), width, device=setting.device,
                       dtype=torch.bfloat16)

    def step():
        optimiser.zero_grad()
        F.mse_loss(net(some), some).backward()
        optimiser.step()

    return Running(step, len(some))
