// The head of the page of `energy`: joules first.
import type { DeviceEnergy } from "../model.ts";
import type { Report } from "../page_data.ts";
import { energy, partOf, share, time } from "../parts/format.ts";

/** The largest parts of the energy, the others together, and what the model does not explain, whatever its size: they sum to all of it. */
function largest(device: DeviceEnergy, report: Report): string {
  const explained = device.parts.filter((part) => part.component !== "rest"), rest = device.parts.filter((part) => part.component === "rest");
  const sorted = [...explained].sort((a, b) => b.nj - a.nj), others = sorted.slice(3).reduce((sum, part) => sum + part.nj, 0);
  const name = (id: string): string => report.labels.energy.find((label) => label.id === id)?.text ?? id;
  const told = [...sorted.slice(0, 3), ...rest].map((part) => `${name(part.component)} (${share(part.share)})`);
  if (others > 0) told.splice(-1, 0, `other parts (${share(partOf(others, device.nj))})`);
  return told.length === 0 ? "Which unit and which level of memory took them is not known." : `It went to ${told.join(", ")}.`;
}

/** Energy, time, items, and the largest part. */
export function energyHeadline(report: Report): string {
  const { devices } = report.analysis.energy, joules = devices.reduce((sum, device) => sum + device.nj, 0), watts = devices.reduce((sum, device) => sum + device.mean_watts, 0);
  const heaviest = [...devices].sort((a, b) => b.nj - a.nj)[0]!, { step } = heaviest;
  const each = step && devices.length === 1 ? `, ${energy(step.joules * 1e9)} a step${step.joules_per_item === null ? "" : ` and ${energy(step.joules_per_item * 1e9)} per item`}` : "";
  return `${energy(joules)} in ${time(heaviest.span_ns)}: ${watts.toFixed(0)} W${each}. ${largest(heaviest, report)}`;
}
