// Changes that are turned on and off:  node tests/web/switches.test.mjs REPORT.html ANALYSIS.json WHATIF.json
// Each alone and all together must gain what the answer says, and what `gpufathom whatif` says of
// those that it was asked for.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";

const [report, ...answers] = process.argv.slice(2);
if (answers.length !== 2) throw new Error("usage: switches.test.mjs REPORT.html ANALYSIS.json WHATIF.json");
const [analysis, whatif] = await Promise.all(answers.map(async (path) => JSON.parse(await readFile(path, "utf8"))));
const cases = [], test = (name, run) => cases.push([name, run]);
const UNITS = { ns: 1, "µs": 1e3, us: 1e3, ms: 1e6, s: 1e9 };

/** "33.74 ms → 27.13 ms, 19.6 % less": nanoseconds and a share. */
function read(text) {
  const parts = /^([\d.,]+)\s(\S+) → ([\d.,]+)\s(\S+), (-?[\d.]+)\s% less$/.exec(text.replace(/[\u00a0\u202f]/g, " "));
  assert.ok(parts, `"${text}" is no answer`);
  return { own: parts[1] * UNITS[parts[2]], step: parts[3] * UNITS[parts[4]],
           share: parts[5] / 100 };
}
const near = (is, wanted, of, what) => assert.ok(Math.abs(is - wanted) <= of,
                                                 `${what}: ${is}, not ${wanted}`);
const boxes = (page) => page.locator(".switches input[type=checkbox]");
const answer = async (page) => read(await page.locator(".switches output").innerText());
async function turn(page, set) {
  for (let i = 0; i < (await boxes(page).count()); ++i) await boxes(page).nth(i).setChecked(set(i));
  return answer(page);
}
const FASTER = /^(host|gpu) /;  // beside what the findings ask for
const labels = async (page) => (await page.locator(".switches label").allInnerTexts()).map((text) => text.trim());

test("a step without changes is the program's own", async (page) => {
  await page.locator(".switches summary").click();
  const none = await turn(page, () => false);
  assert.equal(none.own, none.step);
  assert.equal(none.share, 0);
  near(none.own, whatif.own_ns, whatif.own_ns / 500, "the own step");
});

test("each alone gains what its finding says", async (page) => {
  const wanted = [...new Set(analysis.findings.map((f) => f.replayed).filter((r) => r !== null))].sort((a, b) => a - b), alone = [];
  const shown = await labels(page);
  assert.ok(shown.length > 0, "no switch");
  for (const [i, text] of shown.entries()) if (!FASTER.test(text)) alone.push((await turn(page, (j) => i === j)).share);
  alone.sort((a, b) => a - b);
  assert.equal(alone.length, wanted.length);
  wanted.forEach((share, i) => near(alone[i], share, 0.0006, `switch ${i}`));
});

test("all together gain what the answer says, and no more than everything", async (page) => {
  const shown = await labels(page), all = await turn(page, (i) => !FASTER.test(shown[i])), one = analysis.findings.find((f) => f.replayed !== null);
  near(all.share, analysis.together?.share ?? one.replayed, 0.0006, "together");
  assert.ok(all.share <= 1);
  near(1 - all.step / all.own, all.share, 0.001, "the share of the two times");
});

test("whatif says the same of the changes that it was asked for", async (page) => {
  const shown = await labels(page);
  for (const row of whatif.changes) {
    const at = shown.findIndex((text) => text.startsWith(`${row.change.replace("_", " ")} `));
    if (at < 0) continue;
    const said = await turn(page, (i) => i === at);
    near(said.share, row.share, 0.0006, row.change);
  }
});

test("a change can be taken back with the keyboard", async (page) => {
  const gains = (await labels(page)).findIndex((text) => !/alone 0\.0/.test(text));
  const none = await turn(page, () => false), box = boxes(page).nth(gains);
  await box.focus();
  await page.keyboard.press("Space");
  assert.ok(await box.isChecked());
  assert.notEqual((await answer(page)).step, none.step);
  await page.keyboard.press("Space");
  assert.deepEqual(await answer(page), none);
});

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

await runCases(report, cases);
