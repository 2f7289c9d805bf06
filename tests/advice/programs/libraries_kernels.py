"""Faults around Triton and CuPy under torch.profiler: need a GPU."""
import torch

from setting import Running, pair
from libraries_text import SERVED, SHAPES


def needs_gpu(setting):
    if not setting.cuda:
        raise RuntimeError("a kernel of one's own needs a GPU")


@pair("tuned_for_each_length", **SERVED)
def tuned_for_each_length(setting, mended):
    """A Triton kernel is tuned anew for each number of tokens; mended, tuned once."""
    needs_gpu(setting)
    import libraries_triton

    width, turn = 4096, [0]
    kernel = libraries_triton.tuned([] if mended else ["count"])
    up = torch.randn(width, 2 * width, device=setting.device, dtype=torch.bfloat16) / 64

    @torch.no_grad()
    def step():
        turn[0] += 1
        rows = 2048 + 8 * turn[0]
        states = torch.ones(rows, width, device=setting.device, dtype=torch.bfloat16)
        for _ in range(8):
            left, right = states @ up[:, :width], states @ up[:, width:]
            count = left.numel()
            kernel[lambda how: (-(-count // how["BLOCK"]),)](left, right, states, count)
        return states

    return Running(step, 2048)


@pair("triton_product_ieee", **SERVED)
def triton_product_ieee(setting, mended):
    """A Triton product in FP32 proper, which tensor cores cannot do; mended, by TF32."""
    needs_gpu(setting)
    import libraries_triton

    side = 4096
    one, two = (torch.randn(side, side, device=setting.device) for _ in range(2))
    out, precision = torch.empty_like(one), "tf32" if mended else "ieee"

    def step():
        for _ in range(2):
            libraries_triton.product[(side // 64, side // 64)](
                one, two, out, side, side, PRECISION=precision, TALL=64, WIDE=64, DEEP=32
            )
        return out

    return Running(step, side)


@pair("spectra_in_double", **SERVED)
def spectra_in_double(setting, mended):
    """CuPy's window from NumPy is float64, so all spectra are; mended, float32."""
    needs_gpu(setting)
    import cupy
    import numpy

    frames = cupy.random.standard_normal((32768, 2048), dtype=cupy.float32)
    window = numpy.hanning(2048)
    window = cupy.asarray(window.astype(numpy.float32) if mended else window)

    def step():
        spectra = cupy.fft.rfft(frames * window, axis=1)
        power = spectra.real**2 + spectra.imag**2
        return cupy.log1p(power).mean(axis=0)

    return Running(step, len(frames))


@pair("copied_for_the_kernel", **SERVED | SHAPES)
def copied_for_the_kernel(setting, mended):
    """.contiguous() before each call of a Triton norm that takes strides; mended, without."""
    needs_gpu(setting)
    import libraries_triton

    rows, width = 65536, 2048
    pairs = torch.randn(rows, 2 * width, device=setting.device, dtype=torch.bfloat16)
    weight = torch.ones(width, device=setting.device, dtype=torch.bfloat16)
    outs = [torch.empty(rows, width, device=setting.device, dtype=torch.bfloat16) for _ in "ab"]

    def step():
        for half, out in zip(pairs.chunk(2, 1), outs):
            half = half if mended else half.contiguous()
            libraries_triton.row_norm[(rows,)](half, weight, out, width, *half.stride(), BLOCK=2048)
        return outs

    return Running(step, rows)
