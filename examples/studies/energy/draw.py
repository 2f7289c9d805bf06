#!/usr/bin/env python3
"""Charts of energy, as figures 5.4 and 5.6 to 5.12 of the thesis: draw.py MODEL POINTS BREAKDOWN
FOLDER

MODEL is a file of `gpufathom calibrate`, POINTS the raw points of that board, BREAKDOWN a list of
answers of `gpufathom energy`.
  energy_caches.svg     latency of a load over the bytes that are walked through (5.4)
  energy_power.svg      power read while a load begins and ends (5.6)
  energy_threads.svg    picojoules of an access over the threads of a block, a line a level of memory (5.7 to 5.9)
  energy_divisions.svg  picojoules of a division beside each level of memory (5.10)
  energy_parts.svg      where the energy of a step or a kernel goes, a bar each (5.11, 5.12)
"""
import gzip
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runtime"))
from draw import save, text  # noqa: E402

LEVELS = {"shared_load": "#2a9d8f", "l1_load": "#457b9d", "l2_load": "#f4a261",
          "dram_load": "#e63946"}
GROUPS = {"static": "#adb5bd", "instructions": "#2a9d8f", "shared and L1": "#457b9d",
          "L2": "#f4a261",
          "DRAM": "#e63946", "rest": "#e5e5e5"}


def frame(title, marks_x, marks_y, below):
    """Axes with their marks, {position: words}."""
    parts = [text(8, 20, title, size=14), text(290, 336, below, "middle", 11)]
    for y, words in marks_y.items():
        parts += [f'<line x1="70" x2="510" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
                  text(62, y + 4, words, "end", 10)]
    return parts + [text(x, 318, words, "middle", 10) for x, words in marks_x.items()]


def line(points, color):
    where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{where}" fill="none" stroke="{color}" stroke-width="1.6"/>'


def caches(path, model, points):
    """A level ends where the latency rises; the dashed lines are what `calibrate` makes of it."""
    found = [(point["bytes"], point["ns"]) for point in points if point.get("probe") == "latency"]
    most = max(ns for _, ns in found)
    x = lambda size: 70 + 22 * (math.log2(size) - 10)  # noqa: E731
    y = lambda ns: 300 - 240 * ns / most  # noqa: E731
    sizes = {1 << 10: "1 kB", 1 << 14: "16 kB", 1 << 18: "256 kB", 1 << 22: "4 MB",
             1 << 26: "64 MB", 1 << 30: "1 GB"}
    parts = frame("Latency of dependent loads over the region they walk",
                  {x(size): words for size, words in sizes.items()},
                  {y(ns): f"{ns} ns" for ns in range(0, int(most) + 1, 100)}, "bytes")
    parts.append(line([(x(size), y(ns)) for size, ns in found], "#457b9d"))
    for cache in model["board"]["caches"]:
        if cache["bytes"]:
            at, words = x(cache["bytes"]), f"{cache['level']} {cache['bytes'] / 1024:,.0f} KiB"
            parts += [f'<line x1="{at:.1f}" x2="{at:.1f}" y1="50" y2="300" stroke="#e63946" stroke-dasharray="4 3"/>',
                      text(at - 4, 48, words, "end", 11)]
    save(path, 530, 346, parts)


def power(path, points):
    """All steps of the probe, each a line of the same color: they begin at any phase of the
    sensor."""
    steps = [point for point in points if point.get("probe") == "sensor"]
    most = max(watts for step in steps for watts in step["watts"])
    x = lambda seconds: 70 + 440 * (seconds + 0.1) / 1.4  # noqa: E731
    y = lambda watts: 300 - 240 * watts / most  # noqa: E731
    parts = frame("Power read while a load begins and ends",
                  {x(s / 10): f"{s / 10:g} s" for s in range(0, 13, 2)},
                  {y(watts): f"{watts} W" for watts in range(0, int(most) + 1, 100)},
                  "from the first launch")
    for step in steps:
        read, last = [(x(-0.1), y(step["before_w"]))], step["before_w"]
        for seconds, watts in zip(step["t_s"], step["watts"]):
            read += [(x(seconds), y(last)), (x(seconds), y(watts))]
            last = watts
        parts.append(line(read, "#457b9d"))
    off = sum(step["off_s"] for step in steps) / len(steps)
    parts += [f'<line x1="{x(at):.1f}" x2="{x(at):.1f}" y1="50" y2="300" stroke="#e63946" stroke-dasharray="4 3"/>'
              for at in (0, off)] + [text(x(0) + 4, 48, "load begins", size=11),
                                     text(x(off) + 4, 48, "load ends", size=11)]
    save(path, 530, 346, parts)


def divisions(path, model):
    """Were the parts of a load's energy not separate, the division would differ between the levels."""
    full = max(row.get("threads", 0) for row in model["board"]["divisions"])
    found = [row for row in model["board"]["divisions"] if row.get("threads", 0) == full]
    most = max(row["picojoules"] for row in found)
    parts = [text(8, 20, "Energy of an integer division, from loads with one less loads without",
                  size=14)]
    for i, row in enumerate(found):
        width = 380 * row["picojoules"] / most
        parts += [text(62, 54 + 26 * i, row["level"].upper(), "end", 11),
                  f'<rect x="70" y="{41 + 26 * i}" width="{width:.1f}" height="18" fill="#457b9d"/>',
                  text(76 + width, 54 + 26 * i, f"{row['picojoules']:.0f} pJ", size=11)]
    save(path, 530, 46 + 26 * len(found), parts)


def group_of(component):
    named = {"static": "static", "shared": "shared and L1", "l1": "shared and L1", "l2": "L2",
             "dram": "DRAM",
             "rest": "rest"}
    return named.get(component, "instructions")


def threads(path, curves):
    """Both axes logarithmic; a ring marks the least of each level, the lower bound that the thesis
    takes."""
    rows = [curve for curve in curves if curve["bench"] in LEVELS]
    counts = sorted({row["threads"] for row in rows})
    low, high = (f(math.log10(row["picojoules"]) for row in rows) for f in (min, max))
    low, high = math.floor(low), math.ceil(high)
    x = lambda count: 70 + 440 * math.log2(count) / math.log2(counts[-1])  # noqa: E731
    y = lambda pj: 300 - 240 * (math.log10(pj) - low) / (high - low)  # noqa: E731
    marks = [step * 10 ** ten for ten in range(low, high + 1) for step in (1, 2, 5)]
    parts = frame("Energy of an access of 32 bytes over the threads of a block",
                  {x(count): str(count) for count in counts},
                  {y(value): f"{value} pJ" for value in marks if y(value) >= 60}, "threads a block")
    for i, (bench, color) in enumerate(LEVELS.items()):
        points = sorted((row["threads"], row["picojoules"]) for row in rows
                        if row["bench"] == bench)
        if not points:
            continue
        parts.append(line([(x(count), y(pj)) for count, pj in points], color))
        least = min(points, key=lambda point: point[1])
        for point in points:
            size = 6 if point == least else 3
            fill = "none" if point == least else color
            parts.append(f'<circle cx="{x(point[0]):.1f}" cy="{y(point[1]):.1f}" r="{size}" fill="{fill}" '
                         f'stroke="{color}"><title>{bench}, {point[0]} threads: {point[1]:.0f} pJ</title></circle>')
        parts += [f'<rect x="{70 + i * 116}" y="30" width="10" height="10" fill="{color}"/>',
                  text(84 + i * 116, 40, f"{bench}, {least[1]:.0f}", size=11)]
    save(path, 530, 346, parts)


def parts_of(path, answers):
    drawn, y = [text(8, 20, "Where the energy goes", size=14)], 32
    for i, (group, color) in enumerate(GROUPS.items()):
        drawn += [f'<rect x="{170 + i * 118}" y="{y}" width="10" height="10" fill="{color}"/>',
                  text(184 + i * 118, y + 10, group, size=10)]
    for answer in answers:
        y += 20
        drawn.append(text(160, y + 12, answer["name"], "end", 11))
        sums = dict.fromkeys(GROUPS, 0.0)
        for part in answer["parts"]:
            sums[group_of(part["component"])] += part["joules"]
        x = 170.0
        for group, joules in sums.items():
            share = joules / answer["joules"]
            drawn.append(f'<rect x="{x:.2f}" y="{y}" width="{max(0, 700 * share):.2f}" height="15" '
                         f'fill="{GROUPS[group]}"><title>{group} {share:.1%}</title></rect>')
            x += max(0, 700 * share)
    save(path, 890, y + 30, drawn)


def main():
    model, points, breakdown, folder = (pathlib.Path(word) for word in sys.argv[1:])
    model = json.loads(model.read_text(encoding="utf-8"))
    with gzip.open(points, "rt", encoding="utf-8") as lines:
        points = [json.loads(one) for one in lines]
    caches(folder / "energy_caches.svg", model, points)
    power(folder / "energy_power.svg", points)
    divisions(folder / "energy_divisions.svg", model)
    threads(folder / "energy_threads.svg", model["curves"])
    parts_of(folder / "energy_parts.svg", json.loads(breakdown.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
