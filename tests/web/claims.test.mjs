// The page of a publication:  node tests/web/claims.test.mjs REPORT.html REPRODUCTION.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: claims.test.mjs REPORT.html REPRODUCTION.json");
const { study, title, claims } = JSON.parse(await readFile(answer, "utf8")), cases = [];
const test = (name, run) => cases.push([name, run]);

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

test("each statement has its verdict and a line for each rule", async (page) => {
  assert.ok((await page.locator(".files").innerText()).includes(title.slice(0, 30)));
  const items = page.locator("#claims .claims > li");
  assert.deepEqual(await items.evaluateAll((all) => all.map((e) => [e.dataset.claim, e.className, e.querySelectorAll("li").length])), claims.map((each) => [each.id, each.verdict, each.rules.length]));
  for (const [at, each] of claims.entries()) assert.ok((await items.nth(at).innerText()).includes(each.statement));
});

test("a study of runs has its charts", async (page) => {
  const charts = await page.locator("svg.plot").count();
  if (study === "date24") assert.ok(charts > 10);
  else assert.equal(charts, 0);
});

await runCases(report, cases);
