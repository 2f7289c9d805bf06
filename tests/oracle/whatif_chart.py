"""Predicted against real gains, drawn from the committed court: whatif_chart.py [--check]

Reads docs/results/whatif.json (what whatif.py --json printed) and writes docs/images/whatif.svg;
--check ends with 1 where that file is another. Drawn are the pairs in which a recommendation with a
gain names what was planted.
"""
import html
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS, CHART = ROOT / "docs/results/whatif.json", ROOT / "docs/images/whatif.svg"
LEFT, TOP, SIDE = 64, 44, 420
SETS = (("#3a6ea5", "the rules knew"), ("#c2571a", "came later"), ("#3d8b40", "at first look"))
NEAR = 0.2


def place(said, real):
    """No gain is drawn below nothing: what a program loses stands on the axis."""
    return f"{LEFT + max(said, 0) * SIDE:.1f}", f"{TOP + (1 - max(real, 0)) * SIDE:.1f}"


def frame():
    yield ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 530" font-family="sans-serif" font-size="13">'
           '<rect width="100%" height="100%" fill="white"/>'
           '<text x="12" y="24" font-size="15">Gain of mending a fault: by replay, and measured without a profiler</text>')
    corners = [place(0, 0), place(1, 1 / (1 + NEAR)), place(1, 1), place(1 - NEAR, 1)]
    yield f'<polygon points="{" ".join(",".join(corner) for corner in corners)}" fill="#eef2f6"/>'
    for share in (0, 0.25, 0.5, 0.75, 1):
        (x, low), (_, high) = place(share, 0), place(share, 1)
        yield f'<line x1="{x}" x2="{x}" y1="{low}" y2="{high}" stroke="#ddd"/>'
        yield f'<text x="{x}" y="{TOP + SIDE + 18}" text-anchor="middle">{share:.0%}</text>'
        (left, y), (right, _) = place(0, share), place(1, share)
        yield f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{float(y) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
    (x1, y1), (x2, y2) = place(0, 0), place(1, 1)
    yield f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#555"/>'
    yield (f'<text x="{LEFT + SIDE / 2}" y="{TOP + SIDE + 42}" text-anchor="middle">'
           "said by analyze, of a step, with its range</text>")
    yield (f'<text transform="translate(18 {TOP + SIDE / 2}) rotate(-90)" text-anchor="middle">'
           "real, of a step</text>")


def pairs(rows, colour):
    for row in rows:
        (x, y), (low, _), (high, _) = (place(said, row["real"])
                                       for said in (row["said"], row["low"], row["high"]))
        yield f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke="{colour}" opacity="0.35"/>'
        yield (f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}" fill-opacity="{0.9 if row["near"] else 0.25}" stroke="{colour}">'
               f'<title>{html.escape(row["program"])}: {row["said"]:.0%} said, {row["real"]:.0%} real</title></circle>')


def drawn(sets):
    out = list(frame())
    for number, ((colour, text), judged) in enumerate(zip(SETS, sets)):
        rows = [row for row in judged["gains"] if "said" in row and row["of_fault"]]
        out += pairs(rows, colour)
        y = TOP + 16 + 84 * number
        out.append(f'<circle cx="510" cy="{y - 4}" r="4" fill="{colour}"/><text x="522" y="{y}">{len(rows)} pairs {text}:</text>')
        for line, (key, what) in enumerate((("near", f"within {NEAR:.0%}, filled"),
                                            ("roughly", "within 30%"),
                                            ("covered", "in the range"))):
            out.append(f'<text x="522" y="{y + 18 * (line + 1)}">{sum(row[key] for row in rows)} {what}</text>')
    out.append(f'<text x="510" y="{TOP + 280}" fill="#555">shaded: real within {NEAR:.0%}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main(*words):
    chart = drawn(json.loads(RESULTS.read_text(encoding="utf-8"))["sets"])
    if "--check" not in words:
        CHART.write_text(chart, encoding="utf-8")
    elif not CHART.exists() or CHART.read_text(encoding="utf-8") != chart:
        print(f"{CHART.relative_to(ROOT)} is not what {RESULTS.relative_to(ROOT)} gives: run tests/oracle/whatif_chart.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
