// The flame view: device time by module or by call path, as wide as it is long. A press on a part makes it the whole.
import type { CallNode } from "../model.ts";
import type { Report } from "../page_data.ts";
import { causeColour, typeColour } from "../parts/colours.ts";
import { h, section } from "../parts/dom.ts";
import { count, energy, partOf, share, time } from "../parts/format.ts";

type Measure = "ns" | "kernel_ns" | "idle_ns" | "nj";
const MEASURES: [Measure, string][] = [["ns", "device time"], ["kernel_ns", "kernel time"], ["idle_ns", "idle time"], ["nj", "joules"]];
/** Thinner parts are not drawn; the sum above them has them. */
const THIN = 0.002;
/** Height of a part, with its border. */
const ROW = 25;

interface Node extends CallNode { below: Node[] }

function treesOf(nodes: CallNode[]): Map<string, Node> {
  const all = nodes.map((node): Node => ({ ...node, below: [] })), tops = new Map<string, Node>();
  for (const node of all)
    if (node.parent === null) tops.set(node.view, node);
    else all[node.parent]!.below.push(node);
  return tops;
}

function colour(node: CallNode): string {
  if (node.kind === "idle") return causeColour(node.name);
  if (node.kind === "kernel") return "var(--type-1)";
  if (node.kind === "copy") return "var(--type-10)";
  return node.kind === "python" ? typeColour("Attention") : node.kind === "operator" ? typeColour("Normalization") : typeColour("Embedding");
}

class Flame {
  private readonly tops: Map<string, Node>;
  private readonly picture = h("div", { class: "flame", role: "group", "aria-label": "Flame view" });
  private readonly said = h("p", { class: "note", "aria-live": "polite" });
  private view = "modules";
  private measure: Measure = "ns";
  private path: Node[] = [];

  constructor(nodes: CallNode[], private readonly causes: Map<string, string>) {
    this.tops = treesOf(nodes);
    this.path = [this.tops.get(this.view)!];
  }

  private words(value: number): string { return this.measure === "nj" ? energy(value) : time(value); }
  private value(node: CallNode): number { return node[this.measure] ?? 0; }
  private name(node: CallNode): string { return node.kind === "idle" ? `idle, ${this.causes.get(node.name) ?? node.name}` : node.name; }
  /** The text that fits a part: none where it would be a letter or two. */
  private label(node: CallNode, width: number): string { return width * (this.picture.clientWidth || 900) < 30 ? "" : this.name(node).replace(/^autograd::engine::evaluate_function: /, "autograd: "); }

  private part(node: Node, depth: number, left: number, width: number, above: Node[]): void {
    const top = this.tops.get(this.view)!, facts = `${this.name(node)}: ${this.words(this.value(node))}, ${share(partOf(this.value(node), this.value(top)))}, ${count(node.count)} events`;
    const path = [...above, node];
    this.picture.append(h("button", { type: "button", title: facts, "aria-label": facts, "data-node": node.id, "data-depth": depth, style: `left:${left * 100}%;width:${width * 100}%;top:${depth * ROW}px;background:color-mix(in srgb, ${colour(node)} 38%, var(--paper))`, click: () => { this.path = path; this.draw(); } }, this.label(node, width)));
    let at = left;
    const whole = this.value(node);
    for (const below of node.below) {
      const part = (partOf(this.value(below), whole) ?? 0) * width;
      if (part >= THIN) this.part(below, depth + 1, at, part, path);
      at += part;
    }
  }

  private draw(): void {
    this.picture.replaceChildren();
    const shown = this.path.at(-1)!, above = this.path.slice(0, -1);
    // Parents of the part in view stay, as wide as the picture: the way back.
    above.forEach((node, depth) => {
      const facts = `back to ${this.name(node)}: ${this.words(this.value(node))}`;
      this.picture.append(h("button", { type: "button", class: "above", title: facts, "aria-label": facts, style: `left:0;width:100%;top:${depth * ROW}px`, click: () => { this.path = this.path.slice(0, depth + 1); this.draw(); } }, this.name(node)));
    });
    this.part(shown, above.length, 0, 1, above);
    const deepest = Math.max(...[...this.picture.children].map((e) => Number((e as HTMLElement).dataset["depth"] ?? 0)));
    this.picture.style.height = `${(deepest + 1) * ROW}px`;
    this.said.textContent = `${this.name(shown)}: ${this.words(this.value(shown))} ${this.measure === "nj" ? "" : `(kernels ${time(shown.kernel_ns)}, copies alone ${time(shown.copy_ns)}, idle ${time(shown.idle_ns)})`}`;
  }

  element(): HTMLElement {
    const joules = [...this.tops.values()].some((top) => top.nj !== null);
    const choice = (name: string, options: [string, string][], chosen: (value: string) => void): HTMLElement => h("label", {}, `${name} `, h("select", { change: (event: Event) => chosen((event.target as HTMLSelectElement).value) }, ...options.map(([value, text]) => h("option", { value }, text))));
    this.draw();
    return h("div", {}, h("div", { class: "tools" },
      choice("By", [["modules", "module and operator"], ["calls", "call path and Python frames"]], (value) => { this.view = value; this.path = [this.tops.get(value)!]; this.draw(); }),
      choice("Width", MEASURES.filter(([id]) => joules || id !== "nj"), (value) => { this.measure = value as Measure; this.draw(); })), this.said, this.picture);
  }
}

export function flameSection(report: Report): HTMLElement | null {
  if (report.tree.length < 3) return null;
  const causes = new Map(report.labels.causes.map((c) => [c.id, c.text]));
  return section("flame", "Call tree", "all parts add up to the window; click one to zoom in, one above it to zoom out", new Flame(report.tree, causes).element());
}
