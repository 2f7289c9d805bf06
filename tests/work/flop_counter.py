"""The model of work against torch.utils.flop_counter: for small training programs on the CPU, the
operations that `gpufathom work` finds by the shapes of a profile must equal those that
FlopCounterMode counts, for every operator that it knows.

    flop_counter.py GPUFATHOM [--keep FOLDER]      (needs torch; prints a line a model, ends with 1 when one differs)

FlopCounterMode takes the weight gradient of a grouped convolution for that of an ordinary one,
which is `groups` times too much: the model of that is checked by arithmetic instead.
"""
import argparse
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode

import models

STEPS = 2


def record(name, path):
    """A profile of a few steps; what FlopCounterMode sees in one of them, by operator."""
    training = models.Training(name)
    training.step()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 profile_memory=True) as trace:
        for step in range(STEPS):
            with record_function(f"ProfilerStep#{step}"):
                training.step()
    trace.export_chrome_trace(str(path))
    with FlopCounterMode(display=False) as counter:
        training.step()
    return {str(operator).split(".")[1]: flops
            for operator, flops in counter.get_flop_counts()["Global"].items()}


def grouped_excess():
    """The operations that FlopCounterMode overcounts for the depthwise convolution of the small
    convnet."""
    width, batch, side = 32, 8, 8
    weight_gradient = 2 * batch * side * side * width * 9
    return weight_gradient * (width - 1)


def modelled(gpufathom, path):
    answer = subprocess.run([gpufathom, "work", path, "--window", "steps", "--format", "json"],
                            check=True, capture_output=True).stdout
    work = json.loads(answer)
    by_name = {}
    for row in work["operators"]:
        if row["family"] in ("product", "convolution", "attention"):
            name = row["name"].removeprefix("aten::")
            by_name[name] = by_name.get(name, 0) + row["product_flops"] / STEPS
    return by_name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufathom")
    parser.add_argument("--keep")
    parser.add_argument("--only", choices=models.NAMES)
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in [arguments.only] if arguments.only else models.NAMES:
            path = pathlib.Path(folder, f"{name}.json")
            counted = record(name, path)
            if name == "convnet":
                counted["convolution_backward"] -= grouped_excess()
            found = modelled(arguments.gpufathom, path)
            # FlopCounterMode knows no attention of the CPU.
            found = {operator: flops for operator, flops in found.items() if operator in counted
                     or "attention" not in operator}
            equal = counted == found
            wrong += not equal
            print(f"{name}: {sum(counted.values()):.0f} operations a step {'equal' if equal else 'DIFFER'}")
            for operator in sorted(set(counted) | set(found)) if not equal else []:
                print(f"    {operator}: FlopCounterMode {counted.get(operator, 0):.0f}, gpufathom {found.get(operator, 0):.0f}")
            if arguments.keep:
                kept = pathlib.Path(arguments.keep, f"{name}.json.gz")
                with open(path, "rb") as plain, gzip.GzipFile(kept, "wb", mtime=0) as packed:
                    shutil.copyfileobj(plain, packed)
                pathlib.Path(arguments.keep,
                             f"{name}.counted.json").write_text(json.dumps(counted, indent=1) + "\n")
    sys.exit(wrong > 0)


main()
