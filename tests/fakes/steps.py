"""A training loop in Python for machines without a GPU: FAKE_DRIVER COUNT steps of 5 kernels, the
first two before CUDA starts, and a step that begins before a fork and ends in both processes."""
import ctypes
import os
import sys

import gpufathom

driver = ctypes.CDLL(sys.argv[1])
launch = [ctypes.c_char_p(b"work"), 132, 1, 1, 128, 1, 1, 0, None, None, None]
for i in range(int(sys.argv[2])):
    if i == 2:
        driver.cuInit(0)
    with gpufathom.step():
        for _ in range(5):
            driver.cuLaunchKernel(*launch)
with gpufathom.step():
    driver.cuLaunchKernel(*launch)
    child = os.fork()
if child:
    os.waitpid(child, 0)
else:
    with gpufathom.step():
        os.getpid()
    sys.exit(0)
gpufathom.step.begin()
driver.cuLaunchKernel(*launch)
gpufathom.step.end()
