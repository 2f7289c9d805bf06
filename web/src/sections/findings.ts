// What to change, with the numbers behind it.
import type { Report } from "../page_data.ts";
import { h, section } from "../parts/dom.ts";
import { share, time } from "../parts/format.ts";
import { note } from "../parts/note.ts";

export function findingsSection(report: Report): HTMLElement | null {
  const a = report.analysis;
  if (a.findings.length === 0) return null;
  const whole = a.devices.reduce((sum, d) => sum + d.span_ns, 0);
  return section("findings", "What to change", "with the most that it could give back", h("ol", { class: "findings" }, ...a.findings.map((f) =>
    h("li", { "data-finding": f.id }, h("p", {}, f.text), f.evidence ? note(f.evidence, "evidence") : null, f.command ? note(f.command, "evidence") : null,
      f.gain_ns !== null ? h("p", { class: "gain" }, `up to ${time(f.gain_ns)}`, h("span", { class: "dim" }, ` ${share(whole > 0 ? f.gain_ns / whole : null)} of the window`)) : null))));
}
