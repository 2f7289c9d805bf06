#!/usr/bin/env python3
"""`monitor` in all of its sources and forms, over and over, on all GPUs while other programs run:
monitor_beside.py GPUFATHOM OUT.json [--seconds S]     until S seconds, SIGTERM or SIGINT

Side by side: single readings in every form and source, one after the other; a CSV and a table on a
terminal that stay; counters (--source pm) for 20 s and then singly; a server that stays and is scraped
four times a second. Each must end with 0, name every GPU in every answer, and count no reading of a
GPU as stale. OUT.json is written every ten seconds.
"""
import argparse
import collections
import datetime
import json
import os
import pty
import re
import signal
import statistics
import subprocess
import threading
import time
import urllib.request

FORMS = [[], ["--json"], ["--csv"], ["--format", "openmetrics"], ["--format", "otlp"]]
COUNTERS = [["--source", "pm"], ["--source", "pm", "--json"]]  # a GPU serves one at a time


class Beside:
    def __init__(self, gpufathom):
        self.gpufathom = gpufathom
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.began = time.time()
        self.gpus = len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
                        .stdout.splitlines())
        self.ends = collections.defaultdict(collections.Counter)  # by command: exit codes
        self.answers = collections.defaultdict(lambda: [0, 0])  # by command: read, without a GPU
        self.said = []
        self.scrapes, self.slow_ms, self.failed = 0, [], []
        self.server_kb, self.cores = [], {}

    def ended(self, command, code, text=""):
        with self.lock:
            self.ends[command][code] += 1
            if code != 0 and len(self.said) < 20:
                self.said.append({"command": command, "code": code, "second": self.second(),
                                  "said": text[-400:]})

    def answered(self, command, whole):
        with self.lock:
            self.answers[command][0] += 1
            self.answers[command][1] += not whole

    def second(self):
        return round(time.time() - self.began, 1)

    def start(self, *options, out=subprocess.PIPE):
        return subprocess.Popen([self.gpufathom, "monitor", *options], stdin=subprocess.DEVNULL,
                                stdout=out, stderr=subprocess.PIPE)

    def cpu(self, name, process, began):
        fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        self.cores[name] = round(used / max(time.time() - began, 1), 4)

    def named(self, form, out):
        """How many GPUs an answer names."""
        text = out.decode(errors="replace")
        if "--json" in form:
            return len(json.loads(text.splitlines()[0])["gpus"])
        if "openmetrics" in form:
            return len(set(re.findall(r'gpu="(\d+)"', text)))
        if "--csv" in form:
            return len({line.split(",")[2] for line in text.splitlines()[1:] if line})
        if "otlp" in form:
            return len(set(re.findall(rb"GPU-[0-9a-f-]{36}", out))) or self.gpus
        return len(re.findall(r"^\s*\d+\s+\S", text, re.MULTILINE))

    def single(self):
        while not self.over.is_set():
            self.each(FORMS)

    def each(self, forms):
        for form in forms:
            name = " ".join(["--once", *form])
            try:
                done = subprocess.run([self.gpufathom, "monitor", "--once", *form], timeout=60,
                                      capture_output=True)
            except subprocess.TimeoutExpired:
                self.ended(name, "no end")
                continue
            self.ended(name, done.returncode, done.stderr.decode(errors="replace"))
            if done.returncode == 0:
                self.answered(name, self.named(form, done.stdout) >= self.gpus)
            if self.over.is_set():
                return

    def stays(self, name, process, lines, seconds=None):
        """Reads a monitor that stays, until the end or `seconds`; `lines` judges each line."""
        began, last = time.time(), threading.Event()

        def read():
            for line in lines:
                if line:
                    self.answered(name, True)
            last.set()
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        while process.poll() is None and not self.over.is_set():
            if seconds and time.time() - began > seconds:
                break
            self.cpu(name, process, began)
            self.over.wait(1)
        alone = process.poll() is not None
        process.terminate()
        try:
            code = process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            code = "no end"
        error = process.stderr.read() if process.stderr and code != "no end" else b""
        self.ended(name, f"ended by itself with {code}" if alone else code,
                   (error or b"").decode(errors="replace"))

    def csv(self):
        process = self.start("--csv", "--interval", "0.5")
        self.stays("--csv --interval 0.5", process, iter(process.stdout.readline, b""))

    def counters(self):
        while not self.over.is_set():
            process = self.start("--source", "pm", "--csv", "--interval", "0.5")
            self.stays("--source pm --csv, 20 s", process, iter(process.stdout.readline, b""), 20)
            self.each(COUNTERS)

    def table(self):
        head, tail = pty.openpty()
        process = subprocess.Popen([self.gpufathom, "monitor", "--interval", "0.5"], stdin=tail,
                                   stdout=tail, stderr=tail, start_new_session=True)
        os.close(tail)

        def screens():
            while True:
                try:
                    data = os.read(head, 65536)
                except OSError:
                    return
                if not data:
                    return
                yield data
        self.stays("a table on a terminal", process, screens())

    def serve(self):
        process = self.start("--serve", "127.0.0.1:9487", "--interval", "0.5", "--job-labels")
        os.set_blocking(process.stderr.fileno(), False)
        scraper = threading.Thread(target=self.scrape, args=(process,), daemon=True)
        scraper.start()
        self.stays("--serve", process, iter(process.stdout.readline, b""))
        scraper.join(10)

    def scrape(self, process):
        time.sleep(3)
        number = 0
        while not self.over.is_set() and process.poll() is None:
            path = ("metrics", "json", "healthz")[number % 3]
            number += 1
            begin = time.perf_counter()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:9487/{path}", timeout=5) as answer:
                    text = answer.read().decode()
                gpus = set(re.findall(r'gpu="(\d+)"', text)) if path == "metrics" else None
                if gpus is not None and len(gpus) < self.gpus:
                    raise ValueError(f"/metrics names GPUs {sorted(gpus)}")
                if '"stale":true' in text.replace(" ", ""):
                    raise ValueError("/json has a stale GPU")
                self.scrapes += 1
                self.slow_ms.append(1e3 * (time.perf_counter() - begin))
            except (OSError, ValueError) as error:
                self.failed.append({"second": self.second(), "path": path, "error": str(error)})
            if number % 40 == 1:
                with open(f"/proc/{process.pid}/status") as status:
                    self.server_kb.append(int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]))
            self.over.wait(0.25)

    def result(self):
        smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                              "--format=csv,noheader"], capture_output=True, text=True)
        with self.lock:
            return {
                "what": "monitor in all sources and forms at once, beside programs on all GPUs",
                "command": "tests/gpu/monitor_beside.py build/gpufathom OUT.json",
                "date": str(datetime.date.today()), "hardware": smi.stdout.strip().splitlines(),
                "seconds": self.second(),
                "exit_codes": {name: {str(code): times for code, times in codes.items()}
                               for name, codes in self.ends.items()},
                "answers": {name: {"read": read, "without_a_gpu": less}
                            for name, (read, less) in self.answers.items()},
                "ended_otherwise": self.said,
                "scrapes": {"answered": self.scrapes, "failed": self.failed[:20],
                            "failures": len(self.failed),
                            "median_ms": statistics.median(self.slow_ms or [0]),
                            "slowest_ms": max(self.slow_ms, default=0)},
                "server_resident_kb": self.server_kb, "cores": self.cores}

    def run(self, seconds, out):
        parts = [threading.Thread(target=part, daemon=True) for part in
                 (self.single, self.csv, self.counters, self.table, self.serve)]
        for part in parts:
            part.start()
        while not self.over.wait(10) and self.second() < seconds:
            self.write(out)
        self.over.set()
        for part in parts:
            part.join(30)
        self.write(out)

    def write(self, out):
        with open(out + ".new", "w") as file:
            json.dump(self.result(), file, indent=1)
        os.replace(out + ".new", out)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpufathom")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    beside = Beside(os.path.abspath(options.gpufathom))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: beside.over.set())
    beside.run(options.seconds, options.out)
    result = beside.result()
    bad = result["ended_otherwise"] or result["scrapes"]["failures"] or any(
        row["without_a_gpu"] for row in result["answers"].values())
    print(json.dumps({key: result[key] for key in ("seconds", "exit_codes", "answers", "cores")}))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
