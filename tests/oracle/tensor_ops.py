"""Matrix products of known size against the level tensor.flops: for each product of
gemm_types.jsonl, a trace of that one kernel and its row of the counter report go through `gpufathom
analyze`; the level must be 2 M N K / (dense peak of the type * SM cycles).

    tensor_ops.py PRODUCTS.jsonl REPORT.csv.gz       (gpufathom on the PATH; prints a line a product)
"""
import csv
import gzip
import json
import subprocess
import sys
import tempfile

# Dense operations a cycle and SM of the H200, from its published rates (989.4 TFLOP/s bf16 at 132
# SMs and 1830 MHz), not from our table.
PEAK = {"fp64": 256, "tf32": 2048, "fp16": 4096, "bf16": 4096, "fp8": 8192, "int8": 8192}


def analyze(folder, header, units, row):
    at = dict(zip(header, row))
    with open(f"{folder}/one.csv", "w", newline="") as f:
        csv.writer(f, quoting=csv.QUOTE_ALL).writerows([header, units, row])
    dims = {k: [int(v) for v in at[f"{k.capitalize()} Size"].strip("()").split(",")]
            for k in ("grid", "block")}
    event = {"ph": "X", "cat": "kernel", "name": at["Kernel Name"], "pid": 0, "tid": 7, "ts": 1000,
             "dur": int(at["gpu__time_duration.sum"].replace(",", "")) / 1000,
             "args": {"device": 0, "stream": 7, "correlation": 1, **dims}}
    with open(f"{folder}/one.json", "w") as f:
        json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "computeMajor": 9,
                                         "computeMinor": 0, "numSms": 132}],
                   "traceEvents": [event]}, f)
    answer = subprocess.run(["gpufathom", "analyze", "one.json", "--counters", "one.csv",
                             "--format", "json"], cwd=folder, check=True,
                            capture_output=True).stdout
    return {level["id"]: level for level in json.loads(answer)["levels"]}, at


def main(products, report):
    rows = list(csv.reader(line for line in gzip.open(report, "rt") if not line.startswith("==")))
    header, units, kernels = rows[0], rows[1], rows[2:]
    wanted = [json.loads(line) for line in open(products)]
    assert len(wanted) == len(kernels), f"{len(wanted)} products, {len(kernels)} kernels"
    with tempfile.TemporaryDirectory() as folder:
        for product, row in zip(wanted, kernels):
            levels, at = analyze(folder, header, units, row)
            counted = sum(int(at[k].replace(",", "")) for k in header
                          if k.startswith("sm__ops_path_tensor") and k.endswith(".sum"))
            cycles = int(at["sm__cycles_elapsed.sum"].replace(",", ""))
            expected = product["operations"] / (PEAK[product["type"]] * cycles) if product["type"] in PEAK else 0
            operations = product["operations"] if product["type"] in PEAK else 0
            flops, active = levels["tensor.flops"]["value"], levels["tensor.active"]["value"]
            print(f"{product['type']} {product['m']}x{product['n']}x{product['k']}: operations {'equal' if counted == operations else counted}, "
                  f"flops {flops:.4f} {'equal' if abs(flops - expected) <= 1e-9 else expected}, active {active:.4f}")


main(*sys.argv[1:])
