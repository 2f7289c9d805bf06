// Marks of axes: round numbers, and times that tell neighbouring marks apart.

const SECOND = 1e9, MINUTE = 60e9, HOUR = 3600e9;
/** Steps above a second that people count in. */
const CLOCK = [...[1, 2, 5, 10, 15, 30].map((s) => s * SECOND), ...[1, 2, 5, 10, 15, 30].map((m) => m * MINUTE), ...[1, 2, 3, 6, 12, 24].map((h) => h * HOUR)];

/** One of `factors` times a power of ten, at least `wanted`. */
function roundUp(wanted: number, factors: number[]): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * (factors.find((f) => f * power >= wanted * (1 - 1e-9)) ?? 10);
}

/** A time on an axis that ends at `end` and whose marks lie `step` apart: no digit more than tells them apart. */
function timeMark(ns: number, step: number, end: number): string {
  if (ns === 0) return "0";
  const digits = (unit: number): number => Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
  if (end < MINUTE) {
    const [unit, name] = ([[SECOND, "s"], [1e6, "ms"], [1e3, "\u00b5s"]] as const).find(([size]) => end >= size) ?? [1, "ns"];
    return `${(ns / unit).toFixed(digits(unit))} ${name}`;
  }
  const hours = Math.floor(ns / HOUR + 1e-9), minutes = Math.floor((ns - hours * HOUR) / MINUTE + 1e-9);
  const seconds = Math.max(0, (ns - hours * HOUR - minutes * MINUTE) / SECOND).toFixed(digits(SECOND));
  return [hours > 0 ? `${hours} h` : "", minutes > 0 ? `${minutes} min` : "", Number(seconds) > 0 ? `${seconds} s` : ""].filter(Boolean).join(" ");
}

/** Times at round steps, about one in `apart` pixels. */
export function timeMarks(from: number, to: number, width: number, apart = 110): { at: number; text: string }[] {
  const wanted = ((to - from) * apart) / width;
  const step = wanted <= SECOND ? roundUp(wanted, [1, 2, 5]) : CLOCK.find((s) => s >= wanted) ?? Math.ceil(wanted / (24 * HOUR)) * 24 * HOUR;
  const marks = [];
  for (let n = Math.ceil(from / step); n * step <= to; ++n) marks.push({ at: n * step, text: timeMark(n * step, step, to) });
  return marks;
}

/** A round number at or a little above `most`, for the top of an axis that starts at 0. */
export function axisTop(most: number): number {
  return roundUp(most, [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]);
}
