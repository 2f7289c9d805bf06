// Recommendations, with the numbers behind them.
import type { Finding } from "../model.ts";
import type { Report, WhatIfSwitches } from "../page_data.ts";
import { h, section } from "../parts/dom.ts";
import { kept, partOf, plural, share, time } from "../parts/format.ts";
import { showSpan } from "../parts/links.ts";
import { note } from "../parts/note.ts";

const FIRST = 4;

/** The gain of a step without recording, or of an item of a larger batch, by replay; dim, its range, what programs gained that made the change; else the bound. */
function gain(finding: Finding, whole: number, step: string): HTMLElement | null {
  if (finding.gain_ns === null) return null;
  const bound = `up to ${time(finding.gain_ns)}, ${share(partOf(finding.gain_ns, whole))} of the window`;
  if (finding.replayed === null) return h("p", { class: "gain" }, bound);
  if ((finding.mended_high ?? 1) < 0.005) return h("p", { class: "gain" }, "no gain by itself", h("span", { class: "dim" }, `; ${bound}`));
  const of = finding.id === "small_batch" ? "an item's time, batch x 8," : step;
  const range = (low: number | null, high: number | null): string => share(low) === share(high) ? share(low) : `${share(low)} to ${share(high)}`;
  return h("p", { class: "gain" }, `predicted gain ${share(finding.replayed)} of ${of}`,
    h("span", { class: "dim" }, ` (${range(finding.replayed_low, finding.replayed_high)}); programs that made the change gained ${range(finding.mended_low, finding.mended_high)}`));
}

const key = (f: Finding): string => f.rule || f.id;

/** The gain that it adds to the findings above, or from which of them it follows; empty where it stands by itself. */
function besideOthers(finding: Finding, all: Finding[]): string {
  if (finding.adds !== null) return ` It adds ${share(finding.adds)} to those above.`;
  const source = finding.follows ? all.findIndex((one) => key(one) === finding.follows) : -1;
  return source < 0 ? "" : ` It follows from ${source + 1}.`;
}

/** Ways to the longest events that a finding speaks of. */
function moments(finding: Finding): HTMLElement | null {
  if (finding.moments.length === 0) return null;
  return h("p", { class: "gain" }, h("span", { class: "dim" }, "In the timeline: "),
    ...finding.moments.map((at) => h("button", { type: "button", "aria-label": `Show ${time(at.duration_ns)} in the timeline`, click: () => showSpan(at.start_ns, at.duration_ns) }, time(at.duration_ns))));
}

/** Changes that a person turns on and off, and what a step would take with them. */
function switchTable(s: WhatIfSwitches): HTMLElement {
  const answer = h("output", {});
  const boxes = s.switches.map(() => h("input", { type: "checkbox" }) as HTMLInputElement);
  const show = (): void => {
    const set = boxes.reduce((sum, box, i) => sum + (box.checked ? 1 << i : 0), 0), step = s.step_ns[set] ?? s.own_ns;
    answer.textContent = `${time(s.own_ns)} → ${time(step)}, ${share(partOf(s.own_ns - step, s.own_ns))} less`;
  };
  for (const box of boxes) box.addEventListener("change", show);
  show();
  return h("details", { class: "switches" }, h("summary", {}, "Predicted step time with changes"),
    ...s.switches.map((one, i) => h("label", {}, boxes[i] ?? "", ` ${one.change.replace("_", " ")}`, h("span", { class: "dim" }, ` ${one.meaning}; alone ${share(partOf(s.own_ns - (s.step_ns[1 << i] ?? s.own_ns), s.own_ns))}`))),
    h("p", { class: "gain" }, answer));
}

export function findingsSection(report: Report): HTMLElement | null {
  const a = report.analysis;
  if (a.findings.length === 0) return null;
  const whole = a.devices.reduce((sum, d) => sum + d.span_ns, 0);
  const changes = a.findings.filter((f) => f.kind === "cause" || f.kind === "loss"), caveats = a.findings.filter((f) => !changes.includes(f));
  const item = (f: Finding): HTMLElement =>
    h("li", { "data-finding": key(f) }, h("p", {}, kept(f.text + besideOthers(f, changes))), f.evidence ? note(kept(f.evidence), "evidence") : null, f.command ? note(f.command, "evidence") : null, gain(f, whole, a.window.all_steps.length > 0 ? "a step" : "the program"), report.hasTimeline ? moments(f) : null);
  // Beside the waterfall there is room for a few; they come in order of what they give back.
  const first = changes.slice(0, FIRST), others = changes.slice(FIRST);
  return section("findings", changes.length > 0 ? "Recommendations" : "Caveats", changes.length > 0 ? "gain predicted by replay, else an upper bound" : "", first.length > 0 ? h("ol", { class: "findings" }, ...first.map(item)) : null,
    others.length > 0 ? h("details", {}, h("summary", {}, `${plural(others.length, "more recommendation")}`), h("ol", { class: "findings", start: FIRST + 1, style: `counter-reset: finding ${FIRST}` }, ...others.map(item))) : null,
    caveats.length > 0 && changes.length > 0 ? h("h3", {}, "Caveats") : null, caveats.length > 0 ? h("ul", { class: "findings caveats" }, ...caveats.map(item)) : null,
    report.switches && report.switches.switches.length > 0 ? switchTable(report.switches) : null);
}
