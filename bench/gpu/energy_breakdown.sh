#!/usr/bin/env bash
# Energy breakdown of a ResNet-50 training step and of single kernels (figures 5.12 and 5.11 of the thesis).
#   energy_breakdown.sh record PROGRAM OUT_DIR [SECONDS]   on a machine with a GPU and PyTorch: OUT_DIR/*.gpf, items.jsonl
#   energy_breakdown.sh answer PROGRAM OUT_DIR             anywhere: the answers of `gpufathom energy` beside them
# Every part stands alone, so that one that fails does not take the others with it.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
what=$1 gf=$(cd "$(dirname "$2")" && pwd)/$(basename "$2") out=$3 seconds=${4:-8}
mkdir -p "$out"; cd "$out"
say() { echo "== $* ($(date +%T))"; }
cases="amp.eager fp32.eager amp.compile fp32.compile"
if [ "$what" = record ]; then
  say single kernels
  timeout 100 "$gf" record -q --metrics energy -o items.gpf --summary items.summary.json -- \
    python3 "$here/energy_breakdown.py" items 1.2 items.jsonl '^matmul_(fp32|bf16)|softmax|layer_norm|copy_fp32_1GiB|embedding|attention|gelu|^conv' || echo "items failed"
  for case in $cases; do
    say resnet50 "$case"
    timeout 120 "$gf" record -q --kernels --window 0 --metrics energy -o "$case.gpf" --summary "$case.summary.json" -- \
      python3 "$here/energy_breakdown.py" resnet "${case%.*}" "${case#*.}" 512 "$seconds" >"$case.run.json" || echo "$case failed"
    tail -1 "$case.run.json"
  done
  for f in *.summary.json; do echo "$f $(jq -c '[.exit_code, .kernels, .steps, .devices[0].source, .devices[0].samples, .devices[0].lost, .notes]' "$f")"; done
  ls -la
else
  while read -r line; do
    name=$(jq -r .name <<<"$line") window=$(jq -r '"\(.start_ns):\(.end_ns)"' <<<"$line")
    "$gf" energy items.gpf --window "$window" -o "item.$name.json" 2>/dev/null
    [ -s "item.$name.json" ] || echo "energy of $name failed"
  done <items.jsonl
  for case in $cases; do
    [ -e "$case.gpf" ] || continue
    "$gf" energy "$case.gpf" --window steps --batch 512 --rows 40 -o "resnet.$case.json" 2>/dev/null
    [ -s "resnet.$case.json" ] || echo "energy of $case failed"
  done
  # One file of the answers: joules, and by component their share and interval.
  part='{component, joules: (.nj / 1e9 | . * 1000 | round / 1000), low: (.low_nj / 1e6 | round / 1000), high: (.high_nj / 1e6 | round / 1000)}'
  for case in $cases; do
    [ -e "resnet.$case.json" ] && jq --arg case "$case" "{name: (\"resnet50.\" + \$case), model: (.energy.model | split(\"/\") | last), model_date: .energy.model_date} +
      (.energy.devices[0] | {seconds: (.span_ns / 1e9), joules: (.nj / 1e9), watts: .mean_watts, sm_mhz, celsius, coverage, step, parts: [.parts[] | $part],
        layer_types: [.layer_types[] | select(.share > 0.001) | {name, seconds: (.ns / 1e9), joules: (.nj / 1e9), parts: [.parts[] | {component, joules: (.nj / 1e6 | round / 1000)}]}], warnings: [.warnings[].code]})" "resnet.$case.json"
  done >breakdown.list
  while read -r line; do
    name=$(jq -r .name <<<"$line") calls=$(jq -r .calls <<<"$line")
    [ -e "item.$name.json" ] && jq --arg name "$name" --argjson calls "$calls" "{name: \$name, calls: \$calls} +
      (.energy.devices[0] | {seconds: (.span_ns / 1e9), joules: (.nj / 1e9), watts: .mean_watts, sm_mhz, coverage, joules_per_call: (.nj / 1e9 / \$calls), parts: [.parts[] | $part], warnings: [.warnings[].code]})" "item.$name.json"
  done <items.jsonl >>breakdown.list
  jq -s . breakdown.list >breakdown.json && rm breakdown.list
  # Shares in %: static, compute (issue, pipes, tensor cores), shared memory and L1, L2, DRAM, the rest; and the data movement's share of what is not static.
  jq -r 'def sum(f): ([.parts[] | select(.component | test(f)) | .joules] | add // 0);
    def percent(x; y): x / y * 1000 | round / 10;
    .[] | [.name, (.watts | round), (.sm_mhz | round), (.step.joules // .joules_per_call | . * 10000 | round / 10000), percent(sum("^static|^active"); .joules), percent(sum("^instr|^pipe|^tensor"); .joules),
      percent(sum("^shared|^l1"); .joules), percent(sum("^l2"); .joules), percent(sum("^dram"); .joules), percent(sum("^rest"); .joules),
      percent(sum("^shared|^l1|^l2|^dram"); .joules - sum("^static|^active"))] | @tsv' breakdown.json
fi
say done
