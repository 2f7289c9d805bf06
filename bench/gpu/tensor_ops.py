"""Matrix products of known size, one of every input type of the tensor cores: under Nsight Compute,
their counted operations must equal 2 M N K.

Run by bench/gpu/tensor_ops.sh. Prints one JSON line a product, in launch order: type, m, n, k,
operations. All sizes are multiples of 256, so that no tile hangs over an edge.
"""
import json

import torch

SIZES = [(1024, 1024, 1024), (4096, 2048, 1024), (4096, 4096, 4096)]


def product(kind, m, n, k):
    """A function that multiplies an m x k by a k x n matrix with the given input type."""
    if kind in ("fp8", "int8"):
        if kind == "int8":
            a, b = (torch.randint(-9, 9, s, dtype=torch.int8, device="cuda")
                    for s in ((m, k), (n, k)))
            return lambda: torch._int_mm(a, b.t())
        a, b = (torch.randn(s, device="cuda").to(torch.float8_e4m3fn) for s in ((m, k), (n, k)))
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one,
                                        out_dtype=torch.bfloat16)
    dtype = {"fp64": torch.float64, "tf32": torch.float32, "fp32": torch.float32,
             "fp16": torch.float16, "bf16": torch.bfloat16}[kind]
    a, b = torch.randn(m, k, device="cuda",
                       dtype=dtype), torch.randn(k, n, device="cuda", dtype=dtype)
    return lambda: a @ b


for kind in ("fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp64"):
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    for m, n, k in SIZES:
        run = product(kind, m, n, k)
        for _ in range(2):
            run()  # chooses the kernel
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        run()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        print(json.dumps({"type": kind, "m": m, "n": n, "k": k, "operations": 2 * m * n * k}),
              flush=True)
