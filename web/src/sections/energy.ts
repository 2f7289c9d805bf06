// Energy breakdown: stacked bars of the run, of a step and of each layer type; joules by layer; what to doubt.
import type { DeviceEnergy, EnergyPart, EnergyRow } from "../model.ts";
import type { Report } from "../page_data.ts";
import { energyColour } from "../parts/colours.ts";
import { h, section, term } from "../parts/dom.ts";
import { energy, partOf, share, time } from "../parts/format.ts";
import { note } from "../parts/note.ts";
import { middleCut, table, type Column } from "../parts/table.ts";
import { typeMark } from "./layers.ts";
import { powerPicture } from "./power.ts";

const joules = (nj: number): string => energy(nj);

function labelOf(report: Report, id: string): { text: string; meaning: string } {
  return report.labels.energy.find((l) => l.id === id) ?? { text: id, meaning: "" };
}

/** One bar: parts side by side, its length in proportion to `most`. What is negative has no length; the numbers say it. */
function stack(parts: EnergyPart[], nj: number, most: number, report: Report, small = false): HTMLElement {
  const positive = parts.filter((p) => p.nj > 0), sum = positive.reduce((total, p) => total + p.nj, 0);
  const length = (partOf(Math.max(nj, 0), most) ?? 0) * 100;
  const words = parts.map((p) => `${labelOf(report, p.component).text} ${share(p.share)}`).join(", ");
  return h("div", { class: small ? "energy-bar small" : "energy-bar", role: "img", "aria-label": words, "data-tip": words, tabindex: small ? undefined : 0 },
    ...positive.map((p) => h("span", { style: `width:${(p.nj / sum) * length}%;background:${energyColour(p.component)}`, "data-component": p.component })));
}

function legend(d: DeviceEnergy, report: Report): HTMLElement {
  return h("ul", { class: "legend" }, ...d.parts.map((p) => h("li", {}, h("span", { class: "swatch", style: `background:${energyColour(p.component)}` }),
    term(labelOf(report, p.component).text, labelOf(report, p.component).meaning))));
}

function components(d: DeviceEnergy, report: Report): HTMLElement {
  const columns: Column<EnergyPart>[] = [
    { id: "component", title: "Component", key: (p) => labelOf(report, p.component).text,
      cell: (p) => h("span", { class: "mark" }, h("span", { class: "swatch", style: `background:${energyColour(p.component)}` }), labelOf(report, p.component).text) },
    { id: "nj", title: "Energy", numeric: true, key: (p) => p.nj, cell: (p) => h("span", { "data-component": p.component, "data-nj": p.nj }, joules(p.nj)) },
    { id: "share", title: "Share", numeric: true, key: (p) => p.share, cell: (p) => share(p.share) },
    { id: "interval", title: "95 % interval", numeric: true, meaning: "Of the model's coefficients, from its bootstrap; the gain error of the board's sensor is common to all and stands outside.",
      key: (p) => p.high_nj - p.low_nj, cell: (p) => `${joules(p.low_nj)} \u2026 ${joules(p.high_nj)}` },
  ];
  const unknown = report.labels.energy.filter((label) => !["rest", "active"].includes(label.id) && !label.id.includes(".") && !d.parts.some((part) => part.component === label.id || part.component.startsWith(`${label.id}.`)));
  const told = unknown.length > 0 ? h("p", { class: "note", "data-unknown": unknown.map((label) => label.id).join(" ") }, `No data for ${unknown.map((label) => label.text).join(", ")}: what they took is in the rest.`) : null;
  return h("div", {}, told, table({ caption: "Energy by component", columns, rows: d.parts, sortBy: "nj", noun: "components" }));
}

function stacks(d: DeviceEnergy, rows: [string, EnergyRow | null, number][], report: Report): HTMLElement {
  const most = Math.max(...rows.map(([, , nj]) => nj));
  return h("div", { class: "energy-stacks" }, ...rows.flatMap(([name, row, nj]) => [h("span", { class: "name", "data-tip": name }, name), stack(row?.parts ?? d.parts, nj, most, report),
    h("span", { class: "value" }, joules(nj)), h("span", { class: "share" }, share(partOf(nj, d.nj)))]));
}

function rowsTable(d: DeviceEnergy, rows: EnergyRow[], title: string, noun: string, report: Report): HTMLElement {
  const columns: Column<EnergyRow>[] = [
    { id: "layer", title, key: (r) => r.name, cell: (r) => middleCut(r.name) },
    { id: "type", title: "Type", key: (r) => r.type, cell: (r) => (r.type.startsWith("(") ? r.type : typeMark(r.type)) },
    ...(rows.some((r) => r.phase) ? [{ id: "phase", title: "Phase", key: (r: EnergyRow) => r.phase, cell: (r: EnergyRow) => r.phase }] : []),
    { id: "ns", title: "Time", numeric: true, key: (r) => r.ns, cell: (r) => time(r.ns) },
    { id: "nj", title: "Energy", numeric: true, key: (r) => r.nj, cell: (r) => joules(r.nj) },
    { id: "share", title: "Share", numeric: true, key: (r) => r.share, cell: (r) => share(r.share) },
    { id: "watts", title: "Power", numeric: true, meaning: "Its energy over its exclusive time.", key: (r) => (r.ns > 0 ? r.nj / r.ns : null), cell: (r) => (r.ns > 0 ? `${(r.nj / r.ns).toFixed(0)} W` : "no data") },
    ...(d.parts.length > 0 ? [{ id: "parts", title: "Components", cell: (r: EnergyRow) => stack(r.parts, r.nj, r.nj, report, true) }] : []),
  ];
  return table({ caption: `Energy by ${title.toLowerCase()}`, columns, rows, sortBy: "nj", noun, search: (r) => `${r.name} ${r.type} ${r.phase}`, step: 12 });
}

function device(d: DeviceEnergy, report: Report): HTMLElement {
  const many = report.analysis.energy.devices.length > 1;
  const facts: [string, string][] = [["energy", joules(d.nj)], ["time", time(d.span_ns)], ["mean power", `${d.mean_watts.toFixed(1)} W`]];
  if (d.step) {
    facts.push(["a step", `${joules(d.step.joules * 1e9)} in ${time(d.step.seconds * 1e9)}`]);
    if (d.step.joules_per_item !== null) facts.push(["per item", joules(d.step.joules_per_item * 1e9)]);
    facts.push(["energy-delay product of a step", `${d.step.edp.toPrecision(4)} J s`]);
  }
  if (d.sm_mhz !== null) facts.push(["SM clock", `${d.sm_mhz.toFixed(0)} MHz`]);
  if (d.celsius !== null) facts.push(["temperature", `${d.celsius.toFixed(0)} \u00b0C`]);
  const types = d.layer_types.filter((r) => r.nj > 0 && (r.share ?? 0) >= 0.002);
  return h("div", { "data-device": d.device, "data-nj": d.nj }, many ? h("h3", {}, `Device ${d.device} ${d.name}`) : null,
    h("dl", { class: "numbers" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    d.parts.length > 0 ? legend(d, report) : h("p", { class: "note" }, "levels: no data"),
    d.parts.length > 0 ? stacks(d, [["whole span", null, d.nj]], report) : null,
    d.parts.length > 0 ? components(d, report) : null,
    powerPicture(d, report),
    types.length > 0 && d.parts.length > 0 ? h("h3", {}, "By layer type") : null,
    types.length > 0 && d.parts.length > 0 ? stacks(d, types.map((r): [string, EnergyRow, number] => [r.name, r, r.nj]), report) : null,
    d.layers.length > 0 ? rowsTable(d, d.layers, "Layer", "layers", report) : null,
    d.kernels.length > 0 ? rowsTable(d, d.kernels, "Kernel", "kernels", report) : null,
    ...d.warnings.map((w) => note(w.text)));
}

export function energySection(report: Report): HTMLElement | null {
  const e = report.analysis.energy;
  if (!e || e.devices.length === 0) return null;
  const model = e.model ? `model ${e.model.slice(e.model.lastIndexOf("/") + 1)}${e.gain_error !== null ? `; board sensors may be ${(e.gain_error * 100).toFixed(0)} % off in all of it` : ""}` : e.why_missing;
  return section("energy", "Energy breakdown", model, ...e.devices.map((d) => device(d, report)));
}
