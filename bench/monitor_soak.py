"""Memory of `gpufathom monitor --serve` while Prometheus's page is read again and again.

Starts the monitor, reads /metrics at a fixed rate (half over one kept connection, half over new
ones, as different scrapers do), notes the monitor's resident memory every ten seconds and fits a
line through it. Fails when the memory of the last tenth exceeds that of the first tenth after
warm-up by more than 1 MB. Without --real the fake driver libraries of the tests stand for two GPUs.

Usage: bench/monitor_soak.py BUILD_DIR OUT.json [--seconds 1800] [--rate 100] [--real]
"""
import argparse
import datetime
import http.client
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time

p = argparse.ArgumentParser()
p.add_argument("build")
p.add_argument("out")
p.add_argument("--seconds", type=float, default=1800)
p.add_argument("--rate", type=float, default=100)
p.add_argument("--real", action="store_true", help="this machine's GPUs instead of the fake driver")
a = p.parse_args()
environment = dict(os.environ)
if not a.real:
    environment |= {"GPUFATHOM_LIBRARY_PATH": os.path.abspath(f"{a.build}/fakes"),
                    "GPUFATHOM_FAKE": "gpus=2"}
monitor = subprocess.Popen([f"{a.build}/gpufathom", "monitor", "--serve", "127.0.0.1:0",
                            "--interval", "1"], stderr=subprocess.PIPE, text=True, env=environment)
line = monitor.stderr.readline()
port = int(re.search(r"127\.0\.0\.1:(\d+)", line)[1])


def resident():
    with open(f"/proc/{monitor.pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds():
    with open(f"/proc/{monitor.pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def threads_and_files():
    return len(os.listdir(f"/proc/{monitor.pid}/task")), len(os.listdir(f"/proc/{monitor.pid}/fd"))


kept = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
begin = next_scrape = next_look = time.monotonic()
scrapes = failures = bytes_read = 0
latency, looks = [], []
while (now := time.monotonic()) - begin < a.seconds:
    if now >= next_look:
        looks.append({"s": round(now - begin, 1), "rss_bytes": resident()})
        next_look += 10 if a.seconds >= 200 else 1
    if now < next_scrape:
        time.sleep(next_scrape - now)
    # a late scraper catches up by a second at most
    next_scrape = max(next_scrape + 1 / a.rate, time.monotonic() - 1)
    connection = kept if scrapes % 2 else http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    started = time.perf_counter()
    try:
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200 or b"gpufathom_" not in body:
            failures += 1
        bytes_read += len(body)
    except (OSError, http.client.HTTPException):
        failures += 1
        connection.close()
    latency.append(time.perf_counter() - started)
    if connection is not kept:
        connection.close()
    scrapes += 1
elapsed = time.monotonic() - begin
cpu, (threads, files) = cpu_seconds(), threads_and_files()
monitor.terminate()
code = monitor.wait(10)
warm = [x for x in looks if x["s"] >= min(60, a.seconds / 5)]
tenth = max(len(warm) // 10, 1)
first, last = (statistics.fmean(x["rss_bytes"] for x in part)
               for part in (warm[:tenth], warm[-tenth:]))
slope = statistics.linear_regression([x["s"] for x in warm],
                                     [x["rss_bytes"] for x in warm]).slope * 3600
latency.sort()
result = {
    "what": "memory of monitor --serve under scrapes",
    "command": "bench/monitor_soak.py " + " ".join(sys.argv[1:]), "date": datetime.date.today().isoformat(), "host": platform.machine(), "cores": os.cpu_count(),
    "driver": "this machine's" if a.real else "fake, two GPUs", "seconds": round(elapsed, 1), "asked_hz": a.rate, "scrapes": scrapes, "scrapes_per_second": round(scrapes / elapsed, 2),
    "failures": failures, "bytes_read": bytes_read, "latency_ms": {"median": round(latency[len(latency) // 2] * 1e3, 3), "p99": round(latency[int(len(latency) * 0.99)] * 1e3, 3), "most": round(latency[-1] * 1e3, 3)},
    "cpu_share": round(cpu / elapsed, 4), "threads": threads, "open_files": files, "exit_code": code,
    "rss_bytes": {"first": round(first), "last": round(last), "growth": round(last - first), "most": max(x["rss_bytes"] for x in looks), "slope_per_hour": round(slope)}, "looks": looks[:: max(len(looks) // 60, 1)],
}
with open(a.out, "w") as f:
    f.write(json.dumps(result, indent=1) + "\n")
print({k: result[k] for k in ("scrapes", "scrapes_per_second", "failures", "latency_ms",
                              "cpu_share", "rss_bytes")})
sys.exit(failures > 0 or code != 0 or last - first > 1 << 20)
