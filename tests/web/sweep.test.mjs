// The page of a sweep:  node tests/web/sweep.test.mjs REPORT.html SWEEP.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: sweep.test.mjs REPORT.html SWEEP.json");
const { runs, series, cheapest } = JSON.parse(await readFile(answer, "utf8")), cases = [];
const test = (name, run) => cases.push([name, run]);
const models = [...new Set(series.map((each) => each.model))], chart = (page, kind, model) => page.locator(`svg[id="${kind}_${model.replaceAll(/[^\w]/g, "_")}"]`);
/** Points of a chart by line: how many marks a line has, and where on the picture they stand. */
const points = (svg) => svg.evaluate((e) => [...e.querySelectorAll(".point")].map((p) => p.getBoundingClientRect()).map((b) => [b.x + b.width / 2, b.y + b.height / 2]));
const known = (model, x, y) => series.filter((each) => each.model === model).flatMap((each) => each.runs.map((at) => runs[at])).filter((run) => x(run) > 0 && y(run) !== null && y(run) !== undefined);

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

test("the heading counts runs and series", async (page) => {
  assert.ok((await page.locator("h1").innerText()).startsWith(`${runs.length} runs in ${series.length} series`));
});

test("each model has the fastest of its runs said, and a mark for each run in each chart", async (page) => {
  for (const model of models) {
    const best = known(model, () => 1, (run) => run.throughput).sort((a, b) => b.throughput - a.throughput)[0];
    assert.match(await page.locator("header .verdict", { hasText: `${model}:` }).innerText(),
                 new RegExp(`${best.mode} ${best.precision} at batch`));
    const level = (id) => (run) => run.levels.find((each) => each.id === id)?.value ?? (id === "sm.active" ? run.levels.find((each) => each.id === "sm.active_any")?.value : null);
    for (const [kind, x, y] of [["throughput", (run) => run.batch, (run) => run.normalised], ["memory", (run) => run.memory_bytes, (run) => run.normalised], ["gpu_busy", (run) => run.batch, level("gpu.busy")], ["sm_active", (run) => run.batch, level("sm.active")], ["issue_active", (run) => run.batch, level("issue.active")], ["tensor_active", (run) => run.batch, level("tensor.active")]])
      assert.equal((await points(chart(page, kind.startsWith("throughput") || kind === "memory" ? kind : kind.replace("_", "."), model))).length, known(model, x, y).length, `${kind} of ${model}`);
  }
});

test("each model has the run said that takes least energy for an item", async (page) => {
  assert.equal(cheapest.length, models.length);
  for (const { model, run } of cheapest) {
    const least = runs[run];
    assert.equal(least.joules_per_item, Math.min(...runs.filter((each) => each.model === model && each.joules_per_item !== null).map((each) => each.joules_per_item)));
    const said = (await page.locator("header .verdict", { hasText: `${model}:` }).innerText()).replace(/[\u00a0\u202f]/g, " ");
    const [, number, unit] = /Least energy for an item: .*?, ([\d.]+) (nJ|µJ|mJ|J|kJ)/.exec(said) ?? assert.fail(said);
    const joules = Number(number) * { nJ: 1e-9, "µJ": 1e-6, mJ: 1e-3, J: 1, kJ: 1e3 }[unit];
    assert.ok(Math.abs(joules / least.joules_per_item - 1) < 1e-3 && Number(number) < 1000, said);
  }
  assert.equal(await page.locator("#runs th", { hasText: "J/item" }).count(), 1);
});

test("higher is more, and a ring marks the saturation batch of each curve that has one", async (page) => {
  for (const model of models) {
    const at = await points(chart(page, "throughput", model)), of = series.filter((each) => each.model === model).flatMap((each) => each.runs.map((run) => runs[run])).filter((run) => run.batch > 0 && run.normalised !== null);
    for (let i = 1; i < of.length; ++i) if (Math.abs(of[i].normalised - of[0].normalised) > 0.02) assert.equal(of[i].normalised > of[0].normalised, at[i][1] < at[0][1], `${model} ${i}`);
    assert.equal(await chart(page, "throughput", model).locator(".ring").count(),
                 series.filter((each) => each.model === model && each.saturation_batch !== null).length);
  }
});

test("tensor curves lie over each other, and each level has its distribution", async (page) => {
  for (const model of models) {
    const curved = series.filter((each) => each.model === model && each.tensor_curve.length > 0);
    assert.equal(await chart(page, "curve", model).locator(".series").count(), curved.length);
  }
  const levels = runs.flatMap((each) => each.spreads.filter((level) => level.spread.count > 0 && level.spread.max <= 1.0001).map((level) => `${each.model} ${level.id}`));
  assert.equal(await page.locator(".spreads .median").count(), levels.length);
  assert.ok((await page.locator(".spreads rect").count()) > levels.length * 3);
});

test("the fastest batch of each series has a bar for each level that is known, as long as the level", async (page) => {
  const ids = ["gpu.busy", "sm.active", "issue.active", "tensor.active", "tensor.issue"], of = (run, id) => run.levels.find((each) => each.id === id)?.value ?? (id === "sm.active" ? run.levels.find((each) => each.id === "sm.active_any")?.value : undefined);
  for (const model of models) {
    const best = series.filter((each) => each.model === model).flatMap((each) => each.runs.map((at) => runs[at]).filter((run) => run.throughput !== null && of(run, "gpu.busy") !== undefined).sort((a, b) => b.throughput - a.throughput).slice(0, 1));
    const wanted = best.flatMap((run) => ids.map((id) => of(run, id)).filter((value) => value !== undefined));
    const picture = chart(page, "best", model), widths = await picture.count() ? await picture.locator("rect").evaluateAll((all) => all.map((bar) => Number(bar.getAttribute("width")))) : [];
    assert.equal(widths.length, wanted.length, model);
    const longest = wanted.indexOf(Math.max(...wanted));
    wanted.forEach((value, i) => assert.ok(Math.abs(widths[i] / widths[longest] - value / wanted[longest]) < 0.01, `${model} bar ${i}`));
  }
});

test("a point tells its run", async (page) => {
  const svg = chart(page, "throughput", models[0]);
  await svg.scrollIntoViewIfNeeded();
  await svg.locator(".reach").first().hover({ force: true });
  assert.match(await page.locator(".tip").innerText(), /batch \d+.*items\/s.*of the best/s);
});

test("all runs are in the table, sorted by a press, narrowed by a search", async (page) => {
  assert.equal(await page.locator("#runs tbody tr").count(), Math.min(runs.length, 100));
  await page.locator("#runs th", { hasText: "Items/s" }).locator("button").click();
  const rates = await page.locator("#runs tbody tr td:nth-child(6)").allInnerTexts();
  assert.equal(Number(rates[0].replace(/[^\d.]/g, "")),
               Number(Math.max(...runs.map((run) => run.throughput ?? 0)).toPrecision(4)));
  await page.locator("#runs input[type=search]").fill(`${models[0]} fp32`);
  assert.equal(await page.locator("#runs tbody tr").count(),
               series.filter((each) => each.name.includes(models[0]) && each.name.includes("fp32")).reduce((sum, each) => sum + each.runs.length, 0));
});

test("letters keep their size on a phone, and tables scroll, not the page", async (page) => {
  const size = () => page.locator(".plot text").first().evaluate((e) => e.getBoundingClientRect().height), before = await size();
  await page.setViewportSize({ width: 400, height: 800 });
  await painted(page);
  await painted(page);
  assert.ok(Math.abs((await size()) - before) < 1.5);
  const { wide, screen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, screen: innerWidth }));
  assert.ok(wide <= screen, `the page is ${wide} pixels wide on a screen of ${screen}`);
});

await runCases(report, cases);
