// Whether the timeline has holes: every kernel of a PyTorch trace, read here from the trace itself,
// is drawn at three zooms, in its colour.
//   node tests/web/kernels_drawn.test.mjs REPORT.html ANALYSIS.json TRACE.json.gz      (of an analysis with --window all)
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { runCases } from "./browser.mjs";
import { bandAt, colourOf, pixelRows, show, until } from "./timeline_tools.mjs";

const [report, answer, trace] = process.argv.slice(2);
if (!trace) throw new Error("usage: kernels_drawn.test.mjs REPORT.html ANALYSIS.json TRACE.json.gz");
const analysis = JSON.parse(await readFile(answer, "utf8")), raw = await readFile(trace);
const text = (trace.endsWith(".gz") ? gunzipSync(raw) : raw).toString("utf8");
// Decimals as exact nanoseconds: times since 1970 in microseconds lose them as doubles.
const nanoseconds = (decimal) => { const [whole, part = ""] = decimal.split("."); return BigInt(whole) * 1000n + BigInt(part.padEnd(3, "0").slice(0, 3)); };
const events = JSON.parse(text.replace(/"(ts|dur)":\s*(-?[\d.]+)/g, '"$1":"$2"')).traceEvents;
const onDevice = events.filter((e) => e.ph === "X"
                               && ["kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"].includes(e.cat) && e.args?.stream !== undefined);
const first = onDevice.map((e) => nanoseconds(e.ts)).reduce((a, b) => (b < a ? b : a));
const kernels = onDevice.filter((e) => /kernel/i.test(e.cat)).map((e) => ({ name: e.name, stream: e.args.stream, device: e.args.device, start: Number(nanoseconds(e.ts) - first), ns: Number(nanoseconds(e.dur)) }));
const whole = Math.max(...onDevice.map((e) => Number(nanoseconds(e.ts) - first + nanoseconds(e.dur))));
const types = ["Convolution", "MatMul", "Attention", "Normalization", "Activation", "Elementwise",
               "Pooling", "Embedding", "Optimizer", "Communication", "Copy", "Data movement",
               "Reduction", "Softmax", "Loss", "Recurrent", "Random"];
const typeOf = new Map(analysis.kernels.map((k) => [k.name, k.layer_type]));
const cases = [];

/** Around the middle of the longest kernel, where others are. */
const centre = (() => { const sorted = [...kernels].sort((a, b) => a.start - b.start), k = sorted[Math.floor(sorted.length / 2)]; return k.start + k.ns / 2; })();
for (const [zoom, part] of [["all", 1], ["a twentieth", 1 / 20], ["a five-hundredth", 1 / 500]])
  cases.push([`every kernel of ${zoom} of the window is drawn, in its colour`, async (page) => {
    const from = Math.max(0, Math.min(centre - (whole * part) / 2, whole * (1 - part))), to = from + whole * part;
    await show(page, from, to);
    await until(page, ([begin, end]) => {  // a busy machine paints late
      const { dataset } = document.querySelector("#timeline canvas.events"), near = (end - begin) / 100;
      return Math.abs(Number(dataset.from) - begin) < near && Math.abs(Number(dataset.to) - end) < near;
    }, [from, to]);
    const colours = Object.fromEntries(await Promise.all(types.map(async (type, i) => [type, await colourOf(page, `--type-${i}`)])));
    colours["Other"] = await colourOf(page, "--type-other");
    const paper = await colourOf(page, "--paper"), line = await colourOf(page, "--line");
    let drawn = 0, thin = 0, coloured = 0, right = 0;
    const streams = [...new Set(kernels.map((k) => `${k.device} ${k.stream}`))];
    for (const key of streams) {
      const [device, stream] = key.split(" "), band = await bandAt(page, `stream ${stream}`, `GPU ${device}`);
      assert.ok(band, `no band of stream ${stream} of GPU ${device}`);
      const rows = [];
      for (let y = band.top; y + 15 < band.bottom + 1; y += 16) rows.push(y);
      const middles = await pixelRows(page, rows.map((y) => y + 8)), feet = await pixelRows(page, rows.map((y) => y + 13)), width = middles[0].length;
      for (const k of kernels.filter((each) => `${each.device} ${each.stream}` === key && each.start < to && each.start + each.ns > from)) {
        const left = ((k.start - from) / (to - from)) * width, right_ = ((k.start + k.ns - from) / (to - from)) * width;
        if (right_ - left < 1) {
          const x = Math.min(Math.max(Math.floor(left + 1e-9), 0), width - 1);
          // A run of thin kernels shorter than a pixel goes to the pixel where it begins.
          assert.ok(feet.some((row) => [x - 1, x, x + 1].some((at) => row[at] && ![paper, line].includes(row[at]))), `${k.name} at ${k.start} ns is not drawn in ${zoom}`);
          ++thin;
          continue;
        }
        const x = Math.min(Math.max(Math.floor((Math.max(left, 0) + Math.min(right_, width)) / 2), 0), width - 1);
        const found = middles.map((row) => row[x]).filter((colour) => ![paper, line].includes(colour));
        assert.ok(found.length > 0,
                  `${k.name} at ${k.start} ns, ${k.ns} ns long, is not drawn in ${zoom}`);
        ++drawn;
        // Where there is room for its name, letters cover the fill.
        const type = typeOf.get(k.name);
        if (!type || !colours[type] || right_ - left > 30) continue;
        assert.ok(found.some((colour) => Object.values(colours).includes(colour) || colour === colours["Other"]), `${k.name} has no type's colour: ${found}`);
        ++coloured;
        if (found.includes(colours[type])) ++right;
      }
    }
    assert.ok(drawn + thin > 0, "kernels in sight");
    // A kernel of several types has the table's type only for most of its time.
    assert.ok(right >= coloured * 0.75,
              `${right} of ${coloured} kernels in the colour of their type`);
    console.log(`        ${drawn} kernels of a pixel or more, ${thin} thinner ones; ${right} of ${coloured} in the colour of the table's type`);
  }]);

await runCases(report, cases);
