#!/usr/bin/env bash
# Two interrupts in a row, and programs that die of a signal, under `record`: the program hears each interrupt, the shell hears of the
# death, and the capture is whole. Usage: signals.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
work=$(mktemp -d)
cd "$work"
trap 'rm -rf "$work"' EXIT
exec python3 - "$build/gpufathom" <<'PY'
import re
import signal
import sqlite3
import subprocess
import sys
import time

PROGRAM = sys.argv[1]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts jobs in the background with it ignored


def record(name, *words):
    return subprocess.Popen([PROGRAM, "record", "-q", "-o", name, *words], stdout=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def whole(name):
    db = sqlite3.connect(name)
    assert db.execute("pragma integrity_check").fetchone()[0] == "ok", name
    assert db.execute("select count(*) from metadata where key = 'record.complete' and value = 'yes'").fetchone()[0] == 1, name


def says(process, line):
    assert process.stdout.readline() == line + "\n"


def hears_interrupts(process):
    """Waits until it holds them back, to read them: how long a program takes to begin depends on what else runs."""
    while not int(re.search(r"SigBlk:\s*(\w+)", open(f"/proc/{process.pid}/status").read())[1], 16) >> (signal.SIGINT - 1) & 1:
        assert process.poll() is None, process.returncode
        time.sleep(0.05)


# Two interrupts, and the program takes its time over the first.
CATCHES = """
import signal, sys, time
caught = 0
def count(number, frame):
    global caught
    caught += 1
signal.signal(signal.SIGINT, count)
print("ready", flush=True)
for interrupt in (1, 2):
    while caught < interrupt:
        time.sleep(0.05)
    print("caught", caught, flush=True)
sys.exit(9)
"""
process = record("twice.gpf", "--", sys.executable, "-c", CATCHES)
says(process, "ready")
process.send_signal(signal.SIGINT)
says(process, "caught 1")
process.send_signal(signal.SIGINT)
says(process, "caught 2")
assert process.wait() == 9
whole("twice.gpf")

# The second one kills it: the recorder dies as the program did, with its capture whole.
ONCE = """
import signal, time
def first(number, frame):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    print("caught 1", flush=True)
signal.signal(signal.SIGINT, first)
print("ready", flush=True)
time.sleep(200)
"""
process = record("killed.gpf", "--", sys.executable, "-c", ONCE)
says(process, "ready")
process.send_signal(signal.SIGINT)
says(process, "caught 1")
process.send_signal(signal.SIGINT)
assert process.wait() == -signal.SIGINT, process.returncode
whole("killed.gpf")
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT, signal.SIGKILL):
    process = record(f"{number}.gpf", "--", "sh", "-c", f"kill -{int(number)} $$; sleep 9")
    assert process.wait() == -number, (number, process.returncode)
    whole(f"{number}.gpf")

# Without a program: the first interrupt ends the recording, the second changes nothing.
process = record("machine.gpf", "--duration", "3000")
hears_interrupts(process)
process.send_signal(signal.SIGINT)
process.send_signal(signal.SIGINT)
assert process.wait() == 0, process.returncode
whole("machine.gpf")
print("ok: two interrupts, six ways to be killed")
PY
