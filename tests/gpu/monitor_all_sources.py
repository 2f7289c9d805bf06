#!/usr/bin/env python3
"""The monitor on every GPU of a machine in all its sources, beside whatever runs there:
monitor_all_sources.py GPUFATHOM OUT.json [--seconds 600] [--after EARLIER.json]
                       [--counters all|none|0,1]

One monitor serves and is scraped every second; meanwhile short ones run in turn. A command that
ends otherwise than with 0, a scrape that fails or lacks a GPU, and growth of the server are
counted. Ends after the seconds or at SIGTERM, and has written what it knows every ten seconds. With
--after, the counts of EARLIER.json are added. A GPU's counters serve one session: --counters says
of which GPUs they are free, and where not of all, every fourth round takes them.
"""
import argparse
import collections
import json
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

PORT = 19400
TURNS = {
    "table, once": ["--once"],
    "CSV": ["--count", "3", "--interval", "0.5", "--format", "csv"],
    "JSON": ["--once", "--format", "json"],
    "counters (pm)": ["--once", "--source", "pm"],
    "openmetrics": ["--once", "--format", "openmetrics"],
}


def resident_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def processor_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


class Scrapes(threading.Thread):
    def __init__(self, server, gpus, stop):
        super().__init__()
        self.server, self.gpus, self.stop = server, gpus, stop
        self.counts, self.seconds, self.resident = collections.Counter(), [], []

    def run(self):
        while not self.stop.wait(1):
            begin = time.monotonic()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics",
                                            timeout=5) as answer:
                    text = answer.read().decode()
                seen = len(set(re.findall(r'gpu="(\d+)"', text)))
                self.counts["whole" if seen >= self.gpus else f"{seen} of {self.gpus} GPUs"] += 1
            except OSError as error:
                self.counts[f"failed: {error}"] += 1
            self.seconds.append(time.monotonic() - begin)
            if self.server.poll() is not None:
                self.counts["the server ended"] += 1
                return
            self.resident.append(resident_kb(self.server.pid))


def with_earlier(result, path):
    """The counts of both, and seconds; the rest is this session's."""
    if not path or not path.exists():
        return result
    earlier = json.loads(path.read_text(encoding="utf-8"))
    merged = {**result, "seconds": round(earlier["seconds"] + result["seconds"], 1),
              "sessions": [*earlier.get("sessions", [earlier["seconds"]]), result["seconds"]],
              "exit_codes": {}, "said": {**earlier["said"], **result["said"]},
              "servers_before": [*earlier.get("servers_before", []), earlier["server"]]}
    for name in {**earlier["exit_codes"], **result["exit_codes"]}:
        counts = collections.Counter(earlier["exit_codes"].get(name, {}))
        counts.update({str(code): count
                       for code, count in result["exit_codes"].get(name, {}).items()})
        merged["exit_codes"][name] = dict(counts)
    scrapes = collections.Counter(earlier["server"]["scrapes"])
    scrapes.update(result["server"]["scrapes"])
    merged["server"] = {**result["server"], "scrapes": dict(scrapes)}
    return merged


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpufathom")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--after", type=pathlib.Path)
    parser.add_argument("--counters", default="all")
    options = parser.parse_args()
    names = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                            "--format=csv,noheader"],
                           capture_output=True, text=True).stdout.split("\n")
    names = [name for name in names if name]
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    server = subprocess.Popen([options.gpufathom, "monitor", "--serve", f"127.0.0.1:{PORT}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    begin = time.monotonic()
    scrapes = Scrapes(server, len(names), stop)
    time.sleep(2)
    scrapes.start()
    turns = {name: words for name, words in TURNS.items()
             if "pm" not in words or options.counters != "none"}
    if options.counters not in ("all", "none"):
        turns["counters (pm)"] = [*turns["counters (pm)"], "--devices", options.counters]
    ended = {name: collections.Counter() for name in turns}
    said = {}

    def write(code):
        seconds = time.monotonic() - begin
        known = server.poll() is None
        result = with_earlier({
            "command": " ".join(["tests/gpu/monitor_all_sources.py", *sys.argv[1:]]),
            "date": time.strftime("%Y-%m-%d"), "hardware": names, "seconds": round(seconds, 1),
            "exit_codes": {name: dict(counts) for name, counts in ended.items()}, "said": said,
            "server": {
                "exit_code": code, "scrapes": dict(scrapes.counts),
                "scrape_ms_median": round(1e3 * statistics.median(scrapes.seconds or [0]), 2),
                "scrape_ms_max": round(1e3 * max(scrapes.seconds, default=0), 2),
                "resident_kb_first": scrapes.resident[0] if scrapes.resident else None,
                "resident_kb_last": scrapes.resident[-1] if scrapes.resident else None,
                "cores": round(processor_s(server.pid) / seconds, 4) if known else None,
            },
        }, options.after)
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return result

    written, number = begin, 0
    while not stop.is_set() and time.monotonic() - begin < options.seconds:
        number += 1
        for name, words in turns.items():
            if stop.is_set():
                break
            if "--devices" in words and number % 4:
                continue
            done = subprocess.run([options.gpufathom, "monitor", *words], capture_output=True,
                                  text=True)
            ended[name][done.returncode] += 1
            if done.returncode:
                said[name] = done.stderr[-300:]
        if time.monotonic() - written > 10:
            written = time.monotonic()
            write("still runs")
    stop.set()
    scrapes.join()
    result = write("still runs")
    server.terminate()
    result["server"]["exit_code"] = server.wait(20)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result["exit_codes"]), json.dumps(result["server"]))


if __name__ == "__main__":
    main()
