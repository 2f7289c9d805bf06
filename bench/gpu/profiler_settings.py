#!/usr/bin/env python3
"""Overhead of JAX's profiler on a program's steps, by what it is asked to record.

Usage: profiler_settings.py FOLDER [--tiny]
Programs of tests/advice/programs run alone and under each setting, in turns, since hosts change.
FOLDER/jax_settings.json: median milliseconds of a step without a profiler, with the device alone,
with the host's events, with Python's functions; beside it their captures with all. PyTorch's:
tests/advice/programs/run --recorded.
"""
import glob
import gzip
import importlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/advice/programs")
sys.path.insert(0, PROGRAMS)
JAX = {"libraries_jax": ("jax_residual_asked", "jax_samples_in_a_loop", "jax_called_back",
                         "jax_data_from_numpy"),
       "jax_fields": ("jax_by_operator", "jax_to_numpy", "jax_scan")}
JAX_SETTINGS = {"device": (0, 0), "host": (2, 0), "python": (2, 1)}  # levels of host and Python
ROUNDS = 3


def step_ms(jax, step, steps):
    begin = time.perf_counter()
    for _ in range(steps):
        answer = step()
    jax.block_until_ready(answer)
    return (time.perf_counter() - begin) * 1e3 / steps


def under(jax, step, steps, levels, keep=None):
    """Milliseconds of a step under a profiler that was started before; `keep`: the capture."""
    how = jax.profiler.ProfileOptions()
    how.host_tracer_level, how.python_tracer_level = levels
    with tempfile.TemporaryDirectory() as kept:
        jax.profiler.start_trace(kept, profiler_options=how)
        step_ms(jax, step, 1)
        took = step_ms(jax, step, steps)
        jax.profiler.stop_trace()
        if keep:
            for found in glob.glob(f"{kept}/**/*.xplane.pb", recursive=True):
                with open(found, "rb") as plain, gzip.open(keep, "wb") as packed:
                    shutil.copyfileobj(plain, packed)
    return took


def jax_settings(folder, tiny):
    import jax
    found = {}
    for module, names in JAX.items():
        builds = importlib.import_module(module)
        for name in names:
            for mended in (False, True):
                try:
                    step, _ = getattr(builds, name)(tiny, mended)
                except ImportError as error:  # of a library that is not there
                    print(f"{name}: {error}", flush=True)
                    break
                for _ in range(3):
                    jax.block_until_ready(step())
                steps = max(3, min(20, int(300 / step_ms(jax, step, 3))))
                times = {"none": [], **{setting: [] for setting in JAX_SETTINGS}}
                for count in range(ROUNDS):
                    times["none"].append(step_ms(jax, step, steps))
                    for setting, levels in JAX_SETTINGS.items():
                        full = f"{name}{'.mended' if mended else ''}"
                        keep = count == 0 and setting == "python"
                        times[setting].append(under(jax, step, steps, levels, keep and
                                                    f"{folder}/{full}.xplane.pb.gz"))
                    times["none"].append(step_ms(jax, step, steps))
                found[full] = {"steps": steps, **{setting: round(statistics.median(all_), 4)
                                                  for setting, all_ in times.items()}}
                print(full, found[full], flush=True)
    with open(f"{folder}/jax_settings.json", "w") as out:
        json.dump({"jax": jax.__version__, "device": jax.devices()[0].device_kind,
                   "programs": found}, out, indent=1)


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    jax_settings(sys.argv[1], "--tiny" in sys.argv)
