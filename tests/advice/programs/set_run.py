"""The sets of programs by name: `run --set NAME` runs those of NAME.json, once each.

NAME_*.py hold its programs: NAME_jax.py those of JAX, NAME_record.py those that gpufathom records
(which NAME.json lists as `recorded`), the modules that it lists as `modules` those of PyTorch.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def known_of(name):
    """The content of NAME.json for a set."""
    with open(f"{HERE}/{name}.json") as found:
        return json.load(found)


def is_recorded(known, name):
    return name.partition(".")[0] in known["recorded"]


def chosen(known, part):
    """The names of a part "1/2": pairs stay together, so that both run on one machine."""
    pairs = [[name, f"{name}.mended"] for name in known["faults"]]
    pairs += [[name] for name in known["healthy"]]
    which, _, count = part.partition("/")
    return [name for pair in pairs[int(which) - 1 :: int(count)] for name in pair]


def left(folder, names):
    """Programs that have no result yet or failed: a second call goes on where the first ended."""
    found = []
    for name in names:
        path = f"{folder}/{name}.run.json"
        if os.path.exists(path):
            with open(path) as kept:
                if "error" not in json.load(kept):
                    continue
            os.unlink(path)  # or the worker's caller would take it for this call's result
        found.append(name)
    return found


def gpufathom():
    root = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    places = (os.environ.get("GPUFATHOM", ""), f"{root}/build/bundle/gpufathom",
              f"{root}/build/gpufathom")
    return next((place for place in places if os.path.exists(place)), "gpufathom")


def timings(script, size, names, limit):
    """Step times of each program by a process of their own, without any recorder."""
    command = [sys.executable, script, "time", size, *names]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit)
        lines = done.stdout
    except subprocess.TimeoutExpired as error:
        lines = (error.stdout or b"").decode()
    found = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    return {one["program"]: one for one in found}


def record(script, folder, size, name):
    """One capture by gpufathom, packed; what it said about it goes to NAME.record.log."""
    capture = f"{folder}/{name}.gpf"
    command = [gpufathom(), "record", "--kernels", "--delay", "3", "--window", "1", "-o", capture,
               "--", sys.executable, script, "run", size, name]
    with open(f"{folder}/{name}.record.log", "w") as log:
        subprocess.run(command, stdout=log, stderr=log, timeout=60)
    with open(capture, "rb") as plain, gzip.open(f"{capture}.gz", "wb", 9) as packed:
        shutil.copyfileobj(plain, packed)
    os.unlink(capture)
    return os.path.getsize(f"{capture}.gz")


def run_recorded(kind, folder, tiny, names):
    script, size = f"{HERE}/{kind}_record.py", "tiny" if tiny else "full"
    before = timings(script, size, names, 90)
    captures = {}
    for name in names:
        try:
            captures[name] = {"trace": f"{name}.gpf.gz",
                              "trace_bytes": record(script, folder, size, name)}
        except (OSError, subprocess.TimeoutExpired) as error:
            captures[name] = {"error": f"{type(error).__name__}: {error}"}
        print(f"{name}: recorded", flush=True)
    after = timings(script, size, names, 90)
    for name in names:
        runs = [time for found in (before, after)
                for time in found.get(name, {}).get("repeats_ms", [])]
        known = {"program": name, "rank": 0, **captures[name]}
        if runs:
            known["alone"] = {"median_ms": sorted(runs)[len(runs) // 2], "clock": "host",
                              "repeats_ms": runs}
        else:
            known["error"] = known.get("error", before.get(name, {}).get("error", "no timing"))
        with open(f"{folder}/{name}.run.json", "w") as out:
            json.dump(known, out, indent=1)
