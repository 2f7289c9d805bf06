// Levels and readings over time of a capture that holds samples and no kernels, in a real browser:  node tests/web/samples.test.mjs REPORT.html ANALYSIS.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";

const [report, answer] = process.argv.slice(2);
if (!report || !answer) throw new Error("usage: samples.test.mjs REPORT.html ANALYSIS.json");
const analysis = JSON.parse(await readFile(answer, "utf8")), { samples } = analysis;
const cases = [];
const test = (name, run) => cases.push([name, run]);

const several = samples.devices.length > 1, buckets = samples.devices[0].readings[0].values.length, whole = buckets * samples.bucket_ns;
const reading = (device, id) => device.readings.find((r) => r.id === id);
const busyOf = (device) => reading(device, "gpu.busy") ?? reading(device, "monitor.gpu");
const format = { ratio: (v) => (v > 0 && v < 0.0005 ? "<0.1 %" : `${(v * 100).toFixed(1)} %`),
                 watts: (v) => `${v.toFixed(0)} W`, hertz: (v) => `${(v / 1e6).toFixed(0)} MHz`,
                 celsius: (v) => `${v.toFixed(0)} \u00b0C` };
const said = (value, unit) => (value === null ? "no data" : format[unit](value));
const chart = (page, id) => page.locator(`#samples [data-chart="${id}"]`);
const busyChart = (page) => chart(page, several ? `ladder-${samples.devices[0].id}` : "ladder");
const values = async (locator) => (await locator.locator(".legend .value").allInnerTexts()).map((t) => t.trim());
const views = (page) => page.locator("#samples canvas").evaluateAll((all) => all.map((c) => `${c.dataset.from} ${c.dataset.to}`));
const painted = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Points at the middle of a bucket while everything is in sight. */
async function pointAt(page, locator, bucket) {
  await locator.scrollIntoViewIfNeeded();
  const box = await locator.boundingBox();
  await page.mouse.move(box.x + ((bucket + 0.5) / buckets) * box.width, box.y + box.height / 2);
  await painted(page);
}

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

test("sections for what there is, and no empty frame", async (page) => {
  const energy = analysis.energy.devices.length > 0 ? ["energy"] : [], joulesFirst = /^[\d.]+\s[mk]?J\sin/.test(await page.locator("h1").innerText());
  const expected = joulesFirst ? [...energy, "waterfall", "ladder", "samples", "findings", "readings", "quality", "definitions"] : ["waterfall", "findings", "ladder", "samples", ...energy, "readings", "quality", "definitions"];
  const sections = await page.locator("section").evaluateAll((all) => all.map((s) => [s.id, s.innerText.length, s.getBoundingClientRect().height]));
  assert.deepEqual(sections.map(([id]) => id), expected);
  for (const [id, text, height] of sections) assert.ok(text > 20 && height > 40,
                                                       `section ${id} is empty`);
});

test("a chart for each device's ladder and for each sensor with data, for no other", async (page) => {
  const shown = await page.locator("#samples .chart").evaluateAll((all) => all.map((c) => c.dataset.chart));
  const some = (id) => samples.devices.some((d) => reading(d, id)?.values.some((v) => v > 0));
  assert.deepEqual(shown.filter((id) => id.startsWith("ladder")),
                   several ? samples.devices.map((d) => `ladder-${d.id}`) : ["ladder"]);
  for (const id of ["power.module", "clock.sm", "temperature.gpu", "memory.used", "pcie.rx", "nvlink.rx"]) assert.equal(shown.includes(id), some(id), id);
  assert.equal(shown.includes("host.cpu"),
               samples.host.some((r) => r.id === "host.cpu" && r.values.some((v) => v > 0)));
  for (const box of await page.locator("#samples canvas").evaluateAll((all) => all.map((c) => [c.clientWidth, c.width, c.getBoundingClientRect().left]))) assert.ok(box[0] > 600 && box[1] >= box[0]);
  assert.equal(new Set(await page.locator("#samples canvas").evaluateAll((all) => all.map((c) => `${c.getBoundingClientRect().left} ${c.clientWidth}`))).size, 1, "one time axis");
});

test("the numbers beside the names are the answer's means", async (page) => {
  for (const d of samples.devices) assert.equal((await values(chart(page, several ? `ladder-${d.id}` : "ladder")))[0], said(busyOf(d).mean, "ratio"));
  const power = await values(chart(page, "power.module"));
  samples.devices.forEach((d, i) => assert.equal(power[i],
                                                 said(reading(d, "power.module").mean, "watts")));
});

test("the pointer is told the values of its instant, in every chart, and moves nothing", async (page) => {
  const canvas = busyChart(page).locator("canvas"), device = samples.devices[0];
  await canvas.scrollIntoViewIfNeeded();
  const before = (await canvas.boundingBox()).height + (await chart(page, "power.module").boundingBox()).y;
  for (const bucket of [3, Math.floor(buckets / 2), buckets - 4]) {
    await pointAt(page, canvas, bucket);
    const busy = said(busyOf(device).values[bucket], "ratio"), tip = await page.locator(".tip").innerText();
    assert.ok(tip.includes(busy), `${busy} not in: ${tip}`);
    assert.equal((await values(busyChart(page)))[0], busy);
    assert.equal((await values(chart(page, "power.module")))[0],
                 said(reading(device, "power.module").values[bucket], "watts"));
    assert.equal((await canvas.boundingBox()).height
                 + (await chart(page, "power.module").boundingBox()).y, before);
  }
  await page.mouse.move(2, 2);
  await painted(page);
  assert.ok(!(await page.locator(".tip").isVisible()));
  assert.equal((await values(busyChart(page)))[0], said(busyOf(device).mean, "ratio"));
});

test("where there is no data there is no line", async (page) => {
  const { values: busy } = busyOf(samples.devices[0]), gaps = busy.flatMap((v, i) => (v === null && busy[i - 1] === null && busy[i + 1] === null ? [i] : []));
  const inked = (bucket) => busyChart(page).locator("canvas").evaluate((c, [part, foot]) => {
    const grid = getComputedStyle(document.documentElement).getPropertyValue("--line").trim().match(/\w\w/g).map((d) => parseInt(d, 16));
    const d = c.getContext("2d").getImageData(Math.round(part * c.width), 0, 1, c.height - foot).data;
    let n = 0;
    for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 0 && grid.some((g, j) => Math.abs(g - d[i + j]) > 3)) ++n;
    return n;
  // the times stand at the foot of a single chart
  }, [(bucket + 0.5) / buckets, several ? 0 : 20]);
  const full = busy.findIndex((v) => v > 0.2);
  assert.ok((await inked(full)) > 5, "the line and what lies under it");
  for (const bucket of gaps) assert.equal(await inked(bucket), 0, `bucket ${bucket}`);
  if (gaps.length === 0) return;
  await pointAt(page, busyChart(page).locator("canvas"), gaps[0]);
  assert.match(await page.locator(".tip").innerText(), /no data/);
  await page.mouse.move(2, 2);
});

test("all charts zoom and move together, and tell the mean of what is in sight", async (page) => {
  await busyChart(page).locator("canvas").focus();
  for (const key of ["+", "+", "+", "ArrowRight"]) await page.keyboard.press(key);
  await painted(page);
  const all = new Set(await views(page)), [from, to] = [...all][0].split(" ").map(Number);
  assert.equal(all.size, 1);
  assert.ok(to - from < whole * 0.4 && from > 0);
  const seen = busyOf(samples.devices[0]).values.slice(Math.floor(from / samples.bucket_ns), Math.ceil(to / samples.bucket_ns)).filter((v) => v !== null);
  assert.equal((await values(busyChart(page)))[0],
               said(seen.length > 0 ? seen.reduce((a, b) => a + b) / seen.length : null, "ratio"));
  for (let i = 0; i < 30; ++i) await page.keyboard.press("+");
  await painted(page);
  const [left, right] = (await views(page))[0].split(" ").map(Number);
  assert.ok(right - left >= samples.bucket_ns * 5.9, "no deeper than there are values");
  await page.locator("#samples button", { hasText: "All" }).click();
  await painted(page);
  assert.deepEqual(new Set(await views(page)), new Set([`0 ${whole}`]));
});

test("one device can be looked at alone", async (page) => {
  const select = page.locator("#samples select");
  assert.equal(await select.count(), several ? 1 : 0);
  if (!several) return;
  const device = samples.devices.at(-1);
  await select.selectOption(String(device.id));
  await painted(page);
  assert.equal((await values(chart(page, "ladder")))[0], said(busyOf(device).mean, "ratio"));
  assert.equal((await values(chart(page, "power.module")))[0],
               said(reading(device, "power.module").mean, "watts"));
  assert.equal(await page.locator('#samples [data-chart^="ladder-"]').count(), 0);
  await select.selectOption("all");
  await painted(page);
  assert.equal(await page.locator('#samples [data-chart^="ladder-"]').count(),
               samples.devices.length);
});

test("devices that were never active are told of", async (page) => {
  const text = await page.locator("#samples").innerText();
  assert.equal(/recorded and never active/.test(text), samples.idle_devices > 0);
});

test("the table holds every reading, in its unit", async (page) => {
  const rows = await page.locator("#readings tbody tr").evaluateAll((all) => all.map((r) => [...r.cells].map((c) => c.innerText.trim())));
  const known = [...samples.devices.flatMap((d) => d.readings), ...samples.host].filter((r) => r.mean !== null);
  assert.equal(rows.length, Math.min(known.length, 40));
  const first = several ? 2 : 1;  // the device has a column of its own
  rows.forEach((cells, i) => {
    if (format[known[i].unit]) assert.deepEqual(cells.slice(first, first + 3),
                                                ["mean", "low", "high"].map((key) => said(known[i][key], known[i].unit)), known[i].id);
    else assert.match(cells[first], /^[\d.]+ ?([kMGT]?B|[kMGT])?(\/s)?( cores)?$/, known[i].id);
  });
});

test("a narrow screen scrolls tables, not the page", async (page) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await painted(page);
  const { wide, screen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, screen: innerWidth }));
  assert.ok(wide <= screen, `the page is ${wide} pixels wide on a screen of ${screen}`);
  const widths = await page.locator("#samples canvas").evaluateAll((all) => all.map((c) => c.clientWidth));
  assert.ok(widths.every((w) => w > 250), `charts of ${widths} pixels`);
});

await runCases(report, cases);
