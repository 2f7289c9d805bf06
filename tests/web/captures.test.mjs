// A monitor's pages of its flight recorder's captures, in a browser:  GPUFATHOM_TOKEN=TOKEN node tests/web/captures.test.mjs URL
// The list, the page that is being made, and the page of a capture: axe-core in both themes and on
// a phone, policy, and the way from one to the next.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { haveBrowser, launched } from "./browser.mjs";
import { axe, faintWords, layoutFaults, violations } from "./layout_checks.mjs";

const [url] = process.argv.slice(2), password = process.env.GPUFATHOM_TOKEN;
if (!url || !password) throw new Error("usage: GPUFATHOM_TOKEN=TOKEN captures.test.mjs URL");
if (!haveBrowser || !existsSync(axe)) {
  console.log("skipped: no Chromium or no axe-core (./dev setup)");
  process.exit(77);
}

async function faultless(page, name) {
  await page.evaluate(await readFile(axe, "utf8"));
  for (const colorScheme of ["light", "dark"])
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      assert.deepEqual([...(await violations(page)), ...(await faintWords(page))], [],
                       `${name}, ${colorScheme}, ${width} pixels wide`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
                `${name} is wider than ${width} pixels`);
    }
  console.log(`ok      ${name}`);
}

await launched({ httpCredentials: { username: "any", password }, colorScheme: "light" }, async (page) => {
  const errors = [];
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${url}/captures`);
  await faultless(page, "the list of captures");
  const link = page.locator("a[href$='.html']").first(), name = await link.innerText();
  assert.match(name, /^\d+\S* gpu\d \w+/);
  // The page that is being made asks every second whether it is ready; it hears "not yet" until it
  // was looked at.
  const asks = (request) => request.resourceType() === "fetch", notYet = (route) => (asks(route.request()) ? route.fulfill({ status: 202 }) : route.continue());
  await page.route("**/*.html", notYet);
  const [answer] = await Promise.all([page.waitForResponse((response) => response.url().endsWith(".html")), page.waitForURL("**/*.html"), link.click()]);
  assert.equal(answer.status(), 202, "the page is made when it is asked for");
  await faultless(page, "the page that is being made");
  await page.unroute("**/*.html", notYet);
  await page.waitForSelector("body[data-ready=yes]", { timeout: 120_000 });
  assert.deepEqual(await page.evaluate(layoutFaults), []);
  await faultless(page, "the page of a capture, which came by itself");
  assert.deepEqual(errors, []);
});
