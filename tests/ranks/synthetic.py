"""Traces of many ranks made from one recorded one, with a truth that is known to the nanosecond.

    python3 tests/ranks/synthetic.py TRACE OUT --ranks 8 [--copies 2] [--seed 15] [--no-metadata]
    [--sequence]

The recorded trace must hold collectives of one stream. Every rank gets the same work; before a
collective one rank can be late: everything of that rank from there on, host and device, moves by
the delay, and all ranks leave the collective together. Each rank has a clock of its own: an offset,
a drift, a base time. truth.json says who was late for which collective, by how much, and each
rank's clock.
"""
import argparse
import gzip
import json
import pathlib
import random

import numpy

MARK = "\x00"


def nanoseconds(value):
    """Nanoseconds of a time in microseconds: decimals are exact."""
    return round(value * 1000)


class Template:
    """The events as text around their times, ordered as in the file."""

    def __init__(self, path, copies=1, metadata=True, sequence=False):
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as file:
            trace = json.load(file)
        self.head = {key: value for key, value in trace.items()
                     if key not in ("traceEvents", "baseTimeNanoseconds", "distributedInfo")}
        self.info = trace.get("distributedInfo", {})
        events = [event for event in trace["traceEvents"] if event.get("ph") != "M"]
        self.named = [event for event in trace["traceEvents"] if event.get("ph") == "M"]
        times = [nanoseconds(event["ts"]) for event in events]
        ends = [time + nanoseconds(event.get("dur", 0)) for time, event in zip(times, events)
                if event.get("cat") != "Trace"]
        self.zero, span = min(times), max(ends) - min(times) + 5_000_000
        self.texts, self.start, self.duration, self.collective = [], [], [], []
        number = 0
        for copy in range(copies):
            for time, event in sorted(zip(times, events), key=lambda pair: pair[0]):
                if copy and event.get("cat") in ("Trace",):
                    continue
                number = self._add(event, time - self.zero + copy * span, copy, number, metadata,
                                   sequence)
        self.start = numpy.array(self.start, dtype=numpy.int64)
        self.duration = numpy.array(self.duration, dtype=numpy.int64)
        self.collective = numpy.array(self.collective, dtype=numpy.int64)
        where = numpy.nonzero(self.collective >= 0)[0]
        self.begin = self.start[where]
        self.length = self.duration[where]
        self.count = number

    def _add(self, event, start, copy, number, metadata, sequence):
        event = dict(event)
        args = dict(event.get("args", {}))
        for key in ("correlation", "External id"):
            if key in args and copy:
                args[key] += copy * 10_000_000
        if event.get("cat") in ("ac2g", "fwdbwd") and copy:
            event["id"] = event["id"] + copy * 10_000_000
        found = event.get("cat") == "kernel" and "nccl" in event["name"].lower()
        if found:
            if sequence:
                args["Seq"] = number
            if not metadata:
                args = {key: value for key, value in args.items()
                        if not key.startswith(("Collective", "In ", "Out ", "Group", "Process",
                                               "dtype"))}
            elif "Group size" in args:
                args["Group size"], args["Process Group Ranks"] = MARK + "size", MARK + "ranks"
        if args or "args" in event:
            event["args"] = args
        event["ts"], durable = MARK + "ts", "dur" in event
        duration = nanoseconds(event["dur"]) if durable else 0
        if durable:
            event["dur"] = MARK + "dur"
        self.texts.append(json.dumps(event, ensure_ascii=False))
        self.start.append(start)
        self.duration.append(duration)
        self.collective.append(number if found else -1)
        return number + found

    def pieces(self, ranks):
        """The text before each time of each event, for a world of this size."""
        mark = json.dumps(MARK)[1:-1]
        listed = str(list(range(ranks))) if ranks <= 30 else "[0, 1, 2, ...]"
        out = []
        for text in self.texts:
            text = text.replace(f'"{mark}size"', str(ranks)).replace(f'{mark}ranks', listed)
            before, after = text.split(f'"{mark}ts"')
            if f'"{mark}dur"' in after:
                middle, after = after.split(f'"{mark}dur"')
                out.append((before, middle, after))
            else:
                out.append((before, None, after))
        return out


class Job:
    """The planted delays, and every rank's clock."""

    def __init__(self, template, ranks, seed=15, straggler=None, offset_s=3.0, drift_ppm=8.0):
        plan = random.Random(seed)
        self.template, self.ranks = template, ranks
        self.straggler = plan.randrange(ranks) if straggler is None else straggler
        self.late = [self.straggler if plan.random() < 0.5 else plan.randrange(ranks)
                     for _ in range(template.count)]
        self.delay = [plan.choice([0, 0, 40_000, 400_000, 2_000_000, 9_000_000])
                      for _ in range(template.count)]
        # A collective cannot be later than what comes before the next one leaves room for on other
        # streams: time moves for all.
        self.offset = [0] + [plan.randrange(int(-offset_s * 1e9), int(offset_s * 1e9))
                             for _ in range(ranks - 1)]
        self.drift = [0.0] + [plan.uniform(-drift_ppm, drift_ppm) * 1e-6 for _ in range(ranks - 1)]
        self.moved = numpy.concatenate([[0], numpy.cumsum(self.delay)]).astype(numpy.int64)
        self.base = 1790857026000000000
        self._pieces = template.pieces(ranks)

    def times(self, rank):
        """Start and duration of every event on the rank's own clock."""
        shape = self.template
        # Before the end of collective i everything has moved by the delays of those before it.
        passed = numpy.searchsorted(shape.begin + shape.length, shape.start, side="right")
        start = shape.start + self.moved[passed]
        duration = shape.duration.copy()
        own = numpy.array([delay if late == rank else 0
                           for late, delay in zip(self.late, self.delay)], dtype=numpy.int64)
        # Work of this rank beside a collective, from its start on, moves with it.
        reached = numpy.searchsorted(shape.begin, shape.start, side="right") - 1
        inside = (reached >= 0) & (shape.start < (shape.begin
                                                  + shape.length)[numpy.maximum(reached, 0)])
        start = start + numpy.where(inside, own[numpy.maximum(reached, 0)], 0)
        where = numpy.nonzero(shape.collective >= 0)[0]
        number = shape.collective[where]
        delay = numpy.array(self.delay, dtype=numpy.int64)[number]
        duration[where] = shape.duration[where] + delay - own[number]
        scatter = numpy.random.default_rng(rank).integers(-600, 600, len(where))
        duration[where] += scatter
        shown = start + self.offset[rank] + numpy.round(self.drift[rank] * start).astype(numpy.int64)
        return shown + 4_448_000_000_000_000, duration

    def trace(self, rank):
        """The rank's file as text."""
        start, duration = self.times(rank)
        quarter = 7_889_238_000_000_000 if rank % 2 else 0  # ranks whose base times differ
        head = dict(self.template.head)
        head["distributedInfo"] = {**self.template.info, "rank": rank, "world_size": self.ranks,
                                   "pg_config": [{"pg_name": "0", "pg_desc": "default_pg",
                                                  "pg_size": self.ranks}]}
        head["baseTimeNanoseconds"] = self.base - quarter
        start = start + quarter
        whole, part = numpy.divmod(start, 1000)
        long, rest = numpy.divmod(duration, 1000)
        events = [json.dumps(event) for event in self.template.named]
        for (before, middle, after), first, second, third, fourth in zip(
                self._pieces, whole.tolist(), part.tolist(), long.tolist(), rest.tolist()):
            if middle is None:
                events.append(f"{before}{first}.{second:03d}{after}")
            else:
                events.append(f"{before}{first}.{second:03d}{middle}{third}.{fourth:03d}{after}")
        return json.dumps(head)[:-1] + ', "traceEvents": [\n' + ",\n".join(events) + "\n]}\n"

    def truth(self):
        return {"ranks": self.ranks, "collectives": self.template.count,
                "straggler": self.straggler, "late": self.late,
                "delay_ns": self.delay, "offset_ns": self.offset,
                "drift_ppm": [drift * 1e6 for drift in self.drift]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--no-metadata", action="store_true")
    parser.add_argument("--sequence", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    job = Job(Template(options.trace, options.copies, not options.no_metadata, options.sequence),
              options.ranks, options.seed)
    for rank in range(options.ranks):
        (options.out / f"rank{rank}.json").write_text(job.trace(rank))
    (options.out / "truth.json").write_text(json.dumps(job.truth()) + "\n")


if __name__ == "__main__":
    main()
