#!/usr/bin/env python3
"""A fleet through churn, in a real Prometheus: GPUs change their jobs, monitors restart, scrapes
are lost. What the shipped rules say each minute is held against what the jobs did. Usage:
fleet_day.py [--gpus N] [--hours N] [--joined] [--json FILE]. Exit 77: not installed.

What is backfilled has no marks where a series ends. A server that looks back for one scrape's
interval sees what it would see with them.
--joined: also how far off the mean of a job would be if counters had no labels of jobs and each
scrape were given to the job of then.
"""
import argparse
import bisect
import json
import math
import os
import pathlib
import platform
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN = 1_767_225_600  # 2026-01-01
SCRAPE = 30
BOUND = 0.01


def tool(name):
    return shutil.which(name) or shutil.which(name, path=ROOT / ".cache/prometheus/usr/bin")


class Job:
    def __init__(self, number, rng):
        self.pod = number % 2 == 1
        self.labels = (
            f'kubernetes_pod_uid="worker-{number}"'
            if self.pod
            else f'job_id="{number}",job_name="train",job_user="u{number % 7}"'
        )
        self.key = f"worker-{number}" if self.pod else str(number)
        self.mean, self.swing = rng.uniform(0.2, 0.8), rng.uniform(0, 0.15)
        self.period, self.phase = rng.uniform(2, 8) * 3600, rng.uniform(0, 6)

    def busy(self, begin, end):
        """Seconds of kernels from begin to end."""
        turn = 2 * math.pi / self.period
        wave = math.cos(turn * begin + self.phase) - math.cos(turn * end + self.phase)
        return self.mean * (end - begin) + self.swing * wave / turn

    def joules(self, begin, end):
        return 100 * (end - begin) + 500 * self.busy(begin, end)


def plan(gpus, seconds, rng):
    """The use of each GPU: (begin, end, job), jobs on one to eight GPUs, some GPUs free for a
    while."""
    held, number = [[] for _ in range(gpus)], 0
    free = [rng.uniform(0, 600) if rng.random() < 0.5 else 0 for _ in range(gpus)]
    while min(free) < seconds:
        first = min(range(gpus), key=free.__getitem__)
        begin = free[first]
        wanted = [g for g in range(gpus) if free[g] <= begin + 1][: rng.choice([1, 1, 2, 4, 8])]
        end = begin + rng.uniform(600, 7200)
        number += 1
        job = Job(number, rng)
        for gpu in wanted:
            held[gpu].append((begin, min(end, seconds), job))
            free[gpu] = end + (0 if rng.random() < 0.7 else rng.uniform(60, 1800))
    return held


def write_metrics(path, held, seconds, rng):
    """The scrapes of Prometheus, as OpenMetrics."""
    families = {name: [] for name in ("observed_seconds", "read_seconds", "gpu_busy_seconds",
                                      "energy_module_joules")}
    infos, unlabeled = [], []
    lost = restarts = 0
    scraped = []  # by host, when
    for host in range(0, len(held), 8):
        offset = rng.uniform(0, SCRAPE)
        scrapes = [offset + SCRAPE * i for i in range(int(seconds // SCRAPE))]
        starts = [0.0]
        while starts[-1] < seconds:
            starts.append(starts[-1] + rng.uniform(1, 8) * 3600)
        starts.pop()
        downs = [rng.uniform(2, 90) for _ in starts]
        restarts += len(starts) - 1
        kept = []
        away = 0.0
        for at in scrapes:
            if rng.random() < 0.001:
                away = at + rng.uniform(60, 240)
            down = any(begin <= at < begin + time_down
                       for begin, time_down in zip(starts[1:], downs[1:], strict=True))
            if at < away or down or rng.random() < 0.01:
                lost += 1
            else:
                kept.append(at)
        scraped.append(kept)
        for gpu in range(host, min(host + 8, len(held))):
            base = f'instance="n{host // 8}",gpu="{gpu - host}"'
            series = {}
            totals = {"busy": 0.0, "joules": 0.0, "observed": 0.0}
            last, start, span = 0.0, 0, 0
            spans = [*held[gpu], (math.inf, math.inf, None)]

            def advance(to, counts):
                """On to the time `to`; while the monitor is down only the driver counts."""
                nonlocal last, span
                while last < to:
                    begin, end, job = spans[span]
                    if last >= end:
                        span += 1
                        continue
                    until = min(to, end if last >= begin else begin)
                    totals["joules"] += job.joules(last,
                                                   until) if last >= begin else IDLE_WATTS * (until - last)
                    if counts:
                        totals["busy"] += job.busy(last, until) if last >= begin else 0
                        totals["observed"] += until - last
                    last = until

            for at in kept:
                while start + 1 < len(starts) and starts[start + 1] <= at:
                    start += 1
                    advance(starts[start], counts=True)
                    # begin again; the driver's joules go on
                    totals["busy"] = totals["observed"] = 0.0
                    advance(starts[start] + downs[start], counts=False)
                advance(at, counts=True)
                begin, end, job = spans[span]
                labels = base + ("," + job.labels if job and begin <= at < end else "")
                series.setdefault(labels, []).append((at, totals["observed"], totals["busy"],
                                                      totals["joules"]))
            for labels, rows in series.items():
                for at, observed, busy, joules in rows:
                    stamp = f"{BEGIN + at:.3f}"
                    families["observed_seconds"].append(f"gpufathom_observed_seconds_total{{{labels}}} {observed:.6f} {stamp}\n")
                    families["read_seconds"].append(f"gpufathom_read_seconds_total{{{labels}}} {BEGIN + at:.6f} {stamp}\n")
                    families["gpu_busy_seconds"].append(f"gpufathom_gpu_busy_seconds_total{{{labels}}} {busy:.6f} {stamp}\n")
                    families["energy_module_joules"].append(f"gpufathom_energy_module_joules_total{{{labels}}} {joules:.3f} {stamp}\n")
                    infos.append(f"gpufathom_gpu_info{{{labels}}} 1 {stamp}\n")
                    unlabeled.append((base, at, observed, busy))
    with open(path, "w") as file:
        for name, lines in families.items():
            file.write(f"# TYPE gpufathom_{name} counter\n")
            file.writelines(lines)
        file.write("# TYPE gpufathom_gpu info\n")
        file.writelines(infos)
        unlabeled.sort()
        for column, name in ((2, "unlabeled_observed"), (3, "unlabeled_busy")):
            file.write(f"# TYPE {name} counter\n")
            file.writelines(f"{name}_total{{{row[0]}}} {row[column]:.6f} {BEGIN + row[1]:.3f}\n"
                            for row in unlabeled)
        file.write("# EOF\n")
    return lost, restarts, scraped


def truth(held, at, of, value):
    """Mean of the five minutes before `at` over the time in which GPUs were the job's; None
    without."""
    whole = amount = 0.0
    for spans in held:
        for begin, end, job in spans:
            first, last = max(begin, at - 300), min(end, at)
            if first < last and of(job):
                whole += last - first
                amount += value(job, first, last)
    return (amount / whole, whole) if whole else (None, 0)


def rules():
    text = (ROOT / "share/prometheus/gpufathom.rules.yml").read_text()
    found = dict(re.findall(r"- record: (\S+)\n +expr: (.+)\n", text))
    gpu = {name: expr for name, expr in found.items() if name.startswith("gpu:")}
    for name in gpu:
        gpu[name] = re.sub(r"(gpu:gpufathom_(?:observed|read):rate5m)",
                           lambda clock: f"({gpu[clock[1]]})", gpu[name])
    seen = gpu["gpu:gpufathom_gpu_info:last10m"]

    def whole(expr):
        """Recorded series in place, with the matchers that stand at them."""
        def put(match):
            inner, matchers = gpu[match[1]], match[2] or ""
            # the last of its three says which GPUs are seen now, whosever they are
            if inner == seen:
                return "(" + re.sub(r"gpufathom_gpu_info", rf"gpufathom_gpu_info{matchers}", inner,
                                    count=2) + ")"
            return "(" + (re.sub(r"(gpufathom_\w+_total)", rf"\1{matchers}", inner) if matchers
                          else inner) + ")"
        return re.sub(r"(gpu:\w+:(?:rate5m|last10m))(\{[^}]*\})?", put, expr)

    gpus = "fleet:gpufathom_gpus:count"
    return {name: whole(expr.replace(gpus, f"({found[gpus]})")) for name, expr in found.items()}


JUDGED = {"job:gpufathom_gpu_busy:avg_rate5m": "job_id",
          "pod:gpufathom_gpu_busy:avg_rate5m": "kubernetes_pod_uid",
          "job:gpufathom_power_watts:sum_rate5m": "job_id", "pod:gpufathom_power_watts:sum_rate5m": "kubernetes_pod_uid",
          "fleet:gpufathom_gpu_busy:avg_rate5m": None, "fleet:gpufathom_power_watts:sum_rate5m": None}
IDLE_WATTS = 70


def joined(counter):
    """The increase of a counter without labels of jobs in five minutes, each scrape's part given to the
    job that has the GPU then."""
    gain = f"({counter} - {counter} offset {SCRAPE}s >= 0)"
    return f'sum by (job_id) (sum_over_time(({gain} * on (instance, gpu) group_left (job_id) gpufathom_gpu_info{{job_id!=""}})[5m:{SCRAPE}s]))'


def unread(kept, begin, end):
    """Whether a host was silent from begin to end, or for three scrapes in between: what its GPUs
    did then nobody knows."""
    inside = kept[bisect.bisect(kept, begin):bisect.bisect(kept, end)]
    at = [begin, *inside, end]
    return not inside or max(after - before
                             for before, after in zip(at, at[1:], strict=False)) > 3 * SCRAPE


def errors_of_jobs(answer, label, held, power, scraped):
    """Errors of shares as shares of full use, of watts relative; apart where a GPU of the job was
    not read."""
    spans_of, hosts_of, errors, silent = {}, {}, [], []
    for gpu, spans in enumerate(held):
        for span in spans:
            spans_of.setdefault(span[2].key, []).append(span)
            hosts_of.setdefault(span[2].key, []).append((span[0], scraped[gpu // 8]))
    for series in answer:
        own = spans_of[series["metric"][label]]
        for at, value in series["values"]:
            at -= BEGIN
            wanted, known = truth([own], at, lambda job: True, Job.joules if power else Job.busy)
            # A window in which the job had a GPU for less than two scrapes says little, watts for
            # less than three.
            if wanted is None or known < (3 if power else 2) * SCRAPE:
                continue
            # After its end watts are of no use.
            if power and not all(begin <= at - SCRAPE and at < end for begin, end, _ in own):
                continue
            error = abs(float(value) / (wanted * len(own)) - 1) if power else abs(float(value) - wanted)
            apart = power and any(unread(kept, max(begin, at - 300), at)
                                  for begin, kept in hosts_of[series["metric"][label]])
            (silent if apart else errors).append(error)
    return errors, silent


def errors_of_fleet(answer, held, power):
    errors = []
    for at, value in answer[0]["values"]:
        mean, known = truth(held, at - BEGIN, lambda job: True, Job.joules if power else Job.busy)
        whole = mean * known / 300
        if power:
            whole += IDLE_WATTS * (len(held) - known / 300)
        errors.append(abs(float(value) / whole - 1) if power
                      else abs(float(value) - whole / len(held)))
    return errors


def summary(errors):
    errors.sort()
    return {"minutes": len(errors), "median_error": round(errors[len(errors) // 2], 5),
            "p99_error": round(errors[int(len(errors) * 0.99)], 5),
            "worst_error": round(errors[-1], 5),
            "beyond_0.01": sum(error > BOUND for error in errors)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", type=int, default=200)
    parser.add_argument("--hours", type=float, default=3)
    parser.add_argument("--joined", action="store_true")
    parser.add_argument("--json")
    words = parser.parse_args()
    if not tool("prometheus") or not tool("promtool"):
        print("prometheus is not installed: ./dev setup")
        return 77
    rng = random.Random(31)
    seconds = words.hours * 3600
    held = plan(words.gpus, seconds, rng)
    jobs = {job.key: job for spans in held for _, _, job in spans}
    with tempfile.TemporaryDirectory() as folder:
        lost, restarts, scraped = write_metrics(f"{folder}/metrics", held, seconds, rng)
        subprocess.run([tool("promtool"), "tsdb", "create-blocks-from", "openmetrics",
                        f"{folder}/metrics", f"{folder}/data"],
                       check=True, capture_output=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % free.getsockname()[1]
        pathlib.Path(folder, "prometheus.yml").write_text("global: {}\n")
        server = subprocess.Popen([tool("prometheus"), f"--config.file={folder}/prometheus.yml",
                                   f"--storage.tsdb.path={folder}/data",
                                   "--storage.tsdb.retention.time=100y",
                                   f"--query.lookback-delta={SCRAPE}s",
                                   f"--web.listen-address={address}", "--log.level=error"])
        try:
            def ask(expr):
                query = urllib.parse.urlencode({"query": expr, "start": BEGIN + 600,
                                                "end": BEGIN + seconds - 60, "step": 60})
                with urllib.request.urlopen(f"http://{address}/api/v1/query_range", query.encode(),
                                            timeout=500) as told:
                    return json.load(told)["data"]["result"]

            for _ in range(300):
                try:
                    urllib.request.urlopen(f"http://{address}/-/ready", timeout=5)
                    break
                except OSError:
                    time.sleep(0.2)
            answers = {}
            for name in JUDGED:
                answers[name] = ask(rules()[name])
            if words.joined:
                answers["joined"] = ask(f"{joined('unlabeled_busy_total')} / {joined('unlabeled_observed_total')}")
        finally:
            server.terminate()
            server.wait()
    told = {"command": "tests/system/fleet_day.py " + " ".join(sys.argv[1:]),
            "date": time.strftime("%Y-%m-%d"),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores", "gpus": words.gpus, "hours": words.hours, "jobs": len(jobs),
            "scrapes_lost": lost, "monitors_restarted": restarts, "scrape_seconds": SCRAPE}
    worst = {}
    for name, label in JUDGED.items():
        power = "power" in name
        worst[name] = errors_of_jobs(answers[name], label, held, power,
                                     scraped) if label else (errors_of_fleet(answers[name], held, power), [])
    if words.joined:
        worst["joined"] = errors_of_jobs(answers["joined"], "job_id", held, False, scraped)
    failed = 0
    for name, (errors, silent) in worst.items():
        told[name] = summary(errors)
        if silent:
            told[f"{name}, a host silent"] = summary(silent)
        print(name, told[name], *([summary(silent)] if silent else []))
        failed += name in JUDGED and (len(errors) < 60 or told[name]["beyond_0.01"] > 0)
    if words.json:
        pathlib.Path(words.json).write_text(json.dumps(told, indent=1) + "\n")
    return int(failed > 0)


sys.exit(main())
