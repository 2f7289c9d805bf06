"""The loop that every program of the zoo runs, and what the program itself knows of it at the end.

Steps are marked with gpufathom.step(). The program says "ready" when its loop begins, and prints
one line of JSON at the end: steps, its own step time in groups of steps, its kernels a step if it
knows them, and NVML's energy over the loop.
"""
import argparse
import contextlib
import json
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "advice", "programs"))
sys.path.insert(0, os.path.join(ROOT, "python"))

try:
    from gpufathom import step as marked
except ImportError:  # the program runs without it all the same
    marked = contextlib.nullcontext


def arguments(choices=()):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--ncu", action="store_true", help="one step, profiled")
    parser.add_argument("--tiny", action="store_true", help="small sizes, on the processor")
    if choices:
        parser.add_argument("--what", choices=choices, default=choices[0])
    return parser.parse_args()


class Energy:
    """NVML's energy counter of this program's GPU; no data where there is no NVML."""

    def __init__(self):
        self.device = None
        try:
            import pynvml

            pynvml.nvmlInit()
            self.device = pynvml.nvmlDeviceGetHandleByIndex(int(os.environ.get("ZOO_GPU", 0)))
            self.read = pynvml.nvmlDeviceGetTotalEnergyConsumption
        except Exception:
            self.device = None

    def joules(self):
        return None if self.device is None else self.read(self.device) / 1e3


def loop(
    name, step, wait, seconds, kernels_per_step=None, steps_per_wait=None, groups=None, **more
):
    """Runs `step` for so long, or so many groups, and waits for the device after each group."""
    group = steps_per_wait or 1
    if steps_per_wait is None:  # about 40 ms: the host runs ahead, the clock is still read often
        begin = time.perf_counter()
        for _ in range(3):
            step()
        wait()
        group = max(1, round(0.04 / ((time.perf_counter() - begin) / 3)))
    energy = Energy()
    print("ready", flush=True)
    joules = energy.joules()
    start_ns = time.time_ns()
    ends, until = [], time.perf_counter() + seconds
    while len(ends) < groups if groups else time.perf_counter() < until:
        for _ in range(group):
            with marked():
                step()
        wait()
        ends.append(time.time_ns())
    end_joules = energy.joules()
    times = [(after - before) / 1e6 / group for before, after in zip([start_ns, *ends], ends)]
    return {
        "program": name,
        "pid": os.getpid(),
        "start_ns": start_ns,
        "end_ns": ends[-1],
        "group": group,
        "ends_ns": ends,
        "steps": group * len(ends),
        "median_step_ms": statistics.median(times),
        "mean_step_ms": statistics.fmean(times),
        "kernels_per_step": kernels_per_step,
        "energy_joules": None if joules is None else end_joules - joules,
        **more,
    }


def say(known):
    print(json.dumps(known), flush=True)
