#!/usr/bin/env bash
# Guess: msprof-analyze compares GPU traces by what the GPU does: a matrix product is "Cube" time (tensor cores), an
# elementwise kernel "Vector", a copy "SDMA", and what is left is free.
# So it is: Cube is a kernel whose name holds gemm, conv, cutlass, wgrad or gemvx. cuBLAS' kernels for Hopper (nvjet) are
# "Matmul (Vector)", of a CUDA graph or compiled code plain "Vector"; what torch.compile fuses after a convolution is "Cube"
# by its name. Copies count in the stream with most kernels only: in a stream of their own 0.4 ms are 0 and free time is
# 0.79 ms, not 0.39.
# Why: a comparison of cards, or of eager with compiled, shows matrix products that moved to the vector units.
# Versions: msprof-analyze 26.2.0, openpyxl 3.1.5.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q msprof-analyze==26.2.0 openpyxl==3.1.5
cd "$tmp"
HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import glob, importlib.metadata, json, os, subprocess, sys, openpyxl
print("msprof-analyze", importlib.metadata.version("msprof-analyze"))
AMPERE, HOPPER = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NNT"
EAGER = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, ...)"
COMPILED = "triton_poi_fused_convolution_relu_0"


# Ten rounds of a matrix product of 100 us, an elementwise kernel of 50, NCCL of 50 and a copy of 40.
def trace(path, product, product_op, pointwise, pointwise_op, copy_stream):
    events, now, number = [dict(ph="M", name="process_name", pid=0, tid=0, args=dict(name="python"))], 1000, 0
    for _ in range(10):
        for name, stream, length, op in ((product, 7, 100, product_op), (pointwise, 7, 50, pointwise_op),
                                         ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 50, None), ("Memcpy HtoD (Pinned -> Device)", copy_stream, 40, None)):
            number += 1
            launch, link = now - 5, dict(id=number, cat="ac2g", name="ac2g")
            events += [dict(ph="X", cat="gpu_memcpy" if name.startswith("Memcpy") else "kernel", name=name, pid=0, tid=stream, ts=now, dur=length,
                            args=dict(device=0, stream=stream, correlation=number)),
                       dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=launch, dur=2, args=dict(correlation=number)),
                       link | dict(ph="s", pid=1, tid=1, ts=launch), link | dict(ph="f", bp="e", pid=0, tid=stream, ts=now)]
            if op:
                events.append(dict(ph="X", cat="cpu_op", name=op, pid=1, tid=1, ts=launch - 2, dur=6, args={}))
            now += length + 10
    with open(path, "w") as out:
        json.dump(dict(schemaVersion=1, deviceProperties=[dict(id=0)], traceEvents=events), out)


cases = {"ampere": (AMPERE, "aten::mm", EAGER, "aten::add", 7), "hopper": (HOPPER, "aten::mm", EAGER, "aten::add", 7),
         "hopper, graph, compiled": (HOPPER, None, COMPILED, None, 7), "ampere, copies in a stream": (AMPERE, "aten::mm", EAGER, "aten::add", 24)}
for index, case in enumerate(cases.values()):
    trace(f"{index}.json", *case)
tool = os.path.join(os.path.dirname(sys.executable), "msprof-analyze")
for index, title in enumerate(cases):
    folder = f"out{index}"
    subprocess.run([tool, "compare", "-d", f"{index}.json", "-bp", "0.json", "-o", folder, "--enable_profiling_compare"], stdout=sys.stderr, check=True)
    sheet = openpyxl.load_workbook(glob.glob(folder + "/*.xlsx")[0])["OverallMetrics"]
    rows = {row[0].strip(): row[4] for row in sheet.iter_rows(values_only=True) if row[0]}
    print(f"{title}:", ", ".join(f"{name} {rows[name]:g}" for name in ("Computing Time", "Matmul (Cube)", "Matmul (Vector)", "Vector", "Cube", "SDMA", "Free", "E2E Time")
                                 if rows.get(name)), "ms")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
msprof-analyze 26.2.0
ampere: Computing Time 1.5, Matmul (Cube) 1, Vector 0.5, SDMA 0.4, Free 0.39, E2E Time 2.79 ms
hopper: Computing Time 1.5, Matmul (Vector) 1, Vector 0.5, SDMA 0.4, Free 0.39, E2E Time 2.79 ms
hopper, graph, compiled: Computing Time 1.5, Vector 1, Cube 0.5, SDMA 0.4, Free 0.39, E2E Time 2.79 ms
ampere, copies in a stream: Computing Time 1.5, Matmul (Cube) 1, Vector 0.5, Free 0.79, E2E Time 2.79 ms
END
