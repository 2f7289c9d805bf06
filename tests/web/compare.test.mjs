// The page of a comparison:  node tests/web/compare.test.mjs REPORT.html COMPARISON.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: compare.test.mjs REPORT.html COMPARISON.json");
const comparison = JSON.parse(await readFile(answer, "utf8")), { runs, changes, time, waterfall, levels, layers, kernels } = comparison, cases = [];
const test = (name, run) => cases.push([name, run]);

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

test("the verdict comes first, then runs, parts, levels", async (page) => {
  assert.match(await page.locator("h1").innerText(),
               /(less|more|as fast|as long|same|ranks|too few|differ|difference|size)/);
  const order = await page.locator("section").evaluateAll((all) => all.map((s) => s.id)), wanted = ["runs", "time", "roles", "strips", "tree", "shapes", "waterfalls", "ladder", "phases", "queues", "layers", "kernels"];
  assert.deepEqual(order, wanted.filter((id) => order.includes(id)));
  assert.ok(["runs", "time", "kernels"].every((id) => order.includes(id)));
});

test("each run has its time, a dot a step, and a bracket where the profiler slowed the host", async (page) => {
  assert.deepEqual(await page.locator("#runs li[data-run]").evaluateAll((all) => all.map((e) => Number(e.dataset.ns))), runs.map((run) => run.wall_ns));
  for (const [r, run] of runs.entries()) {
    const item = page.locator(`#runs li[data-run="${r}"]`);
    assert.equal(await item.locator(".step").count(), run.step_ns.length);
    assert.equal(await item.locator(".bracket").count(), run.slowed ? 1 : 0);
  }
  const words = { faster: /: faster/, slower: /: slower/, undecided: /: undecided/,
                  no_difference: /no difference/, same_job: /same job/, not_known: /too few steps/,
                  different_programs: /different programs/ };
  for (const change of changes) assert.match(await page.locator(`#runs li[data-run="${change.run}"] .said`).innerText(), words[change.verdict]);
});

test("the bars of every run add up to its time, all on one scale", async (page) => {
  const most = Math.max(...runs.map((run) => run.time_ns));
  for (const [r, run] of runs.entries()) {
    const parts = await page.locator(`#time [data-run="${r}"] [data-ns]`).evaluateAll((all) => all.map((e) => [Number(e.dataset.ns), e.getBoundingClientRect().width]));
    const whole = (await page.locator(`#time [data-run="${r}"]`).boundingBox()).width;
    assert.equal(parts.reduce((sum, [ns]) => sum + ns, 0), run.time_ns);
    assert.ok(Math.abs(parts.reduce((sum, [, width]) => sum + width, 0) / whole - run.time_ns / most) < 0.01);
  }
});

test("differences are drawn to the side they go, largest first", async (page) => {
  const cells = await page.locator("#time tbody tr .change:first-of-type").evaluateAll((all) => all.map((e) => ({ ns: Number(e.dataset.change), bar: e.querySelector(".sides span")?.getBoundingClientRect(), box: e.querySelector(".sides").getBoundingClientRect(), kind: e.querySelector(".sides span")?.className })));
  assert.deepEqual(new Set(cells.slice(0, 5).map((c) => c.ns)),
                   new Set(time.map((row) => row.change_ns[1]).sort((a, b) => Math.abs(b) - Math.abs(a)).slice(0, cells.length === 0 ? 0 : 5)));
  for (const { ns, bar, box, kind } of cells.filter((c) => c.bar && c.ns !== 0)) {
    assert.equal(kind, ns < 0 ? "less" : "more");
    const middle = box.left + box.width / 2;
    assert.ok(ns < 0 ? bar.right <= middle + 1 : bar.left >= middle - 1);
  }
});

test("with counters the waterfalls stand beside each other, on one scale", async (page) => {
  const deep = waterfall.some((row) => !["idle", "copy", "unknown"].includes(row.name)) && time.some((row) => row.kind !== "bar");
  assert.equal(await page.locator("#waterfalls").count(), deep ? 1 : 0);
  if (!deep) return;
  for (const [r, run] of runs.entries()) {
    const bars = await page.locator(`#waterfalls [data-run="${r}"] li`).evaluateAll((all) => all.map((e) => [e.dataset.bar, Number(e.dataset.ns)]));
    assert.equal(bars.reduce((sum, [, ns]) => sum + ns, 0), run.time_ns);
    assert.deepEqual(Object.fromEntries(bars),
                     Object.fromEntries(waterfall.map((row) => [row.name, row.ns[r]])));
  }
  const [left, right] = await Promise.all([0, 1].map((r) => page.locator(`#waterfalls [data-run="${r}"]`).boundingBox()));
  assert.ok(Math.abs(left.y - right.y) < 4 && right.x > left.x + left.width - 4);
});

test("every known level of every run", async (page) => {
  const known = levels.filter((level) => level.value.some((value) => value !== null)
                              && !level.id.endsWith("hit_rate"));
  assert.equal(await page.locator("#ladder li").count(), known.length * runs.length);
  const texts = await page.locator(`#ladder li[data-level="gpu.busy"] .value`).allInnerTexts();
  assert.deepEqual(texts, levels.find((level) => level.id === "gpu.busy").value.map((value) => `${(value * 100).toFixed(1)} %`));
});

test("all layers and kernels are there, and the search narrows them", async (page) => {
  for (const [id, rows] of [["layers", layers], ["kernels", kernels]]) {
    const more = page.locator(`#${id} button.more`);
    while (await more.isVisible()) await more.click();
    assert.equal(await page.locator(`#${id} tbody tr`).count(), rows.length);
  }
  await page.locator("#kernels input[type=search]").fill("elementwise");
  await painted(page);
  assert.ok((await page.locator("#kernels tbody tr").count()) < kernels.length);
});

test("steps stand under each other on one scale, and a choice zooms all of them", async (page) => {
  const lengths = await page.locator("#strips [data-strip]").evaluateAll((all) => all.map((e) => [Number(e.dataset.ns), e.querySelector(".lane").getBoundingClientRect().width]));
  assert.deepEqual(lengths.map(([ns]) => ns), comparison.strips.map((strip) => strip.ns));
  const [ns, wide] = lengths[0];
  for (const [other, width] of lengths) assert.ok(Math.abs(other / ns - width / wide) < 0.02,
                                                  JSON.stringify(lengths));
  const events = () => page.locator("#strips path").evaluateAll((all) => all.map((e) => e.getAttribute("d")).join(""));
  const before = await events();
  await page.locator("#strips select").selectOption("8");
  assert.notEqual(await events(), before);
  await page.locator("#strips select").selectOption("1");
});

test("the tree has every node once, and shapes their change, largest first", async (page) => {
  assert.equal(await page.locator("#tree [data-node]").count(),
               comparison.tree.length < 3 ? 0 : comparison.tree.length);
  const changes = await page.locator("#shapes tbody tr .change").evaluateAll((all) => all.map((e) => Number(e.dataset.change)));
  assert.deepEqual(changes.slice(0, 5).map(Math.abs),
                   comparison.shapes.map((row) => Math.abs(row.change_ns[1])).sort((a, b) => b - a).slice(0, 5));
  const said = await page.locator(".culprit").allTextContents();
  assert.equal(said.length, comparison.culprits.length);
  for (const [i, culprit] of comparison.culprits.entries()) assert.ok(said[i].includes(culprit.role === "idle" ? "idle" : culprit.role.split(",")[0]), said[i]);
});

test("every role is there, and only a role is new or gone", async (page) => {
  const { roles } = comparison, more = page.locator("#roles button.more");
  if (roles.length === 0) return;
  while (await more.isVisible()) await more.click();
  assert.equal(await page.locator("#roles tbody tr").count(), roles.length);
  const words = (await page.locator("#roles tbody .range").allInnerTexts()).filter((text) => text === "new" || text === "gone").length;
  assert.equal(words, roles.reduce((sum, role) => sum
                                   + role.calls.slice(1).filter((calls) => (calls === 0) !== (role.calls[0] === 0)).length, 0));
  assert.equal((await page.locator("#shapes tbody .range").allInnerTexts()).filter((text) => text === "new" || text === "gone").length, 0);
});

test("a narrow screen scrolls tables, not the page", async (page) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await painted(page);
  const { wide, screen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, screen: innerWidth }));
  assert.ok(wide <= screen, `the page is ${wide} pixels wide on a screen of ${screen}`);
});

await runCases(report, cases);
