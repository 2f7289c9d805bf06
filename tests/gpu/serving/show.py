#!/usr/bin/env python3
"""What gpufathom says of an inference engine and of other programs, and what recording them costs:
show.py GPUFATHOM OUT [--budget-seconds N] [--parts cost,recordings,names,programs,trace]
show.py --page serving_show.json

On one GPU, in this order:
  cost        the engine alone against recorders beside it, in interleaved pairs (cost.py)
  recordings  the engine with marks and without, against its own log: steps, kinds, tokens, times,
              joules of requests, operators of the graphs' kernels (judged.py)
  names       a training in JAX and flax: whether its kernels have their names
  programs    twelve programs whose start-up is unlike their loop (programs.py): steps, and whether
              advice is about time outside the loop
  trace       the graphs' operators by a trace of another run of the engine
OUT gets serving_show.json, written after every part, and the captures that are small, with the logs
of the engine. What fails is in the JSON and stops nothing else. --page prints its tables.
"""
import argparse
import concurrent.futures
import datetime
import gzip
import importlib.metadata
import json
import lzma
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cost
import judged
import joules
import page
from programs import PROGRAMS

HERE = pathlib.Path(__file__).resolve().parent
LARGEST, ROOM = 3_000_000, 12_000_000  # bytes of a capture, and of all that go to OUT
RECORDINGS = {  # words of the engine, and of the recorder
    "none": (["--requests", "120", "--rate", "100"], []),
    "sglang_energy": (["--requests", "400", "--rate", "110", "--marks", "sglang",
                       "--request-marks"], ["--metrics", "energy"]),
    "vllm_chunked": (["--requests", "120", "--rate", "100", "--marks", "vllm", "--request-marks",
                      "--chunk", "256"], []),
    "none_requests_names": (["--requests", "120", "--rate", "100", "--request-marks", "--names",
                             "--seed", "2"], []),
    "vllm_new_names": (["--requests", "120", "--rate", "100", "--marks", "vllm_new",
                        "--request-marks", "--names", "--seed", "3"], [])}
PACKAGES = ("torch", "triton", "transformers", "jax", "flax", "optax", "cupy-cuda13x", "numba",
            "numba-cuda", "numpy", "nvidia-ml-py")


def versions(gpufathom):
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    told = subprocess.run([gpufathom, "--version"], capture_output=True, text=True).stdout
    return {**found, "gpufathom": told.strip().split("\n")[0]}


def hardware():
    try:
        told = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20).stdout
        name, driver = told.strip().split("\n")[0].split(", ")
        return {"gpu": name, "driver": driver}
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {"gpu": "none", "driver": None}


def last_object(text):
    """The last line that is an object of JSON: libraries print dictionaries of their own."""
    for line in reversed(text.split("\n")):
        try:
            if line.startswith("{"):
                return json.loads(line)
        except ValueError:
            pass
    return None


class Show:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.until = time.monotonic() + options.budget_seconds
        self.lock, self.workers = threading.Lock(), concurrent.futures.ThreadPoolExecutor(4)
        self.pending, self.captures = [], {}
        self.result = {
            "what": "an engine and other programs, recorded, against what they know of themselves",
            "command": " ".join(["tests/gpu/serving/show.py", "build/gpufathom", "OUT",
                                 *sys.argv[3:]]),
            "date": datetime.date.today().isoformat(), **hardware(), "cores": os.cpu_count(),
            "versions": versions(options.gpufathom), "seconds_of_parts": {}}

    def left(self):
        return self.until - time.monotonic()

    def write(self):
        with self.lock:
            self.result["seconds"] = round(self.options.budget_seconds - self.left(), 1)
            path = self.options.out / "serving_show.json"
            path.with_suffix(".part").write_text(json.dumps(self.result, indent=1) + "\n",
                                                 encoding="utf-8")
            path.with_suffix(".part").replace(path)

    def run(self, command, seconds):
        """A program and its last line of JSON; it is asked to end when its time is up."""
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder, start_new_session=True)
        late = False
        try:
            out, errors = process.communicate(timeout=max(5, seconds))
        except subprocess.TimeoutExpired:
            late = True
            try:
                os.killpg(process.pid, signal.SIGTERM)
                out, errors = process.communicate(timeout=8)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, errors = process.communicate()
        known = last_object(out)
        row = {"exit_code": process.returncode, "seconds": round(time.monotonic() - begin, 1),
               "said": errors.strip()[-600:]}
        if late:
            row["failed"] = "took too long"
        elif known is None:
            row["failed"] = row["said"] or "printed nothing"
        return row, known

    def record(self, name, command, words, seconds):
        capture = self.folder / f"{name}.gpf"
        row, known = self.run([self.options.gpufathom, "record", "--kernels", "--window", "0",
                               *words, "-o", str(capture), "--", *command], seconds)
        row["capture_bytes"] = capture.stat().st_size if capture.exists() else None
        if capture.exists():
            self.captures[name] = capture
        return row, known, capture

    def later(self, row, what, key="judged"):
        """Judges while the next program runs."""
        def work():
            try:
                answer = what()
            except Exception as wrong:  # an answer of another form than expected
                answer = {"failed": f"{type(wrong).__name__}: {wrong}"}
            with self.lock:
                row[key] = answer
        self.pending.append(self.workers.submit(work))

    def cost(self):
        until, latest = (time.monotonic() + min(part * self.options.budget_seconds, self.left())
                         for part in (0.33, 0.5))
        return cost.measure(self.options.gpufathom, self.folder, until, latest, self.options.cpu)

    def recordings(self):
        rows = self.result["recordings"] = {}
        for name, (words, more) in RECORDINGS.items():
            if self.left() < 25:
                rows[name] = {"failed": "no time was left"}
                continue
            log = self.folder / f"{name}.log.json"
            words = [*words, "--requests", "12"] if self.options.cpu else words
            meter = joules.Meter()
            meter.start()
            row, known, capture = self.record(f"serving_{name}", cost.engine(
                *words, "--log", str(log), cpu=self.options.cpu), more, min(60, self.left()))
            rows[name] = {**row, "engine": known, "words": words + more}
            if log.exists() and capture.exists():
                self.later(rows[name], lambda capture=capture, log=log, meter=meter: judged.served(
                    self.options.gpufathom, capture, json.loads(log.read_text()), meter))
            meter.stopped.set()
            self.write()
        return rows

    def program(self, name, rows, seconds):
        row, known, capture = self.record(
            f"program_{name}", [sys.executable, str(HERE / "programs.py"), name, "--seconds",
                                "0.3" if self.options.cpu else "2"], [], seconds)
        rows[name] = {**row, "known": known}
        if known and capture.exists():
            self.later(rows[name], lambda: judged.advised(self.options.gpufathom, capture, known))
        self.write()
        return capture

    def names(self):
        rows = self.result["names"] = {}
        capture = self.program("flax_train", self.result.setdefault("trainings", {}),
                               min(75, self.left()))
        if capture.exists():
            rows["flax_train"] = judged.names_of(self.options.gpufathom, capture)
        return rows

    def programs(self):
        rows = self.result["programs"] = {}
        for name in PROGRAMS:
            if self.left() < 20:
                rows[name] = {"failed": "no time was left"}
            else:
                self.program(name, rows, min(60, self.left() - 8))
        return rows

    def trace(self):
        """The same engine under torch.profiler from its capture on, for `--graphs`."""
        capture, path = self.captures.get("serving_none"), self.folder / "graphs.trace.json"
        if not capture or self.left() < 30:
            return "no recording, or no time was left"
        row, _ = self.run(cost.engine("--requests", "4", "--profile", str(path),
                                      cpu=self.options.cpu), min(50, self.left() - 15))
        concurrent.futures.wait(self.pending, timeout=max(1, self.left() - 15))
        judged_row = self.result["recordings"]["none"].get("judged")
        if path.exists() and judged_row:
            judged_row["operators_with_trace"] = judged.operators_of(
                self.options.gpufathom, capture, "--graphs", str(path))
        return row

    def part(self, name):
        begin = time.monotonic()
        try:
            answer = getattr(self, name)()
        except Exception as wrong:  # a part never takes the others with it
            answer = {"failed": f"{type(wrong).__name__}: {wrong}"}
        with self.lock:
            self.result.setdefault(name, answer)
            self.result["seconds_of_parts"][name] = round(time.monotonic() - begin, 1)
        self.write()
        print(f"{name}: {self.result['seconds_of_parts'][name]} s", flush=True)

    def keep(self):
        """The small captures, the engine's first, as long as there is room and time."""
        room, kept = ROOM, {}
        for name, capture in sorted(self.captures.items(), key=lambda item: (
                not item[0].startswith("serving"), item[1].stat().st_size)):
            if capture.stat().st_size > 12 * LARGEST or self.left() < 3:
                continue
            packed = lzma.compress(capture.read_bytes(), preset=1)
            if len(packed) > min(LARGEST, room):
                continue
            (self.options.out / f"{name}.gpf.xz").write_bytes(packed)
            room, kept[name] = room - len(packed), len(packed)
            log = self.folder / f"{name.removeprefix('serving_')}.log.json"
            if log.exists():
                packed = gzip.compress(log.read_bytes())
                (self.options.out / f"{name}.log.json.gz").write_bytes(packed)
                room -= len(packed)
        self.result["captures_kept"] = kept

    def all(self):
        for name in self.options.parts:
            if self.left() > 15:
                self.part(name)
        done, late = concurrent.futures.wait(self.pending, timeout=max(1, self.left() - 5))
        if late:
            self.result["not_judged_in_time"] = len(late)
        self.keep()
        self.write()
        self.workers.shutdown(wait=False, cancel_futures=True)


def main():
    if sys.argv[1:2] == ["--page"]:
        print(page.of(json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))), end="")
        return
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpufathom", type=os.path.abspath)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--budget-seconds", type=float, default=500)
    parser.add_argument("--parts", default="cost,recordings,names,programs,trace",
                        type=lambda text: text.split(","))
    parser.add_argument("--cpu", action="store_true", help="tiny models, to try this script")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.out = options.out.resolve()
    with tempfile.TemporaryDirectory() as folder:
        Show(options, folder).all()
    sys.stdout.flush()
    os._exit(0)  # an answer that nobody waits for any more would be waited for


if __name__ == "__main__":
    main()
