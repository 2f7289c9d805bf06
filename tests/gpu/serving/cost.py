"""Cost of recorders for the engine, in interleaved pairs: engines that stay up serve the same load
in turn, alone (A) and with a recorder (B), as A B B A.

Levels and the monitor are beside the very engine that also serves alone. Kernels need a library in
the process, which stays once it has been used: that is another engine, started by `gpufathom run`,
and so is the one that no recorder ever comes to. `control` is two engines without anything: what
two processes differ by.
"""
import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BOUND = 60  # seconds for the answer of an engine


def engine(*words, cpu=False):
    return [sys.executable, str(HERE / "engine.py"), *words, *(["--cpu"] if cpu else [])]


class Server:
    """An engine that waits for loads."""

    def __init__(self, command, log):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=log, text=True)

    def heard(self, seconds):
        answer = []

        def read():
            for line in self.process.stdout:
                if line.startswith("{"):
                    answer.append(json.loads(line))
                    return
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        reader.join(seconds)
        if not answer:
            raise RuntimeError(f"the engine is silent, its code is {self.process.poll()}")
        return answer[0]

    def serve(self, count):
        self.process.stdin.write(json.dumps({"requests": count}) + "\n")
        self.process.stdin.flush()
        return self.heard(BOUND)

    def end(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def processor_s(pid):
    """The processor time of one process, from /proc."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


@contextlib.contextmanager
def recorder(command, rows, settle):
    """A recorder beside what is in it; its exit code and share of a core go to `rows`."""
    if not command:
        yield
        return
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    time.sleep(settle)
    begun, used = time.monotonic(), processor_s(process.pid)
    early = process.poll()
    try:
        yield
    finally:
        later = processor_s(process.pid)
        row = {"ended_early": early, "cores": (later - used) / (time.monotonic() - begun)
               if used is not None and later is not None and process.poll() is None else None}
        process.send_signal(signal.SIGINT)
        try:
            said = process.communicate(timeout=15)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[1]
        rows.append({**row, "exit_code": process.returncode, "said": said.strip()[-300:]})


def interval(values, draws=4000):
    """The median and where it lies in 95 of 100 samples drawn with replacement."""
    if not values:
        return None
    chance = random.Random(0)
    medians = sorted(statistics.median(chance.choices(values, k=len(values)))
                     for _ in range(draws))
    return {"median": statistics.median(values), "low": medians[draws // 40],
            "high": medians[-draws // 40], "pairs": len(values)}


class Costs:
    def __init__(self, gpufathom, folder, cpu=False):
        self.gpufathom, self.folder, self.cpu = gpufathom, folder, cpu
        self.log = open(folder / "cost.log", "w+", encoding="utf-8")
        under = [gpufathom, "run", "--"]
        self.servers = {name: Server([*before, *engine("--serve", cpu=cpu)], self.log)
                        for name, before in (("alone", []), ("other", []), ("run", under),
                                             ("kernels", under))}
        self.down = {}
        for name, server in self.servers.items():
            try:
                server.heard(90)
            except RuntimeError as wrong:
                self.down[name] = str(wrong)
        self.number = 0

    def command(self, kind, server):
        """The recorder of a kind, and which capture it writes."""
        self.number += 1
        self.capture = self.folder / f"cost{self.number}.gpf"
        pid = str(self.servers[server].process.pid)
        record = [self.gpufathom, "record", "-o", str(self.capture), "--pid", pid]
        return {"levels": record, "kernels": [*record, "--kernels", "--window", "0"],
                "monitor": [self.gpufathom, "monitor", "--format", "json"]}.get(kind)

    KINDS = {"control": "other", "run": "run", "levels": "alone", "monitor": "alone",
             "kernels": "kernels"}  # and the engine that serves with it

    def block(self, kind, count, row):
        """A B B A: two pairs."""
        def serve(name):
            return self.servers[name].serve(count)
        other = self.KINDS[kind]
        before = serve("alone")
        command = self.command(kind, other)
        with recorder(command, row["recorders"], 0.6 if self.cpu else 1.5):
            within = [serve(other), serve(other)]
        after = serve("alone")
        if command and row["recorders"][-1]["ended_early"] is not None:
            raise RuntimeError(f'the recorder did not stay: {row["recorders"][-1]["said"]}')
        row["pairs"] += [[before, within[0]], [after, within[1]]]
        if kind == "kernels" and self.capture.exists():
            row["recorders"][-1]["kernels"] = kernels_of(self.gpufathom, self.capture)
        with contextlib.suppress(OSError):
            self.capture.unlink()

    def measure(self, until, latest, seconds=1.2, blocks=8):
        """Rounds of all kinds until the time is up; three are six pairs of each, and these may
        take until `latest`."""
        count = 2 if self.cpu else 48
        self.servers["alone"].serve(count)
        first = self.servers["alone"].serve(count)
        count = max(2, round(count * seconds / first["seconds"]))
        for server in self.servers.values():  # all have served before it counts
            if server.process.poll() is None:
                server.serve(count)
        rows = {kind: {"pairs": [], "recorders": []} for kind in self.KINDS}
        longest = 0.0
        for number in range(blocks):
            begun = time.monotonic()
            if begun + longest > (until if number >= 3 else latest):
                break
            for kind, row in rows.items():
                try:
                    self.block(kind, count, row)
                except Exception as wrong:  # of one kind, and the others go on
                    row["failed"] = str(wrong)
            longest = max(longest, time.monotonic() - begun)
        return {"requests_of_a_load": count, "not_started": self.down,
                **{kind: summed(row) for kind, row in rows.items()}}

    def end(self):
        for server in self.servers.values():
            server.end()
        self.log.seek(0)
        return self.log.read()[-1500:]


def kernels_of(gpufathom, capture):
    done = subprocess.run([gpufathom, "query", "--format", "json", str(capture),
                           "select count(*) from kernels"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)["rows"][0][0]
    except (ValueError, KeyError, IndexError):
        return done.stderr[-200:]


def summed(row):
    """Costs as shares: of the throughput lost, and of the decode step's time added."""
    lost = [1 - b["tokens_per_s"] / a["tokens_per_s"] for a, b in row["pairs"]]
    slower = [b["decode_ms_p50"] / a["decode_ms_p50"] - 1 for a, b in row["pairs"]
              if a["decode_ms_p50"] and b["decode_ms_p50"]]
    keep = ("tokens_per_s", "decode_ms_p50", "seconds", "steps")
    return {"throughput_lost": interval(lost), "decode_step_longer": interval(slower), **row,
            "pairs": [[{key: each[key] for key in keep} for each in pair] for pair in row["pairs"]]}


def measure(gpufathom, folder, until, latest, cpu=False):
    costs = Costs(gpufathom, folder, cpu)
    try:
        answer = costs.measure(until, latest, blocks=1 if cpu else 8)
    finally:
        said = costs.end()
    return {**answer, "engines_said": said}
