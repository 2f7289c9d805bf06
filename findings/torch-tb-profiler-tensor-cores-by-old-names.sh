#!/usr/bin/env bash
# Guess: torch-tb-profiler's "Tensor Cores Used" says Yes for a Hopper card's matrix products in half precision and No for
# those in float32 on the ordinary cores.
# So it is: it looks for parts of names of Ampere's time. cuBLAS' nvjet kernels are No, and its
# float32 kernels named xmma_gemm and ffma are Yes: time that is all on Tensor Cores is 0 per cent, time that
# never touches them 100.
# Why: mixed precision looks off where it works, and on where it was forgotten.
# Versions: torch-tb-profiler 0.4.3, pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q pandas==3.1.1 numpy==2.4.6
"$tmp/venv/bin/pip" install -q --no-deps torch-tb-profiler==0.4.3
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import importlib.metadata, json
import numpy, pandas
from torch_tb_profiler.profiler.data import RunProfileData
print("torch-tb-profiler", importlib.metadata.version("torch-tb-profiler"), "pandas", pandas.__version__, "numpy", numpy.__version__)
SHOULD = {
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn": True,
    "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT": True,
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas": False,
    "ampere_sgemm_128x64_tn": False,
}
for name, on_tensor_cores in SHOULD.items():
    ids = {"External id": 1}
    kernel = ids | {"device": 0, "context": 1, "stream": 7, "correlation": 1, "blocks per SM": 1.0, "warps per SM": 8.0,
                    "est. achieved occupancy %": 50,
                    "grid": [132, 1, 1], "block": [256, 1, 1], "registers per thread": 128,
                    "shared memory": 0}
    trace = [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 900, "args": {}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 100, "dur": 50, "args": ids},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 110, "dur": 10,
         "args": ids | {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 200, "dur": 500, "args": kernel}]
    with open("worker.pt.trace.json", "w") as out:
        json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": trace}, out)
    of = RunProfileData.parse("worker", "span", "worker.pt.trace.json", ".")
    yes = {True: "Yes", False: "No"}
    print(name[:46], "- should be", yes[on_tensor_cores], "is", yes[bool(of.kernel_stat["tc_used"].iloc[0])], "time using Tensor Cores",
          f"{100 * of.tc_used_ratio:.0f}%")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
torch-tb-profiler 0.4.3 pandas 3.1.1 numpy 2.4.6
ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_s - should be Yes is Yes time using Tensor Cores 100%
nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT - should be Yes is No time using Tensor Cores 0%
sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize - should be No is Yes time using Tensor Cores 100%
ampere_sgemm_128x64_tn - should be No is No time using Tensor Cores 0%
END
