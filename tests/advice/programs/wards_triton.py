"""The Triton kernels of the wards."""
import triton
import triton.language as tl


@triton.jit
def add_up(values, sums, rows, each, ROWS: tl.constexpr, WIDE: tl.constexpr):
    """Adds `each` rows in one program, and their sum to that of all by an atomic addition."""
    first = tl.program_id(0).to(tl.int64) * each
    wide = tl.arange(0, WIDE)
    total = tl.zeros((WIDE,), tl.float32)
    for start in range(0, each, ROWS):
        high = first + start + tl.arange(0, ROWS)
        place = high[:, None] * WIDE + wide[None, :]
        some = tl.load(values + place, mask=high[:, None] < rows, other=0.0)
        total += tl.sum(some.to(tl.float32), 0)
    tl.atomic_add(sums + wide, total)


@triton.jit
def spread(old, new, count, share, BLOCK: tl.constexpr):
    """A turn of warmth along a long line."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    here = tl.load(old + place, mask=inside, other=0.0)
    left = tl.load(old + place - 1, mask=inside & (place > 0), other=0.0)
    right = tl.load(old + place + 1, mask=place + 1 < count, other=0.0)
    tl.store(new + place, here + share * (left + right - here - here), mask=inside)
