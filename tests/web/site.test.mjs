// The documentation as a site on a disk: nothing is asked of a network, search answers, no page is
// wider than a phone.
//   node tests/web/site.test.mjs FOLDER
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { haveBrowser, launched } from "./browser.mjs";

if (!haveBrowser) process.exit(77);
const folder = process.argv[2];
const pages = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".html")
                                                              && name !== "404.html");
assert.ok(pages.length >= 60, `${pages.length} pages`);

await launched({ viewport: { width: 390, height: 844 } }, async (page) => {
  const outside = [], errors = [];
  page.on("request", (request) => { if (!/^(file|data|blob|about):/.test(request.url())) outside.push(request.url()); });
  page.on("pageerror", (error) => errors.push(String(error)));
  const open = (name) => page.goto(pathToFileURL(join(folder, name)).href, { waitUntil: "load" });
  for (const name of pages) {
    await open(name);
    const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth,
                                                      innerWidth]);
    assert.ok(wide <= screen, `${name} is ${wide} wide on a phone of ${screen}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await open("index.html");
  await page.locator(".md-search__input").fill("launch-bound");
  await page.locator(".md-search-result__item a").first().waitFor({ timeout: 60_000 });
  assert.deepEqual(outside, [], "asked of a network");
  assert.deepEqual(errors, [], "exceptions");
  console.log(`ok: ${pages.length} pages, and search`);
});
