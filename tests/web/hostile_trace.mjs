// A trace whose every name tries to be markup, a script, a style or a mess:  node tests/web/hostile_trace.mjs OUT.json
import { writeFileSync } from "node:fs";

const names = ["</script><script>globalThis.pwned=1</script>", "<img src=x onerror=globalThis.pwned=1>", "\"><svg onload=globalThis.pwned=1>", "javascript:globalThis.pwned=1", "</style><style>*{display:none}",
  "var(--x);background:url(http://example.com/)", "\u202egnp.tset\u202c", "x".repeat(5000),
  "{{constructor.constructor('globalThis.pwned=1')()}}", "a | b | c", "kernel:kernel:",
  "\u0000\u0007\u001b[31m", "__proto__", "*.*_1", "<!--DATA-->"];
const events = [];
let at = 1000, launched = 0;
for (let step = 0; step < 5; ++step) {
  const begin = at;
  for (const [i, name] of names.entries()) {
    const correlation = ++launched;
    events.push({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts: at, dur: 40,
                  args: { "External id": correlation, "Input Dims": name } },
      { ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: at + 5, dur: 4,
        args: { correlation, "External id": correlation } },
      { ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts: at + 12, dur: 20,
        args: { device: 0, stream: 7, correlation, "External id": correlation, grid: [1, 1, 1], block: [32, 1, 1] } });
    at += 50;
  }
  events.push({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${step}`, pid: 1, tid: 1,
                ts: begin, dur: at - begin });
}
const thread = { ph: "M", name: "thread_name", pid: 1, tid: 1, args: { name: names[1] } };
writeFileSync(process.argv[2],
              JSON.stringify({ deviceProperties: [{ id: 0, name: names[0] }], traceEvents: [thread, ...events] }));
