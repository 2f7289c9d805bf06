#!/usr/bin/env python3
"""Power of a board when nothing runs: idle_power.py OUT.json

Asleep, without a context; idle, with memory of it in use (ASAP 2024, 5.5.2.4); asleep again.
Nothing is set: clocks are as the driver has them.
"""
import json
import statistics
import subprocess
import sys

SECONDS, SETTLE_S = 6, 4
HOLD = "import sys, torch; held = torch.empty(1 << 28, device='cuda'); torch.cuda.synchronize(); print('held', flush=True); sys.stdin.read()"


def read():
    """Power and clock for some seconds, after some in which they settle."""
    asked = subprocess.run(["timeout", str(SECONDS + SETTLE_S), "nvidia-smi", "-i", "0",
                            "--query-gpu=power.draw,clocks.sm", "--format=csv,noheader,nounits",
                            "-lms", "100"],
                           capture_output=True, text=True)
    rows = [[float(cell) for cell in line.split(",")] for line in asked.stdout.splitlines()
            if line.count(",") == 1]
    rows = rows[len(rows) * SETTLE_S // (SECONDS + SETTLE_S):]
    watts = [row[0] for row in rows]
    return {"watts": statistics.mean(watts), "deviation": statistics.pstdev(watts),
            "sm_mhz": statistics.mean(row[1] for row in rows), "readings": len(rows)}


def main():
    rows = [{"name": "sleep", **read()}]
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as holder:
        holder.stdout.readline()
        rows.append({"name": "idle", **read()})
        holder.stdin.close()
    rows.append({"name": "sleep again", **read()})
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump({"made_by": "tests/gpu/idle_power.py", "idle_power": rows}, out, indent=1)
    for row in rows:
        print(f"{row['name']}: {row['watts']:.1f} W at {row['sm_mhz']:.0f} MHz, {row['readings']} readings")


if __name__ == "__main__":
    main()
