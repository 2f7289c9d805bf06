// The page of one rank that knows its peers:  node tests/web/waiting.test.mjs REPORT.html ANALYSIS.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: waiting.test.mjs REPORT.html ANALYSIS.json");
const device = JSON.parse(await readFile(answer, "utf8")).devices[0], cases = [];
const waiting = device.waterfall.find((bar) => bar.id === "waiting");

cases.push(["waiting for other ranks is a bar with a name, a colour and the rank in it", async (page) => {
  assert.ok(waiting.ns > 0);
  const row = page.locator('#waterfall li[data-bar="waiting"]');
  assert.equal(Number(await row.getAttribute("data-ns")), waiting.ns);
  assert.match(await row.locator(".name").innerText(), /waiting for other ranks/);
  const colour = (bar) => page.locator(`#waterfall li[data-bar="${bar}"] .fill`).first().evaluate((e) => getComputedStyle(e).backgroundColor);
  assert.notEqual(await colour("waiting"), "rgba(0, 0, 0, 0)");
  assert.notEqual(await colour("waiting"), await colour("idle"));
  await row.locator("button").click();
  assert.match(await row.locator(".inside").innerText(), /rank \d+/);
}]);

cases.push(["the bars add up to the window", async (page) => {
  const parts = await page.locator("#waterfall li[data-bar]").evaluateAll((all) => all.map((e) => Number(e.dataset.ns)));
  assert.equal(parts.reduce((sum, ns) => sum + ns, 0), device.span_ns);
}]);

await runCases(report, cases);
