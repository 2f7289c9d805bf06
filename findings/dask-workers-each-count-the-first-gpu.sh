#!/usr/bin/env bash
# Guess: the GPU page of Dask's dashboard sums over the GPUs of the cluster: each once, and all that the workers use.
# So it is: each worker reports one GPU, the first that it sees, and the page adds up the workers. Four workers on one card
# with 60 of 80 GB in use are "223.52 GiB / 298.02 GiB"; one worker
# on eight cards is its first, 1 % busy where the others are at 99, and so is one that may use cards 5 and 6 (5 alone). A
# worker with CUDA_VISIBLE_DEVICES="", which may use none, reports card 0. A load that NVML has not, as in MIG mode, is 0 %.
# Why: memory that nobody has is planned with, and a worker with several busy GPUs looks idle.
# Versions: distributed 2026.8.0, bokeh 3.9.2, nvidia-ml-py 13.615.71. NVML is stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q distributed==2026.8.0 dask==2026.8.0 bokeh==3.9.2 nvidia-ml-py==13.615.71
cd "$tmp"
HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import os, types, distributed, pynvml
from distributed import LocalCluster
from distributed.dashboard.components.nvml import GPUCurrentLoad
from distributed.diagnostics import nvml
print("distributed", distributed.__version__)


def load(card):
    if cards[card] is None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
    return types.SimpleNamespace(gpu=cards[card])


pynvml.nvmlInit = lambda: None
pynvml.nvmlDeviceGetCount = lambda: len(cards)
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetMemoryInfo = lambda card: types.SimpleNamespace(used=60 * 10**9, total=80 * 10**9)
pynvml.nvmlDeviceGetUtilizationRates = load
pynvml.nvmlDeviceGetName = lambda card: "NVIDIA H100 80GB HBM3"
for title, busy, workers, visible in (("one card", [99], 1, None), ("one card, four workers", [99], 4, None), ("eight cards", [1] + 7 * [99], 1, None),
                                      ("cards 5 and 6 of eight", 5 * [1] + [50, 99, 1], 1, "5,6"), ("none of eight", [99] + 7 * [1], 1, ""),
                                      ("one card in MIG mode", [None], 1, None)):
    cards = busy
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    if visible is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible
    nvml.NVML_STATE = nvml.NVMLState.UNINITIALIZED
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        page = GPUCurrentLoad(cluster.scheduler)
        page.update()
        print(f"{title}: {page.memory_figure.title.text}, load {list(page.source.data['utilization'])}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
distributed 2026.8.0
one card: GPU Memory: 55.88 GiB / 74.51 GiB, load [99]
one card, four workers: GPU Memory: 223.52 GiB / 298.02 GiB, load [99, 99, 99, 99]
eight cards: GPU Memory: 55.88 GiB / 74.51 GiB, load [1]
cards 5 and 6 of eight: GPU Memory: 55.88 GiB / 74.51 GiB, load [50]
none of eight: GPU Memory: 55.88 GiB / 74.51 GiB, load [99]
one card in MIG mode: GPU Memory: 55.88 GiB / 74.51 GiB, load [0]
END
