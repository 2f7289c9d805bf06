// A page with a million events: its size, how soon it is there, how fast it moves.  node tests/web/million.test.mjs REPORT.html
// Limits are those of docs/report.md on a machine with nothing else to do; GPUFATHOM_PATIENCE multiplies them on a busy one.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { runCases } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const [report] = process.argv.slice(2), patience = Number(process.env.GPUFATHOM_PATIENCE ?? 1), cases = [];
if (!report) throw new Error("usage: million.test.mjs REPORT.html");

cases.push(["the file has at most 12 MB", async () => {
  const { size } = await stat(report);
  console.log(`        ${(size / 1e6).toFixed(1)} MB`);
  assert.ok(size <= 12e6);
}]);

cases.push(["first paint within a second, all events within three", async (page) => {
  const { paint, timeline, told } = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0].startTime, timeline: performance.getEntriesByName("timeline")[0].startTime,
    told: document.querySelector("#timeline .remark").textContent }));
  console.log(`        first paint ${paint.toFixed(0)} ms, timeline ${timeline.toFixed(0)} ms; ${told}`);
  assert.match(told, /^all [\d\s]{7,} events/);
  assert.ok(paint <= 1000 * patience && timeline <= 3000 * patience);
}]);

/** Frames a second while something changes in every frame. */
const frames = (page, keys) => page.evaluate((keys) => new Promise((done) => {
  const canvas = document.querySelector("#timeline canvas.events"), paints = [];
  let count = 0, begin = 0;
  const next = (now) => {
    begin ||= now;
    if (count > 0) paints.push(Number(canvas.dataset.ms));
    if (now - begin > 2000) return done({ rate: (count * 1000) / (now - begin), paint: paints.sort((a, b) => a - b)[Math.floor(paints.length / 2)] });
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key: keys[Math.floor(count / 8) % keys.length], bubbles: true }));
    ++count;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}), keys);

for (const [name, zooms, keys] of [["zoomed out", 0, ["d", "a"]], ["a tenth in sight", 6, ["d", "a"]], ["a thousandth in sight", 19, ["d", "a"]], ["zooming", 0, ["w", "s"]]])
  cases.push([`30 frames a second and more: ${name}`, async (page) => {
    const canvas = page.locator("#timeline canvas.events");
    await canvas.focus();
    await page.keyboard.press("0");
    for (let i = 0; i < zooms; ++i) await page.keyboard.press("w");
    await painted(page);
    const { rate, paint } = await frames(page, keys);
    console.log(`        ${rate.toFixed(0)} frames a second, ${paint.toFixed(1)} ms of painting each`);
    assert.ok(rate >= 30 / patience);
  }]);

cases.push(["a search of everything", async (page) => {
  const begin = Date.now();
  await page.locator("#timeline input[type=search]").fill("softmax");
  await page.locator("#timeline input[type=search]").press("Enter");
  await page.waitForFunction(() => / of /.test(document.querySelector("#timeline .told").textContent));
  const told = await page.locator("#timeline .told").innerText();
  console.log(`        ${told} in ${Date.now() - begin} ms`);
  assert.match(told, /^\d+\s\d+ of \d+\s\d+ events/);
}]);

await runCases(report, cases);
