"""The Numba kernel of the trades."""
import numpy as np
from numba import cuda


@cuda.jit
def heat(old, new):
    """A turn of heat along a bar: a thread for each place."""
    at = cuda.grid(1)
    if 0 < at < old.size - 1:
        new[at] = old[at] + np.float32(0.1) * (old[at - 1] - old[at] - old[at] + old[at + 1])
