// The page of `energy`:  node tests/web/energy.test.mjs REPORT.html ENERGY.json
// Its headline says what the model does not explain, however small it is.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: energy.test.mjs REPORT.html ENERGY.json");
const { devices } = JSON.parse(await readFile(answer, "utf8")).energy, cases = [];
const test = (name, run) => cases.push([name, run]);
const rest = devices[0].parts.find((part) => part.component === "rest");

test("the headline never skips what is not explained", async (page) => {
  assert.ok(rest, "the answer has a rest");
  const said = (await page.locator("h1").innerText()).replace(/[\u00a0\u202f]/g, " "), named = /not explained \((-?[\d.]+) %\)/i.exec(said);
  assert.ok(named, `"${said}" names it`);
  assert.ok(Math.abs(named[1] - 100 * rest.share) < 1, `${named[1]} is ${100 * rest.share}`);
  const sum = [...said.matchAll(/\((-?[\d.]+) %\)/g)].reduce((all, [, part]) => all + Number(part), 0);
  assert.ok(Math.abs(sum - 100) < 0.5, `the parts of "${said}" sum to ${sum} %`);
});

await runCases(report, cases);
