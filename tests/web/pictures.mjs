// Takes the pictures of the docs:  node tests/web/pictures.mjs FOLDER_OF_PAGES FOLDER_OF_PICTURES      (tests/web/pictures makes the pages)
import { existsSync } from "node:fs";
import { join } from "node:path";
import { withReport } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const [pages, pictures] = process.argv.slice(2);
if (!pictures) throw new Error("usage: pictures.mjs FOLDER_OF_PAGES FOLDER_OF_PICTURES");

/** On a machine that is busy a browser may not come up in time: it is asked again. */
async function picture(name, from, width, height, theme = "light", before = async () => {}, tries = 3) {
  if (!existsSync(join(pages, `${from}.html`))) return console.log(`left as it is: ${name}.png`);
  try {
    await taken(name, from, width, height, theme, before);
    console.log(`${name}.png`);
  } catch (error) {
    if (tries <= 1) throw error;
    console.log(`${name}.png, again: ${String(error).split("\n")[0]}`);
    await picture(name, from, width, height, theme, before, tries - 1);
  }
}

async function taken(name, from, width, height, theme, before) {
  await withReport(join(pages, `${from}.html`), { viewport: { width, height }, colorScheme: theme }, async (opened) => {
    opened.setDefaultTimeout(60_000);
    await before(opened);
    // Charts are drawn for the width of the page after it has one.
    for (let i = 0; i < 3; ++i) await painted(opened);
    await opened.screenshot({ path: join(pictures, `${name}.png`) });
  });
}

/** A kernel that is found, chosen and explained. */
async function search(page) {
  await page.locator("#timeline input[type=search]").fill("dgrad");
  await page.locator("#timeline input[type=search]").press("Enter");
  await page.locator("#timeline").evaluate((section) => section.scrollIntoView());
}

await picture("report", "report", 1280, 1000);
await picture("report_wide_dark", "report", 1920, 1000, "dark");
await picture("report_phone", "report", 400, 860);
await picture("report_phone_dark", "report", 400, 860, "dark");
await picture("timeline", "report", 1280, 1000, "light", search);
for (const [name, section, height] of [["call_tree", "flame", 350], ["shapes", "shapes", 560]])
  await picture(name, "report", 1280, height, "light",
                (page) => page.locator(`#${section}`).evaluate((part) => part.scrollIntoView()));
await picture("compare", "compare", 1280, 1000);
await picture("energy", "energy", 1280, 1000);
await picture("ranks", "ranks", 1280, 1000);
await picture("samples", "samples", 1280, 1000, "light",
              (page) => page.locator("#samples").evaluate((section) => section.scrollIntoView()));
await picture("sweep", "sweep", 1280, 1000, "light",
              (page) => page.locator("#model-0").evaluate((section) => section.scrollIntoView()));
