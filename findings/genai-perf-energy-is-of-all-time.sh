#!/usr/bin/env bash
# Guess: the energy_consumption of genai-perf's table of GPUs is that of the benchmark, and the cards of two servers are rows
# of their own.
# So it is: the statistics are those of the readings of DCGM's counter, which runs since the driver was loaded: 100 s at
# 600 W, 0.06 MJ, are an average of 500.03 MJ for a card that has been up for some days, and half of the truth for
# a counter that starts at 0. Cards are told apart by their number only: GPU 0 of two servers, one idle at 100 W
# and one busy at 600 W, is one card of 350 W.
# Why: tokens per joule from that table compare uptimes; an idle second server halves the power.
# Versions: genai-perf 0.0.16, numpy 2.4.6, pandas 3.1.1. DCGM's exporter is stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q numpy==2.4.6 pandas==3.1.1 requests==2.34.2 rich==15.0.0 PyYAML==6.0.4 orjson==3.13.0 pillow==13.0.0 \
    soundfile==0.14.0 jinja2==3.1.6 tqdm==4.70.1
"$tmp/venv/bin/pip" install -q --no-deps genai-perf==0.0.16
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata
from genai_perf.metrics import TelemetryStatistics
from genai_perf.subcommand.subcommand import Subcommand
from genai_perf.telemetry_data.dcgm_telemetry_data_collector import DCGMTelemetryDataCollector
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("genai-perf", "numpy", "pandas")))


def scraped(server, before, watts):
    """100 s of a card at steady power whose counter stands at a number of joules before."""
    collector = DCGMTelemetryDataCollector(f"http://{server}:9400/metrics")
    for second in range(101):
        collector._process_and_update_metrics("".join(
            f'{name}{{gpu="0",UUID="GPU-{server}",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="{server}"}} {value}\n'
            for name, value in (("DCGM_FI_DEV_POWER_USAGE", watts), ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", (before + watts * second) * 1000))))
    return collector.get_metrics()


def table(title, *metrics):
    of = TelemetryStatistics(Subcommand._merge_telemetry_metrics(None, list(metrics)))
    of.scale_data()
    for card, energy in of.stats_dict["energy_consumption"].items():
        if card != "unit":
            print(f"{title}: GPU {card}: energy avg {energy['avg']:.2f} min {energy['min']:.2f} max {energy['max']:.2f}",
                  f"{of.stats_dict['energy_consumption']['unit']}, power avg {of.stats_dict['gpu_power_usage'][card]['avg']:.0f} W")


for before in (0, 5000000, 500000000):
    table(f"0.06 MJ after {before / 1e6:.0f} MJ", scraped("a", before, 600.0))
table("two servers, 0.06 and 0.01 MJ", scraped("a", 0, 600.0), scraped("b", 0, 100.0))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
genai-perf 0.0.16 numpy 2.4.6 pandas 3.1.1
0.06 MJ after 0 MJ: GPU 0: energy avg 0.03 min 0.00 max 0.06 MJ, power avg 600 W
0.06 MJ after 5 MJ: GPU 0: energy avg 5.03 min 5.00 max 5.06 MJ, power avg 600 W
0.06 MJ after 500 MJ: GPU 0: energy avg 500.03 min 500.00 max 500.06 MJ, power avg 600 W
two servers, 0.06 and 0.01 MJ: GPU 0: energy avg 0.02 min 0.00 max 0.06 MJ, power avg 350 W
END
