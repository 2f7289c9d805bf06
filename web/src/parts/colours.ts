// Colours by meaning. Bars and causes take theirs from the style sheet, so that both themes stay readable.

import { CAUSE_COLOURS, PHASE_COLOURS } from "../model.ts";

const TYPES = 17;

export function barClass(id: string): string { return `bar-${id.replaceAll("_", "-")}`; }

/** A colour variable of the style sheet for a layer type; the same type has the same colour everywhere. */
export function typeColour(type: string): string {
  const known = ["Convolution", "MatMul", "Attention", "Normalization", "Activation", "Elementwise", "Pooling", "Embedding", "Optimizer", "Communication", "Copy", "Data movement", "Reduction", "Softmax", "Loss", "Recurrent", "Random"];
  const index = known.indexOf(type);
  return type === "Other" || type === "" ? "var(--type-other)" : `var(--type-${index >= 0 ? index : hash(type) % TYPES})`;
}

export function causeColour(cause: string): string {
  return (CAUSE_COLOURS as Record<string, string>)[cause] ?? "var(--cause-other)";
}

export function phaseColour(phase: string): string {
  return (PHASE_COLOURS as Record<string, string>)[phase] ?? "var(--phase-other)";
}

/** A colour variable for a component of energy: what is always there grey, what computes warm, memory in blues from near to far. */
export function energyColour(component: string): string {
  const fixed = ["static", "active", "instructions", "shared", "l1", "tma", "l2", "dram", "rest"];
  if (fixed.includes(component)) return `var(--energy-${component})`;
  if (component.startsWith("tensor")) return "var(--energy-tensor)";
  if (component === "pipe.fma") return "var(--energy-fma)";
  // Pipes that seldom take much: shades of one colour.
  const pipes = ["pipe.alu", "pipe.xu", "pipe.fp64", "pipe.fp16"], shade = Math.max(0, pipes.indexOf(component));
  return shade === 0 ? "var(--energy-pipe)" : `color-mix(in srgb, var(--energy-pipe) ${100 - 22 * shade}%, var(--ink))`;
}

function hash(text: string): number {
  let value = 0;
  for (const c of text) value = (value * 31 + c.codePointAt(0)!) >>> 0;
  return value;
}

/** The value that a colour variable has now, for a canvas. */
export function resolve(colour: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(colour);
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name[1]!).trim() : colour;
}
