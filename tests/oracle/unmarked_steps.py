"""Layers are no steps: the marks of a capture's steps are taken out, and steps must be found in the
whole capture where they were found before, about as many, and never in one step of it, in that
step's forward pass or in its backward pass.
Usage: unmarked_steps.py PROGRAM [TEXT] [FOLDER]...   (only captures whose path holds TEXT; more folders with captures)"""
import gc
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAUSES = ROOT / "tests/advice/causes"
ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
# No period is found in these, with or without a sign of steps: a step of its own kernels each, one
# kernel a step, or one step in all.
UNKNOWN = {"recompilation", "tiny_kernels.mended", "hta_cpu_only", "hta_cuda_event_sync",
           "hta_mi250_rocm", "hta_triton",
           "tracelens_h100_bert_small", "tracelens_h100_qwen_0.5b"}

# A mark of these holds so many iterations of the whole: a pass over a data loader, a pipeline that
# is given five images.
NESTED = {"new_loader_each_step": 4, "new_loader_each_step.mended": 4,
          "h100_google_owlv2-large-patch14-ensemble__1016001": 5,
          "mi300_google_owlv2-large-patch14-ensemble__1016001": 5}


def captures(more):
    folders = [*map(pathlib.Path, more), ROOT / "examples", CAUSES, ROOT / "tests/advice/captures",
               ROOT / "tests/ranks/captures"]
    if os.environ.get("GPUFATHOM_CORPUS"):
        folders.append(pathlib.Path(os.environ["GPUFATHOM_CORPUS"]))
    for folder in folders:
        yield from sorted(folder.rglob("*.json.gz"))


def start(event):
    return float(event.get("ts", 0))


def end(event):
    return start(event) + float(event.get("dur", 0))


def is_mark(event):
    return event.get("ph") == "X" and event.get("name", "").startswith("ProfilerStep")


def part(trace, keeps):
    """The host's events that `keeps` selects, and the device's work for them; no marks."""
    events = [event for event in trace["traceEvents"] if not is_mark(event)
              and event.get("cat") != "gpu_user_annotation"]
    kept = {event["args"].get("correlation") for event in events
            if event.get("cat") in CALLS and "args" in event and keeps(event)}
    return {**trace, "traceEvents": [
        event for event in events
        if event.get("ph") == "M" or (event.get("ph") == "X" and (
            event["args"].get("correlation") in kept if event.get("cat") in ON_DEVICE
            else keeps(event)))]}


def cases(path):
    """(name, trace, the lengths of its marks, none where it has no steps)"""
    trace = json.loads(gzip.decompress(path.read_bytes()))
    if not isinstance(trace, dict):
        return
    marks = sorted((event for event in trace["traceEvents"] if is_mark(event)
                    and event.get("cat") == "user_annotation"), key=start)
    if not marks:
        return
    name = path.name.removesuffix(".json.gz")
    lengths = [start(after) - start(before)
               for before, after in zip(marks, marks[1:])] or [end(marks[0]) - start(marks[0])]
    yield f"{name}: whole", part(trace, lambda event: True), lengths
    mark = marks[len(marks) // 2]
    begin, stop = start(mark), end(mark)
    yield f"{name}: one step", part(trace, lambda event: begin <= start(event) < stop), []
    backward = [event for event in trace["traceEvents"]
                if event.get("name", "").startswith("autograd::engine")
                and begin <= start(event) < stop]
    if backward:
        turn, last = min(map(start, backward)), max(map(end, backward))
        yield f"{name}: forward", part(trace,
                                       lambda event: begin <= start(event)
                                       and end(event) <= turn), []
        yield f"{name}: backward", part(trace, lambda event: turn <= start(event) < last), []


def wrong(program, case):
    """The error in the answer to a case; empty: none."""
    name, trace, steps = case
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(trace))  # json.dump is written in Python, and takes ten times as long
        file.flush()
        answer = subprocess.run([program, "analyze", file.name, "--format", "json"],
                                capture_output=True, text=True)
    window = json.loads(answer.stdout)["window"] if answer.stdout else {"step_source": "none", "steps": []}
    found, told = window["step_source"], window["steps"]
    if steps and found == "none" and name.split(":")[0] not in UNKNOWN:
        return f"{name}: no steps"
    nested = NESTED.get(name.split(":")[0])
    if nested and found != "none":
        marks = len(steps) + 1 if "whole" in name else 1
        fits = any(nested * of - 1 <= len(told) <= nested * of for of in range(1, marks + 1))
        return "" if fits else f"{name}: {len(told)} steps, {nested} iterations in each mark"
    if steps and found != "none":
        # The first and the last step may be cut off.
        if not len(steps) - 1 <= len(told) <= len(steps) + 2:
            return f"{name}: {len(told)} steps for {len(steps) + 1} marks"
    if not steps and found != "none":
        return f"{name}: {found}"
    return ""


def main():
    gc.disable()  # looking for cycles in what has none takes a third of the reading
    program, text, *more = [*sys.argv[1:], ""] if len(sys.argv) == 2 else sys.argv[1:]
    count, faults = 0, []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in captures(more):
            if text in str(path):
                answers = list(pool.map(lambda case: wrong(program, case), cases(path)))
                count += len(answers)
                # Programs of one kernel a step, and inference without a sign, are among these.
                faults += [answer for answer in answers if answer
                           and not (path.parent == CAUSES and answer.endswith("no steps"))]
    print(*faults, f"{count} captures without marks, {len(faults)} wrong", sep="\n")
    sys.exit(bool(faults) or count == 0)


if __name__ == "__main__":
    main()
