"""Programs of many trades with nothing large to mend."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_kernels import needs_gpu
from libraries_text import SERVED, SHAPES, TRAINED, bfloat
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, program
from studies_science import fully


@program("claims_judged", **UNMARKED)
def claims_judged(setting):
    """Claims of an insurance: wide layers trained in BF16 on large batches."""
    width, rows = setting.pick(4096, 16), setting.pick(16384, 4)
    net = fully(width, width, width, width, 64).to(setting.device, torch.bfloat16)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-3, fused=setting.cuda)
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    aims = torch.randint(0, 64, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        F.cross_entropy(net(some).float(), aims).backward()
        optimiser.step()

    return Running(step, rows)


@program("scores_of_music_read", **SERVED | SHAPES)
def scores_of_music_read(setting):
    """Sheets of music by wide blocks of a transformer with fused attention."""
    width, heads = setting.pick(2048, 32), setting.pick(16, 2)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(3))))
    some = torch.randn(setting.pick(16, 1), setting.pick(1024, 8), width, device=setting.device,
                       dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some)

    return Running(step, len(some))


@program("waves_of_the_sea", **SERVED)
def waves_of_the_sea(setting):
    """Transforms there and back of a large sea, whose lengths are powers of two."""
    seas, side = setting.pick(16, 1), setting.pick(2048, 16)
    high = torch.randn(seas, side, side, device=setting.device)

    @torch.no_grad()
    def step():
        return torch.fft.irfft2(torch.fft.rfft2(high), s=(side, side))

    return Running(step, seas)


@program("walls_inspected", **TRAINED)
def walls_inspected(setting):
    """Cracks in walls: convolutions trained in BF16, channels last."""
    width, side, rows = setting.pick(256, 8), setting.pick(64, 8), setting.pick(64, 2)
    parts = []
    for _ in range(6):
        parts += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU(inplace=True)]
    net = nn.Sequential(*parts).to(setting.device, torch.bfloat16,
                                   memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-4, fused=setting.cuda)
    some = torch.randn(rows, width, side, side, device=setting.device, dtype=torch.bfloat16)
    some = some.to(memory_format=torch.channels_last)

    def step():
        optimiser.zero_grad()
        net(some).float().square().mean().backward()
        optimiser.step()

    return Running(step, rows)


@program("premiums_by_triton", **SERVED)
def premiums_by_triton(setting):
    """A formula over 100 million contracts in one Triton kernel."""
    needs_gpu(setting)
    import trades_triton

    count, block = setting.pick(100_000_000, 1000), 1024
    age, much, out = (torch.rand(count, device=setting.device) for _ in "abc")

    def step():
        trades_triton.premium[(-(-count // block),)](age, much, out, count, BLOCK=block)
        return out

    return Running(step, count)


@program("answers_in_one_graph", **SERVED)
def answers_in_one_graph(setting):
    """A decoder's wide layers for 512 talks, sixteen words in one CUDA graph."""
    width, rows = setting.pick(4096, 16), setting.pick(512, 4)
    net = bfloat(setting, fully(width, 2 * width, width, 2 * width, width))
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def words():
        for _ in range(16):
            some.copy_(torch.tanh(net(some)))

    if not setting.cuda:
        return Running(words, rows)
    beside = setting.stream()
    beside.wait_stream(torch.cuda.current_stream())
    with setting.on(beside):
        words()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        words()
    return Running(graph.replay, rows)


@program("shelves_by_products", **SERVED | SHAPES)
def shelves_by_products(setting):
    """Finds the nearest goods on the shelves: one product with all goods, and the best of each part."""
    goods, rows, width = setting.pick(262_144, 32), setting.pick(4096, 4), setting.pick(1024, 8)
    shelf = torch.randn(goods, width, device=setting.device, dtype=torch.bfloat16)
    asked = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return (asked @ shelf.T).amax(1)

    return Running(step, rows)


@program("loads_by_lstm", **SERVED)
def loads_by_lstm(setting):
    """Loads of a grid by cuDNN's LSTM in BF16, 2048 series at once."""
    width, length, rows = setting.pick(1024, 8), setting.pick(64, 4), setting.pick(2048, 4)
    net = bfloat(setting, nn.LSTM(width, width, 2))
    some = torch.randn(length, rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some)[0]

    return Running(step, rows)
