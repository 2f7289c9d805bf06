// The figures of a publication, drawn of the runs that judge it: one's own, those that ship with the program, and the publication's own numbers.
import type { Figure, FigureLine, FigurePanel, FigurePoint } from "../model.ts";
import { h, section, svg } from "../parts/dom.ts";
import { fitted } from "../parts/figure.ts";
import { bytes, share } from "../parts/format.ts";
import { lineMark, linePlot, type PlotLine, type PlotPoint } from "../parts/plot.ts";

const COLOURS = 10, BAR = 13, HEAD = 18, GAP = 8, LEFT = 150, RIGHT = 84;
const FROM: Record<FigureLine["from"], { before: string; dash: string }> = { yours: { before: "", dash: "" }, ours: { before: "ours: ", dash: "6 3" }, paper: { before: "the publication: ", dash: "2 3" } };

function colourAt(at: number): string { return `var(--series-${at % COLOURS})`; }

function said(value: number, unit: string): string {
  if (unit === "%") return share(value);
  return `${Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))}${unit === "" ? "" : ` ${unit}`}`;
}

function titleOf(figure: Figure, panel: FigurePanel): string { return [panel.model, panel.title || figure.title].filter(Boolean).join(": "); }

/** A number that is said of every x becomes a level line. */
function pointsOf(line: FigureLine, span: [number, number], say: (point: FigurePoint) => string): PlotPoint[] {
  return line.points.flatMap((point): PlotPoint[] => {
    const at = (x: number): PlotPoint => ({ x, y: point.y, tip: say(point), low: point.least ?? undefined, high: point.most ?? undefined });
    return point.x === null ? [at(span[0]), at(span[1])] : [at(point.x)];
  });
}

function linesOf(figure: Figure, panel: FigurePanel): PlotLine[] {
  const known = panel.lines.flatMap((line) => line.points.flatMap((point) => (point.x === null ? [] : [point.x]))), span: [number, number] = [Math.min(...known), Math.max(...known)];
  const unit = panel.unit, shown = (y: number): boolean => figure.y_axis !== "tens" || y > 0;
  return panel.lines.map((line, at) => {
    const name = FROM[line.from].before + line.name;
    return { name, colour: colourAt(at), shape: at, dash: FROM[line.from].dash, bare: figure.kind === "course", points: pointsOf(line, span, (point) => `${name}${point.x === null ? "" : `, ${figure.x_title} ${figure.x_axis === "percent" ? share(point.x) : said(point.x, "")}`}: ${said(point.y, unit)}`)
      .filter((point) => shown(point.y) && (figure.x_axis !== "twos" || point.x > 0)) };
  }).filter((line) => line.points.length > 0);
}

function plotPanel(figure: Figure, panel: FigurePanel, id: string): HTMLElement | null {
  const lines = linesOf(figure, panel);
  if (lines.length === 0) return null;
  const plot = { id, title: titleOf(figure, panel), xTitle: figure.x_title, yTitle: "", byTwos: figure.x_axis === "twos", percentX: figure.x_axis === "percent", percentY: panel.unit === "%", byTens: figure.y_axis === "tens", sayX: figure.x_title.startsWith("bytes") ? bytes : undefined, lines };
  return h("div", { class: "sweep-plot" }, h("h3", {}, titleOf(figure, panel), h("span", { class: "dim" }, panel.unit === "" || panel.unit === "%" ? "" : ` ${panel.unit}`)), fitted((width) => linePlot(plot, width), 460),
    h("ul", { class: "legend" }, ...lines.map((line) => h("li", { "data-series": line.name }, lineMark(line.shape, line.colour, line.dash), line.name))));
}

/** A heading for each line, a bar for each of its values. */
function barPicture(panel: FigurePanel, id: string, title: string, width: number): SVGElement {
  const drawn = panel.lines.filter((line) => line.points.length > 0), most = Math.max(...drawn.flatMap((line) => line.points.map((point) => point.y)), panel.unit === "%" ? 0.01 : 0) || 1;
  const height = drawn.reduce((sum, line) => sum + HEAD + line.points.length * BAR + GAP, 4), x = (value: number): number => LEFT + (Math.max(value, 0) / most) * (width - LEFT - RIGHT);
  const picture = svg("svg", { id, class: "curve best", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}, ${drawn.map((line) => `${FROM[line.from].before}${line.name}: ${line.points.map((point) => `${point.name} ${said(point.y, panel.unit)}`).join(" ")}`).join("; ")}` });
  let y = 0;
  drawn.forEach((line, at) => {
    picture.append(svg("text", { x: 4, y: y + HEAD - 5 }, FROM[line.from].before + line.name));
    y += HEAD;
    for (const point of line.points) {
      picture.append(svg("text", { x: LEFT - 6, y: y + BAR - 3, "text-anchor": "end" }, point.name),
        svg("rect", { x: x(0).toFixed(1), y, width: Math.max(1, x(point.y) - x(0)).toFixed(1), height: BAR - 2, style: `fill:${colourAt(at)}` }),
        svg("text", { x: (x(point.y) + 4).toFixed(1), y: y + BAR - 3 }, said(point.y, panel.unit)));
      y += BAR;
    }
    y += GAP;
  });
  return picture;
}

/** A bar for each line, its parts one after the other. */
function partPicture(panel: FigurePanel, names: string[], id: string, title: string, width: number): SVGElement {
  const height = panel.lines.length * (HEAD + BAR + GAP) + 4, scale = width - 12;
  const picture = svg("svg", { id, class: "curve best", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}, ${panel.lines.map((line) => `${FROM[line.from].before}${line.name}: ${line.points.map((point) => `${point.name} ${share(point.y)}`).join(" ")}`).join("; ")}` });
  panel.lines.forEach((line, at) => {
    const y = at * (HEAD + BAR + GAP);
    let before = 0;
    picture.append(svg("text", { x: 4, y: y + HEAD - 5 }, FROM[line.from].before + line.name));
    for (const point of line.points) {
      if (point.y <= 0) continue;
      picture.append(svg("rect", { x: (4 + before * scale).toFixed(1), y: y + HEAD, width: Math.max(point.y * scale, 0.5).toFixed(1), height: BAR, style: `fill:${colourAt(names.indexOf(point.name))}` }, svg("title", {}, `${point.name} ${share(point.y)}`)));
      before += point.y;
    }
  });
  return picture;
}

function barPanel(figure: Figure, panel: FigurePanel, id: string): HTMLElement {
  const title = titleOf(figure, panel), names = [...new Set(panel.lines.flatMap((line) => line.points.map((point) => point.name)))], stacked = figure.kind === "parts";
  return h("div", { class: "sweep-plot" }, h("h3", {}, title), fitted((width) => (stacked ? partPicture(panel, names, id, title, width) : barPicture(panel, id, title, width)), 460),
    stacked ? h("ul", { class: "legend" }, ...names.map((name, at) => h("li", {}, svg("svg", { class: "key", viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, svg("rect", { width: 12, height: 12, style: `fill:${colourAt(at)}` })), name))) : null);
}

/** A section a figure; what it shows in the publication stands under its title. */
export function figureSections(figures: Figure[]): HTMLElement[] {
  return figures.map((figure, at) => section(`figure-${at}`, `Figure ${figure.id}: ${figure.title}`.replace("Figure slide", "Slide"), "", h("p", { class: "note" }, `The publication: ${figure.original}.`),
    h("div", { class: "plots" }, ...figure.panels.map((panel, place) => {
      const id = `figure_${at}_${place}`;
      return figure.kind === "lines" || figure.kind === "course" ? plotPanel(figure, panel, id) : barPanel(figure, panel, id);
    }))));
}
