#!/usr/bin/env python3
"""Charts of energy, as figures 5.7 to 5.9, 5.11 and 5.12 of the thesis: draw.py MODEL BREAKDOWN FOLDER

MODEL is a file of `gpufathom calibrate`, BREAKDOWN a list of answers of `gpufathom energy`.
  energy_threads.svg  picojoules of an access over the threads of a block, a line a level of memory
  energy_parts.svg    where the energy of a step or a kernel goes, a bar each
"""
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runtime"))
from draw import save, text  # noqa: E402

LEVELS = {"shared_load": "#2a9d8f", "l1_load": "#457b9d", "l2_load": "#f4a261", "dram_load": "#e63946"}
GROUPS = {"static": "#adb5bd", "instructions": "#2a9d8f", "shared and L1": "#457b9d", "L2": "#f4a261",
          "DRAM": "#e63946", "rest": "#e5e5e5"}


def group_of(component):
    named = {"static": "static", "shared": "shared and L1", "l1": "shared and L1", "l2": "L2", "dram": "DRAM",
             "rest": "rest"}
    return named.get(component, "instructions")


def threads(path, curves):
    """Both axes logarithmic; a ring marks the least of each level, the lower bound that the thesis takes."""
    rows = [curve for curve in curves if curve["bench"] in LEVELS]
    counts = sorted({row["threads"] for row in rows})
    low, high = (f(math.log10(row["picojoules"]) for row in rows) for f in (min, max))
    low, high = math.floor(low), math.ceil(high)
    x = lambda count: 70 + 440 * math.log2(count) / math.log2(counts[-1])  # noqa: E731
    y = lambda pj: 300 - 240 * (math.log10(pj) - low) / (high - low)  # noqa: E731
    parts = [text(8, 20, "Energy of an access of 32 bytes over the threads of a block", size=14)]
    for power in range(low, high + 1):
        for step in (1, 2, 5):
            value = step * 10 ** power
            if y(value) >= 60:
                parts += [f'<line x1="70" x2="510" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>',
                          text(62, y(value) + 4, f"{value} pJ", "end", 10)]
    parts += [text(x(count), 318, str(count), "middle", 10) for count in counts]
    parts.append(text(290, 336, "threads a block", "middle", 11))
    for i, (bench, color) in enumerate(LEVELS.items()):
        points = sorted((row["threads"], row["picojoules"]) for row in rows if row["bench"] == bench)
        if not points:
            continue
        line = " ".join(f"{x(count):.1f},{y(pj):.1f}" for count, pj in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.8"/>')
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
    model, breakdown, folder = (pathlib.Path(word) for word in sys.argv[1:])
    threads(folder / "energy_threads.svg", json.loads(model.read_text(encoding="utf-8"))["curves"])
    parts_of(folder / "energy_parts.svg", json.loads(breakdown.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
