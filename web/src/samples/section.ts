// Levels and readings over time, from samples: of one device, or of all side by side.
import type { Report } from "../page_data.ts";
import { repainter } from "../parts/canvas.ts";
import { h, section } from "../parts/dom.ts";
import { plural, time } from "../parts/format.ts";
import { note } from "../parts/note.ts";
import { clampView, viewButtons, type View } from "../parts/view.ts";
import { chartsOfAll, chartsOfDevice, factsOf } from "./charts.ts";
import { plot, type Scene } from "./plot.ts";

const LEAST = 6;  // buckets in sight

export function samplesSection(report: Report): HTMLElement | null {
  const s = report.analysis.samples, buckets = Math.max(0, ...[...s.devices.flatMap((d) => d.readings), ...s.host].map((r) => r.values.length));
  if (s.devices.length === 0 || buckets === 0) return null;
  const whole = buckets * s.bucket_ns, charts = h("div", { class: "charts" });
  let plots: ReturnType<typeof plot>[] = [];
  const repaint = repainter(charts, () => { for (const p of plots) p.paint(); });
  const scene: Scene = {
    view: { from: 0, to: whole }, at: null, whole, bucket: s.bucket_ns, least: Math.min(LEAST * s.bucket_ns, whole),
    set: (view: View) => { scene.view = clampView(view, whole, scene.least); repaint(); },
    point: (at) => { scene.at = at; repaint(); },
  };
  const show = (chosen: string) => {
    const device = s.devices.find((d) => String(d.id) === chosen);
    const shown = device ? chartsOfDevice(report, device) : chartsOfAll(report, s.devices);
    // Times stand under the last of the ladders, and under the last chart of all.
    const last = shown.reduce((at, c, i) => (c.unit === "ratio" ? i : at), -1);
    plots = shown.map((c, i) => plot(c, scene, i === last || i === shown.length - 1));
    plots.forEach((p, i) => { p.canvas.tabIndex = i === 0 ? 0 : -1; });  // the keys move all of them
    charts.replaceChildren(...plots.map((p) => p.element), ...(device ? [note(factsOf(report, device))] : []));
    repaint();
  };
  const choice = s.devices.length > 1 ? h("label", {}, "Show ", h("select", { change: (event: Event) => show((event.target as HTMLSelectElement).value) },
    h("option", { value: "all" }, `all ${plural(s.devices.length, "GPU")}`), ...s.devices.map((d) => h("option", { value: d.id }, `GPU ${d.id}`)))) : null;
  show(s.devices.length > 1 ? "all" : String(s.devices[0]!.id));
  return section("samples", "Over time", `${time(whole)}, in means of ${time(s.bucket_ns)}`,
    h("div", { class: "tools" }, ...viewButtons(whole, () => scene.view, scene.set, scene.least), choice,
      h("span", { class: "dim" }, "Values at the pointer, else means of the visible range. Drag to move; click a chart to zoom with the wheel.")),
    charts, s.idle_devices > 0 ? note(`${plural(s.idle_devices, "more GPU")} ${s.idle_devices === 1 ? "was" : "were"} recorded and never active.`) : null);
}
