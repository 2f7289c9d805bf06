// The page's reading of packed columns, against what was packed:  node tests/web/columns.test.mjs REPORT.html TRACE.json
// Any whole number of 64 bits must come out: as near as a JavaScript number can be, and with each
// digit where it is said. The page is of a trace whose correlations are such numbers.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { root } from "./browser.mjs";

const [report, trace] = process.argv.slice(2);
if (!trace) throw new Error("usage: columns.test.mjs REPORT.html TRACE.json");

const { build } = createRequire(join(root, "web/package.json"))("esbuild");
const { outputFiles } = await build({
  stdin: { contents: 'export { Timeline } from "./events.ts"; export { allFacts } from "./details.ts";', resolveDir: join(root, "web/src/timeline"), loader: "ts" },
  bundle: true, format: "esm", write: false, target: "es2022" });
const { Timeline, allFacts } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);

const DIGITS = 2n ** 53n, EXTREMES = [0n, 1n, -1n, 2n, DIGITS - 1n, DIGITS, DIGITS + 1n, 1n - DIGITS, -DIGITS, -DIGITS - 1n, 2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n), 1n - 2n ** 63n];
let state = 7;
const random = (below) => (state = (state * 48271) % 2147483647) % below;
/** An extreme, one near it, or a small number. */
function anyNumber() {
  const base = EXTREMES[random(EXTREMES.length)], by = BigInt(random(5) - 2);
  return random(3) === 0 ? BigInt(random(100_000) - 50_000) : BigInt.asIntN(64, base + by);
}

/** The plain twin of src/report/events/packed_column.h. */
function packed(values, coding) {
  const bytes = [];
  let last = 0n;
  for (const value of values) {
    let number = coding === "number" ? value : BigInt.asIntN(64, value - last);
    if (coding === "change") number = (number << 1n) ^ (number >> 63n);
    number = BigInt.asUintN(64, number);
    for (; number > 127n; number >>= 7n) bytes.push(Number(number & 127n) | 128);
    bytes.push(Number(number));
    last = value;
  }
  return bytes;
}

/** The page's block of events with one lane. */
function blockOf(values, coding) {
  const bytes = packed(values, coding);
  const lane = { kind: "api", title: "", group: "", device: -1, merged: false, count: values.length, columns: [{ id: "correlation", coding, bytes: bytes.length }] };
  const head = new TextEncoder().encode(JSON.stringify({ start_ns: 0, duration_ns: 1, origin_ns: 0, shown: 0, total: 0, whole: [], texts: [""], things: [], sites: [], lanes: [lane] }));
  const length = new Uint8Array(new Uint32Array([head.length]).buffer);
  return new Uint8Array([...length, ...head, ...bytes]).buffer;
}

for (const coding of ["number", "rising", "change"])
  for (let round = 0; round < 300; ++round) {
    // Small ones alone take the short way.
    const small = round % 3 === 0, values = Array.from({ length: 1 + random(40) }, () => (small ? BigInt(random(1000)) : anyNumber()));
    if (small && coding === "rising") values.sort((a, b) => Number(a - b));
    const lane = new Timeline(blockOf(values, coding)).lanes[0];
    assert.deepEqual([...lane.column("correlation")], values.map(Number), `${coding}: ${values}`);
    assert.deepEqual(values.map((_, i) => lane.digits("correlation", i)), values.map(String), coding);
  }
console.log("ok      a column comes out as it was put in");

const page = await readFile(report, "utf8"), events = JSON.parse(await readFile(trace, "utf8")).traceEvents;
const block = gunzipSync(Buffer.from(/id="events">([^<]*)/.exec(page)[1].trim(), "base64"));
const timeline = new Timeline(block.buffer.slice(block.byteOffset, block.byteOffset + block.length));
const nothing = { analysis: { energy: { devices: [] } }, labels: { causes: [] } };
let said = 0;
for (const lane of timeline.lanes.filter((each) => ["api", "stream"].includes(each.kind)))
  for (let item = 0; item < lane.count; ++item) {
    // Names tell what the trace says, as text: JSON's numbers would lose digits here too.
    const digits = /\d+$/.exec(timeline.nameOf(lane, item))[0];
    assert.equal(lane.digits("correlation", item), digits);
    assert.equal(new Map(allFacts(nothing, timeline, { lane, item })).get("correlation"), digits);
    ++said;
  }
assert.equal(said, events.length - 1);  // the window begins with the first kernel, behind its call
console.log("ok      the page says each digit of a correlation");
