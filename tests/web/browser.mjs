// Opens a report in Debian's Chromium the way a user does: from the disk, with nothing to load from
// anywhere.
import { mkdtemp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
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

/** Calls `use(page)` with an empty page of a browser of its own. */
export async function launched(options, use) {
  const profile = await mkdtemp(join(tmpdir(), "gpufathom-page-"));
  const context = await chromium.launchPersistentContext(profile,
                                                         { executablePath, args, headless: true,
                                                           timeout: BUSY_MS, ...options });
  try {
    return await use(context.pages()[0] ?? (await context.newPage()));
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
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

/** Runs [name, run(page, seen)] on one opened report and ends the process: 0 when all passed, 77
 * without a browser. */
export async function runCases(report, cases) {
  if (!haveBrowser) {
    console.log("skipped: no Chromium (set CHROMIUM)");
    process.exit(77);
  }
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
  process.exit(failed ? 1 : 0);
}
