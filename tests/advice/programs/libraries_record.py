"""Programs of libraries that gpufathom records itself, run as recording.py says."""
import recording


def nearest_by_numpy(tiny, mended):
    """CuPy's scores are all fetched for NumPy's argmax; mended, CuPy takes it."""
    import cupy
    import numpy

    asked, known = (8, 100) if tiny else (256, 100_000)
    corpus = cupy.random.standard_normal((known, 512), dtype=cupy.float32)
    queries = cupy.random.standard_normal((asked, 512), dtype=cupy.float32)

    def step():
        scores = queries @ corpus.T
        if mended:
            return cupy.asnumpy(scores.argmax(axis=1))
        return numpy.argmax(cupy.asnumpy(scores), axis=1)

    return step, lambda: cupy.cuda.Device().synchronize()


def prices_by_operator(tiny, mended):
    """A price formula in CuPy's single operators over large arrays; mended, cupy.fuse."""
    import cupy

    count = 1000 if tiny else 8_000_000
    spot, strike, years = (cupy.random.random(count, dtype=cupy.float32) + 0.5 for _ in range(3))

    def share(deviation):
        return 1 / (1 + cupy.exp(-1.702 * deviation))

    def formula(spot, strike, years):
        root = cupy.sqrt(years)
        up = (cupy.log(spot / strike) + (0.03 + 0.02) * years) / (0.2 * root)
        down = up - 0.2 * root
        late = strike * cupy.exp(-0.03 * years)
        return spot * share(up) - late * share(down), late * share(-down) - spot * share(-up)

    fused = cupy.fuse(formula) if mended else formula
    return lambda: fused(spot, strike, years), lambda: cupy.cuda.Device().synchronize()


def frames_from_ordinary_memory(tiny, mended):
    """Frames go to torchvision's network from pageable memory; mended, pinned, one ahead."""
    import torch
    from torchvision.models import efficientnet_b0

    rows, side = (2, 32) if tiny else (64, 512)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = efficientnet_b0(weights=None).to(device, torch.bfloat16).eval()
    model = model.to(memory_format=torch.channels_last)
    frames = [torch.randint(0, 255, (rows, side, side, 3), dtype=torch.uint8) for _ in range(2)]
    if mended and device == "cuda":
        frames = [frame.pin_memory() for frame in frames]
    beside = torch.cuda.Stream() if device == "cuda" else None
    waiting, turn = [], [0]

    def fetch():
        turn[0] += 1
        frame = frames[turn[0] % 2]
        if not (mended and beside):
            return frame.to(device)
        with torch.cuda.stream(beside):
            return frame.to(device, non_blocking=True)

    @torch.no_grad()
    def step():
        now = waiting.pop() if waiting else fetch()
        if mended and beside:
            torch.cuda.current_stream().wait_stream(beside)
            now.record_stream(torch.cuda.current_stream())
            waiting.append(fetch())
        pictures = now.permute(0, 3, 1, 2).to(torch.bfloat16).div_(255)
        return model(pictures).argmax(1)

    return step, lambda: torch.cuda.synchronize() if beside else None


def products_and_waves(tiny, mended):
    """Healthy: CuPy's products of large half-precision matrices and a fused kernel."""
    import cupy

    side = 64 if tiny else 8192
    one, two = (cupy.random.standard_normal((side, side), dtype=cupy.float32).astype(cupy.float16)
                for _ in range(2))
    wave = cupy.ElementwiseKernel("float16 x", "float16 y", "y = sin((float)x)", "wave")

    def step():
        return wave(one @ two)

    return step, lambda: cupy.cuda.Device().synchronize()


BUILDS = {build.__name__: build for build in (
    nearest_by_numpy, prices_by_operator, frames_from_ordinary_memory, products_and_waves,
)}


if __name__ == "__main__":
    recording.main(BUILDS)
