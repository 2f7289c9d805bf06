"""Kernels of our own in Triton: six a step. triton_kernels.py --seconds S"""
import clock
import torch
import triton
import triton.language as tl


@triton.jit
def scale_and_add(left, right, out, count, factor, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    value = tl.load(left + place, inside) * factor + tl.load(right + place, inside)
    tl.store(out + place, value, inside)


@triton.jit
def normalise_rows(rows, out, width, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    inside = place < width
    row = tl.load(rows + tl.program_id(0) * width + place, inside, other=0.0)
    mean = tl.sum(row) / width
    spread = tl.where(inside, row - mean, 0.0)
    deviation = tl.sqrt(tl.sum(spread * spread) / width + 1e-6)
    tl.store(out + tl.program_id(0) * width + place, spread / deviation, inside)


def main():
    options = clock.arguments()
    rows, width = 8192, 4096
    left = torch.randn(rows, width, device="cuda")
    right = torch.randn_like(left)
    out = torch.empty_like(left)
    count = left.numel()

    def step():
        for _ in range(3):
            scale_and_add[(triton.cdiv(count, 4096),)](left, right, out, count, 0.5, BLOCK=4096)
            normalise_rows[(rows,)](out, right, width, BLOCK=4096)

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    if options.ncu:
        torch.cuda.profiler.start()
        step()
        torch.cuda.synchronize()
        return torch.cuda.profiler.stop()
    clock.say(clock.loop("triton_kernels", step, torch.cuda.synchronize, options.seconds, 6,
                         triton=triton.__version__))


if __name__ == "__main__":
    main()
