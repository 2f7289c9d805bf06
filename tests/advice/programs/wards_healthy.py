"""Programs of wards with nothing large to mend."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_kernels import needs_gpu
from libraries_text import SERVED, SHAPES
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, program
from studies_science import fully


@program("charters_learned", **UNMARKED)
def charters_learned(setting):
    """Charters of towns: wide blocks of a transformer trained in BF16 with fused attention."""
    width, heads = setting.pick(2048, 32), setting.pick(16, 2)
    net = nn.Sequential(Mixer(width, heads), Mixer(width, heads))
    net = net.to(setting.device, torch.bfloat16)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-4, fused=setting.cuda)
    some = torch.randn(setting.pick(16, 1), setting.pick(1024, 8), width, device=setting.device,
                       dtype=torch.bfloat16)

    def step():
        optimiser.zero_grad()
        net(some).float().square().mean().backward()
        optimiser.step()

    return Running(step, len(some))


@program("visits_looked_up", **SERVED | SHAPES)
def visits_looked_up(setting):
    """Bags of visits summed by embedding_bag from a table of 1 GB, and wide layers on them."""
    count, wide, rows = setting.pick(1_000_000, 50), setting.pick(256, 8), setting.pick(16384, 4)
    table = torch.randn(count, wide, device=setting.device)
    places = torch.randint(0, count, (rows, setting.pick(64, 4)), device=setting.device)
    net = fully(wide, setting.pick(4096, 16), setting.pick(4096, 16), 16)
    net = net.to(setting.device, torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(F.embedding_bag(places, table, mode="sum").to(torch.bfloat16))

    return Running(step, rows)


@program("warmth_by_triton", **SERVED)
def warmth_by_triton(setting):
    """Warmth along a line of 64 million places, eight turns of one Triton kernel."""
    needs_gpu(setting)
    import wards_triton

    count, block = 64_000_000, 1024
    both = list(torch.rand(2, count, device=setting.device))

    def step():
        for _ in range(8):
            wards_triton.spread[(-(-count // block),)](both[0], both[1], count, 0.1, BLOCK=block)
            both.reverse()
        return both[0]

    return Running(step, count)


@program("slides_copied_beside", **SERVED)
def slides_copied_beside(setting):
    """Slides of a microscope are copied from pinned memory beside the network of those before."""
    width, rows = setting.pick(4096, 16), setting.pick(8192, 4)
    net = fully(width, width, width, width, width).to(setting.device, torch.bfloat16)
    slides = [torch.randn(rows // 4, width, dtype=torch.bfloat16) for _ in range(2)]
    if setting.cuda:
        slides = [slide.pin_memory() for slide in slides]
    here = [slide.to(setting.device) for slide in slides]
    beside, turn = setting.stream(), [0]

    @torch.no_grad()
    def step():
        turn[0] += 1
        now, then = turn[0] % 2, (turn[0] + 1) % 2
        if setting.cuda:
            beside.wait_stream(torch.cuda.current_stream())
        with setting.on(beside):
            here[then].copy_(slides[then], non_blocking=True)
        found = net(here[now].repeat(4, 1))
        if setting.cuda:
            torch.cuda.current_stream().wait_stream(beside)
        return found

    return Running(step, rows)
