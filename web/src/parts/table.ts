// A table that sorts by a click on a heading and narrows by a search. Rows can lead to the timeline, and equal ones can be one row that opens.
import { h, NARROW, term, unfold } from "./dom.ts";
import { offerRows, offerSearch, showEvents } from "./links.ts";
import { TAIL } from "./roll.ts";

export interface Column<Row> {
  id: string;
  title: string;
  meaning?: string;
  numeric?: boolean;
  /** The content of the cell. */
  cell: (row: Row) => Node | string;
  /** The sort key; a column without cannot be sorted. null goes last. */
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
  /** The search that finds the events of a row in the timeline: the row then leads there. */
  events?: (row: Row) => string;
  /** Rows with one key are one row that opens: `merge` makes it. */
  together?: { key: (row: Row) => string; merge: (rows: Row[]) => Row };
}

/** A row as it is shown: alone, or standing for several. */
interface Entry<Row> { row: Row; key: string; inside: Row[] }

/** A name whose middle gives way where there is no room: the ends tell names apart. */
export function middleCut(text: string): HTMLElement {
  if (text.length <= TAIL * 1.5) return h("span", { title: text }, text);
  return h("span", { class: "middle", title: text }, h("span", { class: "head" }, text.slice(0, -TAIL)), h("span", { class: "tail" }, text.slice(-TAIL)));
}

/** A text that its column may cut short is there in full under the pointer. */
function cell<Row>(c: Column<Row>, row: Row): HTMLTableCellElement {
  const content = c.cell(row);
  return h("td", { class: c.numeric ? "number" : c.id, title: typeof content === "string" && content.length > 16 ? content : undefined }, content);
}

/** On a narrow screen what the rows are sorted by stands beside their names, where it is seen. */
function inView<Row>(columns: Column<Row>[], sortBy: string): Column<Row>[] {
  const first = columns[0], sorted = columns.find((c) => c.id === sortBy);
  if (!matchMedia(NARROW).matches || !first || !sorted || first === sorted) return columns;
  return [first, sorted, ...columns.filter((c) => c !== first && c !== sorted)];
}

class Table<Row> {
  private sorted: string;
  private falling = true;
  private needle = "";
  private limit: number;
  private entries: Entry<Row>[] = [];
  private readonly open = new Set<string>();
  private apart = false;
  private readonly body = h("tbody");
  private readonly more = h("button", { type: "button", class: "more", click: () => { this.limit += 100; this.draw(); } });
  private readonly told = h("output", { class: "told", "aria-live": "polite" });
  private readonly heads = new Map<string, HTMLTableCellElement>();
  private readonly field = h("input", { type: "search", input: () => { this.needle = this.field.value; this.draw(); } });

  private readonly o: TableOptions<Row>;

  constructor(o: TableOptions<Row>) {
    this.o = { ...o, columns: inView(o.columns, o.sortBy) };
    this.sorted = o.sortBy;
    this.limit = o.step ?? 25;
  }

  private order(a: Row, b: Row): number {
    const key = this.o.columns.find((c) => c.id === this.sorted)?.key;
    const x = key?.(a) ?? null, y = key?.(b) ?? null;
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    return this.falling ? -less : less;
  }

  private found(): Row[] {
    const words = this.needle.toLowerCase().split(/\s+/).filter(Boolean);
    return this.o.rows.filter((row) => {
      const text = this.o.search?.(row).toLowerCase() ?? "";
      return words.every((word) => text.includes(word));
    });
  }

  private group(rows: Row[]): Entry<Row>[] {
    const { together } = this.o;
    if (!together || this.apart) return rows.map((row) => ({ row, key: "", inside: [] }));
    const groups = new Map<string, Row[]>();
    for (const row of rows) groups.set(together.key(row), [...(groups.get(together.key(row)) ?? []), row]);
    return [...groups].map(([key, inside]) => (inside.length === 1 ? { row: inside[0]!, key, inside: [] } : { row: together.merge(inside), key, inside }));
  }

  /** A row; one that leads to the timeline does so at a press anywhere, and by a button in its first cell. */
  private rowOf(row: Row, className = ""): HTMLTableRowElement {
    const cells = this.o.columns.map((c) => cell(c, row)), find = this.o.events?.(row);
    if (!find) return h("tr", { class: className }, ...cells);
    const first = cells[0]!, name = first.textContent || "this row";
    const button = h("button", { type: "button", class: "find", "aria-label": `Show the events of ${name} in the timeline`, title: "Show in the timeline" }, "\u25f1");
    first.replaceChildren(h("span", { class: "leader" }, button, ...first.childNodes));
    return h("tr", { class: `leads ${className}`, click: (event: MouseEvent) => {
      const pressed = event.target as Element;
      if (pressed.closest("button") === button || !pressed.closest("button, a, summary") && !getSelection()?.toString()) showEvents(find, button);
    } }, ...cells);
  }

  private entryRows({ row, key, inside }: Entry<Row>): HTMLTableRowElement[] {
    const own = this.rowOf(row, inside.length > 0 ? "several" : "");
    if (inside.length === 0) return [own];
    const opened = this.open.has(key), first = own.cells[0]!.querySelector(".leader") ?? own.cells[0]!;
    const button = h("button", { type: "button", class: "opens", "aria-expanded": String(opened), click: () => {
      if (!this.open.delete(key)) this.open.add(key);
      this.draw();
      this.body.querySelector<HTMLElement>(`tr[data-key="${CSS.escape(key)}"] button.opens`)?.focus();
    } }, `${opened ? "\u25be" : "\u25b8"} ${inside.length}\u00d7`);
    button.setAttribute("aria-label", `${inside.length} equal blocks`);
    first.insertBefore(button, first.lastChild);
    own.dataset["key"] = key;
    return [own, ...(opened ? [...inside].sort((a, b) => this.order(a, b)).map((each) => this.rowOf(each, "inner")) : [])];
  }

  private draw(): void {
    const found = this.found();
    this.entries = this.group(found).sort((a, b) => this.order(a.row, b.row));
    this.body.replaceChildren(...this.entries.slice(0, this.limit).flatMap((entry) => this.entryRows(entry)));
    for (const [id, head] of this.heads) head.setAttribute("aria-sort", id !== this.sorted ? "none" : this.falling ? "descending" : "ascending");
    this.told.textContent = this.needle ? `${found.length} of ${this.o.rows.length} ${this.o.noun}` : "";
    this.more.hidden = this.entries.length <= this.limit;
    this.more.textContent = `Show ${Math.min(this.entries.length - this.limit, 100)} more of ${this.entries.length} ${this.o.noun}`;
  }

  /** Brings the row that a search of the timeline stands for into sight. */
  private reveal(key: string): boolean {
    const { events } = this.o, is = (row: Row): boolean => events!(row) === key;
    if (!this.o.rows.some(is)) return false;
    this.needle = this.field.value = "";
    this.draw();
    const place = this.entries.findIndex((entry) => is(entry.row) || entry.inside.some(is)), entry = this.entries[place]!;
    if (!is(entry.row)) this.open.add(entry.key);
    this.limit = Math.max(this.limit, place + 1);
    this.draw();
    for (let outer = this.body.closest("details"); outer; outer = outer.parentElement!.closest("details")) outer.open = true;
    const shown = this.entries.slice(0, place + 1).flatMap((each) => [each.row, ...(this.open.has(each.key) ? [...each.inside].sort((a, b) => this.order(a, b)) : [])]);
    const row = this.body.children[shown.findIndex(is)]!;
    unfold(row);
    row.classList.add("found");
    row.scrollIntoView({ block: "center" });
    row.querySelector<HTMLElement>("button.find")!.focus({ preventScroll: true });
    return true;
  }

  /** Narrows to the rows that hold these words, and brings them into sight. */
  private narrow(words: string): void {
    this.needle = this.field.value = words;
    this.draw();
    unfold(this.field);
    this.field.scrollIntoView({ block: "center" });
    this.field.focus({ preventScroll: true });
  }

  private heading(c: Column<Row>): HTMLTableCellElement {
    const title = c.meaning ? term(c.title, c.meaning, false) : c.title;
    const choose = (): void => {
      this.falling = this.sorted === c.id ? !this.falling : Boolean(c.numeric);
      this.sorted = c.id;
      this.draw();
    };
    const head = h("th", { scope: "col", class: c.numeric ? "number" : c.id }, c.key ? h("button", { type: "button", click: choose }, title) : title);
    if (c.key) this.heads.set(c.id, head);
    return head;
  }

  element(): HTMLElement {
    const { o } = this, head = h("tr", {}, ...o.columns.map((c) => this.heading(c)));
    const search = o.search ? h("label", { class: "search" }, h("span", {}, `Search ${o.noun}`), this.field) : null;
    const several = o.together !== undefined && new Set(o.rows.map(o.together.key)).size < o.rows.length;
    const choice = several ? h("label", {}, h("input", { type: "checkbox", checked: true, change: (event: Event) => { this.apart = !(event.target as HTMLInputElement).checked; this.draw(); } }), " equal blocks together") : null;
    this.draw();
    if (o.search) offerSearch(o.caption, (words) => this.narrow(words));
    if (o.events) offerRows(o.caption, (key) => this.reveal(key));
    return h("div", { class: "table" }, search || choice ? h("div", { class: "tools" }, search, choice, this.told) : null,
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": o.caption }, h("table", {}, h("caption", {}, o.caption), h("thead", {}, head), this.body)), this.more);
  }
}

export function table<Row>(options: TableOptions<Row>): HTMLElement { return new Table(options).element(); }
