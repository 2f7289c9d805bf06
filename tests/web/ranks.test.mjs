// The page of a job of several ranks:  node tests/web/ranks.test.mjs REPORT.html RANKS.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";
import { painted, show, viewOf } from "./timeline_tools.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: ranks.test.mjs REPORT.html RANKS.json");
const job = JSON.parse(await readFile(answer, "utf8")), cases = [];
const test = (name, run) => cases.push([name, run]);

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

test("the headline says which rank is late and why", async (page) => {
  const said = await page.locator("h1").innerText(), first = job.stragglers[0];
  if (!first) return assert.match(said, /No rank/);
  const cause = await page.locator("#stragglers tbody tr").first().locator("td").nth(1).innerText();
  assert.ok(!cause.includes("_"));
  for (const word of [`rank ${first.rank}`, first.module || first.op]) assert.ok(said.includes(word), `${word} in ${said}`);
});

test("a cell for each step of each rank, darker where it waits longer", async (page) => {
  const cells = await page.locator("#steps td[data-wait]").evaluateAll((all) => all.map((e) => [Number(e.dataset.rank), Number(e.dataset.step), Number(e.dataset.wait), getComputedStyle(e).backgroundColor]));
  assert.deepEqual(cells.map(([rank, step, wait]) => `${rank} ${step} ${wait}`).sort(),
                   job.steps.map((s) => `${s.rank} ${s.step} ${s.wait_ns}`).sort());
  const sorted = [...cells].sort((a, b) => a[2] - b[2]);
  if (sorted.at(-1)[2] > 4 * sorted[0][2]) assert.notEqual(sorted[0][3], sorted.at(-1)[3]);
});

test("the bars of a rank add up to its window", async (page) => {
  for (const rank of job.ranks) {
    const parts = await page.locator(`#ranks .energy-bar[data-rank="${rank.rank}"] [data-ns]`).evaluateAll((all) => all.map((e) => Number(e.dataset.ns)));
    assert.equal(parts.reduce((a, b) => a + b, 0), rank.span_ns);
  }
});

test("every collective has a bar a rank, waiting told apart from transfer", async (page) => {
  const more = page.locator("#collectives button.more");
  while (await more.isVisible()) await more.click();
  assert.equal(await page.locator("#collectives tbody tr").count(), job.collectives.length);
  const row = [...job.collectives].sort((a, b) => b.wait_ns - a.wait_ns)[0], lanes = page.locator("#collectives tbody tr").first().locator(".lane");
  assert.equal(await lanes.count(), Math.min(row.ranks.length, 16));
  const widths = await lanes.locator(".waits").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().width));
  assert.equal(widths.indexOf(Math.max(...widths)),
               row.ranks.map((r) => r.wait_ns).indexOf(Math.max(...row.ranks.map((r) => r.wait_ns))));
});

test("all ranks are on one timeline, waiting and transfer apart, on the common clock", async (page) => {
  const labels = await page.locator("#timeline .labels > *").allInnerTexts();
  for (const { rank } of job.ranks) assert.ok(labels.some((text) => text.includes(`rank ${rank}`)),
                                              `rank ${rank} in ${labels}`);
  assert.ok(labels.some((text) => text.includes("waits for other ranks"))
            && labels.some((text) => text.includes("transfers")));
  const { to } = await viewOf(page), whole = await page.locator("#timeline button", { hasText: "All" }).click().then(() => painted(page)).then(() => viewOf(page));
  assert.ok(to > 0);
  await show(page, 0, whole.to, `&range=0-${whole.to}`);
  for (const rank of job.ranks) {
    const sum = async (kind) => Number(await page.locator(`#timeline [data-rank-sum="rank ${rank.rank} ${kind}"]`).getAttribute("data-ns").catch(() => 0));
    const of = (key) => job.collectives.flatMap((row) => row.ranks).filter((each) => each.rank === rank.rank).reduce((total, each) => total + each[key], 0);
    assert.ok(Math.abs((await sum("wait")) - of("wait_ns")) < 10
              && Math.abs((await sum("move")) - of("transfer_ns")) < 10);
  }
});

test("a collective's row leads to it on the timeline", async (page) => {
  const row = page.locator("#collectives tbody tr").first(), worst = [...job.collectives].sort((a, b) => b.wait_ns - a.wait_ns)[0];
  await row.locator("button.find").click();
  await painted(page);
  const found = Number((await page.locator("#timeline .told").innerText()).split(" of ")[1].replace(/\D/g, ""));
  assert.equal(found, worst.ranks.length + worst.ranks.filter((each) => each.wait_ns > 0).length);
});

test("a narrow screen scrolls tables, not the page", async (page) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await painted(page);
  const { wide, screen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, screen: innerWidth }));
  assert.ok(wide <= screen, `the page is ${wide} pixels wide on a screen of ${screen}`);
});

await runCases(report, cases);
