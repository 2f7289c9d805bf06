#!/usr/bin/env bash
# The Perfetto export read with Perfetto's own message types (PyPI's perfetto): every field is one that they know, every slice of the
# capture is there, begins and ends pair up, counters are those of the answer. Perfetto's trace processor itself is a download of its
# own and not used here. Usage: perfetto.sh BUILD_DIR. Exit 77: not installed.
set -euo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
python=$root/.cache/perfetto/bin/python
"$python" -c 'import perfetto' 2>/dev/null || { echo "PyPI's perfetto is not installed: ./dev setup"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$root/examples/tf_lenet_eager.tgz" -C "$work"
tar -xzf "$root/examples/jax_mlp.tgz" -C "$work"
one() {  # NAME ARGUMENTS
  "$build/gpufathom" export "${@:2}" --perfetto -o "$work/$1.pftrace"
  "$build/gpufathom" analyze "${@:2}" --format json -o "$work/$1.json" 2>/dev/null || [ -s "$work/$1.json" ]
  "$build/gpufathom" query "$2" "select (select count(*) from host_ops) + (select count(*) from api_calls) host, (select count(*) from activities) device" --format json > "$work/$1.count"
}
one torch "$root/examples/resnet50_amp_eager_b64.json.gz" --counters "$root/examples/resnet50_amp_eager_b64.ncu.csv.gz"
one tensorflow "$work/lenet5_async_b1"
one jax "$work/plugins"
"$python" - "$work"/*.pftrace <<'PYTHON'
import collections, json, pathlib, sys
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

def unknown(message):
    found = [field.field_number for field in UnknownFieldSet(message)]
    for _, value in message.ListFields():
        for part in (value if hasattr(value, "__len__") and not isinstance(value, (str, bytes)) else [value]):
            if hasattr(part, "ListFields"):
                found += unknown(part)
    return found

bad = 0
def check(condition, what):
    global bad
    if not condition:
        bad += 1
        print("FAILED", what)

for path in map(pathlib.Path, sys.argv[1:]):
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    answer, counts = (json.loads(path.with_suffix(s).read_text()) for s in (".json", ".count"))
    host, device = (counts["rows"][0][counts["columns"].index(c)] for c in ("host", "device"))
    check(not unknown(trace), f"{path.name}: fields that Perfetto does not know: {sorted(set(unknown(trace)))}")
    tracks, open_slices, slices, values, last = {}, collections.Counter(), collections.Counter(), collections.defaultdict(list), {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        track = tracks.get(event.track_uuid)
        check(track is not None, f"{path.name}: an event of a track that is not described before it")
        check(packet.timestamp >= last.get(event.track_uuid, 0), f"{path.name}: events of a track out of order")
        last[event.track_uuid] = packet.timestamp
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            open_slices[event.track_uuid] += 1
            slices[track.name] += 1
        elif event.type == TrackEvent.TYPE_SLICE_END:
            open_slices[event.track_uuid] -= 1
            check(open_slices[event.track_uuid] >= 0, f"{path.name}: an end without a begin")
        elif event.type == TrackEvent.TYPE_COUNTER:
            values[track.name].append(event.double_counter_value if event.HasField("double_counter_value") else event.counter_value)
    check(not any(open_slices.values()), f"{path.name}: slices without an end")
    check(all(d.parent_uuid == 0 or d.parent_uuid in tracks for d in tracks.values()), f"{path.name}: a parent that is no track")
    pieces = slices["idle, by cause"] + slices["steps"]
    check(sum(slices.values()) - pieces == host + device, f"{path.name}: {sum(slices.values()) - pieces} slices of {host + device} events")
    for queue in answer["runtime"]["queues"]:
        depth = values.get(f"{queue['id']} queue", [])
        check((max(depth, default=0), min(depth, default=0)) == (queue["max_depth"], 0) and (not depth or depth[-1] == 0), f"{path.name}: counter of queue {queue['id']}")
    print(f"{path.stem}: {sum(slices.values())} slices on {len(tracks)} tracks, {sum(map(len, values.values()))} values of {len(values)} counters")
sys.exit(bad > 0)
PYTHON
