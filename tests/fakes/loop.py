"""A program of the zoo for machines without a GPU: steps of five kernels on the driver
FAKE_DRIVER."""
import ctypes
import os
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(TESTS, "gpu", "zoo", "programs"))
import clock  # noqa: E402

options = clock.arguments()
driver = ctypes.CDLL(os.environ["FAKE_DRIVER"])
driver.cuInit(0)
kernel = [ctypes.c_char_p(b"work"), 132, 1, 1, 128, 1, 1, 0, None, None, None]


def step():
    for _ in range(5):
        driver.cuLaunchKernel(*kernel)


# A launch of the fake driver returns when its kernel has run: there is nothing to wait for.
clock.say(clock.loop("loop", step, lambda: None, options.seconds, 5))
