// The page of one rank of a job, whose collectives no other capture holds:
//   node tests/web/lone_rank.test.mjs REPORT.html
import assert from "node:assert/strict";
import { runCases } from "./browser.mjs";

const [report] = process.argv.slice(2);
if (!report) throw new Error("usage: lone_rank.test.mjs REPORT.html");
const cases = [];
const test = (name, run) => cases.push([name, run]);

test("how much of its collectives is waiting is no data, not zero", async (page) => {
  const titles = await page.locator("#ranks thead th").allInnerTexts();
  const cells = await page.locator("#ranks tbody tr").first().locator("td, th").allInnerTexts();
  for (const title of ["Waits", "Transfers"])
    assert.equal(cells[titles.findIndex((text) => text.startsWith(title))], "no data");
  assert.notEqual(cells[titles.findIndex((text) => text.startsWith("Busy"))], "no data");
});

test("the section does not claim that waiting is separated", async (page) => {
  assert.match(await page.locator("#ranks").innerText(), /waiting not known/);
});

test("no step is shown as one without waiting", async (page) => {
  assert.equal(await page.locator("#steps").count(), 0);
});

await runCases(report, cases);
