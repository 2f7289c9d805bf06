// Values over time as a picture inside a line of text; where there is no data there is no line.
import { svg } from "./dom.ts";

const WIDTH = 150, HEIGHT = 22;

export function sparkPicture(values: (number | null)[], text: string): SVGElement {
  const most = Math.max(...values.map((v) => v ?? 0)), step = (WIDTH - 2) / Math.max(values.length, 1);
  const y = (value: number): string => (HEIGHT - 1 - (most > 0 ? Math.max(value, 0) / most : 0) * (HEIGHT - 3)).toFixed(1);
  let path = "", open = false;
  values.forEach((value, i) => {
    if (value !== null) path += `${open ? `V${y(value)}` : `M${(1 + i * step).toFixed(1)},${y(value)}`}H${(1 + (i + 1) * step).toFixed(1)}`;
    open = value !== null;
  });
  return svg("svg", { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": text }, svg("path", { d: path }));
}
