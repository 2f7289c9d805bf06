"""Reading large profiles of TensorFlow and JAX: time and memory.

  ./dev bench xplane [--bytes 1000000000] [--runs 3] [-o docs/results/xplane.json]

The profile is made of the JAX capture in examples/ (one GPU stream, host threads, a Python thread
with its frames): the events of each line again and again, each time after the last one, until the
file has the wanted size. Measured as in ingest.py, on two cores, best of --runs:
  load      file to capture          (ingest.cpp)
  analyze   file to finished analysis, the command as users run it
The copies repeat the correlation numbers of the source, so that most kernels of the answer have a
launch of another copy: good for times, not for conclusions.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import sys
import tarfile
import time

import spent
from ingest import analyze, measure, show

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, whole field with its tag, payload) of a message."""
    at = 0
    while at < len(data):
        start = at
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            _, end = read_varint(data, at)
        elif tag & 7 == 1:
            end = at + 8
        elif tag & 7 == 5:
            end = at + 4
        else:
            length, at = read_varint(data, at)
            end = at + length
        yield tag >> 3, data[start:end], data[at:end]
        at = end


def message(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def number_in(message, wanted):
    """The value of an integer field, 0 when it is left out."""
    return next((read_varint(payload, 0)[0]
                 for number, payload in ((n, whole[1:]) for n, whole, _ in fields(message)
                                         if n == wanted)), 0)


FIRST = 1 << 49  # ps, ten minutes: offsets from here to 2^56, twenty hours, take eight bytes
LOW = [bytes((v & 127 | 128, v >> 7 | 128)) for v in range(1 << 14)]  # two of the eight bytes
HIGH = [bytes((v & 127 | 128, v >> 7)) for v in range(1 << 14)]       # the last two


class Line:
    """A line of the source whose events can be written again at a later time."""
    def __init__(self, message_bytes):
        self.head = b"".join(whole for number, whole, _ in fields(message_bytes) if number != 4)
        self.events = []  # bytes before the offset, offset, bytes after it
        for number, _, event in fields(message_bytes):
            if number != 4:
                continue
            rest = [whole for n, whole, _ in fields(event) if n != 2]
            size = sum(map(len, rest)) + 9
            self.events.append((b"\x22" + varint(size) + rest[0] + b"\x10",
                                number_in(event, 2) + FIRST, b"".join(rest[1:])))
        self.bytes = sum(len(before) + 8 + len(after) for before, _, after in self.events)
        self.end = max((offset - FIRST + number_in(event, 3)
                        for (_, offset, _), event in zip(self.events,
                                                         (e for n, _, e in fields(message_bytes)
                                                          if n == 4))), default=0)

    def repeated(self, times, period):
        parts = [self.head]
        for k in range(times):
            shift = k * period
            for before, offset, after in self.events:
                v = offset + shift
                parts.append(before + LOW[v & 16383] + LOW[v >> 14 & 16383] + LOW[v >> 28 & 16383] + HIGH[v >> 42] + after)
        return b"".join(parts)


def make(path, size):
    with tarfile.open(ROOT / "examples" / "jax_mlp.tgz") as tar:
        member = next(m for m in tar.getmembers() if m.name.endswith(".xplane.pb"))
        source = tar.extractfile(member).read()
    planes = [[(number, whole, Line(payload) if number == 3 else None)
               for number, whole, payload in fields(plane)] for n, _, plane in fields(source)
              if n == 1]
    lines = [line for plane in planes for _, _, line in plane if line]
    times, period = size // sum(line.bytes for line in lines), max(line.end for line in lines)
    with open(path, "wb") as f:
        for plane in planes:
            f.write(message(1, b"".join(message(3, line.repeated(times, period)) if line else whole
                                        for _, whole, line in plane)))


def main():
    p = argparse.ArgumentParser(prog="bench/run xplane", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bytes", type=int, default=1_000_000_000)
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("-o", "--output", type=pathlib.Path, help="write all figures as JSON")
    args = p.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # two cores, wherever this runs
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / f"profile_{args.bytes}.xplane.pb"
    if not path.exists():
        # what this process holds would count as its children's peak
        maker = multiprocessing.Process(target=make, args=(path, args.bytes))
        maker.start()
        maker.join()
    with open(path, "rb") as f:  # into the page cache: the disk is not what is measured
        while f.read(1 << 20):
            pass
    cpu = spent.processor()
    result = {"machine": {"cpu": cpu, "cores": len(os.sched_getaffinity(0)),
                          "load_average": os.getloadavg()[0]},
              "command": "./dev bench xplane " + " ".join(sys.argv[1:]),
              "date": time.strftime("%Y-%m-%d")}
    result["load"], said = measure(["build/bench/ingest", path, "load"], args.runs)
    facts = json.loads(said)
    result["profile"] = {"bytes": facts["bytes"], "events": facts["events"]}
    result["analyze"], _ = measure(analyze(path), args.runs)
    for label in ("load", "analyze"):
        show(label, result[label], facts)
    if args.output:
        (ROOT / args.output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
