#!/usr/bin/env python3
"""`monitor --steps` beside the engine under `gpufathom run`, against the engine's log:
watched.py GPUFATHOM OUT.json [--requests 1500] [--rate 100] [--marks none,sglang]

Prometheus' series are scraped twice a second. Of each window (its end is a series) they are held
against the steps that the log has in it: tokens and steps a second, by kind too, the median step,
and joules a token against the driver's counter over the window. How long recorded steps take is the
log's median of decoding inside of windows over that outside.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from joules import Meter

HERE = pathlib.Path(__file__).resolve().parent
WINDOW, EVERY = 2.0, 5.0
SERIES = re.compile(r'^gpufathom_serving_(\w+)\{([^}]*)\} (\S+)')


def scraped(url):
    """{window end: {(series, kind, quantile): value}} of a page."""
    with urllib.request.urlopen(url, timeout=3) as page:
        lines = page.read().decode().split("\n")
    found = {}
    for line in lines:
        if match := SERIES.match(line):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', match[2]))
            found[match[1], labels.get("kind"), labels.get("quantile")] = float(match[3])
    end = found.get(("window_end_seconds", None, None))
    return {end: found} if end else {}


def watch(gpufathom, options, marks, folder):
    """A run of the engine: its log, and the windows that the monitor told."""
    log, windows = folder / f"{marks}.json", {}
    engine = subprocess.Popen(
        [gpufathom, "run", "--", sys.executable, str(HERE / "engine.py"), "--log", str(log),
         "--requests", str(options.requests), "--rate", str(options.rate), "--marks", marks],
        stdout=subprocess.DEVNULL)
    monitor = subprocess.Popen(
        [gpufathom, "monitor", "--interval", "0.5", "--serve", "127.0.0.1:0", "--steps", str(WINDOW),
         "--steps-every", str(EVERY)], stderr=subprocess.PIPE, text=True)
    url = None
    while url is None and (line := monitor.stderr.readline()):
        url = (re.search(r"http://\S+", line) or [None])[0]
    os.set_blocking(monitor.stderr.fileno(), False)
    try:
        while engine.poll() is None:
            try:
                windows.update(scraped(url))
            except OSError as wrong:
                print("not scraped:", wrong, flush=True)
            time.sleep(0.5)
    finally:
        monitor.terminate()
        code = monitor.wait(10)
    return json.loads(log.read_text()), windows, engine.returncode, code


def per(part, whole):
    return part / whole if whole else None


def ratio(told, true):
    return round(told / true - 1, 4) if told is not None and true else None


def judged(log, end, told, meter):
    """Of a window: each series over what the log has."""
    end_ns = end * 1e9
    begin_ns = end_ns - WINDOW * 1e9
    steps = [step for step in log["steps"] if begin_ns <= step["t0"] and step["t2"] <= end_ns]
    if len(steps) < 10:
        return {"end": end, "steps": len(steps)}
    span = (steps[-1]["t2"] - steps[0]["t0"]) / 1e9
    tokens = sum(step["generated"] for step in steps)
    joules = meter.joules(begin_ns, end_ns)
    of = {"tokens_per_second": [told.get(("tokens_per_second", None, None)), per(tokens, span)],
          "joules_per_token": [told.get(("joules_per_token", None, None)),
                               per(joules or 0, tokens * WINDOW / span)]}
    for kind in sorted({step["kind"] for step in steps}):
        own = [step for step in steps if step["kind"] == kind]
        of |= {f"{kind}: steps_per_second": [told.get(("steps_per_second", kind, None)),
                                             per(len(own), span)],
               f"{kind}: median step": [told.get(("step_seconds", kind, "0.5")), statistics.median(
                   (step["t2"] - step["t0"]) / 1e9 for step in own)]}
    return {"end": end, "steps": len(steps),
            "kinds_said": sorted({kind for _, kind, _ in told if kind}),
            "series": {name: {"told": a, "true": b, "off": ratio(a, b)} for name, (a, b) in of.items()}}


def slower(log, ends):
    """Decode steps inside of windows over those outside, by the log."""
    inside, outside = [], []
    for step in log["steps"]:
        if step["kind"] == "decode" and step["decodes"] >= 16:
            within = any(end - WINDOW <= step["t0"] / 1e9 <= end for end in ends)
            (inside if within else outside).append(step["t2"] - step["t0"])
    return per(statistics.median(inside), statistics.median(outside)) if inside and outside else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpufathom")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--marks", default="none,sglang")
    options = parser.parse_args()
    rows, meter = [], Meter()
    meter.start()
    with tempfile.TemporaryDirectory() as folder:
        for marks in options.marks.split(","):
            log, windows, *codes = watch(options.gpufathom, options, marks, pathlib.Path(folder))
            rows.append({
                "marks": marks, "exit_codes": codes, "steps": len(log["steps"]),
                "decode_step_in_windows_over_outside": slower(log, windows),
                "windows": [judged(log, end, told, meter) for end, told in sorted(windows.items())]})
            options.out.write_text(json.dumps({
                "what": "monitor --steps beside an inference engine, against the engine's log",
                "command": "tests/gpu/serving/watched.py " + " ".join(
                    ["GPUFATHOM", "OUT.json", *sys.argv[3:]]),
                "date": datetime.date.today().isoformat(), "runs": rows}, indent=1) + "\n")
    print(json.dumps(rows)[:6000])


if __name__ == "__main__":
    main()
