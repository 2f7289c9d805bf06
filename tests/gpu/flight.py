#!/usr/bin/env python3
"""What `gpufathom monitor --flight` costs a program, and which planted moments it finds, on this GPU: flight.py GPUFATHOM OUT.json
[moments]: those alone.
One PyTorch process runs small steps (a decoder's, bound by launches) for the cost, alone, beside the monitor and beside the flight recorder in turns, then longer
steps with stalls, slower steps and an idle stretch. The driver is only read."""
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TURN, SETTLE, ROUNDS = 4.0, 2.0, 8
PLANTED = [("stall", 70, 2.0), ("slower_steps", 100, 35.0), ("stall", 145, 0.7), ("idle", 150, 14.0)]  # kind, second, length
LENGTH = 170.0


def decoder(torch):
    layers = [torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16) for _ in range(24)]
    x = torch.randn(8, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        y = x
        for weight in layers:
            y = torch.nn.functional.gelu(y @ weight) + x
        return float(y[0, 0])  # the token that the host waits for
    return step


def trainer(torch):
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)

    def step(products):
        for _ in range(products):
            a.mm(a)
        a.add_(0)
        torch.cuda.synchronize()
        time.sleep(0.02)
    return step


class Monitor:
    def __init__(self, gpufathom, *options):
        self.process = subprocess.Popen([gpufathom, "monitor", "--format", "csv", *options], stdout=subprocess.DEVNULL)

    def cpu_seconds(self):
        """Of the monitor and its recorder, so far."""
        total = 0
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        for pid in [str(self.process.pid), *children]:
            fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return total

    def end(self):
        self.process.terminate()
        self.process.wait()


def steps_a_second(step, seconds):
    done, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        step()
        done += 1
    return done / (time.perf_counter() - begin)


def cost(gpufathom, torch):
    step, rounds, ways = decoder(torch), [], ["alone", "monitor", "flight"]
    steps_a_second(step, 5)
    for number in range(ROUNDS):
        turn = {}
        for way in ways[number % 3:] + ways[:number % 3]:
            with tempfile.TemporaryDirectory() as folder:
                monitor = None if way == "alone" else Monitor(gpufathom, *(["--flight", folder] if way == "flight" else []))
                steps_a_second(step, SETTLE)
                before = monitor.cpu_seconds() if monitor else 0
                turn[way] = steps_a_second(step, TURN)
                if monitor:
                    turn[way + "_cores"] = (monitor.cpu_seconds() - before) / TURN
                    monitor.end()
        rounds.append(turn)
    return {"rounds": rounds, "median": {key: statistics.median(turn[key] for turn in rounds) for key in rounds[0]}}


def keep_or_drop(out):
    """The flight's folder: with FLIGHT_KEEP set it stays beside the results."""
    if "FLIGHT_KEEP" not in os.environ:
        return tempfile.TemporaryDirectory()
    os.makedirs(out + ".flight")
    return contextlib.nullcontext(out + ".flight")


def moments(gpufathom, torch, out):
    step = trainer(torch)
    step(1)
    with keep_or_drop(out) as folder:
        flight = Monitor(gpufathom, "--flight", folder)
        time.sleep(2)
        origin, waiting = time.time(), [list(each) for each in PLANTED]
        while (now := time.time() - origin) < LENGTH:
            if waiting and waiting[0][0] != "slower_steps" and now >= waiting[0][1]:
                time.sleep(waiting.pop(0)[2])
                continue
            slow = waiting and waiting[0][0] == "slower_steps" and now >= waiting[0][1]
            if slow and now >= waiting[0][1] + waiting[0][2]:
                waiting.pop(0)
            step(90 if slow else 60)
        flight.end()
        log = os.path.join(folder, "moments.jsonl")
        told = [json.loads(line) for line in open(log)] if os.path.exists(log) else []
        headlines = {}
        for entry in told:
            if entry["capture"] and entry["capture"] not in headlines:
                answer = subprocess.run([gpufathom, "analyze", os.path.join(folder, entry["capture"])], capture_output=True, text=True)
                headlines[entry["capture"]] = [answer.returncode, answer.stdout.splitlines()[1:8]]
        ring = [os.path.getsize(os.path.join(folder, "ring", name)) for name in os.listdir(os.path.join(folder, "ring"))]
    rows = [{"kind": e["kind"], "second": round(e["time_ns"] * 1e-9 - origin, 2), "text": e["text"], "capture": e["capture"]} for e in told]
    for kind, second, length in PLANTED:
        its = [r for r in rows if r["kind"] == kind and second - 1 <= r["second"] <= second + length + 30]
        for row in its:
            row["planted"] = True
        print(kind, second, "found" if its else "MISSED")
    return {"planted": PLANTED, "told": rows, "captures": headlines, "ring_bytes": ring}


def main():
    import torch
    gpufathom, out = sys.argv[1:3]
    watchdog = threading.Timer(420, lambda: os._exit(3))
    watchdog.daemon = True
    watchdog.start()
    result = {"what": "What the flight recorder costs, and the planted moments that it finds", "command": "tests/gpu/flight.py build/gpufathom OUT.json",
              "date": time.strftime("%Y-%m-%d"), "hardware": torch.cuda.get_device_name(), "torch": torch.__version__}
    if "moments" not in sys.argv[3:]:
        result["cost"] = cost(gpufathom, torch)
        print(json.dumps(result["cost"]))
        json.dump(result, open(out, "w"), indent=1)
    result["moments"] = moments(gpufathom, torch, out)
    json.dump(result, open(out, "w"), indent=1)


if __name__ == "__main__":
    main()
