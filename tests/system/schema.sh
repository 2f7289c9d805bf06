#!/usr/bin/env bash
# The answer of `analyze` about every example (and every trace of the corpus, when there is one) holds to docs/analysis.schema.json.
# Usage: schema.sh BUILD_DIR. Exit 77: no Python with jsonschema (Debian: python3-jsonschema).
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
for python in python3 /usr/bin/python3 ''; do
  [ -n "$python" ] || { echo "no Python with jsonschema: install python3-jsonschema"; exit 77; }
  "$python" -c 'import jsonschema' 2>/dev/null && break
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for archive in "$root"/examples/*.tgz; do
  name=$(basename "$archive" .tgz)
  mkdir "$work/$name" && tar -xzf "$archive" -C "$work/$name"
done
answer() { "$build/gpufathom" analyze "$2" "${@:3}" --format json -o "$work/$1.json" 2>/dev/null || [ -s "$work/$1.json" ]; }  # 1: not whole, but an answer

places=("$root/examples" "$work")
[ -z "${GPUFATHOM_CORPUS:-}" ] || places+=("$GPUFATHOM_CORPUS/public")
find "${places[@]}" \( -name '*.json.gz' -o -name '*.xplane.pb' -o -name '*.sqlite' \) ! -name '*cpu_only*' | sort > "$work/captures"
count=0
while read -r capture; do answer "$((count += 1))" "$capture" || { echo "no answer about $capture"; exit 1; }; done < "$work/captures"
answer counters "$root/examples/resnet50_amp_eager_b64.json.gz" --counters "$root/examples/resnet50_amp_eager_b64.ncu.csv.gz" --window steps --batch 64 --power "$root/examples/power_mixed.csv.gz"
answer recording "$root/examples/resnet50_recorded.gpf"
answer log "$root/examples/power_mixed.csv.gz"
answer report "$root/examples/lenet_train_b64.json.gz" --counters "$root/examples/lenet_train_b64.ncu-rep.gz"

"$python" - "$root/docs/analysis.schema.json" "$work"/*.json <<'PYTHON'
import copy, json, sys
from jsonschema import Draft202012Validator
schema = json.load(open(sys.argv[1], encoding="utf-8"))
Draft202012Validator.check_schema(schema)
validator, bad = Draft202012Validator(schema), 0
answers = [json.load(open(path, encoding="utf-8")) for path in sys.argv[2:]]
for answer in answers:
    for error in list(validator.iter_errors(answer))[:5]:
        bad += 1
        print(f"{answer['source']['path']}: {'/'.join(map(str, error.path))}: {error.message[:200]}")
# Keys that the schema does not know are keys that it does not promise.
def unknown(value, part, at):
    part = next((p for p in part.get("anyOf", part.get("oneOf", [])) if "properties" in p or "items" in p), part)
    if isinstance(value, list):
        for item in value:
            yield from unknown(item, part.get("items", {}), at + "[]")
    elif isinstance(value, dict):
        known = part.get("properties", {})
        for key in value:
            if key not in known:
                yield f"{at}.{key}"
            else:
                yield from unknown(value[key], known[key], f"{at}.{key}")
for name in sorted({n for answer in answers for n in unknown(answer, schema, "")}):
    bad += 1
    print(f"not in the schema: {name}")
# The check itself must be able to fail.
broken = copy.deepcopy(answers[0])
del broken["devices"]
broken["window"]["start_ns"] = "soon"
if len(list(validator.iter_errors(broken))) < 2:
    bad += 1
    print("a broken answer passes")
print(f"{len(answers)} answers")
sys.exit(bad > 0)
PYTHON
