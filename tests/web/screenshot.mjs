// Takes a picture of a report:  node tests/web/screenshot.mjs REPORT.html PICTURE.png [WIDTH [HEIGHT [dark|light [whole]]]]
import { withReport } from "./browser.mjs";
import { painted } from "./timeline_tools.mjs";

const [report, picture, width = "1280", height = "1600", theme = "light", whole] = process.argv.slice(2);
if (!report || !picture) throw new Error("usage: screenshot.mjs REPORT.html PICTURE.png [WIDTH [HEIGHT [dark|light [whole]]]]");
await withReport(report, { viewport: { width: Number(width), height: Number(height) }, colorScheme: theme }, async (page) => {
  for (let i = 0; i < 3; ++i) await painted(page);
  await page.screenshot({ path: picture, fullPage: whole === "whole" });
});
