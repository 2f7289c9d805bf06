#!/usr/bin/env bash
# Guess: NVDashboard's NVLink charts, titled "[B/s]" as those of PCIe beside them, are bytes per second.
# So it is: they are the bytes since the last update, and nothing divides by the time. At the default of 100 ms a
# steady 100 GB/s is 10 GB/s, at 10 ms 1, at 5 s 500; PCIe stays right. The axis ends at half of the speed of the
# first 12 links, though NVML's speed of a link is that of one direction: for an H100, 18 links of 26.6 GB/s, it is
# 167 GB/s and not 478.
# Why: a collective that fills the links looks like a tenth of it, and a setting of the display changes the rate.
# Versions: jupyterlab-nvdashboard 0.15.0, nvidia-ml-py 13.615.71. NVML is stood in for: its counters grow steadily.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q jupyter_server==2.21.1 tornado==6.6.1 psutil==7.2.2 nvidia-ml-py==13.615.71
"$tmp/venv/bin/pip" install -q --no-deps jupyterlab-nvdashboard==0.15.0
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import glob, importlib.metadata, json, pynvml, re, sys
from types import SimpleNamespace
print("jupyterlab-nvdashboard", importlib.metadata.version("jupyterlab-nvdashboard"))
LINKS, now = 18, 0.0


def fields(gpu, wanted):
    values = []
    for index, field in enumerate(wanted):
        link = field[1] if isinstance(field, tuple) else index
        value = (int(now * 100e9 / LINKS / 1024) if isinstance(field, tuple) else 26562) if link < LINKS else 0
        values.append(SimpleNamespace(value=SimpleNamespace(ullVal=value)))
    return values


pynvml.nvmlInit = lambda: None
pynvml.nvmlDeviceGetCount = lambda: 1
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetNvLinkVersion = lambda gpu, link: 7
pynvml.nvmlDeviceGetMaxPcieLinkGeneration = lambda gpu: 5
pynvml.nvmlDeviceGetMaxPcieLinkWidth = lambda gpu: 16
pynvml.nvmlDeviceGetFieldValues = fields
pynvml.nvmlDeviceGetPcieThroughput = lambda gpu, counter: int(10e9 / 1024)
from jupyterlab_nvdashboard.apps import gpu
page = "".join(open(path).read() for path in glob.glob(f"{sys.prefix}/share/jupyter/labextensions/jupyterlab-nvdashboard/static/*.js"))
settings, = glob.glob(f"{sys.prefix}/share/jupyter/labextensions/jupyterlab-nvdashboard/schemas/*/config.json")
print("titles", sorted(set(re.findall(r'"(RX [^"]*\[B/s\])"', page))), "default", json.load(open(settings))["properties"]["updateFrequency"]["default"], "ms")
for period in 10, 100, 1000, 5000:
    now, sent = 1000.0, []
    link = SimpleNamespace(prev_throughput=None, write_message=lambda text: sent.append(json.loads(text)))
    pcie = SimpleNamespace(write_message=lambda text: sent.append(json.loads(text)))
    for _ in range(5):
        gpu.NVLinkThroughputWebSocketHandler.send_data(link)
        now += period / 1000
    gpu.PCIStatsWebSocketHandler.send_data(pcie)
    print(f"updates of {period} ms, 100 GB/s of NVLink and 10 of PCIe:", f"NVLink {sent[4]['nvlink_rx'][0] / 1e9:.2f} of",
          f"{sent[4]['max_rxtx_bw'] / 1e9:.0f}, PCIe {sent[5]['pci_rx'][0] / 1e9:.2f}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
jupyterlab-nvdashboard 0.15.0
titles ['RX NvLink (per Device) [B/s]', 'RX NvLink [B/s]', 'RX PCIe [B/s]'] default 100 ms
updates of 10 ms, 100 GB/s of NVLink and 10 of PCIe: NVLink 1.00 of 167, PCIe 10.00
updates of 100 ms, 100 GB/s of NVLink and 10 of PCIe: NVLink 10.00 of 167, PCIe 10.00
updates of 1000 ms, 100 GB/s of NVLink and 10 of PCIe: NVLink 100.00 of 167, PCIe 10.00
updates of 5000 ms, 100 GB/s of NVLink and 10 of PCIe: NVLink 500.00 of 167, PCIe 10.00
END
