// A distribution as a small picture: its shape, 5th to 95th percentile, quartiles and median.
import type { Distribution } from "../model.ts";
import { svg } from "./dom.ts";

const WIDTH = 64, HEIGHT = 22, MID = HEIGHT / 2;

/** `max` is the value at the right edge, so that all rows of a table share one scale; `text` says the numbers. */
export function spreadPicture(d: Distribution, max: number, text: string): SVGElement {
  const x = (value: number) => 1 + (max > 0 ? Math.min(value / max, 1) : 0) * (WIDTH - 2);
  const picture = svg("svg", { class: "spread", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": text });
  picture.append(svg("title", {}, text), svg("line", { class: "axis", x1: 1, x2: WIDTH - 1, y1: MID, y2: MID }));
  if (d.count === 0) return picture;
  const shape = d.shape.map((share) => share ?? 0);
  const peak = Math.max(...shape, 0);
  if (shape.length > 1 && peak > 0) {
    const step = (d.max - d.min) / shape.length;
    const points = shape.map((share, i) => [x(d.min + (i + 0.5) * step), Math.sqrt(share / peak) * (MID - 1)] as const);
    const upper = points.map(([px, r]) => `${px.toFixed(1)},${(MID - r).toFixed(1)}`), lower = points.map(([px, r]) => `${px.toFixed(1)},${(MID + r).toFixed(1)}`).reverse();
    picture.append(svg("polygon", { class: "violin", points: [`${x(d.min)},${MID}`, ...upper, `${x(d.max)},${MID}`, ...lower].join(" ") }));
  }
  picture.append(
    svg("line", { class: "whisker", x1: x(d.p5), x2: x(d.p95), y1: MID, y2: MID }),
    svg("rect", { class: "box", x: x(d.p25), y: MID - 3, width: Math.max(x(d.p75) - x(d.p25), 1), height: 6, rx: 1 }),
    svg("line", { class: "median", x1: x(d.median), x2: x(d.median), y1: MID - 6, y2: MID + 6 }));
  return picture;
}
