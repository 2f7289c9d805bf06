#!/usr/bin/env bash
# Guess: l9gpu's cost and energy per token of a vLLM server are those of its GPUs together over its tokens, joules_per_token
# is per generated token, as documented, and its percentiles are of the last interval.
# So it is: each GPU is divided by the tokens of the whole server, prompts included: 8 GPUs at 600 W for 1000 generated
# and 20000 prompt tokens a second are 0.029 J a token, not 4.8, and an eighth of the cost. With data parallelism only the
# first engine's tokens count, and a percentile mixes the buckets of all engines with the count of the first. Percentiles
# are of all requests since the start: after an hour at 0.1 s a minute at 5 s leaves the p95 of the first token as it was.
# Why: the price of a token is 8 times too low, or right by chance, and a slow server does not show.
# Versions: l9gpu 0.2.3, pynvml 11.4.1. NVML, the clock and the metrics page of vLLM are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q l9gpu==0.2.3 pynvml==11.4.1
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import contextlib, dataclasses, http.server, importlib.metadata, io, json, threading, pynvml
from types import SimpleNamespace
from l9gpu.monitoring import vllm_monitor
from l9gpu.monitoring.cli import cost_monitor
print("l9gpu", importlib.metadata.version("l9gpu"))
GPUS, WATTS, PRICE, MINUTE = 8, 600, 3.6, 60
BOUNDS = 0.05, 0.25, 1.0, 2.5, 10.0
pynvml.nvmlInit = pynvml.nvmlShutdown = lambda: None
pynvml.nvmlDeviceGetCount = lambda: GPUS
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetPowerUsage = lambda gpu: WATTS * 1000
pynvml.nvmlDeviceGetUtilizationRates = lambda gpu: SimpleNamespace(gpu=95, memory=50)


class Server:
    """The counters of vLLM: for each engine prompt and generated tokens, and the times to the first token."""
    def __init__(self, *engines):
        self.rates, self.tokens, self.first = engines, [[0, 0] for _ in engines], [[] for _ in engines]

    def work(self, seconds, *first):
        for engine, rate in enumerate(self.rates):
            for kind in (0, 1):
                self.tokens[engine][kind] += rate[kind] * seconds
            self.first[engine] += [first[engine % len(first)]] * (10 * seconds)

    def page(self):
        lines = []
        for engine, (prompt, generated) in enumerate(self.tokens):
            labels = f'engine="{engine}",model_name="m"'
            lines += [f"vllm:num_requests_running{{{labels}}} 8.0", f"vllm:prompt_tokens_total{{{labels}}} {prompt}", f"vllm:generation_tokens_total{{{labels}}} {generated}"]
            for bound in *BOUNDS, float("inf"):
                lines.append(f'vllm:time_to_first_token_seconds_bucket{{{labels},le="{"+Inf" if bound == float("inf") else bound}"}} {sum(value <= bound for value in self.first[engine])}')
            lines.append(f"vllm:time_to_first_token_seconds_count{{{labels}}} {len(self.first[engine])}")
        return "\n".join(lines) + "\n"


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = vllm.page().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Clock:
    def unixtime(self):
        return 0

    def monotonic(self):
        return 0.0

    def sleep(self, seconds):
        vllm.work(MINUTE, 0.1)


@dataclasses.dataclass
class Cli(cost_monitor.CliObjectImpl):
    clock: object = dataclasses.field(default_factory=Clock)

    def looptimes(self, once):
        return range(2)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/metrics"
for title, engines in ("one engine on 8 GPUs", [(20000, 1000)]), ("two engines, the second idle", [(20000, 1000), (0, 0)]), ("two engines, the first idle", [(0, 0), (20000, 1000)]):
    vllm = Server(*engines)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        cost_monitor.main.main(["--sink", "stdout", "--cluster", "c", "--cost-per-gpu-hour", str(PRICE), "--vllm-endpoint", url], obj=Cli(), standalone_mode=False)
    gpu = {key.split(".")[-1]: value for key, value in json.loads(out.getvalue().splitlines()[-1])[0].items()}
    true_joules, true_cost = GPUS * WATTS / 1000, GPUS * PRICE / 3600 / 1000
    shown = [f"{value * scale:.3f}" if value else "none" for value, scale in ((gpu.get("joules_per_token"), 1), (gpu.get("cost_per_generation_token"), 1e6))]
    print(f"{title}: joules_per_token {shown[0]} (true {true_joules:.1f}), a million generated tokens {shown[1]} (true {true_cost * 1e6:.1f})")
vllm = Server((20000, 1000))
vllm.work(3600, 0.1)
_, counters = vllm_monitor.scrape_vllm(url, None, MINUTE)
vllm.work(MINUTE, 5.0)
print(f"an hour at 0.1 s, then a minute at 5: ttft_p95 {vllm_monitor.scrape_vllm(url, counters, MINUTE)[0].ttft_p95:.2f} s")
vllm = Server((20000, 1000), (20000, 1000))
vllm.work(600, 0.1, 5.0)
print(f"two engines, one at 0.1 s and one at 5: ttft_p50 {vllm_monitor.scrape_vllm(url, None, MINUTE)[0].ttft_p50:.2f} ttft_p95 {vllm_monitor.scrape_vllm(url, None, MINUTE)[0].ttft_p95:.2f} s")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
l9gpu 0.2.3
one engine on 8 GPUs: joules_per_token 0.029 (true 4.8), a million generated tokens 1.000 (true 8.0)
two engines, the second idle: joules_per_token 0.029 (true 4.8), a million generated tokens 1.000 (true 8.0)
two engines, the first idle: joules_per_token none (true 4.8), a million generated tokens none (true 8.0)
an hour at 0.1 s, then a minute at 5: ttft_p95 0.24 s
two engines, one at 0.1 s and one at 5: ttft_p50 0.25 ttft_p95 0.25 s
END
