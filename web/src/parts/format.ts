// Numbers as people read them; the same rules as the text report (src/report/text/format.cpp). No data is said, never shown as 0.
import type { Level } from "../model.ts";

function fourDigits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0);
}

export function time(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size < 999_950) return `${fourDigits(ns / 1e3)} \u00b5s`;
  if (size < 999.95e6) return `${fourDigits(ns / 1e6)} ms`;
  if (size < 999.95e9) return `${fourDigits(ns / 1e9)} s`;
  if (size < 999.95 * 60e9) return `${fourDigits(ns / 60e9)} min`;
  return `${fourDigits(ns / 3600e9)} h`;
}

export function energy(nj: number): string {
  const size = Math.abs(nj);
  if (size < 1e3) return `${Math.round(nj)} nJ`;
  if (size < 999_950) return `${fourDigits(nj / 1e3)} \u00b5J`;
  if (size < 999.95e6) return `${fourDigits(nj / 1e6)} mJ`;
  if (size < 999.95e9) return `${fourDigits(nj / 1e9)} J`;
  return `${fourDigits(nj / 1e12)} kJ`;
}

export function share(value: number | null | undefined): string {
  if (value === null || value === undefined) return "no data";
  const percent = value * 100;
  return percent > 0 && percent < 0.05 ? "<0.1 %" : `${percent.toFixed(1)} %`;
}

/** A part of a whole. Of a whole that is nothing no part can be told. */
export function partOf(part: number, whole: number): number | null { return whole > 0 ? part / whole : null; }

/** The same as a length of CSS: nothing is drawn where there is no part. */
export function lengthOf(part: number, whole: number): string { return `${(partOf(part, whole) ?? 0) * 100}%`; }

export function level(l: Level): string {
  if (l.estimated && l.low !== null && l.high !== null) return `~${(l.low * 100).toFixed(0)}\u2013${(l.high * 100).toFixed(0)} %`;
  if (l.low === null || l.high === null || Math.abs(l.high - l.low) < 0.0005) return l.value === null ? "no data" : share(l.value);
  return `${(l.low * 100).toFixed(1)}\u2013${(l.high * 100).toFixed(1)} %`;
}

export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

export function bytes(n: number): string {
  if (n < 0) return `\u2212${bytes(-n)}`;
  if (n < 1000) return `${n} B`;
  if (n < 999.95e3) return `${(n / 1e3).toFixed(1)} kB`;
  if (n < 999.95e6) return `${(n / 1e6).toFixed(1)} MB`;
  return n < 999.95e9 ? `${(n / 1e9).toFixed(2)} GB` : `${(n / 1e12).toFixed(2)} TB`;
}

/** 12.3 TFLOP/s, 4.81 TB/s. */
export function rate(value: number, unit: string): string {
  const [scale, letter] = ([[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const).find(([size]) => value >= size) ?? [1, ""];
  return `${Number((value / scale).toPrecision(3))} ${letter}${unit}`;
}

/** Things a second. */
export function perSecond(value: number): string { return value < 100 ? String(Number(value.toPrecision(3))) : count(Math.round(value)); }

/** A reading of a sensor or counter in the unit of the catalogue; of counts the rate, whose unit ends in "/s". */
export function reading(value: number | null, unit: string): string {
  if (value === null) return "no data";
  if (unit === "ratio") return share(value);
  if (unit === "watts") return `${value.toFixed(0)} W`;
  if (unit === "hertz") return `${(value / 1e6).toFixed(0)} MHz`;
  if (unit === "celsius") return `${value.toFixed(0)} \u00b0C`;
  if (unit === "cores") return `${value.toFixed(2)} cores`;
  const rate = unit.endsWith("/s") ? "/s" : "";
  if (unit === `bytes${rate}`) return bytes(Math.round(value)) + rate;
  const [scale, letter] = ([[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const).find(([size]) => Math.abs(value) >= size) ?? [1, ""];
  return `${Number((value / scale).toPrecision(3))} ${letter}${rate}`.trimEnd();
}

export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** A sentence whose numbers keep their unit on the same line, spelled as elsewhere on the page. */
export function kept(text: string): string {
  return text.replace(/(\d) (%|ns|us|\u00b5s|ms|s|GB|MB|kB|W|J|kJ)(?![\w])/g, (_, digit: string, unit: string) => `${digit}\u00a0${unit.replace("us", "\u00b5s")}`);
}

/** The end of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
