"""Services, CuPy's programs and agents that gpufathom records itself, run as recording.py says."""
import queue
import threading

import recording


def device():
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def waiting():
    import torch

    return torch.cuda.synchronize if torch.cuda.is_available() else lambda: None


def thread_for_each_request(tiny, mended):
    """Eight threads of Python each run a network for one request; mended, one for all eight."""
    import torch

    width, where = 64 if tiny else 1024, device()
    layers = []
    for _ in range(12):
        layers += [torch.nn.Linear(width, width), torch.nn.GELU()]
    net = torch.nn.Sequential(*layers).to(where, torch.bfloat16).eval()
    some = torch.randn(8, 32, width, device=where, dtype=torch.bfloat16)
    asked, answered = queue.Queue(), queue.Queue()

    @torch.no_grad()
    def serve():
        while True:
            number = asked.get()
            answered.put(net(some[number]).float().mean().item())

    if not mended:
        for _ in range(8):
            threading.Thread(target=serve, daemon=True).start()

    @torch.no_grad()
    def step():
        if mended:
            return net(some).float().mean((1, 2)).tolist()
        for number in range(8):
            asked.put(number)
        return [answered.get() for _ in range(8)]

    return step, waiting()


def list_of_arrays(tiny, mended):
    """torch.tensor of a list of NumPy arrays of frames; mended, np.stack and from_numpy."""
    import numpy as np
    import torch

    games, side, where = (2, 16, device()) if tiny else (16, 84, device())
    net = torch.nn.Sequential(
        torch.nn.Conv2d(4, 32, 8, 4), torch.nn.ReLU(), torch.nn.Conv2d(32, 64, 4, 2 - tiny,
                                                                       padding=2 * tiny),
        torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(512), torch.nn.ReLU(),
        torch.nn.Linear(512, 18)).to(where)
    frames = [np.random.randint(0, 255, (4, side, side), dtype=np.uint8) for _ in range(games)]

    @torch.no_grad()
    def step():
        if mended:
            seen = torch.from_numpy(np.stack(frames)).to(where)
        else:
            seen = torch.tensor(frames).to(where)
        return net(seen.float() / 255).argmax(1).cpu()

    return step, waiting()


def pictures_transformed_apart(tiny, mended):
    """CuPy's Fourier transforms of 128 pictures one by one; mended, of all at once."""
    import cupy

    count, side = (4, 16) if tiny else (128, 256)
    pictures = cupy.random.standard_normal((count, side, side), dtype=cupy.float32)
    mask = cupy.exp(-cupy.arange(side // 2 + 1, dtype=cupy.float32) / 20)

    def smooth(some):
        return cupy.fft.irfft2(cupy.fft.rfft2(some) * mask, s=(side, side))

    def step():
        if mended:
            return smooth(pictures)
        return cupy.stack([smooth(picture) for picture in pictures])

    return step, lambda: cupy.cuda.Device().synchronize()


def clusters_by_masks(tiny, mended):
    """k-means takes each cluster's points by a boolean mask; mended, sums by one product."""
    import cupy

    count, kinds = (1000, 4) if tiny else (1_000_000, 64)
    points = cupy.random.standard_normal((count, 16), dtype=cupy.float32)
    centres = [points[:kinds].copy()]

    def step():
        here = centres[0]
        far = (here**2).sum(1) - 2 * points @ here.T
        nearest = far.argmin(1)
        if mended:
            mine = (nearest[:, None] == cupy.arange(kinds)).astype(cupy.float32)
            centres[0] = (mine.T @ points) / cupy.maximum(mine.sum(0), 1)[:, None]
        else:
            centres[0] = cupy.stack([points[nearest == kind].mean(0) for kind in range(kinds)])

    return step, lambda: cupy.cuda.Device().synchronize()


def texts_ranked(tiny, mended):
    """Healthy: a tower of wide layers in BF16 ranks large batches, the answers to pinned memory."""
    import torch

    width, rows, where = (64, 32, device()) if tiny else (4096, 8192, device())
    layers = []
    for _ in range(6):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers).to(where, torch.bfloat16).eval()
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)
    answers = torch.empty(rows, dtype=torch.bfloat16, pin_memory=where == "cuda")

    @torch.no_grad()
    def step():
        answers.copy_(net(some).amax(1), non_blocking=True)

    return step, waiting()


def prices_in_one_kernel(tiny, mended):
    """Healthy: a formula over 64 million options in one CuPy kernel."""
    import cupy

    count = 1000 if tiny else 64_000_000
    price, aim, time = (cupy.random.random_sample(count, dtype=cupy.float32) + 0.5 for _ in "abc")
    call = cupy.ElementwiseKernel(
        "float32 price, float32 aim, float32 time", "float32 worth",
        """float spread = 0.3f * sqrtf(time);
        float one = (logf(price / aim) + 0.045f * time) / spread;
        worth = price * normcdff(one) - aim * expf(-0.02f * time) * normcdff(one - spread);""",
        "call_of_option")
    worth = cupy.empty_like(price)

    return lambda: call(price, aim, time, worth), lambda: cupy.cuda.Device().synchronize()


BUILDS = {build.__name__: build for build in (
    thread_for_each_request, list_of_arrays, pictures_transformed_apart, clusters_by_masks,
    texts_ranked, prices_in_one_kernel,
)}

if __name__ == "__main__":
    recording.main(BUILDS)
