// Kernel time that runs at or below a tensor-issue utilisation (DATE 2024, figure 8).
import type { Report } from "../page_data.ts";
import { section, svg } from "../parts/dom.ts";
import { fitted } from "../parts/figure.ts";
import { share } from "../parts/format.ts";
import { hideTip, showTip } from "../parts/tips.ts";

const H = 300, LEFT = 52, RIGHT = 12, TOP = 12, BOTTOM = 42;

/** A round step of the axis with at most six marks. */
function axisStep(max: number): number {
  return [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25].find((s) => max / s <= 6) ?? 0.25;
}

export function curveSection(report: Report): HTMLElement | null {
  const points = report.analysis.tensor_curve;
  if (points.length === 0) return null;
  const step = axisStep(Math.max(points.at(-1)!.utilization, 0.01));
  const max = Math.ceil(Math.max(points.at(-1)!.utilization, 0.01) / step) * step;
  const draw = (width: number): SVGElement => {
    const x = (u: number) => LEFT + (u / max) * (width - LEFT - RIGHT), y = (s: number) => TOP + (1 - s) * (H - TOP - BOTTOM);
    const picture = svg("svg", { class: "curve", viewBox: `0 0 ${width} ${H}`, role: "img", "aria-label": `Cumulative kernel time over tensor-issue utilization; half of the kernel time runs at or below ${share(points.find((p) => p.time_share >= 0.5)?.utilization)}` });
    for (let u = 0; u <= max + 1e-9; u += step)
      picture.append(svg("line", { class: "grid", x1: x(u), x2: x(u), y1: y(0), y2: y(1) }), svg("text", { x: x(u), y: H - BOTTOM + 18, "text-anchor": u + step > max + 1e-9 ? "end" : "middle" }, `${+(u * 100).toFixed(1)} %`));
    for (const s of [0, 0.25, 0.5, 0.75, 1])
      picture.append(svg("line", { class: "grid", x1: x(0), x2: x(max), y1: y(s), y2: y(s) }), svg("text", { x: LEFT - 8, y: y(s) + 4, "text-anchor": "end" }, `${s * 100} %`));
    let path = `M${x(0)},${y(0)}`;
    for (const p of points) path += `H${x(p.utilization).toFixed(1)}V${y(p.time_share).toFixed(1)}`;
    path += `H${x(max)}`;
    const mark = svg("circle", { class: "mark", r: 4, cx: -9, cy: -9 });
    picture.append(svg("path", { class: "area", d: `${path}V${y(0)}Z` }), svg("path", { class: "line", d: path }), mark,
      svg("text", { class: "title", x: (LEFT + width - RIGHT) / 2, y: H - 6, "text-anchor": "middle" }, "tensor-issue utilization of a kernel"));
    picture.addEventListener("pointermove", (event) => {
      const at = picture.getBoundingClientRect();
      const u = (((event.clientX - at.left) / at.width) * width - LEFT) / (width - LEFT - RIGHT) * max;
      let below = 0;
      for (const p of points) if (p.utilization <= u) below = p.time_share;
      mark.setAttribute("cx", String(x(Math.max(0, Math.min(u, max)))));
      mark.setAttribute("cy", String(y(below)));
      showTip("curve", event.clientX, event.clientY, `${share(below)} of the kernel time runs at or below ${share(Math.max(0, u))}`);
    });
    picture.addEventListener("pointerleave", () => hideTip("curve"));
    return picture;
  };
  return section("curve", "Tensor-issue curve", "share of kernel time at or below a utilization", fitted(draw, 500));
}
