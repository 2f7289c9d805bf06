"""Results of the fuzzers' last run, as JSON, from the logs of fuzz/run. Usage: results.py COMMAND
PROGRAM ..."""
import json
import re
import subprocess
import sys
import time
from pathlib import Path

KEPT = Path(".cache/fuzz")


def result(program):
    """Seconds of the clock and of processor time, inputs tried, inputs that broke it; None: it has
    not run."""
    log, times = KEPT / f"{program}.log", KEPT / f"{program}.time"
    if not log.exists() or not times.exists():
        return None
    text = log.read_text(errors="replace")
    inputs = re.search(r"number_of_executed_units: (\d+)", text)
    clock, processor = (float(word) for word in times.read_text().split())
    found = re.findall(r"Test unit written to (\S+)", text)
    return {"program": program, "seconds": round(clock), "processor_seconds": round(processor),
            "inputs": int(inputs[1]) if inputs else None, "found": len(found)}


def main():
    command, programs = sys.argv[1], [Path(path).name for path in sys.argv[2:]]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True,
                            text=True).stdout.strip()
    cores = len(__import__("os").sched_getaffinity(0))
    json.dump({"command": command, "date": time.strftime("%Y-%m-%d"), "commit": commit,
               "cores": cores,
               "sanitizers": "AddressSanitizer and UndefinedBehaviorSanitizer, clang 16",
               "programs": [one for one in map(result, programs) if one]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
