// The runtime section and the queues in the timeline, in a real browser:  node tests/web/runtime.test.mjs REPORT.html ANALYSIS.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const [report, answer] = process.argv.slice(2);
if (!report || !answer) throw new Error("usage: runtime.test.mjs REPORT.html ANALYSIS.json");
const { runtime, devices } = JSON.parse(await readFile(answer, "utf8"));
const queues = runtime.queues.filter((q) => q.max_depth > 0), cases = [];
const test = (name, run) => cases.push([name, run]);
const view = (page) => page.locator("#timeline canvas.events").evaluate((c) => ({ from: Number(c.dataset.from), to: Number(c.dataset.to) }));

/** The tooltips at any height of the picture, at a place from 0 (left) to 1. */
async function tips(page, place) {
  const canvas = page.locator("#timeline canvas.events"), said = [];
  await page.setViewportSize({ width: 1280, height: 1600 });  // the whole picture is in sight
  await painted(page);
  await page.locator("#timeline .canvas").scrollIntoViewIfNeeded();
  const { height } = await canvas.boundingBox(), whole = await page.locator("#timeline .inner").evaluate((e) => e.clientHeight);
  for (let top = 0; top < whole; top += height) {
    await page.locator("#timeline .scroller").evaluate((e, to) => { e.scrollTop = to; }, top);
    await canvas.hover({ position: { x: 1, y: 4 }, force: true });
    const box = await canvas.boundingBox();
    assert.ok(box.y >= 0 && box.y + height <= 1600);
    for (let y = 4; y < height; y += 8) {
      await page.mouse.move(box.x + box.width * place, box.y + y);
      const tip = await page.evaluate(() => { const shown = document.querySelector(".tip"); return shown?.checkVisibility() ? shown.innerText : ""; });
      if (tip) said.push(tip);
    }
  }
  return said;
}

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

test("the phases add up to the window", async (page) => {
  const shown = await page.locator("#runtime [data-phase]").evaluateAll((rows) => rows.map((r) => Number(r.dataset.ns)));
  assert.ok(shown.length > 2);
  assert.equal(shown.reduce((a, b) => a + b, 0), runtime.duration_ns);
});

test("every queue has its block and its band in the timeline", async (page) => {
  assert.ok(queues.length > 0);
  assert.deepEqual(await page.locator("#runtime [data-queue]").evaluateAll((blocks) => blocks.map((b) => b.dataset.queue)), runtime.queues.map((q) => q.id));
  await page.locator("#timeline button", { hasText: "All" }).click();
  const said = (await tips(page, 0.5)).filter((text) => text.includes("depth"));
  for (const q of queues) {
    const title = q.kind === "device" ? `launch queue of GPU ${q.id.split(":")[1]}` : `${q.id} queue`;
    assert.ok(said.some((text) => text.includes(title)),
              `no band of ${q.id} in: ${said.join(" | ")}`);
  }
});

test("a stretch in which a queue ran dry is shown in the timeline, empty and as long as told", async (page) => {
  for (const q of queues) {
    const block = page.locator(`#runtime [data-queue="${q.id}"] details.dry`);
    await block.locator("summary").click();
    const longest = q.dry[0], buttons = block.locator("button");
    assert.equal(await buttons.count(), q.dry.length);
    await buttons.first().click();
    await painted(page);
    const { from, to } = await view(page), whole = await page.locator("#timeline button", { hasText: "All" }).count();
    assert.ok(whole === 1 && to - from >= longest.duration_ns - 1000,
              `${q.id}: ${to - from} ns in sight, the stretch has ${longest.duration_ns}`);
    assert.ok(to - from <= 2 * longest.duration_ns + 1000);
    const told = (await tips(page, 0.5)).filter((text) => text.includes(q.kind === "device" ? `launch queue of GPU ${q.id.split(":")[1]}` : `${q.id} queue`));
    assert.ok(told.length > 0 && told.every((text) => text.includes("empty for")),
              `${q.id}: ${told.join(" | ")}`);
  }
});

test("queues zoom and move with the timeline", async (page) => {
  await page.locator("#timeline button", { hasText: "All" }).click();
  await painted(page);
  const before = await view(page), canvas = page.locator("#timeline canvas.events");
  await canvas.focus();
  for (const key of ["+", "+", "ArrowRight"]) await page.keyboard.press(key);
  await painted(page);
  const after = await view(page);
  assert.ok(after.to - after.from < (before.to - before.from) * 0.55 && after.from > before.from);
});

test("a capture without a GPU has a timeline and no section about one", async (page) => {
  if (devices.length > 0) return;
  for (const id of ["waterfall", "idle", "kernels"]) assert.equal(await page.locator(`section#${id}`).count(), 0, id);
  assert.equal(await page.locator("section#timeline").count(), 1);
});

await runCases(report, cases);
