// Opens a report in Debian's Chromium the way a user does: from the disk, with nothing to load from anywhere.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");

// The shell is the same engine without the browser's own windows, and starts in a third of the
// time.
const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path)) ?? "";
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
              "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** A machine that others use as well may take this long to start a browser. */
const BUSY_MS = 120_000;

/** True when there is a browser to test with. */
export const haveBrowser = existsSync(executablePath);

const started = () => chromium.launch({ executablePath, args, headless: true, timeout: BUSY_MS });

/** One browser for all pages of a program: to start it costs as much as a small page's tests. */
let shared;

/** Calls `use(page)` with an empty page that shares nothing with another. */
export async function launched(options, use) {
  const browser = shared ?? (await started());
  try {
    const context = await browser.newContext(options);
    try {
      return await use(await context.newPage());
    } finally {
      await context.close();
    }
  } finally {
    if (browser !== shared) await browser.close();
  }
}

/** Calls `use(page, seen)` with the report opened; `seen` collects console errors, exceptions and
 * requests beyond the file. */
export async function withReport(file, options, use) {
  return launched(options, async (page) => {
    const seen = { errors: [], requests: [] }, url = pathToFileURL(resolve(file)).href;
    page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") seen.errors.push(message.text()); });
    page.on("pageerror", (error) => seen.errors.push(String(error)));
    page.on("request", (request) => { if (request.url() !== url) seen.requests.push(request.url()); });
    await page.goto(url, { timeout: BUSY_MS });
    await page.waitForSelector("body[data-ready=yes]", { timeout: BUSY_MS });
    return use(page, seen);
  });
}

async function failures(report, cases) {
  let failed = 0;
  await withReport(report, { viewport: { width: 1280, height: 900 }, colorScheme: "light" }, async (page, seen) => {
    page.setDefaultTimeout(BUSY_MS);
    for (const [name, run] of cases) {
      const begin = Date.now();
      try {
        await run(page, seen);
        console.log(`ok      ${name}, ${((Date.now() - begin) / 1000).toFixed(1)} s`);
      } catch (error) {
        ++failed;
        console.log(`FAILED  ${name}\n${error.stack ?? error}`);
      }
    }
  });
  return failed;
}

/** Opens each [report, cases], runs its cases [name, run(page, seen)] and ends the process: 0 when all passed, 77 without a browser. */
export async function runPages(pages) {
  if (!haveBrowser) {
    console.log("skipped: no Chromium (set CHROMIUM)");
    process.exit(77);
  }
  let failed = 0;
  shared = await started();
  for (const [report, cases] of pages) {
    if (pages.length > 1) console.log(`# ${basename(report, ".html")}`);
    failed += await failures(report, cases);
  }
  await shared.close();
  process.exit(failed ? 1 : 0);
}

export const runCases = (report, cases) => runPages([[report, cases]]);
