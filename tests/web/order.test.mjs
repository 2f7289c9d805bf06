// Order of the page, and the parts that a reader can open: order, contents, equal blocks, kernel time by type.   node tests/web/order.test.mjs REPORT.html ANALYSIS.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";
import { painted, until } from "./timeline_tools.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: order.test.mjs REPORT.html ANALYSIS.json");
const analysis = JSON.parse(await readFile(answer, "utf8")), cases = [];
const test = (name, run) => cases.push([name, run]);

test("the answer first: time beside what to change, levels, timeline, then where it comes from", async (page) => {
  const order = await page.locator("section").evaluateAll((all) => all.map((s) => s.id)), wanted = ["waterfall", "findings", "ladder", "timeline", "idle", "layers", "kernels", "runtime", "quality", "definitions"];
  assert.deepEqual(order.filter((id) => wanted.includes(id)),
                   wanted.filter((id) => order.includes(id)));
  const [time, change] = await Promise.all(["waterfall", "findings"].map((id) => page.locator(`#${id}`).boundingBox()));
  assert.ok(Math.abs(time.y - change.y) < 4 && change.x > time.x + time.width - 4,
            "beside each other");
});

test("a list of the contents stays, names every section, and says where one is", async (page) => {
  const links = await page.locator("nav.contents a").evaluateAll((all) => all.map((a) => a.getAttribute("href"))), sections = await page.locator("section").evaluateAll((all) => all.map((s) => `#${s.id}`));
  assert.deepEqual([...links].sort(), [...sections].sort());
  await page.locator('nav.contents a[href="#kernels"]').click();
  await until(page, () => document.querySelector("nav.contents a[aria-current]")?.getAttribute("href") === "#kernels");
  assert.ok(await page.locator("nav.contents").isVisible());
  const nav = await page.locator("nav.contents").boundingBox();
  assert.ok(nav.y >= -1 && nav.y < 300);
  assert.equal(await page.locator("nav.contents a[aria-current]").getAttribute("href"), "#kernels");
});

test("a wide screen is used", async (page) => {
  await page.setViewportSize({ width: 1920, height: 1000 });
  await painted(page);
  assert.ok((await page.locator("#timeline canvas.events").boundingBox()).width > 1550);
  await page.setViewportSize({ width: 1280, height: 900 });
});

test("equal blocks are one row that opens, and the rows add up as before", async (page) => {
  const choice = page.locator("#layers input[type=checkbox]");
  if ((await choice.count()) === 0) return;
  const kernels = () => page.locator("#layers .table").nth(1).locator("tbody tr:not(.inner)").evaluateAll((rows) => rows.map((r) => [r.cells[0].innerText, Number(r.cells[3].innerText.replace(/\D/g, ""))]));
  const more = page.locator("#layers .table").nth(1).locator("button.more");
  while (await more.isVisible()) await more.click();
  const together = await kernels(), sum = (rows) => rows.reduce((total, [, count]) => total + count, 0), all = analysis.layers.reduce((total, l) => total + l.kernels, 0);
  assert.equal(sum(together), all);
  assert.ok(together.length * 2 < analysis.layers.length,
            `${together.length} rows for ${analysis.layers.length} layers`);
  const row = page.locator("#layers tr.several").first(), opener = row.locator("button.opens");
  await opener.click();
  const inside = await page.locator("#layers tr.inner").count();
  assert.ok(inside >= 2 && (await page.locator("#layers tr.several").first().locator("button.opens").getAttribute("aria-expanded")) === "true");
  await row.locator("button.find").click();
  await painted(page);
  const found = Number((await page.locator("#timeline .told").innerText()).split(" of ")[1].replace(/\D/g, ""));
  assert.equal(found, Number((await row.locator("td").nth(3).innerText()).replace(/\D/g, "")),
               "the events of all of them");
  await choice.uncheck();
  while (await more.isVisible()) await more.click();
  assert.equal((await kernels()).length, analysis.layers.length);
});

test("long names keep both ends", async (page) => {
  const cut = await page.locator("#kernels .middle, #layers .middle").evaluateAll((all) => all.slice(0, 40).map((m) => ({ tail: m.querySelector(".tail").getBoundingClientRect(), cell: m.closest("td").getBoundingClientRect(), text: m.textContent, full: m.title })));
  for (const { tail, cell, text, full } of cut) assert.ok(tail.right <= cell.right + 1
                                                          && tail.width > 20 && text === full,
                                                          text);
});

test("kernels without counters show their time by type", async (page) => {
  for (const device of analysis.devices) {
    const bar = device.waterfall.find((b) => b.id === "unknown" && b.ns > 0);
    if (!bar) continue;
    const item = page.locator(`#waterfall [data-device="${device.id}"][data-bar="unknown"]`);
    assert.deepEqual(await item.locator(".fill").evaluateAll((all) => all.map((e) => e.dataset.type)), bar.parts.map((p) => p.name));
    assert.equal(await item.locator("button").getAttribute("aria-expanded"),
                 String(bar.ns * 2 > device.span_ns));
  }
});

test("the parts of the account add up to the window, and operators lie under the roof", async (page) => {
  for (const device of await page.locator("#account [data-device]").all()) {
    const parts = await device.locator("[data-part]").evaluateAll((all) => all.map((e) => Number(e.dataset.ns)));
    assert.equal(parts.reduce((a, b) => a + b, 0),
                 analysis.devices.find((d) => String(d.id) === "0").span_ns);
  }
  const dots = await page.locator("#roofline .dot").evaluateAll((all) => all.map((e) => [Number(e.getAttribute("cx")), Number(e.getAttribute("cy"))]));
  if (analysis.source.path.includes("resnet50")) assert.ok(dots.length > 10
                                                           && (await page.locator("#account [data-part]").count()) > 4);
  const width = dots.length > 0 ? await page.locator("#roofline svg").evaluate((e) => e.viewBox.baseVal.width) : 0;
  for (const [x, y] of dots) assert.ok(x >= 80 && x <= width && y >= 0 && y <= 360, `${x} ${y}`);
});

test("a press on an operator of the roofline narrows the table of its numbers", async (page) => {
  const dot = page.locator("#roofline .dot").first();
  if ((await dot.count()) === 0) return;
  const name = await dot.getAttribute("data-point");
  await dot.dispatchEvent("click");
  const shown = await page.locator("#roofline .table").first().locator("tbody tr td.kernel").allTextContents();
  assert.ok(shown.length > 0 && shown.every((text) => text.includes(name.split(" ")[0])),
            `${name}: ${shown}`);
  await page.locator("#roofline input[type=search]").first().fill("");
});

test("the table by shape has its rates in view, and its details open", async (page) => {
  const table = page.locator("#shapes .scroll");
  if ((await table.count()) === 0) return;
  const seen = await table.evaluate((box) => ({ inner: box.scrollWidth, outer: box.clientWidth, heads: [...box.querySelectorAll("th")].map((head) => head.innerText) }));
  assert.ok(seen.inner <= seen.outer + 1, JSON.stringify(seen));
  assert.ok(seen.heads.some((head) => head.includes("FLOP/s")));
  const first = page.locator("#shapes tbody details").first();
  await first.locator("summary").click();
  assert.ok((await first.locator("li").count()) > 0);
  await first.locator("summary").click();
});

test("what came out stands under the ladder, in the numbers of the answer", async (page) => {
  const said = await page.locator("#ladder [data-work]").allTextContents();
  assert.equal(said.length, analysis.work.flops_per_s === null
               && analysis.work.throughput.items_per_s === null ? 0 : 1);
  if (analysis.work.mfu !== null) assert.ok(said[0].includes(`MFU ${(analysis.work.mfu * 100).toFixed(1)} %`), said[0]);
});

test("on paper: bars, headings with what follows, nothing to press, light colours", async (page) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await painted(page);
  const seen = await page.evaluate(() => ({ paper: getComputedStyle(document.documentElement).backgroundColor, buttons: [...document.querySelectorAll("button:not(.row)")].filter((b) => b.checkVisibility() && !b.closest(".labels, th")).length, fill: getComputedStyle(document.querySelector(".fill")).printColorAdjust }));
  assert.deepEqual(seen, { paper: "rgb(255, 255, 255)", buttons: 0, fill: "exact" });
  // A part wider than the paper makes everything smaller; a letter a line makes rows as tall as
  // pages.
  await page.setViewportSize({ width: 690, height: 900 });
  await painted(page);
  const rows = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, tall: Math.max(...[...document.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect().height)), heads: [...document.querySelectorAll("#kernels th")].every((head) => head.innerText.length > 0) }));
  assert.ok(rows.wide <= 780 && rows.tall < 120 && rows.heads, JSON.stringify(rows));
  await page.setViewportSize({ width: 1280, height: 900 });
  // A browser that prints at once does so before the events are read.
  const timeline = page.locator("#timeline");
  assert.ok(await timeline.isVisible());
  await timeline.evaluate((section) => section.classList.add("unread"));
  assert.ok(!(await timeline.isVisible()));
  await timeline.evaluate((section) => section.classList.remove("unread"));
  const pdf = await page.pdf({ format: "A4", printBackground: false });
  assert.ok(pdf.length > 50_000);
  await page.emulateMedia({ media: null, colorScheme: "light" });
});

await runCases(report, cases);
