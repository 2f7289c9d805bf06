// The page of a publication:  node tests/web/claims.test.mjs REPORT.html REPRODUCTION.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: claims.test.mjs REPORT.html REPRODUCTION.json");
const { title, claims, figures } = JSON.parse(await readFile(answer, "utf8")), cases = [];
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

test("each figure has its panels, and each line of it is there by name", async (page) => {
  const drawn = await page.locator("section[id^=figure-]").evaluateAll((all) => all.map((e) => [e.querySelector("h2").textContent, e.querySelectorAll(".plots > .sweep-plot").length]));
  assert.deepEqual(drawn, figures.map((each) => [`Figure ${each.id}: ${each.title}`.replace("Figure slide", "Slide"), each.panels.length]));
  const words = await page.locator("section[id^=figure-]").evaluateAll((all) => all.map((e) => e.textContent));
  for (const [at, each] of figures.entries()) for (const panel of each.panels) for (const line of panel.lines) assert.ok(words[at].includes(line.name), `${each.id}: ${line.name}`);
});

test("there is a bar for each value", async (page) => {
  const bars = figures.flatMap((each, at) => (each.kind === "bars" || each.kind === "groups"
                                              ? each.panels.map((panel, place) => [`#figure_${at}_${place}`, panel.lines.reduce((sum, line) => sum + line.points.length, 0)]) : []));
  for (const [id, count] of bars) assert.equal(await page.locator(`${id} rect`).count(), count, id);
});

await runCases(report, cases);
