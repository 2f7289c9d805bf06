// What the framework runtime does, phase by phase.
import type { Report } from "../model.ts";
import { h, section } from "../parts/dom.ts";
import { share, time } from "../parts/format.ts";

export function runtimeSection(report: Report): HTMLElement | null {
  const phases = report.analysis.runtime.phases;
  if (phases.length === 0) return null;
  return section("runtime", "What the framework runtime does", "", h("ol", { class: "ladder" }, ...phases.map((p) =>
    h("li", {}, h("span", { class: "name" }, p.phase), h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "fill", style: `width:${Math.min((p.share ?? 0) * 100, 100)}%` })),
      h("span", { class: "value" }, `${time(p.ns)}, ${share(p.share)}`)))));
}
