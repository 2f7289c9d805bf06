"""Two programs on one GPU at the same time: training and serving. two_programs.py --seconds S"""
import json
import os
import subprocess
import sys

import clock


def main():
    options = clock.arguments()
    models = os.path.join(clock.HERE, "torch_models.py")
    more = ["--tiny"] if options.tiny else []
    children = [
        subprocess.Popen(
            [sys.executable, models, "--what", what, "--seconds", str(options.seconds), *more],
            stdout=subprocess.PIPE, text=True,
        )
        for what in ("gpt_training", "decode_eager")
    ]
    for child in children:
        child.stdout.readline()
    print("ready", flush=True)
    known = [json.loads(child.communicate()[0].splitlines()[-1]) for child in children]
    both = {
        "start_ns": max(one["start_ns"] for one in known),
        "end_ns": min(one["end_ns"] for one in known),
    }
    clock.say({"program": "two_programs", **both, "children": known, "kernels_per_step": None})


if __name__ == "__main__":
    main()
