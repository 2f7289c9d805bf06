"""The Triton kernels of the services."""
import triton
import triton.language as tl


@triton.jit
def gate(left, right, out, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    one, two = tl.load(left + place, inside), tl.load(right + place, inside)
    tl.store(out + place, one * tl.sigmoid(two), inside)


@triton.jit
def wave(now, before, after, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    """A turn of the wave equation on a plane whose rows are WIDE: all places but its borders."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + WIDE
    inside = place < WIDE * (WIDE - 1)
    here = tl.load(now + place, inside)
    near = tl.load(now + place - 1, inside) + tl.load(now + place + 1, inside)
    near += tl.load(now + place - WIDE, inside) + tl.load(now + place + WIDE, inside)
    then = 2 * here - tl.load(before + place, inside) + 0.1 * (near - 4 * here)
    tl.store(after + place, then, inside)
