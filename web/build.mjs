// Bundles the page into one HTML file and writes it as C++ text:  node build.mjs OUTPUT_DIRECTORY
// report_page.cpp then holds the page in three pieces; a report's answer goes between the first
// two, its events between the last two.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs OUTPUT_DIRECTORY");

async function bundled(entry) {
  const result = await build({
    entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, format: "iife", target: ["chrome103", "firefox113", "safari16.4"],
    charset: "ascii", legalComments: "none", logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

const script = (await bundled("src/main.ts")).replaceAll("</script", "<\\/script");
const style = (await bundled("src/style/page.css")).replaceAll("</style", "<\\/style");
/** What a content security policy calls a text that it lets through. */
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const page = (await readFile(join(here, "src/page.html"), "utf8")).replace("SCRIPT_HASH", hash(script)).replace("STYLE_HASH", hash(style))
  .replace("/*STYLE*/", () => style).replace("/*SCRIPT*/", () => script);
const pieces = page.split(/<!--(?:DATA|EVENTS)-->/);
if (pieces.length !== 3) throw new Error("src/page.html must hold <!--DATA--> and <!--EVENTS--> exactly once");

/** A C++ string literal, in pieces that every compiler takes. */
function literal(text) {
  const lines = [];
  for (let at = 0; at < text.length; at += 8000) {
    const escaped = text.slice(at, at + 8000).replace(/[\\"\n\r\t?]|[^\x20-\x7e]/gu, (c) =>
      c === "\n" ? "\\n" : [...new TextEncoder().encode(c)].map((b) => "\\" + b.toString(8).padStart(3, "0")).join(""));
    lines.push(`  "${escaped}"`);
  }
  return lines.join("\n");
}

await mkdir(out, { recursive: true });
await writeFile(join(out, "report_page.cpp"),
  "// Made by web/build.mjs.\n#include \"report/html/page.h\"\n\nnamespace gf {\n\n" +
  ["kPageBefore", "kPageBetween", "kPageAfter"].map((name, i) => `extern const std::string_view ${name} =\n${literal(pieces[i])};\n\n`).join("") + "}  // namespace gf\n");
