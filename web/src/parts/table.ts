// A table that sorts by a click on a heading and narrows by a search.
import { h, term } from "./dom.ts";
import { offerRows, showEvents } from "./links.ts";

export interface Column<Row> {
  id: string;
  title: string;
  meaning?: string;
  numeric?: boolean;
  /** What the cell shows. */
  cell: (row: Row) => Node | string;
  /** What it is sorted by; a column without cannot be sorted. null goes last. */
  key?: (row: Row) => number | string | null;
}

export interface TableOptions<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  sortBy: string;              // column id; numbers start with the largest
  search?: (row: Row) => string;
  noun: string;
  step?: number;               // rows shown at first, and more at each press of the button
  /** What finds the events of a row in the timeline: the row then leads there. */
  events?: (row: Row) => string;
}

/** A text that its column may cut short is there in full under the pointer. */
function cell<Row>(c: Column<Row>, row: Row): HTMLTableCellElement {
  const content = c.cell(row);
  return h("td", { class: c.numeric ? "number" : c.id, title: typeof content === "string" && content.length > 30 ? content : undefined }, content);
}

/** A row; one that leads to the timeline does so at a press anywhere, and by a button in its first cell. */
function rowOf<Row>(o: TableOptions<Row>, row: Row): HTMLTableRowElement {
  const cells = o.columns.map((c) => cell(c, row)), find = o.events?.(row);
  if (!find) return h("tr", {}, ...cells);
  const first = cells[0]!, name = first.textContent || "this row";
  const button = h("button", { type: "button", class: "find", "aria-label": `Show the events of ${name} in the timeline`, title: "Show in the timeline" }, "\u25f1");
  first.replaceChildren(button, ...first.childNodes);
  return h("tr", { class: "leads", click: (event: MouseEvent) => {
    const pressed = event.target as Element;
    if (pressed.closest("button") === button || !pressed.closest("button, a, summary") && !getSelection()?.toString()) showEvents(find, button);
  } }, ...cells);
}

export function table<Row>(o: TableOptions<Row>): HTMLElement {
  let sorted = o.sortBy, falling = true, needle = "", limit = o.step ?? 25, shown: Row[] = [];
  const body = h("tbody"), more = h("button", { type: "button", class: "more" }), told = h("output", { class: "told", "aria-live": "polite" });
  const heads = new Map<string, HTMLTableCellElement>();

  const order = (a: Row, b: Row): number => {
    const key = o.columns.find((c) => c.id === sorted)?.key;
    const x = key?.(a) ?? null, y = key?.(b) ?? null;
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    return falling ? -less : less;
  };
  const draw = (): void => {
    const words = needle.toLowerCase().split(/\s+/).filter(Boolean);
    const found = o.rows.filter((row) => { const text = o.search?.(row).toLowerCase() ?? ""; return words.every((w) => text.includes(w)); }).sort(order);
    body.replaceChildren(...found.slice(0, limit).map((row) => rowOf(o, row)));
    for (const [id, head] of heads) head.setAttribute("aria-sort", id === sorted ? (falling ? "descending" : "ascending") : "none");
    told.textContent = needle ? `${found.length} of ${o.rows.length} ${o.noun}` : "";
    shown = found;
    more.hidden = found.length <= limit;
    more.textContent = `Show ${Math.min(found.length - limit, 100)} more of ${found.length} ${o.noun}`;
  };
  const head = h("tr", {}, ...o.columns.map((c) => {
    const title = c.meaning ? term(c.title, c.meaning, false) : c.title;
    const choose = () => {
      falling = sorted === c.id ? !falling : Boolean(c.numeric);
      sorted = c.id;
      draw();
    };
    const cell = h("th", { scope: "col", class: c.numeric ? "number" : c.id }, c.key ? h("button", { type: "button", click: choose }, title) : title);
    if (c.key) heads.set(c.id, cell);
    return cell;
  }));
  more.addEventListener("click", () => { limit += 100; draw(); });
  const search = o.search ? h("label", { class: "search" }, h("span", {}, `Search ${o.noun}`),
    h("input", { type: "search", input: (event: Event) => { needle = (event.target as HTMLInputElement).value; draw(); } })) : null;
  draw();
  if (o.events) offerRows(o.caption, (key) => {
    if (!o.rows.some((row) => o.events!(row) === key)) return false;
    if (!shown.some((row) => o.events!(row) === key)) {
      needle = "";
      if (search) search.querySelector("input")!.value = "";
      draw();
    }
    const place = shown.findIndex((row) => o.events!(row) === key);
    limit = Math.max(limit, place + 1);
    draw();
    for (let outer = body.closest("details"); outer; outer = outer.parentElement!.closest("details")) outer.open = true;
    const row = body.children[place]!;
    row.classList.add("found");
    row.scrollIntoView({ block: "center" });
    row.querySelector<HTMLElement>("button.find")!.focus({ preventScroll: true });
    return true;
  });
  return h("div", { class: "table" }, search ? h("div", { class: "tools" }, search, told) : null,
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": o.caption }, h("table", {}, h("caption", {}, o.caption), h("thead", {}, head), body)), more);
}
