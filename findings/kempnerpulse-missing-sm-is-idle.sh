#!/usr/bin/env bash
# Guess: KempnerPulse's Real Util and workload class are those of the GPU whichever of its backends reads DCGM, and a
# counter that the source lacks is left out of the weights or marked.
# So it is: SM_ACTIVE is not among the counters of dcgm-exporter's default list, and a missing counter is 0 % with its full
# weight of 0.35: a GPU in training, 72 % and "tensor-heavy compute" by dcgmi, is 41 % and "I/O or data-loading" by the
# exporter, and no GPU exceeds 65 %. "Memcpy", called host to device transfer, is NVML's memory utilization, so that
# decoding at 25 % of SMs and 80 % of DRAM, without a byte over PCIe, is "I/O or data-loading" by either.
# Why: the same job has another score on another backend, and one looks for a slow data loader where there is none.
# Versions: kempnerpulse 0.5.0. dcgmi and the exporter's text, with the fields of its etc/default-counters.csv, are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q kempnerpulse==0.5.0 rich==14.0.0
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import csv, importlib.metadata, subprocess, sys
from kempnerpulse.reader.dcgmi import DCGM_DMON_METRIC_NAMES
print("kempnerpulse", importlib.metadata.version("kempnerpulse"))
# Percent of SMs, tensor pipe, DRAM and graphics engine; NVML's busy time and memory utilization; bytes/s over PCIe.
WORK = {"training": (90, 60, 50, 99, 99, 45, 2e8), "decoding": (25, 10, 80, 99, 99, 75, 1e6), "full load": (100, 100, 100, 100, 100, 45, 0)}
RATIOS = "SM_ACTIVE", "PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE", "GR_ENGINE_ACTIVE"


def readings(work):
    *ratios, busy, memory, pcie = work
    return {f"DCGM_FI_PROF_{name}": value / 100 for name, value in zip(RATIOS, ratios)} | dict(
        DCGM_FI_DEV_GPU_UTIL=busy, DCGM_FI_DEV_MEM_COPY_UTIL=memory, DCGM_FI_PROF_PCIE_TX_BYTES=pcie, DCGM_FI_PROF_PCIE_RX_BYTES=pcie,
        DCGM_FI_DEV_POWER_USAGE=500, DCGM_FI_DEV_GPU_TEMP=60, DCGM_FI_DEV_FB_USED=40000, DCGM_FI_DEV_FB_FREE=40000, DCGM_FI_DEV_FB_RESERVED=1000)


def exported(*source):
    out = subprocess.run([sys.executable, "-m", "kempnerpulse", *source, "--show-all", "--once", "--export", "real_util_pct,sm_active_pct,status"],
                         capture_output=True, text=True, check=True).stdout
    row = list(csv.DictReader(out.splitlines()))[-1]
    return f"{float(row['real_util_pct']):.0f} % {row['status']}, SM active {row['sm_active_pct'] or 'empty'}"


for title, work in WORK.items():
    fields = readings(work)
    row = "GPU 0  " + "  ".join(str(fields.get(name, "N/A")) for name in DCGM_DMON_METRIC_NAMES)
    with open("dmon.txt", "w") as out:
        print("#Entity", *DCGM_DMON_METRIC_NAMES, row, row, sep="\n", file=out)
    for name, left_out in ("all.txt", ()), ("default.txt", ("DCGM_FI_PROF_SM_ACTIVE",)):
        with open(name, "w") as out:
            for field, value in fields.items():
                if field not in left_out:
                    print(f'# TYPE {field} gauge\n{field}{{gpu="0",UUID="GPU-0",modelName="NVIDIA H100 80GB HBM3"}} {value}', file=out)
    print(f"{title}: dcgmi {exported('--backend', 'replay', '--source', 'dmon.txt')};",
          f"exporter with SM_ACTIVE {exported('--backend', 'prometheus', '--source', 'all.txt')};",
          f"by default {exported('--backend', 'prometheus', '--source', 'default.txt')}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
kempnerpulse 0.5.0
training: dcgmi 72 % tensor-heavy compute, SM active 90.00; exporter with SM_ACTIVE 72 % tensor-heavy compute, SM active 90.00; by default 41 % I/O or data-loading, SM active empty
decoding: dcgmi 38 % I/O or data-loading, SM active 25.00; exporter with SM_ACTIVE 38 % I/O or data-loading, SM active 25.00; by default 29 % I/O or data-loading, SM active empty
full load: dcgmi 100 % tensor-heavy compute, SM active 100.00; exporter with SM_ACTIVE 100 % tensor-heavy compute, SM active 100.00; by default 65 % I/O or data-loading, SM active empty
END
