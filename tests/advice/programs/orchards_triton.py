"""The Triton kernels of the orchards."""
import triton
import triton.language as tl


@triton.jit
def norm_of_row(values, gains, out, wide, BLOCK: tl.constexpr):
    """One row divided by its root mean square."""
    row = tl.program_id(0).to(tl.int64) * wide
    place = tl.arange(0, BLOCK)
    inside = place < wide
    some = tl.load(values + row + place, mask=inside, other=0.0).to(tl.float32)
    share = 1.0 / tl.sqrt(tl.sum(some * some, 0) / wide + 1e-6)
    gain = tl.load(gains + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row + place, some * share * gain, mask=inside)


@triton.jit
def look_back(queries, keys, values, out, length, scale, SKIP: tl.constexpr, BLOCK: tl.constexpr,
              SIZE: tl.constexpr):
    """Attention of a block of places to those before them; SKIP: blocks behind it are left out."""
    block = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64) * length * SIZE
    mine, wide = block * BLOCK + tl.arange(0, BLOCK), tl.arange(0, SIZE)
    here = head + mine[:, None] * SIZE + wide[None, :]
    query = tl.load(queries + here)
    most = tl.full((BLOCK,), -1e30, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    mixed = tl.zeros((BLOCK, SIZE), tl.float32)
    end = length
    if SKIP:
        end = (block + 1) * BLOCK
    for start in range(0, end, BLOCK):
        theirs = start + tl.arange(0, BLOCK)
        key = tl.load(keys + head + theirs[None, :] * SIZE + wide[:, None])
        scores = tl.dot(query, key) * scale
        scores = tl.where(mine[:, None] >= theirs[None, :], scores, -1e30)
        now = tl.maximum(most, tl.max(scores, 1))
        share = tl.exp(scores - now[:, None])
        old = tl.exp(most - now)
        total = total * old + tl.sum(share, 1)
        value = tl.load(values + head + theirs[:, None] * SIZE + wide[None, :])
        mixed = mixed * old[:, None] + tl.dot(share.to(value.dtype), value)
        most = now
    tl.store(out + here, mixed / total[:, None])


@triton.jit
def ripened(sugars, warmths, out, count, BLOCK: tl.constexpr):
    """How ripe a fruit is by its sugar and by how warm it was."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    sugar = tl.load(sugars + place, mask=inside, other=0.0)
    warmth = tl.load(warmths + place, mask=inside, other=0.0)
    ripe = sugar / (1.0 + tl.exp(-0.3 * warmth)) + 0.1 * sugar * warmth
    tl.store(out + place, ripe, mask=inside)
