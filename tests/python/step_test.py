"""gpufathom.step() does nothing, and costs next to nothing, where nothing is recorded;
tests/system/record_kernels.sh has the rest. Usage: step_test.py AGENT_LIBRARY"""
import os
import pathlib
import re
import subprocess
import sys
import timeit
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
os.environ.pop("CUDA_INJECTION64_PATH", None)
import gpufathom  # noqa: E402

AGENT = sys.argv.pop()
STEPS = """
import os, gpufathom
for _ in range(3):
    with gpufathom.step():
        pass
gpufathom.step.begin(), gpufathom.step.end()
print(gpufathom._begin.__name__, "loaded" if os.environ["CUDA_INJECTION64_PATH"] in open("/proc/self/maps").read() else "not loaded")
"""


def steps_beside(library):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"),
                   "CUDA_INJECTION64_PATH": library}
    done = subprocess.run([sys.executable, "-B", "-c", STEPS], env=environment, capture_output=True,
                          text=True)
    return done.stdout.strip() + done.stderr


class Step(unittest.TestCase):
    def test_nothing_is_recorded(self):
        with self.assertRaisesRegex(ValueError, "mine"), gpufathom.step():
            raise ValueError("mine")
        gpufathom.step.end()
        gpufathom.step.begin()
        self.assertIs(gpufathom._begin, gpufathom._nothing)

    def test_import_takes_nothing(self):
        code = "import sys; before = set(sys.modules); import gpufathom; print(*set(sys.modules) - before)"
        out = subprocess.run([sys.executable, "-B", "-c", code],
                             env={"PYTHONPATH": str(ROOT / "python")}, capture_output=True,
                             text=True, check=True)
        self.assertEqual(out.stdout.split(), ["gpufathom"])

    def test_a_library_that_cuda_has_not_loaded(self):
        self.assertEqual(steps_beside(AGENT), "_bind not loaded")
        self.assertEqual(steps_beside(AGENT + ".missing"), "_bind not loaded")

    def test_another_tools_library(self):
        maps = pathlib.Path("/proc/self/maps").read_text()
        self.assertEqual(steps_beside(re.search(r"/\S*/libc[.-]\S*", maps)[0]), "_nothing loaded")

    def test_cost(self):
        def steps():
            for _ in range(1000):
                with gpufathom.step():
                    pass

        ns = min(timeit.repeat(steps, number=1, repeat=50)) * 1e6
        print(f"{ns:.0f} ns a step", file=sys.stderr)
        self.assertLess(ns, 2000)

    def test_version(self):
        self.assertEqual(gpufathom.__version__,
                         re.search(r"project\(gpufathom VERSION (\S+)",
                                   (ROOT / "CMakeLists.txt").read_text())[1])


unittest.main()
