// Ways between the tables and the timeline: a row shows its events, an event its row.

export interface Asked { from: number; to: number; find?: string; back?: HTMLElement }

const SHOW = "showspan";
const tables = new Map<string, (key: string) => boolean>();
const searches = new Map<string, (words: string) => void>();

/** Asks the timeline for a span of the capture's clock. */
export function showSpan(start: number, duration: number): void {
  dispatchEvent(new CustomEvent<Asked>(SHOW, { detail: { from: start, to: start + duration } }));
}

/** Asks the timeline for all events that a search finds; `back` is where the question came from. */
export function showEvents(find: string, back: HTMLElement): void {
  dispatchEvent(new CustomEvent<Asked>(SHOW, { detail: { from: NaN, to: NaN, find, back } }));
}

export function onShow(show: (asked: Asked) => void): void {
  addEventListener(SHOW, (event) => show((event as CustomEvent<Asked>).detail));
}

/** A table that can bring a row into sight, by what finds its events. */
export function offerRows(table: string, reveal: (key: string) => boolean): void { tables.set(table, reveal); }

/** Shows the row whose events a search finds; false when no table has it. */
export function revealRow(find: string): boolean {
  for (const reveal of tables.values()) if (reveal(find)) return true;
  return false;
}

/** A table whose rows can be searched for from elsewhere, by its caption. */
export function offerSearch(table: string, search: (words: string) => void): void { searches.set(table, search); }

/** Brings a table into sight, narrowed to the rows that hold these words. */
export function searchRows(table: string, words: string): void { searches.get(table)?.(words); }
