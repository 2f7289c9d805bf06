#!/usr/bin/env bash
# Guess: of a card in MIG mode aiperf's table of GPUs has each instance, or their sum; "NVIDIA XID Errors (count)" is the
# number of errors.
# So it is: rows of DCGM's exporter are kept by the card's number, so that each instance overwrites the one before: a card
# with 30000, 8000 and 100 MiB in use on three instances (40.0 GB) has 0.1 GB and 0 % of SM, in another order of
# the rows 31.5 GB and 90 %. And DCGM's XID is the code of the last error, taken as a counter: one error of code 79 is 79
# errors, after an earlier 43 it is 36, and a 43 after an earlier 79 is none.
# Why: the table of a busy card is that of its idlest instance, and a healthy count hides an error.
# Versions: aiperf 0.13.0, prometheus-client 0.23.1, numpy 2.4.6. DCGM's exporter is stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q numpy==2.4.6 prometheus-client==0.23.1 aiohttp==3.14.5 aiofiles==24.1.0 cyclopts==4.25.3 jinja2==3.1.6 msgspec==0.23.0 \
    orjson==3.11.9 psutil==7.0.0 pydantic==2.14.4 pydantic-settings==2.16.3 PyYAML==6.0.4 ruamel.yaml==0.18.17 rich==15.0.0
"$tmp/venv/bin/pip" install -q --no-deps aiperf==0.13.0
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, time
from aiperf.common.models import TimeRangeFilter
from aiperf.common.models.telemetry_models import TelemetryHierarchy
from aiperf.gpu_telemetry.constants import GPU_TELEMETRY_COUNTER_METRICS
from aiperf.gpu_telemetry.dcgm_collector import DCGMTelemetryCollector
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("aiperf", "prometheus-client", "numpy")))
clock = 0
time.time_ns = lambda: clock


def result(scrapes):
    """What the export has of scrapes that are a second apart, of which the first is before the benchmark."""
    global clock
    collector, kept = DCGMTelemetryCollector("http://localhost:9400/metrics"), TelemetryHierarchy()
    for clock, rows in enumerate(scrapes):
        clock *= 10**9
        text = "".join(f'# TYPE {name} gauge\n' + "".join(
            f'{name}{{gpu="0",UUID="GPU-0",device="nvidia0",modelName="NVIDIA A100-SXM4-80GB"{instance},Hostname="node"}} {values[name]}\n'
            for instance, values in rows) for name in rows[0][1])
        for record in collector._parse_metrics_to_records(text):
            kept.add_record(record)
    (card,) = kept.telemetry_source_endpoints[collector.endpoint_url].values()
    return {name: card.get_metric_result(name, name, name, "", time_filter=TimeRangeFilter(start_ns=1), is_counter=name in GPU_TELEMETRY_COUNTER_METRICS).avg
            for name in card.time_series._metrics}


def of(instances):
    return [[(f',GPU_I_PROFILE="2g.20gb",GPU_I_ID="{name}"', {"DCGM_FI_DEV_FB_USED": used, "DCGM_FI_PROF_SM_ACTIVE": active})
             for name, used, active in instances]] * 3


instances = [(3, 30000, 0.9), (4, 8000, 0.4), (5, 100, 0.0)]
true = sum(used for _, used, _ in instances) * 1.048576e-3
for title, rows in (("three instances of MIG", instances), ("the same, last row first", instances[::-1])):
    seen = result(of(rows))
    print(f"{title}: memory used {seen['nvidia_memory_used']:.1f} GB, true {true:.1f}; SM {seen['nvidia_sm_utilization']:.0f} %")
for title, codes in (("no error", (0, 0, 0)), ("one of code 79", (0, 79, 79)), ("code 79 after an old 43", (43, 43, 79)), ("code 43 after an old 79", (79, 79, 43))):
    print(f"{title}: XID errors {result([[('', {'DCGM_FI_DEV_XID_ERRORS': code})] for code in codes])['nvidia_xid_errors']:.0f}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
aiperf 0.13.0 prometheus-client 0.23.1 numpy 2.4.6
three instances of MIG: memory used 0.1 GB, true 40.0; SM 0 %
the same, last row first: memory used 31.5 GB, true 40.0; SM 90 %
no error: XID errors 0
one of code 79: XID errors 79
code 79 after an old 43: XID errors 36
code 43 after an old 79: XID errors 0
END
