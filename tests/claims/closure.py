#!/usr/bin/env python3
"""Operations, tensor cycles and instructions of a kernel agree: closure.py GPUFATHOM

From the report of 21 matrix products, read here by itself: a kernel's operations are its tensor
cycles times what a tensor core does in one, all of it for wgmma and fp64, two thirds for int8 by
mma.sync. What has 2 cycles an instruction does no matrix operation. The program's levels of the
same kernels must have the same ratio.
"""
import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path

REPORT = Path(__file__).resolve().parents[2] / "examples/gemm_types.ncu.csv.gz"
# Dense operations of an SM in a cycle on Hopper (NVIDIA H100 white paper), by input type.
RATES = {"bf16_dst_fp32": 4096, "fp16": 4096, "tf32_dst_fp32": 2048, "fp8": 8192, "int8": 8192,
         "fp64": 256}
PIPES = 4  # tensor cores of an SM


def kernels():
    with gzip.open(REPORT, "rt", encoding="utf-8") as text:
        names, _, *rows = csv.reader(text)
    for row in rows:
        yield {name: value.replace(",", "") for name, value in zip(names, row)}


def main():
    told = json.loads(subprocess.run([sys.argv[1], "analyze", REPORT, "--format", "json"],
                                     check=True, capture_output=True, text=True).stdout)
    levels = {}
    for kernel in told["kernels"]:
        levels.setdefault(kernel["name"], []).append(
            {level["id"]: level["value"] for level in kernel["levels"]})
    faults, products = [], 0
    for kernel in kernels():
        cycles = float(kernel["sm__pipe_tensor_cycles_active.sum"])
        issued = float(kernel["sm__inst_executed_pipe_tensor.sum"])
        needed = sum(PIPES * float(kernel[f"sm__ops_path_tensor_src_{of}.sum"]) / rate
                     for of, rate in RATES.items())
        name = kernel["Kernel Name"]
        closes = 2 / 3 if "cutlass_80_tensorop_i16832" in name else 1
        if needed == 0:
            closes = 0
            if cycles != 2 * issued:
                faults.append(f"{name}: {cycles / issued} cycles an instruction without operations")
        else:
            products += 1
            if cycles < 3.5 * issued:
                faults.append(f"{name}: a product with {cycles / issued} cycles an instruction")
        if abs(needed / cycles - closes) > 1e-9:
            faults.append(f"{name}: operations take {needed / cycles:.4f} of the cycles")
    for name, alike in levels.items():
        for level in alike:
            if level.get("tensor.flops") and level.get("tensor.active"):
                ratio = level["tensor.flops"] / level["tensor.active"]
                if min(abs(ratio - 1), abs(ratio - 2 / 3)) > 1e-3:
                    faults.append(f"{name}: the program's levels have {ratio:.4f}")
    compared = sum(bool(level.get("tensor.flops")) for alike in levels.values() for level in alike)
    if products == 0 or compared == 0:
        faults.append("no product was compared")
    for fault in faults:
        print(fault)
    print(f"{products} products, {compared} with levels of the program, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
