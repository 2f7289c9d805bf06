#!/usr/bin/env bash
# Guess: gpu_free_memory of Triton Model Analyzer is, for each GPU, its memory less what is in use, so that used and free
# add up to the card's; of several GPUs the power is the sum, as it is for memory.
# So it is: of every GPU the use of the one that the server lists last is taken off. One model with 70 GB on the first of
# two cards of 80 and 2 on the second leaves 156 GB free, listed the other way round 20 (true: 88). A card of 24 GB
# before one of 80 with 70 in use has -46. Used and free are both the largest of the run: 70 and 78 GB of one card that
# grows. Power and utilization are means over all cards of the server: four at 400 W are 400 W, one busy card of eight 12 %.
# Why: gpu_free_memory as an objective prefers the configuration that fills the other card; power favors more cards.
# Versions: triton-model-analyzer 1.58.0, prometheus-client 0.23.1. Triton's metrics page is stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q triton-model-analyzer==1.58.0 prometheus-client==0.23.1 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import http.server, importlib.metadata, threading, time
from types import SimpleNamespace
from model_analyzer.monitor.remote_monitor import RemoteMonitor
from model_analyzer.record.metrics_manager import MetricsManager
from model_analyzer.record.types.gpu_free_memory import GPUFreeMemory
from model_analyzer.record.types.gpu_power_usage import GPUPowerUsage
from model_analyzer.record.types.gpu_used_memory import GPUUsedMemory
from model_analyzer.record.types.gpu_utilization import GPUUtilization
from model_analyzer.result.run_config_measurement import RunConfigMeasurement
print("triton-model-analyzer", importlib.metadata.version("triton-model-analyzer"))
GB, METRICS = 10**9, [GPUUsedMemory, GPUFreeMemory, GPUPowerUsage, GPUUtilization]
page, served = "", 0


class Triton(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global served
        served += 1
        body = page.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Triton)
threading.Thread(target=server.serve_forever, daemon=True).start()


def text(cards):
    lines = []
    for name, value in (("nv_gpu_utilization", lambda card: card[2] / 100), ("nv_gpu_memory_total_bytes", lambda card: card[0] * GB),
                        ("nv_gpu_memory_used_bytes", lambda card: card[1] * GB), ("nv_gpu_power_usage", lambda card: card[3])):
        lines += [f"# HELP {name} of the card", f"# TYPE {name} gauge", *(f'{name}{{gpu_uuid="GPU-{index}"}} {float(value(card))}' for index, card in enumerate(cards))]
    return "\n".join(lines) + "\n"


# Each course is a list of states in time, each state a list of cards: GB, GB in use, percent busy, W.
def run(title, *course):
    global page
    page = text(course[0])
    monitor = RemoteMonitor(f"http://127.0.0.1:{server.server_port}/metrics", 0.01, METRICS)
    monitor.start_recording_metrics()
    for state in course:
        page, until = text(state), served + 3
        while served < until:
            time.sleep(0.01)
    records = monitor.stop_recording_metrics()
    monitor.destroy()
    of_gpus = MetricsManager._aggregate_gpu_records(SimpleNamespace(_gpu_metrics=METRICS), records)
    whole = RunConfigMeasurement("model", of_gpus)
    seen = {tag: whole.get_gpu_metric_value(tag) for tag in ("gpu_used_memory", "gpu_free_memory", "gpu_power_usage", "gpu_utilization")}
    each = [f"{of_gpus[gpu][1].value() / 1000:.0f}" for gpu in sorted(of_gpus)]
    print(f"{title}: used {seen['gpu_used_memory'] / 1000:.0f} GB, free {' + '.join(each)} = {seen['gpu_free_memory'] / 1000:.0f} GB",
          f"(true {sum(card[0] - card[1] for card in course[-1])}); {seen['gpu_power_usage']:.0f} W of {sum(card[3] for card in course[-1])}, {seen['gpu_utilization']:.0f} %")


run("one card", [(80, 70, 96, 400)])
run("full one first", [(80, 70, 96, 400), (80, 2, 0, 100)])
run("full one last", [(80, 2, 0, 100), (80, 70, 96, 400)])
run("small one first", [(24, 4, 90, 70), (80, 70, 96, 400)])
run("growing", [(80, 2, 96, 400)], [(80, 70, 96, 400)])
run("four busy", [(80, 70, 96, 400)] * 4)
run("one of eight", [(80, 70, 96, 400)] + [(80, 1, 0, 100)] * 7)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
triton-model-analyzer 1.58.0
one card: used 70 GB, free 10 = 10 GB (true 10); 400 W of 400, 96 %
full one first: used 72 GB, free 78 + 78 = 156 GB (true 88); 250 W of 500, 48 %
full one last: used 72 GB, free 10 + 10 = 20 GB (true 88); 250 W of 500, 48 %
small one first: used 74 GB, free -46 + 10 = -36 GB (true 30); 235 W of 470, 93 %
growing: used 70 GB, free 78 = 78 GB (true 10); 400 W of 400, 96 %
four busy: used 280 GB, free 10 + 10 + 10 + 10 = 40 GB (true 40); 400 W of 1600, 96 %
one of eight: used 77 GB, free 79 + 79 + 79 + 79 + 79 + 79 + 79 + 79 = 632 GB (true 563); 138 W of 1100, 12 %
END
