// A page with a million events or many more: its size, its sums, what each frame costs.  node tests/web/million.test.mjs REPORT.html ANALYSIS.json
// Costs are processor time of the page's main thread, which other programs on the machine do not
// lengthen: a frame that takes less than a thirtieth of a second of it is one of 30 a second.
// Beyond what the page holds one by one its command is run with GPUFATHOM.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { runCases } from "./browser.mjs";
import { axe, faintWords, layoutFaults, violations } from "./layout_checks.mjs";
import { painted, show, viewOf } from "./timeline_tools.mjs";

const [report, answer] = process.argv.slice(2), { GPUFATHOM: gpufathom, FIGURES: figures } = process.env, cases = [], measured = {};
if (!answer) throw new Error("usage: million.test.mjs REPORT.html ANALYSIS.json");
const analysis = JSON.parse(await readFile(answer, "utf8")), { devices, kernels } = analysis;
const test = (name, run) => cases.push([name, run]);
const digits = (text) => Number(text.replace(/\D/g, ""));

test("the file has at most 12 MB", async () => {
  measured.bytes = (await stat(report)).size;
  console.log(`        ${(measured.bytes / 1e6).toFixed(1)} MB`);
  assert.ok(measured.bytes <= 12e6);
});

/** Milliseconds of the main thread's processor time so far. */
async function clockOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => (await session.send("Performance.getMetrics")).metrics.find((each) => each.name === "TaskDuration").value * 1000;
}

test("every event is told of, within three seconds of work", async (page) => {
  const now = await clockOf(page), begin = await now();
  await page.reload();
  await page.waitForFunction(() => performance.getEntriesByName("timeline").length > 0);
  measured.load_ms = Math.round((await now()) - begin);
  const told = await page.locator("#timeline .remark").innerText();
  const one = /: ([\d\s]+) one by one/.exec(told);
  console.log(`        ${measured.load_ms} ms; ${told}`);
  measured.events = digits(/^all ([\d\s]+) events/.exec(told)[1]);
  measured.one_by_one = one ? digits(one[1]) : measured.events;
  // Before the first kernel and after the last one the host is outside of the window.
  assert.ok(measured.events <= analysis.source.events
            && measured.events > analysis.source.events * 0.999);
  assert.ok(measured.load_ms > 0 && measured.load_ms <= 3000);
});

/** Changes something in each of `count` frames. Gives the milliseconds of work and of painting a
 * frame. */
async function frames(page, keys, count = 60) {
  const now = await clockOf(page), begin = await now();
  const paint = await page.evaluate(([keys, count]) => new Promise((done) => {
    const canvas = document.querySelector("#timeline canvas.events"), paints = [];
    const next = () => {
      if (paints.push(Number(canvas.dataset.ms)) > count) return done(paints.sort((a, b) => a - b)[count >> 1]);
      canvas.dispatchEvent(new KeyboardEvent("keydown",
                                             { key: keys[(paints.length >> 3) % keys.length], bubbles: true }));
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }), [keys, count]);
  return { work: ((await now()) - begin) / count, paint };
}

for (const [name, zooms, keys] of [["zoomed out", 0, ["d", "a"]], ["a tenth in sight", 6, ["d", "a"]], ["a thousandth in sight", 19, ["d", "a"]], ["zooming", 0, ["w", "s"]]])
  test(`30 frames a second and more: ${name}`, async (page) => {
    const canvas = page.locator("#timeline canvas.events");
    await canvas.focus();
    await page.keyboard.press("0");
    for (let i = 0; i < zooms; ++i) await page.keyboard.press("w");
    await painted(page);
    const { work, paint } = await frames(page, keys);
    console.log(`        ${work.toFixed(1)} ms of work a frame, ${(1000 / work).toFixed(0)} frames a second; ${paint.toFixed(1)} ms of painting`);
    (measured.frame_ms ??= {})[name] = Number(work.toFixed(2));
    assert.ok(work > 0 && work <= 1000 / 30);
  });

/** Events that a search tells of, held one by one and merged. */
async function found(page, text) {
  const field = page.locator("#timeline input[type=search]");
  await field.fill(text);
  await field.press("Enter");
  await painted(page);
  const told = await page.locator("#timeline .told").innerText(), [, held, merged] = /(?:^| of )([\d\s]+) events?(?:, and ([\d\s]+) merged)?$/.exec(told);
  return digits(held) + digits(merged ?? "0");
}

test("a search finds every kernel of the answer, however many are merged", async (page) => {
  for (const kernel of [kernels[0], kernels.at(-1)]) assert.equal(await found(page, `kernel:${kernel.name}`), kernel.count);
  assert.ok((await found(page, "softmax")) >= kernels.filter((each) => each.name.includes("softmax")).reduce((sum, each) => sum + each.count, 0));
  assert.equal(await found(page, "no such event anywhere"), 0);
  await page.locator("#timeline input[type=search]").fill("");
  await page.locator("#timeline input[type=search]").press("Enter");
});

test("the sums of the window are the answer's to the nanosecond", async (page) => {
  await page.keyboard.press("0");
  await page.locator("#timeline button", { hasText: "All" }).first().click();
  await painted(page);
  const { to } = await viewOf(page);
  await show(page, 0, to, `&range=0-${to}`);
  for (const device of devices) {
    const block = page.locator(`#timeline .facts-panel [data-device="${device.id}"]`);
    assert.deepEqual([Number(await block.getAttribute("data-busy")), Number(await block.getAttribute("data-idle"))], [device.busy_ns, device.idle_ns]);
    const causes = device.idle.filter((cause) => cause.ns > 0).sort((a, b) => b.ns - a.ns).slice(0, 6);
    assert.deepEqual(await block.locator("[data-cause]").evaluateAll((all) => all.map((e) => [e.dataset.cause, Number(e.dataset.ns)])), causes.map((cause) => [cause.cause, cause.ns]));
    const most = await block.locator("ol li").evaluateAll((all) => all.map((e) => [e.querySelector("button").title, Number(e.dataset.ns), Number(e.children[1].textContent.replace(/\D/g, ""))]));
    assert.equal(most.length, Math.min(8, kernels.length));
    for (const [name, ns, count] of most) assert.deepEqual([ns, count],
                                                           kernels.filter((each) => each.name === name).map((each) => [each.ns, each.count])[0], name);
  }
});

test("where events are merged it says so, and how to see them", async (page) => {
  const told = await page.locator("#timeline .remark").innerText(), command = page.locator("#timeline .coarse pre"), { to } = devices[0].span_ns ? { to: devices[0].span_ns } : {};
  if (!told.includes("one by one")) return assert.equal(await command.count(), 0);
  await show(page, to * 0.02, to * 0.02 + 400_000);
  await page.waitForSelector("#timeline .coarse pre");
  const [, file, from, end] = /^gpufathom analyze (\S+) --window (\d+):(\d+) -o part\.html$/.exec(await command.innerText()), view = await viewOf(page);
  assert.ok(Math.abs(end - from - (view.to - view.from)) <= 1);
  if (gpufathom) {
    const part = join(tmpdir(), `gpufathom-part-${process.pid}.json`);
    execFileSync(gpufathom, ["analyze", file, "--window", `${from}:${end}`, "-o", part]);
    const { window } = JSON.parse(await readFile(part, "utf8"));
    assert.ok(Math.abs(window.start_ns - devices[0].start_ns - view.from) <= 1,
              "the part begins where the view did");
    assert.ok(Math.abs(window.duration_ns - (view.to - view.from)) <= 1);
  }
  await page.evaluate(await readFile(axe, "utf8"));
  assert.deepEqual([...(await violations(page)), ...(await faintWords(page))], []);
  assert.deepEqual(await page.evaluate(layoutFaults), []);
  // Merged events have facts of their own under the pointer.
  const box = await page.locator("#timeline canvas.events").boundingBox();
  let said = "";
  for (let y = 30; y < box.height && !/merged/.test(said); y += 8) {
    await page.mouse.move(box.x + box.width * 0.4, box.y + y);
    said = await page.locator(".tip").isVisible() ? await page.locator(".tip").innerText() : "";
  }
  assert.match(said, /[\d\s]+ events? of .*, merged[\s\S]*duration, all together/);
  // Where it holds every event it does not say so.
  await page.locator("#timeline button", { hasText: "One step" }).click();
  await painted(page);
  await page.locator("#timeline canvas.events").focus();
  for (let i = 0; i < 19; ++i) await page.keyboard.press("w");
  await painted(page);
  assert.equal(await command.count(), 0);
});

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
  if (!figures) return;
  const about = { what: "the page of a made-up trace: its size, and what it costs in Chromium without a GPU, as processor time of the page's main thread; the same run holds its sums against the JSON answer to the nanosecond",
    command: `GPUFATHOM_EVENTS=${Math.round(analysis.source.events / 1000) * 1000} FIGURES=FILE tests/web/run build/gpufathom million`, date: new Date().toISOString().slice(0, 10), hardware: `${cpus().length} cores, without a GPU` };
  await writeFile(figures, `${JSON.stringify({ ...about, ...measured }, null, 1)}\n`);
});

await runCases(report, cases);
