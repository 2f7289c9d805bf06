#!/usr/bin/env python3
"""Gaps that hardware needs between queued activities: the table of docs/idle.md, from raw events.

    hardware_gaps.py TRACE...

Give whole traces only: a trace that had events taken out of it has gaps that no hardware made.
"""
import collections
import sys

import raw

QUEUED_BEFORE = 2_000  # a launch that returned this long before the gap was surely there


def kinds_of(trace):
    """(what the gap is, its length) for every gap whose next activity the device already had."""
    for device in trace.device_ids():
        for start, end, before, following in raw.gaps_of([a for a in trace.activities
                                                          if a.device == device]):
            call = following.call
            if call is None:
                continue
            graph = "Graph" in call.name
            if before.call is call:
                yield ("graph, between its nodes" if graph else "one call"), end - start
            elif call.end <= start - QUEUED_BEFORE:
                if graph:
                    yield "queued, a graph", end - start
                elif before.stream != following.stream:
                    yield "queued, other stream", end - start
                elif before.kind == following.kind == "kernel":
                    yield "queued, kernels of one stream", end - start
                else:
                    yield "queued, copies and sets", end - start
            elif start < call.end < end:
                yield ("launched, a graph" if graph
                       else "launched, " + following.kind), end - call.end


def main():
    found = collections.defaultdict(list)
    traces = collections.Counter()
    for path in sys.argv[1:]:
        trace = raw.read_trace(path)
        vendor = "AMD" if any(c.name.startswith("hip") for c in trace.calls[:2000]) else "NVIDIA"
        traces[vendor] += bool(trace.activities)
        for kind, length in kinds_of(trace):
            found[vendor, kind].append(length)
    print(dict(traces))
    print("| | gaps | median | 99th percentile | longest | over 20 µs |\n|---|--:|--:|--:|--:|--:|")
    for (vendor, kind), lengths in sorted(found.items(), reverse=True):
        lengths.sort()
        at = [lengths[len(lengths) // 2], lengths[int(0.99 * (len(lengths) - 1))], lengths[-1]]
        over = sum(length > 20_000 for length in lengths)
        print(f"| {vendor}, {kind} | {len(lengths)} | "
              + " | ".join(f"{x / 1000:.1f} µs" for x in at) + f" | {over} |")


if __name__ == "__main__":
    main()
