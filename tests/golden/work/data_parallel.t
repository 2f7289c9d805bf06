nn.DataParallel: a batch of 256 is dealt out to three GPUs (86, 86, 84), and each replica's thread runs the forward pass
on its share. A step has 256 items, as it has on one GPU, and the programs are the same.

  $ cat > replicas.py <<'END'
  > import json
  > def trace(shares):
  >     events, now, number = [], 1000, 0
  >     def x(cat, name, where, ts, dur, **args):
  >         events.append({"ph": "X", "cat": cat, "name": name, "pid": where[0], "tid": where[1], "ts": ts, "dur": dur, "args": args})
  >     def call(thread, gpu, name, dims, types, ts, dur, **args):
  >         nonlocal number
  >         number += 1
  >         x("cpu_op", name, (7, thread), ts, 12, **{"Input Dims": dims, "Input type": types}, **args)
  >         x("cuda_runtime", "cudaLaunchKernel", (7, thread), ts + 3, 4, correlation=number)
  >         x("kernel", "ampere_sgemm_128x64_tn", (gpu, 7), ts + 20, dur, device=gpu, context=gpu + 1, stream=7, correlation=number)
  >     for step in range(8):
  >         begin = now
  >         if len(shares) > 1:
  >             x("cpu_op", "Scatter", (7, 7), now + 1, 10, **{"Input Dims": [[256, 512]], "Input type": ["float"]})
  >         for layer in range(4):
  >             for gpu, share in enumerate(shares):
  >                 call(7 if len(shares) == 1 else 100 * step + 50 + gpu, gpu, "aten::addmm", [[256], [share, 512], [512, 256 + layer], [], []],
  >                      ["float"] * 3 + ["Scalar"] * 2, now + 20 + 60 * layer, 10 + share // 8, **{"Sequence number": layer})
  >                 x("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", (7, 1000 + gpu), now + 299 + 60 * layer, 20, **{"Sequence number": 3 - layer, "Fwd thread id": 1 + gpu})
  >                 call(1000 + gpu, gpu, "aten::mm", [[512, share], [share, 256]], ["float"] * 2, now + 300 + 60 * layer, 10 + share // 8)
  >         now += 620
  >         x("user_annotation", f"ProfilerStep#{step}", (7, 7), begin, now - begin)
  >     return events
  > for name, shares in (("one", [256]), ("three", [86, 86, 84])):
  >     json.dump({"schemaVersion": 1, "deviceProperties": [{"id": i, "name": "NVIDIA H100", "numSms": 132} for i in range(len(shares))], "traceEvents": trace(shares)}, open(name + ".json", "w"))
  > END
  $ python3 replicas.py
  $ for name in one three; do gpufathom work $name.json | grep -A 2 'items per second'; done
    412 903 items per second (256 per step from its shapes), 2.103 MFLOP per item;
    items by the shapes of aten::addmm 256 * 256x512 * 512x256 (override with
    --batch N).
    412 903 items per second (256 per step from its shapes), 2.103 MFLOP per item;
    items by the shapes of aten::addmm 256 * 86x512 * 512x256, of 3 replicas
    together (override with --batch N).
  $ gpufathom compare one.json three.json | sed -n '/^  [AB] /p; /weights/p; /differ:/p'
    A  one.json    NVIDIA H100      8  620.0 us  2.422 us  1.00x
    B  three.json  NVIDIA H100      8  620.0 us  2.422 us  1.00x
