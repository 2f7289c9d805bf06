What holds memory at the peak of a profile (profile_memory=True), here of the CPU's allocator, which is none of a device:

  $ gpufathom work "$TESTDIR/../../work/captures/convnet.json.gz" --format json | jq -c '.memory'
  []

A memory snapshot, as torch.cuda.memory._dump_snapshot() writes it: two segments, one block freed, a history of three entries.

  $ cat > snapshot.py <<'PY'
  > import pickle
  > def frames(*lines): return [{"filename": f, "line": l, "name": n} for f, l, n in lines]
  > weights = frames(("linear.py", 12, "__init__"), ("train.py", 3, "<module>"))
  > hidden = frames(("model.py", 40, "forward"), ("train.py", 9, "step"))
  > def block(address, size, state, frames): return {"address": address, "size": size, "requested_size": size - 12, "state": state, "frames": frames}
  > segments = [{"device": 0, "address": 4096, "total_size": 2097152, "blocks": [block(4096, 1048576, "active_allocated", weights), block(1052672, 1048576, "inactive", [])]},
  >             {"device": 0, "address": 1 << 40, "total_size": 4194304, "blocks": [block(1 << 40, 4194304, "active_allocated", hidden)]}]
  > def entry(action, address, size, time, frames): return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time, "frames": frames}
  > trace = [entry("alloc", 1052672, 1048576, 1000, hidden), entry("segment_alloc", 1 << 40, 4194304, 1500, []), entry("alloc", 1 << 40, 4194304, 1500, hidden),
  >          entry("free_completed", 1052672, 1048576, 2000, [])]
  > pickle.dump({"segments": segments, "device_traces": [trace], "allocator_settings": {}}, open("snapshot.pickle", "wb"))
  > class Evil:
  >     def __reduce__(self): return print, ("carried out",)
  > pickle.dump({"segments": Evil()}, open("evil.pickle", "wb"))
  > PY
  $ python3 snapshot.py
  $ gpufathom work snapshot.pickle --format json | jq -c '.memory[] | [.source, .peak_allocated, .peak_reserved, .holders, .activations], .over_time[]'
  ["snapshot",6291456,6291456,[{"kind":"activations","name":"","bytes":5242880,"blocks":2},{"kind":"parameters","name":"","bytes":1048576,"blocks":1}],[{"kind":"activations","name":"model.py:40 forward","bytes":5242880,"blocks":2}]]
  {"ns":0,"allocated":1048576,"reserved":2097152,"used":null}
  {"ns":0,"allocated":2097152,"reserved":2097152,"used":null}
  {"ns":500000,"allocated":6291456,"reserved":6291456,"used":null}
  {"ns":1000000,"allocated":5242880,"reserved":6291456,"used":null}
  $ gpufathom work snapshot.pickle | head -4
  snapshot.pickle                                          whole capture, 1.000 ms
  
  Memory
    Memory of device 0: 6.3 MB allocated at most, 6.3 MB reserved: activations

A snapshot without times (PyTorch until 2.1): 200 MiB lay there before the history, which takes 100, 1000 and 50 MiB and gives 1000 back. Their order is the time; at the peak 209.7 MB are from before and 1 206 MB of the history. The same with times.

  $ cat > untimed.py <<'PY'
  > import pickle
  > frames = [{"filename": "train.py", "line": 10, "name": "forward"}]
  > def segment(address, mib, state): return {"device": 0, "address": address, "total_size": mib << 20, "blocks": [{"address": address, "size": mib << 20, "state": state}]}
  > segments = [segment(1 << 24, 200, "active_allocated"), segment(1 << 28, 100, "active_allocated"), segment(1 << 29, 1000, "inactive"), segment(1 << 32, 50, "active_allocated")]
  > history = [("alloc", 1 << 28, 100), ("alloc", 1 << 29, 1000), ("alloc", 1 << 32, 50), ("free_requested", 1 << 29, 1000), ("free_completed", 1 << 29, 1000)]
  > for name, timed in ("untimed", False), ("timed", True):
  >     entries = [{"action": action, "addr": address, "size": mib << 20, "stream": 0, "frames": frames, **({"time_us": 1700000000000000 + 1000 * i} if timed else {})} for i, (action, address, mib) in enumerate(history)]
  >     pickle.dump({"segments": segments, "device_traces": [entries]}, open(name + ".pickle", "wb"))
  > PY
  $ python3 untimed.py
  $ for kind in untimed timed; do gpufathom work $kind.pickle --format json | jq -c '.memory[] | [.peak_allocated, (.holders[] | .kind, .bytes)]'; done
  [1415577600,"activations",1205862400,"before",209715200]
  [1415577600,"activations",1205862400,"before",209715200]

It contains no kernels, so what analyzes those says what it is and who reads it.

  $ gpufathom analyze snapshot.pickle
  gpufathom: snapshot.pickle: no GPU activity: there is nothing to analyze (a memory snapshot contains allocations and no kernels: `gpufathom work FILE` reports what holds the memory)
  [1]

Nothing in it is carried out.

  $ gpufathom work evil.pickle
  gpufathom: evil.pickle: byte 43: is a pickle that asks for more than plain data (operation 0x93), which is not carried out (give the file of torch.cuda.memory._dump_snapshot())
  [1]
  $ head -c 300 snapshot.pickle > cut.pickle; gpufathom work cut.pickle
  gpufathom: cut.pickle: byte 300: is a damaged pickle (write the snapshot again; it may have been cut)
  [1]

The batch that would fit rests on memory growing in proportion. On an H200 it did: from two batches the largest that was run, 4 to 16 times as large, is foretold within 0.3 %.

  $ jq -c '[.rows[] | select(.framework == "pytorch" and .mode == "eager" and .precision == "amp" and .memory_bytes)] | group_by(.model)[] | sort_by(.batch) | (map(select(.batch as $batch | [64, 128, 65536, 262144] | index($batch)))[-2:]) as [$small, $middle] | .[-1] as $large | [$large.model, $small.batch, $middle.batch, $large.batch, ((($middle.memory_bytes + ($middle.memory_bytes - $small.memory_bytes) / ($middle.batch - $small.batch) * ($large.batch - $middle.batch)) / $large.memory_bytes - 1) * 1e4 | round / 100 + 0)]' "$ROOT/docs/results/utilization_h200.json"
  ["bert",64,128,1024,0.22]
  ["dlrm",65536,262144,4194304,0]
  ["dlrm_sparse",65536,262144,524288,0.02]
  ["resnet50",64,128,2048,0.28]

PyTorch until 2021 wrote no addresses: which block is given back is not known, so that only the sum is told.

  $ cat > old.py <<'END'
  > import json
  > memory = lambda ts, bytes, **args: {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": {"Device Type": 1, "Device Id": 0, "Bytes": bytes, **args}}
  > work = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 100, "dur": 80, "args": {}},
  >         {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 110, "dur": 90, "args": {"device": 0, "stream": 7}}]
  > taken = [memory(110 + i, 1 << 20) for i in range(8)] + [memory(190 + i, -(1 << 20)) for i in range(8)]
  > json.dump({"traceEvents": work + taken}, open("old.json", "w"))
  > # A block whose end was not recorded ends at the latest where its address is taken again.
  > again = [memory(110 + i, 1 << 20, Addr=4096) for i in range(8)] + [memory(190, -(1 << 20), Addr=4096)]
  > json.dump({"traceEvents": work + again}, open("again.json", "w"))
  > END
  $ python3 old.py
  $ for name in old again; do gpufathom work $name.json --json | jq -c '.memory[0] | [.peak_allocated, .growing, [.holders[] | [.kind, .bytes]]]'; done
  [8388608,null,[]]
  [1048576,1048576,[["activations",1048576]]]
