// Actions in the timeline, in a real browser:  node tests/web/timeline.test.mjs REPORT.html ANALYSIS.json
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runCases } from "./browser.mjs";
import { bandAt, colourOf, painted, pixelRows, show, until, viewOf } from "./timeline_tools.mjs";

const [report, answer] = process.argv.slice(2);
if (!answer) throw new Error("usage: timeline.test.mjs REPORT.html ANALYSIS.json");
const analysis = JSON.parse(await readFile(answer, "utf8")), { devices, kernels, layers } = analysis, cases = [];
const test = (name, run) => cases.push([name, run]);
const canvas = (page) => page.locator("#timeline canvas.events");
const panel = (page) => page.locator("#timeline .facts-panel");
const told = (page) => page.locator("#timeline .told").innerText();
const button = (page, text) => page.locator("#timeline button", { hasText: text }).first();
const digits = (text) => Number(text.replace(/\D/g, ""));
const whole = (page) => button(page, "All").click().then(() => painted(page));
const picture = (page) => canvas(page).evaluate((c) => { const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let sum = 0; for (let i = 0; i < d.length; i += 4) sum = (sum * 31 + d[i] + d[i + 1] * 3 + d[i + 2] * 7) >>> 0; return sum; });

/** A place in the picture: a part of its width and a height on the whole of it. */
async function point(page, part, height) {
  await page.locator("#timeline .canvas").scrollIntoViewIfNeeded();
  const scrolled = await page.locator("#timeline .scroller").evaluate((s, to) => { s.scrollTop = to; return s.scrollTop; }, Math.max(0, height - 100));
  await painted(page);
  const box = await canvas(page).boundingBox();
  return { x: box.x + box.width * part, y: box.y + height - scrolled };
}

test("nothing is loaded and nothing complains", async (_, seen) => {
  assert.deepEqual(seen.requests, []);
  assert.deepEqual(seen.errors, []);
});

test("keys move and zoom: W A S D, arrows, plus and minus, 0, Home, End", async (page) => {
  await whole(page);
  const all = await viewOf(page);
  await canvas(page).focus();
  const press = async (key) => { await page.keyboard.press(key); await painted(page); return viewOf(page); };
  for (const [closer, wider] of [["w", "s"], ["+", "-"]]) {
    const near = await press(closer);
    assert.ok(near.to - near.from < (all.to - all.from) * 0.75, closer);
    assert.deepEqual(await press(wider), all, wider);
  }
  for (const [right, left] of [["d", "a"], ["ArrowRight", "ArrowLeft"]]) {
    const middle = await press("w"), on = await press(right);
    assert.ok(on.from > middle.from && on.to - on.from === middle.to - middle.from, right);
    assert.ok(Math.abs((await press(left)).from - middle.from) < 2, left);
    await press("0");
  }
  await press("w");
  assert.equal((await press("Home")).from, 0);
  assert.equal((await press("End")).to, all.to);
  assert.deepEqual(await press("0"), all);
});

test("a drag moves, the wheel zooms where the pointer is", async (page) => {
  await whole(page);
  await canvas(page).focus();
  await page.keyboard.press("w");
  await painted(page);
  const before = await viewOf(page), at = await point(page, 0.5, 40);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x - 100, at.y, { steps: 4 });
  await page.mouse.up();
  await painted(page);
  const moved = await viewOf(page);
  assert.ok(moved.from > before.from
            && Math.abs(moved.to - moved.from - (before.to - before.from)) < 2);
  await canvas(page).focus();
  await page.mouse.wheel(0, -300);
  await painted(page);
  const zoomed = await viewOf(page);
  assert.ok(zoomed.to - zoomed.from < (moved.to - moved.from) * 0.7);
});

test("a search counts what it finds, and next and previous go through it", async (page) => {
  await whole(page);
  const kernel = kernels[0], field = page.locator("#timeline input[type=search]");
  await field.fill(`kernel:${kernel.name}`);
  await field.press("Enter");
  await painted(page);
  const [, place, of] = /^([\d\s]+) of ([\d\s]+) event/.exec(await told(page));
  assert.equal(digits(of), kernel.count);
  const first = await panel(page).innerText(), before = await picture(page);
  await page.locator('#timeline button[aria-label="Next event found"]').click();
  await painted(page);
  assert.equal(digits((await told(page)).split(" of ")[0]), (digits(place) % kernel.count) + 1);
  assert.notEqual(await picture(page), before);
  await page.locator('#timeline button[aria-label="Previous event found"]').click();
  await painted(page);
  assert.equal(await panel(page).innerText(), first);
  await field.fill(kernel.operator.slice(0, 8).toUpperCase());
  await field.press("Enter");
  await painted(page);
  assert.ok(digits((await told(page)).split(" of ")[1]) >= kernel.count,
            "operators are found as well, whatever their case");
  await field.fill("no such event anywhere");
  await field.press("Enter");
  assert.match(await told(page), /^0 events/);
  await field.fill("");
  await field.press("Enter");
  assert.equal(await told(page), "");
});

test("a span chosen with Shift has the answer's sums", async (page) => {
  await whole(page);
  const at = await point(page, 0.001, 40), end = await point(page, 0.999, 40);
  await page.keyboard.down("Shift");
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await painted(page);
  assert.match(await panel(page).innerText(), /chosen/);
  // Exactly the window, through the address: what the answer says of it.
  const { to } = await viewOf(page);
  await show(page, 0, to, `&range=0-${to}`);
  for (const device of devices) {
    const block = panel(page).locator(`[data-device="${device.id}"]`);
    assert.equal(Number(await block.getAttribute("data-busy")), device.busy_ns);
    assert.equal(Number(await block.getAttribute("data-idle")), device.idle_ns);
    const causes = device.idle.filter((cause) => cause.ns > 0).sort((a, b) => b.ns - a.ns).slice(0, 6);
    assert.deepEqual(await block.locator("[data-cause]").evaluateAll((all) => all.map((e) => [e.dataset.cause, Number(e.dataset.ns)])), causes.map((cause) => [cause.cause, cause.ns]));
    const most = await block.locator("ol li").first().innerText();
    assert.ok(kernels.some((kernel) => most.includes(kernel.short_name || kernel.name)));
  }
  assert.match(await panel(page).innerText(),
               analysis.energy.devices.length > 0 ? /energy\s+[\d.]+ m?J/ : /energy\s+no data/);
  assert.match(await panel(page).innerText(), /tensor/);
  await button(page, "Close").click();
  assert.ok(!/chosen/.test(await panel(page).innerText()));
});

test("a press on a kernel tells all about it; its launch call is one press away", async (page) => {
  await whole(page);
  const field = page.locator("#timeline input[type=search]"), kernel = kernels[0];
  await field.fill(`kernel:${kernel.name}`);
  await field.press("Enter");
  await painted(page);
  const text = await panel(page).innerText();
  for (const word of ["duration", "stream", "grid", "block", "registers a thread", "operator", "correlation", "launched by", "operations around the launch", "SM active", "tensor issue"]) assert.ok(text.includes(word), `${word} in ${text}`);
  const without = await picture(page);
  await panel(page).locator("button", { hasText: "Its launch" }).click();
  await painted(page);
  assert.match(await panel(page).innerText(), /cudaLaunchKernel|cuLaunchKernel/);
  assert.notEqual(await picture(page), without);
  await panel(page).locator("button", { hasText: "What it started" }).click();
  await painted(page);
  assert.ok((await panel(page).innerText()).startsWith(kernel.short_name || kernel.name));
});

test("the pointer is told what lies under it, and a press keeps it", async (page) => {
  const field = page.locator("#timeline input[type=search]");
  await field.fill("");
  await field.press("Enter");
  await show(page, 0, 2_000_000);
  const band = await bandAt(page, "idle, by cause");
  let said = "";
  for (let part = 0.02; part < 1 && !said; part += 0.04) {
    const at = await point(page, part, band.top + 8);
    await page.mouse.move(at.x, at.y);
    if (await page.locator(".tip").isVisible()) said = await page.locator(".tip").innerText();
  }
  assert.match(said, /^idle: .*\n[\s\S]*duration/);
});

test("a row of the kernels leads to its events, and back", async (page) => {
  const row = page.locator("#kernels tbody tr").first(), name = await row.locator("td").first().textContent();
  const kernel = [...kernels].sort((a, b) => b.ns - a.ns)[0];
  await row.locator("button.find").click();
  await painted(page);
  assert.equal(digits((await told(page)).split(" of ")[1]), kernel.count);
  assert.ok(await canvas(page).evaluate((c) => { const box = c.getBoundingClientRect(); return box.top < innerHeight && box.bottom > 0; }), "the timeline is in sight");
  assert.ok(name.includes(kernel.short_name || kernel.name));
  await button(page, "Back to the table").click();
  assert.ok(await row.locator("button.find").evaluate((e) => e === document.activeElement));
  await panel(page).locator("button", { hasText: "Its kernel in the table" }).click();
  assert.equal(await page.locator("#kernels tr.found").count(), 1);
  await panel(page).locator("button", { hasText: "Its layer in the table" }).click();
  assert.equal(await page.locator("#layers tr.found").count(), 1);
});

test("rows of layers and causes lead to all their events", async (page) => {
  const layer = [...layers].sort((a, b) => b.ns - a.ns)[0];
  await page.locator("#layers .table").nth(1).locator("tbody tr").first().locator("button.find").click();
  await painted(page);
  assert.equal(digits((await told(page)).split(" of ")[1]), layer.kernels);
  const cause = devices[0].idle.filter((each) => each.ns > 0)[0];
  await page.locator(`#idle [data-cause="${cause.cause}"] > button`).first().click();
  await painted(page);
  assert.equal(digits((await told(page)).split(" of ")[1]), cause.gaps);
});

test("the address remembers what is in sight", async (page) => {
  await show(page, 1_000_000, 3_000_000);
  await canvas(page).focus();
  await page.keyboard.press("d");
  await painted(page);
  const { from, to } = await viewOf(page);
  await until(page, (view) => location.hash.includes(view), `view=${from}-${to}`);
  await page.reload();
  await page.waitForSelector("body[data-ready=yes]", { timeout: 120_000 });
  assert.deepEqual(await viewOf(page), { from, to });
});

test("groups and deep lanes fold, by keyboard as well", async (page) => {
  const labels = page.locator("#timeline .labels button.group"), height = () => page.locator("#timeline .inner").evaluate((e) => e.clientHeight);
  const before = await height();
  await labels.last().focus();
  await page.keyboard.press("Enter");
  assert.equal(await labels.last().getAttribute("aria-expanded"), "false");
  assert.ok((await height()) < before);
  await page.keyboard.press("Enter");
  assert.equal(await height(), before);
  const python = page.locator("#timeline .labels button.band", { hasText: "Python frames" });
  if ((await python.count()) > 0) assert.equal(await python.first().getAttribute("aria-expanded"),
                                               "false");
});

test("steps, bands, queue depth, idle by cause and power stand on the same clock", async (page) => {
  await whole(page);
  const { to } = await viewOf(page), texts = await page.locator("#timeline .labels > *").allInnerTexts();
  for (const lane of ["Steps", "annotations", "launch queue of GPU", "idle, by cause", "power, at most"]) assert.ok(texts.some((text) => text.includes(lane)), `${lane} in ${texts}`);
  const order = ["GPU 0", "idle, by cause", "launch queue of GPU 0", "stream "].map((lane) => texts.findIndex((text) => text.includes(lane)));
  assert.deepEqual(order, [...order].sort((a, b) => a - b),
                   "a device's queue stands with the device");
  const paper = await colourOf(page, "--paper"), line = await colourOf(page, "--line"), colour = await colourOf(page, "--line-issue");
  // The made-up log is steady: power fills its lane from end to end, in its colour.
  const power = await bandAt(page, "power, at most"), [row] = await pixelRows(page, [power.bottom - 12]);
  assert.ok(row.filter((each) => each === colour).length > row.length * 0.9, "power");
  const steps = await bandAt(page, "Steps"), [drawn] = await pixelRows(page, [steps.top + 2]);
  const covered = analysis.window.steps.reduce((sum, step) => sum + step.duration_ns, 0) / to;
  assert.ok(Math.abs(drawn.filter((each) => ![paper, line].includes(each)).length / drawn.length - covered) < 0.03, "steps");
});

test("kernels can have the colours of their levels", async (page) => {
  await whole(page);
  const before = await picture(page);
  await page.locator("#timeline select").selectOption("tensor");
  await painted(page);
  assert.notEqual(await picture(page), before);
  assert.match(await page.locator("#timeline .legend").innerText(), /< 10 %/);
  await page.locator("#timeline select").selectOption("type");
});

await runCases(report, cases);
