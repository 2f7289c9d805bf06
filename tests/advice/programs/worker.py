"""Runs programs one after the other: worker.py FOLDER DEVICE tiny|full MODULES NAME...

MODULES (with commas) are imported, which enters their programs into the list. Each program's
result goes to FOLDER/NAME.run.json. A line "begin NAME" or "end NAME" on standard output lets the
caller watch, who ends a worker that hangs and starts another with what is left.
"""
import dataclasses
import gc
import importlib
import json
import os
import sys
import traceback

import torch

import measure
from setting import PROGRAMS, Setting


def result_of(setting, name, folder):
    try:
        program = PROGRAMS[name]
        if "RECORDED" in os.environ:
            words = os.environ["RECORDED"].split(",")
            chosen = {word: word in words for word in ("stacks", "shapes", "memory")}
            program = dataclasses.replace(program, **chosen)
        return measure.run(setting, program, folder)
    except Exception as error:  # one program's failure is its result
        traceback.print_exc()
        return {"program": name, "rank": setting.rank, "error": f"{type(error).__name__}: {error}"}


def start_ranks(device):
    """The setting of a process that torchrun started, or of the only one."""
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    if world > 1:
        import two_gpus  # noqa: F401

        if device == "cuda":
            torch.cuda.set_device(rank)
        torch.distributed.init_process_group("nccl" if device == "cuda" else "gloo")
    return rank, world


def say(rank, line):
    """One write of one rank, so that lines stay whole."""
    if rank == 0:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def main():
    folder, device, tiny, modules, *names = sys.argv[1:]
    for module in modules.split(","):
        importlib.import_module(module)
    rank, world = start_ranks(device)
    setting = Setting(device, tiny == "tiny", rank, world)
    measure.meet_profiler(setting)
    for name in names:
        say(rank, f"begin {name}")
        result = result_of(setting, name, folder)
        suffix = f".rank{rank}" if world > 1 else ""
        with open(os.path.join(folder, f"{name}{suffix}.run.json"), "w") as out:
            json.dump(result, out, indent=1)
        if "CUDA error" in result.get("error", ""):
            sys.exit("the device is lost to this process")
        torch.backends.cudnn.benchmark = False
        gc.collect()
        if setting.cuda:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        if world > 1:
            torch.distributed.barrier()
        say(rank, f"end {name}")
    if world > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
