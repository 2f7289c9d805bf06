// The report page in a real browser:  node tests/web/page.test.mjs REPORT.html ANALYSIS.json
// ANALYSIS.json is the answer of the same command with --format json; what the page shows must
// agree with it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases, withReport } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const [report, answer] = process.argv.slice(2);
if (!report || !answer) throw new Error("usage: page.test.mjs REPORT.html ANALYSIS.json");
const analysis = JSON.parse(await readFile(answer, "utf8"));
const cases = [];
const test = (name, run) => cases.push([name, run]);
const ns = (elements) => elements.map((e) => Number(e.dataset.ns));

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

test("every section is there, and says something", async (page) => {
  const sections = ["ladder", "waterfall", "timeline", "idle", "findings", "runtime", "layers",
                    "kernels", "energy", "quality", "definitions"];
  if (analysis.tensor_curve.length > 0) sections.push("curve");
  if (analysis.counters_source) sections.push("match");
  for (const id of sections) {
    const text = await page.locator(`section#${id}`).innerText();
    assert.ok(text.length > 20, `section ${id} is empty`);
  }
  assert.ok((await page.locator("h1").innerText()).length > 20);
});

test("the ladder shows the levels of the answer", async (page) => {
  for (const level of analysis.levels.filter((l) => l.unit === "ratio")) {
    const row = page.locator(`#ladder [data-level="${level.id}"] .value`);
    if ((await row.count()) === 0) continue;
    const text = await row.innerText(), exact = level.value !== null && Math.abs(level.high - level.low) < 0.0005;
    if (level.value === null) assert.equal(text, "no data");
    else if (exact && level.value * 100 >= 0.05) assert.equal(text,
                                                              `${(level.value * 100).toFixed(1)} %`);
  }
});

test("the bars of the waterfall sum to the window, as in the answer", async (page) => {
  for (const device of analysis.devices) {
    const shown = await page.locator(`#waterfall [data-device="${device.id}"]`).evaluateAll(ns);
    assert.equal(shown.reduce((a, b) => a + b, 0), device.span_ns);
    for (const bar of device.waterfall.filter((b) => b.ns > 0))
      assert.deepEqual(await page.locator(`#waterfall [data-device="${device.id}"][data-bar="${bar.id}"]`).evaluateAll(ns), [bar.ns]);
  }
});

test("energy: the components sum to what was measured, bars and power are drawn", async (page) => {
  for (const device of analysis.energy.devices) {
    const shown = await page.locator(`#energy [data-device="${device.device}"] [data-nj][data-component]`).evaluateAll((cells) => cells.map((c) => Number(c.dataset.nj)));
    assert.equal(shown.reduce((a, b) => a + b, 0), device.nj);
    assert.equal(Number(await page.locator(`#energy [data-device="${device.device}"]`).getAttribute("data-nj")), device.nj);
  }
  const widths = await page.locator("#energy .energy-bar").first().locator("span").evaluateAll((spans) => spans.map((s) => s.getBoundingClientRect().width));
  assert.ok(widths.length > 1 && widths.every((w) => w > 0), "the stacked bar has its parts");
  assert.ok((await page.locator("#energy svg.power path.line").getAttribute("d")).length > 20);
  assert.ok((await page.locator("#energy svg.power rect").count()) > 10,
            "kernels lie under the power");
});

test("a press on a bar opens its parts", async (page) => {
  const bar = page.locator('#waterfall [data-bar="idle"]').first();
  await bar.locator("button").click();
  assert.equal(await bar.locator("button").getAttribute("aria-expanded"), "true");
  assert.ok((await bar.locator(".inside tr").count()) > 0);
});

test("kernels sort by a column, both ways", async (page) => {
  const heading = page.locator("#kernels th", { hasText: "Count" });
  const counts = () => page.locator("#kernels tbody tr td:nth-child(4)").evaluateAll((cells) => cells.map((c) => Number(c.textContent.replace(/\D/g, ""))));
  const sorted = (values, falling) => values.every((v, i) => i === 0
                                                   || (falling ? values[i - 1] >= v
                                                       : values[i - 1] <= v));
  await heading.locator("button").click();
  assert.equal(await heading.getAttribute("aria-sort"), "descending");
  assert.ok(sorted(await counts(), true));
  assert.equal((await counts())[0], Math.max(...analysis.kernels.map((k) => k.count)));
  await heading.locator("button").click();
  assert.ok(sorted(await counts(), false));
});

test("the search narrows the kernels, all words in any order", async (page) => {
  const search = page.locator("#kernels input[type=search]"), operator = analysis.kernels[0].operator;
  await search.fill(operator);
  const expected = analysis.kernels.filter((k) => `${k.name} ${k.short_name} ${k.operator} ${k.layer_type}`.toLowerCase().includes(operator.toLowerCase())).length;
  assert.equal(await page.locator("#kernels .told").innerText(),
               `${expected} of ${analysis.kernels.length} kernels`);
  await search.fill("no such kernel anywhere");
  assert.equal(await page.locator("#kernels tbody tr").count(), 0);
  await search.fill("");
  assert.equal(await page.locator("#kernels tbody tr").count(),
               Math.min(25, analysis.kernels.length));
});

test("definitions show on keyboard focus", async (page) => {
  await page.locator("#ladder .term").first().focus();
  assert.ok(await page.locator(".tip").isVisible());
  assert.ok((await page.locator(".tip").innerText()).length > 20);
});

test("colours follow the theme button", async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const before = await paper();
  await page.locator("#theme").click();
  assert.notEqual(await paper(), before);
});

test("text keeps a contrast of 4.5 in both themes", async (page) => {
  const worst = await page.evaluate(() => {
    const channel = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const luminance = (c) => { const [r, g, b] = c.match(/[\d.]+/g).map(Number); return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
    const result = [];
    for (const theme of ["light", "dark"]) {
      document.documentElement.dataset.theme = theme;
      const paper = luminance(getComputedStyle(document.documentElement).backgroundColor);
      for (const selector of ["body", ".remark", ".subject", "code", "th button", ".dim", ".note"]) {
        const element = document.querySelector(selector);
        if (!element) continue;
        const ink = luminance(getComputedStyle(element).color);
        result.push([theme, selector,
                     (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)]);
      }
    }
    return result.filter(([, , contrast]) => contrast < 4.5);
  });
  assert.deepEqual(worst, []);
});

test("a narrow screen scrolls tables, not the page", async (page) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await painted(page);
  const { wide, screen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, screen: innerWidth }));
  assert.ok(wide <= screen, `the page is ${wide} pixels wide on a screen of ${screen}`);
});

test("a section folds at its heading, and a link to it opens it", async (page) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  const button = page.locator("#kernels > header > button.fold"), table = page.locator("#kernels .table");
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  await button.click();
  assert.equal(await table.isVisible(), false);
  await page.locator('.contents a[href="#kernels"]').click();
  assert.equal(await table.isVisible(), true);
});

test("a phone shows what is below the timeline folded, and tables by what they are sorted by", async () => {
  await withReport(report, { viewport: { width: 390, height: 844 }, colorScheme: "light" }, async (page) => {
    const folded = await page.locator("main section[data-folded]").evaluateAll((parts) => parts.map((part) => part.id));
    for (const id of ["layers", "kernels", "runtime", "definitions"]) assert.ok(folded.includes(id), `${id} is open`);
    for (const id of ["ladder", "findings", "timeline"]) assert.ok(!folded.includes(id), `${id} is folded`);
    await page.locator("#kernels > header > button.fold").click();
    const sorted = page.locator('#kernels th[aria-sort="descending"]'), at = await sorted.boundingBox();
    assert.ok(at.x >= 0 && at.x + at.width <= 390, `the sorted column ends at ${at.x + at.width}`);
  });
});

await runCases(report, cases);
