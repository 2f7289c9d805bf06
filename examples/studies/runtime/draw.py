#!/usr/bin/env python3
"""Plain SVG drawings of the study: stacked bars, depth curves, violins. Standard library only.

As a program it draws a table of GPUs, shares and overheads over the batch: draw.py TABLE.json
FOLDER
"""
import html
import json
import math
import pathlib
import sys

COLOURS = {"gpu_kernel": "#2a9d8f", "cpu_kernel": "#457b9d", "dequeue": "#f4a261",
           "memcpy": "#8d6a9f", "wait": "#e63946",
           "launch": "#bc6c25", "enqueue": "#e9c46a", "queued": "#adb5bd", "other": "#e5e5e5"}


def text(x, y, words, anchor="start", size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-family="sans-serif">{html.escape(words)}</text>'


def save(path, width, height, parts):
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">' + "".join(parts) + "</svg>\n", encoding="utf-8")


def bars(path, title, rows, phases):
    """One stacked bar a row; what the phases leave of 1 stays white."""
    parts, y = [text(8, 20, title, size=14)], 32
    for i, phase in enumerate(phases):
        parts += [f'<rect x="{160 + i * 78}" y="{y}" width="10" height="10" fill="{COLOURS[phase]}"/>', text(174 + i * 78, y + 10, phase, size=10)]
    for row in rows:
        y += 20
        parts.append(text(150, y + 12, f"{row['model']} {row['mode']} b{row['batch']}", "end", 11))
        x = 160.0
        for phase in phases:
            w = 700 * row[phase]
            parts.append(f'<rect x="{x:.2f}" y="{y}" width="{w:.2f}" height="15" fill="{COLOURS[phase]}"><title>{phase} {row[phase]:.1%}</title></rect>')
            x += w
    save(path, 880, y + 30, parts)


def curve(path, title, queue):
    """Depth over time: the range of every part of the window as a band, its mean as a line."""
    points, top = queue["curve"], max(1, queue["max_depth"])
    start, span = points[0]["start_ns"], points[-1]["start_ns"] + points[-1]["duration_ns"] - points[0]["start_ns"]
    at = lambda p: (60 + 800 * (p["start_ns"] - start) / span, 800 * p["duration_ns"] / span)  # noqa: E731
    level = lambda d: 230 - 190 * d / top  # noqa: E731
    parts = [text(8, 20, title, size=14), text(52, 44, str(top), "end"), text(52, 234, "0", "end"),
             text(860, 252, f"{span / 1e6:.2f} ms", "end")]
    for p in points:
        x, w = at(p)
        parts.append(f'<rect x="{x:.2f}" y="{level(p["max"]):.2f}" width="{w:.2f}" height="{level(p["min"]) - level(p["max"]):.2f}" fill="#457b9d" opacity="0.35"/>')
    line = " ".join(f"{at(p)[0]:.2f},{level(p['mean']):.2f}" for p in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1d3557"/>')
    save(path, 880, 260, parts)


UNITS = {2: "100 ns", 3: "1 us", 4: "10 us", 5: "100 us", 6: "1 ms", 7: "10 ms", 8: "100 ms",
         9: "1 s"}
MODES = {"sync": "#457b9d", "async": "#e63946", "function": "#2a9d8f", "torch": "#e63946",
         "jax": "#457b9d"}


def per_item(path, title, rows):
    """Overhead for one item over the batch size, both on logarithmic axes: a panel a model, a line
    a mode, least to most as a bar."""
    models = list(dict.fromkeys(r["model"] for r in rows))
    modes = {mode: colour for mode, colour in MODES.items() if any(r["mode"] == mode for r in rows)}
    low, high = (f(math.log10(r[k]) for r in rows) for f, k in ((min, "least"), (max, "most")))
    low, high = math.floor(low), math.ceil(high)
    y = lambda ns: 300 - 240 * (math.log10(ns) - low) / (high - low)  # noqa: E731
    parts = [text(8, 20, title, size=14)]
    for i, mode in enumerate(modes):
        parts += [f'<rect x="{330 + i * 90}" y="11" width="10" height="10" fill="{modes[mode]}"/>',
                  text(344 + i * 90, 20, mode, size=11)]
    for power in range(low, high + 1):
        parts += [f'<line x1="60" x2="{40 + 270 * len(models)}" y1="{y(10 ** power):.1f}" y2="{y(10 ** power):.1f}" stroke="#ddd"/>', text(54, y(10 ** power) + 4, UNITS.get(power, f"1e{power} ns"), "end", 10)]
    for m, model in enumerate(models):
        batches = sorted({r["batch"] for r in rows if r["model"] == model})
        x = lambda batch: 90 + 270 * m + 190 * (math.log(batch / batches[0]) / math.log(batches[-1] / batches[0]) if len(batches) > 1 else 0)  # noqa: B023,E731
        parts.append(text(185 + 270 * m, 46, model, "middle", 12))
        parts += [text(x(b), 318, str(b), "middle", 10) for b in batches]
        for mode, colour in modes.items():
            points = sorted(((r["batch"], r) for r in rows if r["model"] == model
                             and r["mode"] == mode), key=lambda p: p[0])
            line = " ".join(f"{x(b):.1f},{y(r['overhead_ns_per_item']):.1f}" for b, r in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            parts += [f'<line x1="{x(b):.1f}" x2="{x(b):.1f}" y1="{y(r["least"]):.1f}" y2="{y(r["most"]):.1f}" stroke="{colour}"/><circle cx="{x(b):.1f}" cy="{y(r["overhead_ns_per_item"]):.1f}" r="3" fill="{colour}"/>' for b, r in points]
    parts.append(text(45 + 135 * len(models), 336, "batch size", "middle", 11))
    save(path, 60 + 270 * len(models), 346, parts)


def violins(path, title, phases):
    """Distributions on a logarithmic axis from 100 ns to 100 ms: the shape behind, 5th to 95th
    percentile, quartiles and median in front."""
    place = lambda ns: 330 - 280 * (math.log10(max(ns, 100)) - 2) / 6  # noqa: E731
    parts = [text(8, 20, title, size=14)]
    for power in range(2, 9):
        parts += [f'<line x1="60" x2="{80 + 110 * len(phases)}" y1="{place(10 ** power):.1f}" y2="{place(10 ** power):.1f}" stroke="#ddd"/>', text(54, place(10 ** power) + 4, UNITS[power], "end", 10)]
    for i, phase in enumerate(phases):
        s, x = phase["spread"], 120 + 110 * i
        top = max(s["shape"], default=1)
        for b, share in enumerate(s["shape"]):
            low, high = (s["min"] + (s["max"] - s["min"]) * e / len(s["shape"]) for e in (b, b + 1))
            w = 80 * share / top
            if share > 0:
                parts.append(f'<rect x="{x - w / 2:.1f}" y="{place(high):.1f}" width="{w:.1f}" height="{max(1, place(low) - place(high)):.1f}" fill="{COLOURS[phase["phase"]]}" opacity="0.35"/>')
        parts.append(f'<line x1="{x}" x2="{x}" y1="{place(s["p5"]):.1f}" y2="{place(s["p95"]):.1f}" stroke="#333"/>')
        parts.append(f'<rect x="{x - 9}" y="{place(s["p75"]):.1f}" width="18" height="{max(1, place(s["p25"]) - place(s["p75"])):.1f}" fill="{COLOURS[phase["phase"]]}" stroke="#333"/>')
        parts += [f'<line x1="{x - 44}" x2="{x + 44}" y1="{place(s["median"]):.1f}" y2="{place(s["median"]):.1f}" stroke="#000"/>', text(x, 350, phase["phase"], "middle", 11)]
    save(path, 100 + 110 * len(phases), 360, parts)


def main():
    table, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    given = json.loads(table.read_text(encoding="utf-8"))["rows"]
    rows = [{**row, "mode": row["framework"]} for row in given if row["framework"] in MODES
            and "phases" in row]
    phases = [phase for phase in COLOURS if any(phase in row["phases"] for row in rows)]
    shares = [{**row, **{phase: row["phases"].get(phase, 0) for phase in phases}} for row in rows]
    shares.sort(key=lambda row: (row["model"], row["mode"], row["batch"]))
    bars(folder / "runtime_gpu_shares.svg", "Share of time by phase, with a GPU", shares, phases)
    items = []
    for row in rows:
        one = row["overhead_us_per_item"] * 1e3
        items.append({**row, "overhead_ns_per_item": one, "least": one, "most": one})
    per_item(folder / "runtime_gpu_per_item.svg", "Overhead for one item, with a GPU", items)


if __name__ == "__main__":
    main()
