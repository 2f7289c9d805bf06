// Utilization by level: one bar a level; a level that is not fully known shows the span it lies in.
import type { Level } from "../model.ts";
import type { Report } from "../page_data.ts";
import { h, section, term } from "../parts/dom.ts";
import { level, share, time } from "../parts/format.ts";
import { note } from "../parts/note.ts";
import { workNote } from "../work/headline.ts";

/** The first clause of a reason; a list of counters becomes their number. */
function shortReason(why: string | undefined): string | undefined {
  const reason = why?.split("; collect with")[0], commas = reason?.split(",").length ?? 1;
  return reason && commas > 1 ? reason.replace(/lacks .*$/s, `lacks ${commas} counters`) : reason;
}

export function ladderSection(report: Report): HTMLElement | null {
  const a = report.analysis;
  const busy = a.levels.find((l) => l.id === "gpu.busy")?.value ?? null;
  // The sum of durations says something only where kernels overlap.
  const levels = a.levels.filter((l) => l.unit === "ratio" && !l.id.endsWith("hit_rate") && !(l.id === "gpu.kernel_time" && l.value !== null && busy !== null && Math.abs(l.value - busy) < 0.0005));
  if (levels.length === 0) return null;
  const whole = a.devices.reduce((sum, d) => sum + d.span_ns, 0);
  // The finding about missing counters tells how to collect them; here it is enough to say why there are none.
  const told = a.findings.some((f) => f.command !== "");
  const isMissing = (l: Level): boolean => l.value === null && l.low === null;
  const why = levels.find((l) => isMissing(l) && l.why_missing)?.why_missing;
  const command = why && !told ? why.indexOf("ncu --") : -1;
  const reason = shortReason(why), collect = command < 0 ? "" : `Collect with: ${why!.slice(command)}`;
  const partial = levels.find((l) => !l.estimated && l.coverage !== null && l.coverage < 0.9995);
  const counted = levels.some((l) => l.value !== null && ["sm.active", "issue.active", "tensor.active"].includes(l.id));
  const missingOnes = levels.filter(isMissing);
  const rows = levels.filter((l) => !isMissing(l)).map((l) => {
    const label = report.labels.levels.find((x) => x.id === l.id);
    const low = (l.low ?? l.value ?? 0) * 100, high = (l.high ?? l.value ?? 0) * 100;
    const track = h("span", { class: "track", "aria-hidden": "true" },
      h("span", { class: "fill", style: `width:${Math.min(low, 100)}%` }),
      high > low + 0.05 ? h("span", { class: "unsure", style: `left:${low}%;width:${Math.min(high, 100) - low}%` }) : null);
    return h("li", { "data-level": l.id },
      h("span", { class: "name" }, term(label?.text ?? l.id, label?.meaning ?? ""), h("code", {}, l.id)), track, h("span", { class: "value" }, level(l)));
  });
  return section("ladder", "Utilization by level", `share of ${time(whole)}`, h("ol", { class: "ladder" }, ...rows), workNote(a.work),
    missingOnes.length > 0 ? h("p", { class: "note", "data-missing": missingOnes.map((l) => l.id).join(" ") }, "No data: ", ...missingOnes.flatMap((l, i) => {
      const label = report.labels.levels.find((x) => x.id === l.id);
      return [i > 0 ? ", " : "", term(label?.text ?? l.id, label?.meaning ?? "")];
    }), reason ? ` (${reason}).` : ".") : null,
    collect ? note(collect) : null,
    levels.some((l) => l.estimated) ? h("p", { class: "note" }, "~ estimated from the launches\u2019 grids, blocks, registers and shared memory.") : null,
    partial ? h("p", { class: "note" }, `${counted ? "Counters" : "Recorded sizes"} cover ${share(partial.coverage)} of the kernel time; the hatched span is what the rest could add.`) : null);
}
