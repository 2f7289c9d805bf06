// Whether everyone can read the page: what is cut or lies over something at four widths, axe-core in both themes and on a phone, the keyboard, the policy,
// and hostile names.
//   node tests/web/access.test.mjs REPORT.html...
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { runPages, withReport } from "./browser.mjs";
import { OF_WIDTH, axe, faintWords, layoutFaults, violations } from "./layout_checks.mjs";
import { painted } from "./timeline_tools.mjs";

const reports = process.argv.slice(2), cases = [];
if (reports.length === 0) throw new Error("usage: access.test.mjs REPORT.html...");
if (!existsSync(axe)) {
  console.log("skipped: axe-core is not installed (./dev setup)");
  process.exit(77);
}
const test = (name, run) => cases.push([name, run]);

async function resized(page, width, height) {
  await page.setViewportSize({ width, height });
  for (let i = 0; i < 3; ++i) await painted(page);  // charts are drawn for the page's new width
}

test("nothing is wider than the window, cut without a way to read it, or over something else", async (page) => {
  for (const width of [360, 768, 1920, 1280]) {
    await resized(page, width, 900);
    assert.deepEqual(await page.evaluate(layoutFaults), [], `${width} pixels wide`);
  }
});

// The page's policy keeps scripts out of documents; a debugger may evaluate one.
test("axe-core finds nothing where everything is open and something is chosen", async (page) => {
  await page.evaluate(await readFile(axe, "utf8"));
  await page.evaluate(() => { for (const each of document.querySelectorAll("details")) each.open = true; });
  for (const row of await page.locator("#waterfall button.row:not(:disabled)").all()) await row.click();
  const search = page.locator("#timeline input[type=search]");
  if (await search.count()) {
    await search.fill("a");
    await search.press("Enter");
  }
  await painted(page);
  assert.deepEqual([...(await violations(page)), ...(await faintWords(page))], []);
});

// A theme changes colours, a width what is beside and above what.
test("nor in the other theme", async (page) => {
  await page.evaluate(() => { document.documentElement.dataset.theme = "dark"; dispatchEvent(new Event("themechange")); });
  await painted(page);
  assert.deepEqual(await faintWords(page), []);
});

test("nor on a phone", async (page) => {
  await resized(page, 400, 800);
  assert.deepEqual(await violations(page, OF_WIDTH), []);
  await resized(page, 1280, 900);
});

// WCAG 2.2, 2.5.8: links inside of a sentence and parts that are as long as their time are exempt.
test("everything that a finger presses on a phone is 24 pixels high and wide", async (opened) => {
  await withReport(fileURLToPath(opened.url()), { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true }, async (page) => {
    const small = await page.evaluate(() => {
      for (const each of document.querySelectorAll("details")) each.open = true;
      return [...document.querySelectorAll("button, select, input, summary, a[href]")]
        .filter((e) => !e.disabled && e.checkVisibility() && e.type !== "checkbox"
                && !(e.tagName === "A" && e.closest("p, li, dd, td, footer")
                     && !e.closest(".contents")))
        .map((e) => [e, e.getBoundingClientRect(), e.closest(".flame") !== null])
        .filter(([, box, timed]) => box.height > 0
                && (box.height < 23.9 || (box.width < 23.9 && !timed)))
        .map(([e, box]) => `${Math.round(box.width)} x ${Math.round(box.height)}: ${e.outerHTML.slice(0, 90)}`);
    });
    assert.deepEqual(small.slice(0, 20), [], `${small.length} in all`);
  });
});

test("everything that can be pressed can be reached by Tab, and shows it", async (page) => {
  const able = await page.evaluate(() => [...document.querySelectorAll("button, select, input, summary, a[href], [onclick]")].filter((e) => !e.disabled && !e.hidden && e.checkVisibility() && e.tabIndex < 0).map((e) => e.outerHTML.slice(0, 90)));
  assert.deepEqual(able, []);
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  await page.evaluate(() => {
    globalThis.focused = [];
    addEventListener("focusin", ({ target: e }) => globalThis.focused.push([e.tagName + (e.id || e.getAttribute("aria-label") || e.textContent.slice(0, 20)), getComputedStyle(e).outlineStyle]));
  });
  for (let i = 0; i < 60; ++i) await page.keyboard.press("Tab");
  const seen = new Set();
  for (const [name, outline] of await page.evaluate(() => globalThis.focused)) {
    seen.add(name);
    assert.notEqual(outline, "none", `${name} does not show its focus`);
  }
  const places = await page.evaluate(() => [...document.querySelectorAll("button, select, input, summary, a[href], [tabindex='0']")].filter((e) => !e.disabled && e.checkVisibility()).length);
  assert.ok(seen.size >= Math.min(16, places), `${seen.size} of ${places} places`);
});

test("the policy lets no script or style in but the page's own", async (page, seen) => {
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
  assert.ok(!policy.includes("unsafe") && /script-src 'sha256-/.test(policy)
            && /default-src 'none'/.test(policy), policy);
  const before = seen.errors.length;
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.body.dataset.broken = 'yes'";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend",
                                     "<img src=x onerror=\"document.body.dataset.broken='yes'\"><p style='position:fixed'>x</p>");
  });
  await painted(page);
  assert.equal(await page.evaluate(() => document.body.dataset.broken), undefined);
  assert.ok(seen.errors.length > before, "the browser says what it refused");
  seen.errors.length = before;
});

test("names are text, whatever they say", async (page) => {
  assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main iframe, main script, main [onerror]").length), 0);
  assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
});

await runPages(reports.map((report) => [report, cases]));
