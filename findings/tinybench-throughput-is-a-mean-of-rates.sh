#!/usr/bin/env bash
# Guess: the mean throughput of tinybench is calls over time, which is one over its mean latency.
# So it is: it is the mean of one over each latency, in which a slow call counts almost nothing. Calls of which every
# tenth takes 91 ms and the others 1 ms, 10 ms in the mean, are 901 a second and not 100, with a margin of 6.6 per
# cent. It is right only if all calls take the same time.
# Why: an inference that stalls now and then (a garbage collection, a copy, a new shape) looks 9 times as fast.
# Versions: tinybench 6.2.5 (Node 20 or later).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund tinybench@6.2.5
cat >bench.mjs <<'JS'
import {readFileSync} from 'node:fs'
import {Bench} from 'tinybench'
console.log('tinybench', JSON.parse(readFileSync('node_modules/tinybench/package.json')).version)
for (const [title, slow, fast] of [['even', 10, 10], ['every tenth 28 ms', 28, 8], ['every tenth 91 ms', 91, 1]]) {
  let clock = 0, call = 0
  const bench = new Bench({now: () => clock, time: 0, iterations: 100, warmup: false})
  bench.add(title, () => { clock += ++call % 10 ? fast : slow })
  await bench.run()
  const {latency, throughput} = bench.tasks[0].result
  console.log(title + ':', latency.samplesCount, 'calls of', latency.mean.toFixed(1), 'ms in the mean, throughput',
              throughput.mean.toFixed(1), 'margin', throughput.rme.toFixed(1) + '%, true', (1000 / latency.mean).toFixed(1))
}
JS
node bench.mjs >seen
cat seen
diff seen - <<'END'
tinybench 6.2.5
even: 100 calls of 10.0 ms in the mean, throughput 100.0 margin 0.0%, true 100.0
every tenth 28 ms: 100 calls of 10.0 ms in the mean, throughput 116.1 margin 4.6%, true 100.0
every tenth 91 ms: 100 calls of 10.0 ms in the mean, throughput 901.1 margin 6.6%, true 100.0
END
