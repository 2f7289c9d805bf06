#!/usr/bin/env bash
# Guess: the GPU load and GPU memory in Glances' summary (quicklook) are the means over the GPUs that report them, now.
# So it is: one GPU without a value makes the mean of all 0 %. An Intel GPU never has a memory value, and its load is its
# clock over its largest: beside two NVIDIA cards at 98 % with 90 % of memory in use the summary has 69 and 0 %; one of
# three cards in MIG mode makes the load 0 %. And the means are those of the update before: a card that goes from 0 to
# 98 % shows 0 beside its own 98, and 98 when it is idle again. The line "gpu proc mean" has the same mean (N/A for none).
# Why: a full GPU in a workstation with graphics in the CPU, or a server with one MIG card, looks idle.
# Versions: Glances 4.5.8, psutil 7.2.2. NVML and the folder of the Intel card are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q glances==4.5.8 psutil==7.2.2
cd "$tmp"
printf '[quicklook]\nlist=cpu,mem,load,gpu_mem,gpu_proc\n' >glances.conf
mkdir -p drm/card0/device
echo 400 >drm/card0/gt_act_freq_mhz
echo 3200 >drm/card0/gt_max_freq_mhz
HOME="$tmp" "$tmp/venv/bin/python" - -C glances.conf --meangpu >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import functools, glances, types
from glances import gpu_percent
from glances.main import GlancesMain
from glances.plugins import gpu, quicklook
from glances.plugins.gpu.cards import nvidia
print("Glances", glances.__version__)


class NVMLError(Exception):
    pass


def load(card):
    if card["proc"] is None:
        raise NVMLError("Not Supported")
    return types.SimpleNamespace(gpu=card["proc"])


nvidia.nvidia_gpu_enable = True
nvidia.pynvml = types.SimpleNamespace(
    NVMLError=NVMLError, NVML_TEMPERATURE_GPU=0, nvmlInit=lambda: None, nvmlShutdown=lambda: None, nvmlDeviceGetCount=lambda: len(cards),
    nvmlDeviceGetHandleByIndex=lambda index: cards[index], nvmlDeviceGetName=lambda card: "NVIDIA RTX 6000 Ada Generation",
    nvmlDeviceGetMemoryInfo=lambda card: types.SimpleNamespace(used=card["mem"] << 20, total=100 << 20), nvmlDeviceGetUtilizationRates=load,
    nvmlDeviceGetTemperature=lambda card, sensor: 60, nvmlDeviceGetFanSpeed=lambda card: 40)
none = types.SimpleNamespace(get_device_stats=list, exit=lambda: None)
gpu.AmdGPU = gpu.ArmGPU = lambda: none
intel = gpu.IntelGPU
core = GlancesMain()
args, config = core.get_args(), core.get_config()
args.disable_gpu = args.disable_quicklook = False


def show(title, steps, of_intel=False):
    global cards
    cards = [{} for _ in steps[0][0]]
    gpu.IntelGPU = functools.partial(intel, drm_root_folder="drm" if of_intel else "none")
    plugin, summary = gpu.GpuPlugin(args=args, config=config), quicklook.QuicklookPlugin(args=args, config=config)
    gpu_percent.gpu_mem = gpu_percent.gpu_proc = 0
    for busy, memory in steps:
        for card, proc, mem in zip(cards, busy, memory):
            card |= {"proc": proc, "mem": mem}
        for one in plugin, summary:
            one.refresh_timer.finished = lambda: True
            one.update()
        if "0 to" in title:
            print(title, "cards", [card["proc"] for card in plugin.stats], "summary", summary.stats["gpu_proc"])
    if "0 to" not in title:
        plugin.update_views()
        lines = "".join(part["msg"] for part in plugin.msg_curse(args=args)).split("\n")
        print(title, [(card["gpu_id"], card["proc"], card["mem"]) for card in plugin.stats], "summary: load", summary.stats["gpu_proc"],
              "memory", summary.stats["gpu_mem"], "lines:", "; ".join(" ".join(line.split()) for line in lines[1:3]))


even = ((98, 98), (90, 90))
show("two cards:", [even] * 3)
show("two cards and an Intel GPU:", [even] * 3, of_intel=True)
show("three cards, one in MIG mode:", [((98, 98, None), (90, 90, 90))] * 3)
show("from 0 to 98 and back:", [((load, load), (90, 90)) for load in (0, 98, 0)])
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
Glances 4.5.8
two cards: [('nvidia0', 98, 90.0), ('nvidia1', 98, 90.0)] summary: load 98.0 memory 90.0 lines: proc mean: 98%; mem mean: 90%
two cards and an Intel GPU: [('nvidia0', 98, 90.0), ('nvidia1', 98, 90.0), ('intel0', 12, None)] summary: load 69.33333333333333 memory 0 lines: proc mean: 69%; mem mean: N/A
three cards, one in MIG mode: [('nvidia0', 98, 90.0), ('nvidia1', 98, 90.0), ('nvidia2', None, 90.0)] summary: load 0 memory 90.0 lines: proc mean: N/A; mem mean: 90%
from 0 to 98 and back: cards [0, 0] summary 0
from 0 to 98 and back: cards [98, 98] summary 0.0
from 0 to 98 and back: cards [0, 0] summary 98.0
END
