"""The Triton kernels of the trades."""
import triton
import triton.language as tl


@triton.jit
def squash_longest(values, out, starts, sizes, WIDE: tl.constexpr):
    """A program for each piece of each text, as if all were as long as the longest."""
    text, piece = tl.program_id(1), tl.program_id(0)
    size = tl.load(sizes + text)
    if piece * WIDE < size:
        inside = piece * WIDE + tl.arange(0, WIDE)
        place = tl.load(starts + text) + inside
        some = tl.load(values + place, inside < size, 0)
        tl.store(out + place, some * tl.sigmoid(some), inside < size)


@triton.jit
def squash_listed(values, out, starts, sizes, texts, pieces, WIDE: tl.constexpr):
    """A program for each piece of a list."""
    text, piece = tl.load(texts + tl.program_id(0)), tl.load(pieces + tl.program_id(0))
    size = tl.load(sizes + text)
    inside = piece * WIDE + tl.arange(0, WIDE)
    place = tl.load(starts + text) + inside
    some = tl.load(values + place, inside < size, 0)
    tl.store(out + place, some * tl.sigmoid(some), inside < size)


@triton.jit
def scores(one, two, out, count, BYSUMS: tl.constexpr, SIDE: tl.constexpr, DEEP: tl.constexpr):
    """Products of all rows of `one` with all rows of `two`, for each of a batch of both."""
    batch = tl.program_id(2).to(tl.int64)
    high = tl.program_id(0) * SIDE + tl.arange(0, SIDE)
    wide = tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    deep = tl.arange(0, DEEP)
    left = tl.load(one + (batch * count + high[:, None]) * DEEP + deep[None, :])
    right = tl.load(two + (batch * count + wide[:, None]) * DEEP + deep[None, :])
    if BYSUMS:
        found = tl.sum(left[:, None, :].to(tl.float32) * right[None, :, :].to(tl.float32), 2)
    else:
        found = tl.dot(left, tl.trans(right))
    place = (batch * count + high[:, None]) * count + wide[None, :]
    tl.store(out + place, found.to(tl.bfloat16))


@triton.jit
def premium(age, sum_of, out, count, BLOCK: tl.constexpr):
    """The price of an insurance: a formula in one kernel."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    old, much = tl.load(age + place, inside, 0), tl.load(sum_of + place, inside, 0)
    risk = 0.0005 + tl.exp(0.09 * old - 9.0)
    tl.store(out + place, much * risk / (1.02 + risk), inside)
