// Makes up a trace of a training run as PyTorch's profiler writes it:  node tests/web/million_events.mjs OUT.json [EVENTS]
// Of ten events four are operations, three launch calls and three kernels; durations and names vary
// as in real traces.
import { createWriteStream } from "node:fs";
import { once } from "node:events";

const [file, wanted = "1000000"] = process.argv.slice(2);
const out = createWriteStream(file), events = Number(wanted);
let seed = 1, written = 0, chunk = "", host = 1_000_000, device = 1_000_050, correlation = 0;
const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
const kernels = Array.from({ length: 60 },
                           (_, i) => `void ${["gemm_tile", "elementwise_kernel", "softmax_warp_forward", "reduce_kernel", "layer_norm_forward", "multi_tensor_apply"][i % 6]}<float, ${i}, 128>(float*, int)`);
const names = ["aten::addmm", "aten::add_", "aten::softmax", "aten::sum", "aten::layer_norm",
               "Optimizer.step#AdamW.step"];

async function put(event) {
  chunk += `${written++ > 0 ? ",\n" : ""}${JSON.stringify(event)}`;
  if (chunk.length < 1 << 20) return;
  if (!out.write(chunk)) await once(out, "drain");
  chunk = "";
}

out.write('{"deviceProperties":[{"id":0,"name":"NVIDIA H200","computeMajor":9,"computeMinor":0,"numSms":132}],"traceEvents":[\n');
for (let step = 0; written < events; ++step) {
  const begin = host;
  for (let layer = 0; layer < 1000 && written < events; ++layer) {
    const kind = Math.floor(random() * names.length), shape = 64 << Math.floor(random() * 6), op = host, nested = layer % 3 === 0 ? 2 : 1;
    const length = 12 + random() * 30, busy = 2 + random() * random() * 60;
    for (let depth = 0; depth < nested; ++depth)
      await put({ ph: "X", cat: "cpu_op", name: depth === 0 ? names[kind] : `${names[kind]}_inner`,
                  pid: 1, tid: 1, ts: +(op + depth).toFixed(3),
                  dur: +(length - 2 * depth).toFixed(3),
                  args: { "External id": correlation, "Input Dims": [[shape, 1024], [1024]] } });
    await put({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1,
                ts: +(op + 4).toFixed(3), dur: +(2 + random() * 3).toFixed(3),
                args: { correlation, "External id": correlation } });
    device = Math.max(device, op + 9) + 1;
    await put({ ph: "X", cat: "kernel", name: kernels[kind + 6 * Math.floor(random() * 10)], pid: 0,
                tid: 7, ts: +device.toFixed(3), dur: +busy.toFixed(3),
                args: { device: 0, stream: 7, correlation, "External id": correlation, grid: [shape, 1, 1], block: [128, 1, 1], "registers per thread": 64, "shared memory": 0 } });
    device += busy;
    host += length + 1 + random() * 4;
    ++correlation;
  }
  await put({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${step}`, pid: 1, tid: 1,
              ts: +begin.toFixed(3), dur: +(host - begin - 0.5).toFixed(3), args: {} });
}
out.end(`${chunk}\n]}\n`);
await once(out, "finish");
console.log(`${written} events`);
