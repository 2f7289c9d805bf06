// Pages in which a whole is 0, so that no part of it can be told:  node tests/web/zero.test.mjs REPORT.html...
// Each is opened as it is, with every number of its answer 0, and with one kind of whole 0 beside
// parts that are more: "no data" stands where there is no share, nowhere "NaN" or "Infinity", and
// nothing is drawn at such a place.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { runPages } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const reports = process.argv.slice(2);
if (reports.length === 0) throw new Error("usage: zero.test.mjs REPORT.html...");

const DATA = /(<script type="text\/plain" id="data">)([^<]*)/;
const WITHOUT_VALUE = /\bNaN\b|\bInfinity\b|\bundefined\b/;
/** Members that parts are divided by, by copy: what is divided by one is not of the same copy. */
const WHOLES = { spans: ["span_ns", "own_ns", "joules_per_item"], durations: ["duration_ns", "time_ns", "value"], sums: ["ns", "nj"] };
/** Numbers that tell things apart, which may not become one. */
const IDS = new Set(["id", "device", "rank", "run", "runs", "step", "schema"]);

/** The value with 0 for every number whose member `is` chosen. */
function zeroed(value, is, key = "") {
  if (typeof value === "number") return is(key) ? 0 : value;
  if (Array.isArray(value)) return value.map((each) => zeroed(each, is, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, zeroed(each, is, name)]));
}

/** Names of the page's copies with zeros. */
async function copiesOf(report) {
  const page = await readFile(report, "utf8");
  const json = gunzipSync(Buffer.from(DATA.exec(page)[2].trim(), "base64")).toString();
  const kinds = [["zeros", (key) => !IDS.has(key)], ...Object.entries(WHOLES).map(([name, wholes]) => [name, (key) => wholes.includes(key)])];
  const copies = [];
  for (const [name, is] of kinds) {
    const changed = JSON.stringify(zeroed(JSON.parse(json), is));
    if (changed === JSON.stringify(JSON.parse(json))) continue;
    const copy = report.replace(/\.html$/, `_${name}.html`), packed = gzipSync(changed).toString("base64");
    await writeFile(copy, page.replace(DATA, (_, tag) => tag + packed));
    copies.push(copy);
  }
  return copies;
}

/** Texts and attributes that say a number which is none. */
function nonsense(pattern) {
  const found = [], none = new RegExp(pattern);
  for (const element of document.querySelectorAll("#page, #page *")) {
    const place = `${element.closest("section")?.id ?? ""} ${element.tagName}`;
    for (const each of element.attributes)
      if (none.test(each.value)) found.push(`${place} ${each.name}: ${each.value}`);
    for (const child of element.childNodes)
      if (child.nodeType === Node.TEXT_NODE && none.test(child.data)) found.push(`${place}: ${child.data}`);
  }
  return found;
}

const cases = [["no part is told of a whole that is nothing", async (page, seen) => {
  await page.evaluate(() => { for (const each of document.querySelectorAll("details")) each.open = true; });
  for (const row of await page.locator("#waterfall button.row:not(:disabled)").all()) await row.click();
  await painted(page);
  assert.deepEqual(await page.evaluate(nonsense, WITHOUT_VALUE.source), []);
  assert.deepEqual(seen.errors, []);
}]];

const pages = [];
for (const report of reports)
  for (const page of [report, ...(await copiesOf(report))]) pages.push([page, cases]);
await runPages(pages);
