"""Services and CuPy's programs that gpufathom records itself, run as recording.py says."""
import math
import queue
import random
import threading
import time

import recording


def device():
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def queue_polled(tiny, mended):
    """A server sleeps 3 ms whenever no request waits; mended, it waits in queue.get()."""
    import torch

    width, where = 64 if tiny else 2048, device()
    net = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(8)))
    net = net.to(where, torch.bfloat16).eval()
    some = torch.randn(256, width, device=where, dtype=torch.bfloat16)
    asked, answered = queue.Queue(), queue.Queue()

    @torch.no_grad()
    def serve():
        while True:
            if mended:
                number = asked.get()
            elif asked.empty():
                time.sleep(0.003)
                continue
            else:
                number = asked.get()
            answered.put((number, net(some).float().mean(1).cpu()))

    threading.Thread(target=serve, daemon=True).start()

    def step():
        for number in range(4):
            asked.put(number)
            answered.get()

    return step, lambda: None


class Pole:
    """A cart with a pole, as Gym has it."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.place, self.speed, self.angle, self.turn = (random.uniform(-0.05, 0.05)
                                                         for _ in "abcd")

    def step(self, right):
        force = 10.0 if right else -10.0
        sine, cosine = math.sin(self.angle), math.cos(self.angle)
        push = (force + 0.05 * self.turn**2 * sine) / 1.1
        lean = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        gain = push - 0.05 * lean * cosine / 1.1
        self.place, self.speed = self.place + 0.02 * self.speed, self.speed + 0.02 * gain
        self.angle, self.turn = self.angle + 0.02 * self.turn, self.turn + 0.02 * lean
        if abs(self.place) > 2.4 or abs(self.angle) > 0.2:
            self.reset()
        return self.place, self.speed, self.angle, self.turn


def environment_on_host(tiny, mended):
    """1024 games are played in Python, one after the other; mended, as tensors on the GPU."""
    import torch

    count, where = 4 if tiny else 1024, device()
    net = torch.nn.Sequential(torch.nn.Linear(4, 256), torch.nn.Tanh(), torch.nn.Linear(256, 256),
                              torch.nn.Tanh(), torch.nn.Linear(256, 2)).to(where)
    games = [Pole() for _ in range(count)]
    seen = [torch.rand(count, 4, device=where) * 0.1 - 0.05]

    def played(seen, right):
        place, speed, angle, turn = seen.unbind(1)
        sine, cosine = angle.sin(), angle.cos()
        push = (right * 20.0 - 10.0 + 0.05 * turn**2 * sine) / 1.1
        lean = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        gain = push - 0.05 * lean * cosine / 1.1
        after = torch.stack((place + 0.02 * speed, speed + 0.02 * gain, angle + 0.02 * turn,
                             turn + 0.02 * lean), 1)
        over = (after[:, 0].abs() > 2.4) | (after[:, 2].abs() > 0.2)
        return torch.where(over[:, None], torch.rand_like(after) * 0.1 - 0.05, after)

    @torch.no_grad()
    def step():
        for _ in range(8):
            right = torch.distributions.Categorical(logits=net(seen[0]),
                                                    validate_args=False).sample()
            if mended:
                seen[0] = played(seen[0], right)
            else:
                after = [game.step(move) for game, move in zip(games, right.tolist())]
                seen[0] = torch.tensor(after, device=where)

    return step, lambda: torch.cuda.synchronize() if where == "cuda" else None


def through_numpy(tiny, mended):
    """PyTorch's features reach CuPy by way of NumPy; mended, by DLPack without a copy."""
    import cupy
    import torch

    rows, width = (64, 8) if tiny else (32768, 512)
    net = torch.nn.Linear(width, width).to("cuda", torch.bfloat16)
    some = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        found = net(some).float()
        array = cupy.from_dlpack(found) if mended else cupy.asarray(found.cpu().numpy())
        return cupy.sort(array, axis=1)[:, -8:].mean(axis=1)

    return step, lambda: cupy.cuda.Device().synchronize()


def pool_switched_off(tiny, mended):
    """cupy.cuda.set_allocator(None): each array is allocated by CUDA; mended, the pool is kept."""
    import cupy

    pool = cupy.cuda.MemoryPool()
    cupy.cuda.set_allocator(pool.malloc if mended else None)
    count = 1000 if tiny else 4_000_000
    place, speed = (cupy.random.standard_normal(count, dtype=cupy.float32) for _ in "ab")

    def step():
        force = cupy.sin(place) * cupy.exp(-place * place)
        way = speed + 0.01 * force
        place[:] = place + 0.01 * way
        speed[:] = way

    return step, lambda: cupy.cuda.Device().synchronize()


SOURCE = """
extern "C" __global__ void cut(const float* values, float* out, int count) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < count) out[place] = values[place] > BAR ? values[place] : 0.1f * values[place];
}
"""


def kernel_source_each_time(tiny, mended):
    """A number in a CuPy kernel's source changes after eight steps; mended, the number is kept out.

    Each new source is compiled by NVRTC.
    """
    import cupy

    count, turn = 1000 if tiny else 16_000_000, [0]
    values = cupy.random.standard_normal(count, dtype=cupy.float32)
    out = cupy.empty_like(values)
    start = time.time()  # so that no earlier run's kernels are found on the disk
    passed = cupy.RawKernel(SOURCE.replace("BAR", "bar").replace("int count",
                                                                 "int count, float bar"),
                            "cut")

    def step():
        bar = 0.1 + turn[0] // 8 * 1e-3
        turn[0] += 1
        kernel = passed if mended else cupy.RawKernel(
            SOURCE.replace("BAR", f"{bar:.4f}f") + f"// {start}", "cut"
        )
        more = (cupy.float32(bar),) if mended else ()
        for _ in range(8):
            kernel((-(-count // 256),), (256,), (values, out, cupy.int32(count), *more))

    return step, lambda: cupy.cuda.Device().synchronize()


def orbits_by_transforms(tiny, mended):
    """Healthy: CuPy's Fourier transforms of a large field in place of differences."""
    import cupy

    side = 32 if tiny else 512
    field = cupy.random.standard_normal((side, side, side // 2), dtype=cupy.float32)
    field = field.astype(cupy.complex64)
    turn = cupy.exp(-0.1j * cupy.fft.fftfreq(side)[:, None, None] ** 2).astype(cupy.complex64)

    def step():
        return cupy.fft.ifftn(cupy.fft.fftn(field) * turn)

    return step, lambda: cupy.cuda.Device().synchronize()


BUILDS = {build.__name__: build for build in (
    queue_polled, environment_on_host, through_numpy, pool_switched_off, kernel_source_each_time,
    orbits_by_transforms,
)}

if __name__ == "__main__":
    recording.main(BUILDS)
