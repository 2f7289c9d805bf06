#!/usr/bin/env bash
# Guess: graphics() of systeminformation gives utilizationGpu of each NVIDIA card, 0 for an idle one, and leaves out what
# nvidia-smi has not.
# So it is: 0 is left out like N/A: an idle card has no utilizationGpu, utilizationMemory or memoryUsed. Of eight cards, one
# of them busy, the sum is NaN and the mean of those that report is 90 %; a card in MIG mode, whose load nobody knows, looks
# the same as an idle one. fanSpeed and powerDraw of 0 vanish likewise.
# Why: a chart of a server's load skips exactly the times and cards that are idle, so that its mean is too high.
# Versions: systeminformation 5.33.26 (Node 20 or later). lspci and nvidia-smi are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund systeminformation@5.33.26
mkdir bin
cat >bin/lspci <<'SH'
#!/bin/sh
for card in 0 1 2 3 4 5 6 7; do
    printf '%s1:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)\n\tSubsystem: NVIDIA Corporation Device 16c1\n\n' "$card"
done
SH
cat >bin/nvidia-smi <<'SH'
#!/bin/sh
for card in 0 1 2 3 4 5 6 7; do
    load=0 memory=0 used=0
    [ "$card" = 3 ] && load=90 memory=40 used=70000
    [ "$card" = 7 ] && load='[N/A]' memory='[N/A]' used=70000
    echo "580.95.05, 0x16C110DE, NVIDIA H100 80GB HBM3, 00000000:${card}1:00.0, [N/A], 81559, $used, $((81079 - used)), $load, $memory, 30, 40, 70.12, 700.00, 1980, 2619"
done
SH
chmod +x bin/*
cat >show.mjs <<'JS'
import {readFileSync} from 'node:fs'
import si from 'systeminformation'
console.log('systeminformation', JSON.parse(readFileSync('node_modules/systeminformation/package.json')).version)
const cards = (await si.graphics()).controllers
for (const index of [0, 3, 7]) {
  const {utilizationGpu, utilizationMemory, memoryUsed, memoryFree, powerDraw} = cards[index]
  console.log('card', index, {utilizationGpu, utilizationMemory, memoryUsed, memoryFree, powerDraw})
}
const loads = cards.map(card => card.utilizationGpu), known = loads.filter(load => load !== undefined)
console.log(cards.length, 'cards, sum', loads.reduce((sum, load) => sum + load), 'mean of those that report', known.reduce((sum, load) => sum + load) / known.length)
JS
PATH="$tmp/bin:$PATH" node show.mjs >seen
cat seen
diff seen - <<'END'
systeminformation 5.33.26
card 0 {
  utilizationGpu: undefined,
  utilizationMemory: undefined,
  memoryUsed: undefined,
  memoryFree: 81079,
  powerDraw: 70.12
}
card 3 {
  utilizationGpu: 90,
  utilizationMemory: 40,
  memoryUsed: 70000,
  memoryFree: 11079,
  powerDraw: 70.12
}
card 7 {
  utilizationGpu: undefined,
  utilizationMemory: undefined,
  memoryUsed: 70000,
  memoryFree: 11079,
  powerDraw: 70.12
}
8 cards, sum NaN mean of those that report 90
END
