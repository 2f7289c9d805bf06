// The timeline's events as the report writer packed them (src/report/events/timeline_data.h), in typed arrays.

export type LaneKind = "steps" | "idle" | "band" | "stream" | "queue" | "curve" | "host" | "api" | "python" | "wait" | "move";

/** An activity: kernels of one name and shape of launch, or a copy. */
export interface Thing { name: string; full_name: string; kind: string; grid: string; block: string; registers: number; shared_bytes: number }
/** The origin of an activity; `layer`, `type` and `phase` are its row of the table of layers. */
export interface Site { op: string; module: string; type: string; phase: string; layer: string }

type Coding = "number" | "rising" | "change";
interface ColumnHead { id: string; coding: Coding; bytes: number }
interface LaneHead { kind: LaneKind; title: string; group: string; device: number; merged: boolean; count: number; columns: ColumnHead[] }
interface Head { start_ns: number; duration_ns: number; origin_ns: number; whole: [number, number][]; shown: number; total: number; texts: string[]; things: Thing[]; sites: Site[]; lanes: LaneHead[] }

/** Whole numbers of 7 bits a byte (LEB128), as they are or as differences. False at one whose digits a JavaScript number does not hold. */
function numbers(bytes: Uint8Array, at: number, coding: Coding, out: Float64Array | Uint32Array): boolean {
  let last = 0;
  for (let i = 0; i < out.length; ++i) {
    let byte = bytes[at++]!, value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = bytes[at++]!;
      value += (byte & 127) * scale;
    }
    if (value > Number.MAX_SAFE_INTEGER) return false;
    if (coding === "change") value = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    if (coding !== "number") value = last += value;
    if (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER) return false;
    out[i] = value;
  }
  return true;
}

/** The same of any number of 64 bits; differences go around as they do in the writer. */
function largeNumbers(bytes: Uint8Array, at: number, coding: Coding, count: number): BigInt64Array {
  const out = new BigInt64Array(count);
  let last = 0n;
  for (let i = 0; i < count; ++i) {
    let value = 0n, byte = 128;
    for (let shift = 0n; byte > 127; shift += 7n) {
      byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
    }
    if (coding === "change") value = (value >> 1n) ^ -(value & 1n);
    if (coding !== "number") value += last;
    out[i] = last = BigInt.asIntN(64, value);
  }
  return out;
}

/** One band: columns in parallel, in order of start. Times count from the timeline's start. */
export class Lane {
  readonly kind: LaneKind;
  readonly title: string;
  readonly group: string;
  readonly device: number;
  readonly count: number;
  /** The sums of the events that this lane does not hold (cells.ts), and of a lane of sums the lane that it belongs to. */
  sums: Lane | null = null;
  of: Lane | null = null;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  /** Text, or the number of a thing; of a curve nothing. */
  readonly name: Uint32Array;
  private readonly ready = new Map<string, Float64Array | null>();
  /** All digits of the columns that have numbers beyond 53 bits. */
  private readonly large = new Map<string, BigInt64Array>();

  constructor(head: Omit<LaneHead, "columns">, private readonly bytes: Uint8Array, private readonly columns: (ColumnHead & { at: number })[]) {
    [this.kind, this.title, this.group, this.device, this.count] = [head.kind, head.title, head.group, head.device, head.count];
    this.start = this.unpack("start", new Float64Array(head.count));
    this.duration = this.unpack("duration", new Float64Array(head.count));
    this.name = this.unpack("name", new Uint32Array(head.count));
  }

  private unpack<Out extends Float64Array | Uint32Array>(id: string, out: Out): Out {
    const column = this.columns.find((c) => c.id === id);
    if (!column || numbers(this.bytes, column.at, column.coding, out)) return out;
    const large = largeNumbers(this.bytes, column.at, column.coding, out.length);
    this.large.set(id, large);
    large.forEach((value, i) => { out[i] = Number(value); });
    return out;
  }

  /** Events, held one by one or summed up. */
  get events(): number { return this.count + (this.sums?.column("events")?.reduce((sum, events) => sum + events, 0) ?? 0); }

  /** Any other column, unpacked when it is first asked for; null when the lane has none. */
  column(id: string): Float64Array | null {
    let values = this.ready.get(id);
    if (values === undefined) {
      values = this.columns.some((c) => c.id === id) ? this.unpack(id, new Float64Array(this.count)) : null;
      this.ready.set(id, values);
    }
    return values;
  }

  /** A number of a column, with all of its digits; empty when the lane has no such column. */
  digits(id: string, item: number): string {
    const values = this.column(id);
    return values === null ? "" : String(this.large.get(id)?.[item] ?? values[item]!);
  }

  /** A lane that the page makes itself, such as a curve of readings. */
  static of(kind: LaneKind, title: string, group: string, device: number, columns: Record<string, Float64Array>): Lane {
    const count = columns["start"]?.length ?? 0;
    const lane = new Lane({ kind, title, group, device, merged: false, count }, new Uint8Array(0), []);
    lane.start.set(columns["start"] ?? []);
    lane.duration.set(columns["duration"] ?? []);
    for (const [id, values] of Object.entries(columns)) lane.ready.set(id, values);
    return lane;
  }
}

export interface EventAt { lane: Lane; item: number }

export class Timeline {
  readonly start: number;
  readonly duration: number;
  /** The zero of --window START:END. */
  readonly origin: number = 0;
  /** The spans in which the lanes hold every event; empty when they do everywhere. */
  readonly whole: [number, number][] = [];
  readonly shown: number;
  readonly total: number;
  readonly texts: string[];
  readonly things: Thing[];
  readonly sites: Site[];
  readonly lanes: Lane[];
  private byCall: { first: Int32Array; next: Int32Array; at: EventAt[] } | null = null;

  constructor(buffer: ArrayBuffer) {
    const length = new DataView(buffer).getUint32(0, true), bytes = new Uint8Array(buffer, 4 + length);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as Head;
    [this.start, this.duration, this.shown, this.total] = [head.start_ns, head.duration_ns, head.shown, head.total];
    [this.origin, this.whole] = [head.origin_ns, head.whole];
    [this.texts, this.things, this.sites] = [head.texts, head.things, head.sites];
    let at = 0;
    const lanes = head.lanes.map((lane) => new Lane(lane, bytes, lane.columns.map((column) => {
      const begin = at;
      at += column.bytes;
      return { ...column, at: begin };
    })));
    lanes.forEach((lane, i) => {
      if (head.lanes[i]!.merged) [lane.of, lanes[i - 1]!.sums] = [lanes[i - 1]!, lane];
    });
    this.lanes = lanes.filter((lane) => lane.of === null);
  }

  /** One that the page makes itself. */
  static of(head: { start: number; duration: number; shown: number; total: number; texts: string[] }, lanes: Lane[]): Timeline {
    return Object.assign(Object.create(Timeline.prototype) as Timeline, { ...head, origin: 0, whole: [], things: [], sites: [], lanes, byCall: null });
  }

  /** True if every event of a span is held. */
  holds(from: number, to: number): boolean { return this.shown === this.total || this.whole.some(([begin, end]) => begin <= from && to <= end); }

  text(number: number | undefined): string { return this.texts[number ?? 0] ?? ""; }

  thing(lane: Lane, item: number): Thing | null { return lane.kind === "stream" ? this.things[lane.name[item]!] ?? null : null; }

  site(lane: Lane, item: number): Site | null {
    const site = lane.kind === "stream" ? lane.column("site")?.[item] : undefined;
    return site === undefined ? null : this.sites[site] ?? null;
  }

  nameOf(lane: Lane, item: number): string { return this.thing(lane, item)?.name ?? this.text(lane.name[item]); }

  /** The call with a number that a kernel names, 1 upwards through all lanes of calls; null for 0. */
  call(number: number): EventAt | null {
    let item = number - 1;
    for (const lane of this.lanes) {
      if (lane.kind !== "api" || item < 0) continue;
      if (item < lane.count) return { lane, item };
      item -= lane.count;
    }
    return null;
  }

  launchOf({ lane, item }: EventAt): EventAt | null { return lane.kind === "stream" ? this.call(lane.column("call")?.[item] ?? 0) : null; }

  /** The activities that a call started on the devices. */
  started(by: EventAt): EventAt[] {
    if (by.lane.kind !== "api" || by.lane.of) return [];
    let number = by.item + 1;
    for (const lane of this.lanes) {
      if (lane === by.lane) break;
      if (lane.kind === "api") number += lane.count;
    }
    const index = (this.byCall ??= this.callIndex()), found: EventAt[] = [];
    for (let entry = index.first[number] ?? -1; entry >= 0; entry = index.next[entry]!) found.push(index.at[entry]!);
    return found;
  }

  private callIndex(): { first: Int32Array; next: Int32Array; at: EventAt[] } {
    const calls = this.lanes.reduce((sum, lane) => sum + (lane.kind === "api" ? lane.count : 0), 0);
    const first = new Int32Array(calls + 1).fill(-1), next: number[] = [], at: EventAt[] = [];
    for (const lane of this.lanes) {
      const column = lane.kind === "stream" ? lane.column("call") : null;
      // Backwards, so that each chain runs forwards in time.
      for (let item = (column?.length ?? 0) - 1; item >= 0; --item) {
        const number = column![item]!;
        if (number === 0) continue;
        next.push(first[number]!);
        first[number] = at.length;
        at.push({ lane, item });
      }
    }
    return { first, next: Int32Array.from(next), at };
  }
}
