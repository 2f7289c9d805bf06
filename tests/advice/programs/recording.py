"""What the scripts share whose programs gpufathom records itself: time SIZE NAME... | run SIZE NAME

"time" prints a line of JSON for each program; "run" runs one for six seconds, to be recorded.
"""
import json
import statistics
import sys
import time


def built(builds, size, name):
    plain, _, mended = name.partition(".")
    return builds[plain](size == "tiny", bool(mended))


def timed(builds, size, name):
    """Milliseconds of a step, over runs that end with a wait, as the host runs ahead in them."""
    step, wait = built(builds, size, name)
    for _ in range(5):
        step()
    wait()
    times = []
    for _ in range(4):
        begin, count = time.perf_counter(), 0
        while count < 20 or (time.perf_counter() - begin < 0.2 and count < 500):
            step()
            count += 1
        wait()
        times.append((time.perf_counter() - begin) * 1e3 / count)
    return {"program": name, "median_ms": statistics.median(times), "repeats_ms": times}


def main(builds):
    action, size, *names = sys.argv[1:]
    if action == "time":
        for name in names:
            try:
                print(json.dumps(timed(builds, size, name)), flush=True)
            except Exception as error:  # one program's failure is its result
                print(json.dumps({"program": name, "error": f"{type(error).__name__}: {error}"}))
        return
    step, wait = built(builds, size, names[0])
    step()
    begin = time.perf_counter()
    while time.perf_counter() - begin < (0.5 if size == "tiny" else 6):
        # As a service does: a batch of requests, and then all are answered.
        for _ in range(50):
            step()
        wait()
