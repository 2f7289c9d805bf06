"""The monitor on a terminal: views, keys, history, and the terminal as it was afterwards:
monitor_keys.py PROGRAM."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PROGRAM = sys.argv[1]
FAKE = {**os.environ, "GPUFATHOM_FAKE": "gpus=3,xid=79,xid_after=1", "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8"}
FAKE.pop("COLUMNS", None)


class Terminal:
    """A program on a terminal of its own, and what its screen shows."""

    def __init__(self, *words, rows=24, columns=100):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave, self.raw = slave, b""

        def own_session():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([PROGRAM, *words], stdin=slave, stdout=slave, stderr=slave,
                                        env=FAKE, preexec_fn=own_session)

    def read(self):
        while select.select([self.master], [], [], 0)[0]:
            self.raw += os.read(self.master, 65536)

    def screen(self):
        """The newest drawing."""
        drawn = self.raw.decode("utf8", "replace").split("\x1b[H")[-1]
        return re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", drawn).replace("\r", "")

    def shows(self, pattern, limit=30):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            self.read()
            if "\x1b[J" in self.raw.decode("utf8",
                                           "replace").split("\x1b[H")[-1] and re.search(pattern, self.screen(), re.M):
                return self.screen()
            time.sleep(0.05)
        raise AssertionError((pattern, self.screen()))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def ended(self):
        code = self.process.wait(timeout=30)
        self.read()
        assert termios.tcgetattr(self.slave) == self.before, "the terminal is as it was"
        assert self.raw.rstrip().endswith(b"\x1b[?1049l"), self.raw[-40:]
        return code


def numbers(screen):
    return [int(found) for found in re.findall(r"^(\d+) +H200", screen, re.M)]


terminal = Terminal("monitor", "--interval", "0.2")
table = terminal.shows(r"(?s)H200 +75 .*XID 79 \(the GPU fell off the bus\), 1 time, last at")
assert numbers(table) == [0, 1, 2], table
assert table.splitlines()[-1].startswith("q quit  s sort: number"), table
terminal.press("s")
terminal.shows("sort: busy")
terminal.press("g")
page = terminal.shows(r"GPU active +75 +75 +75 % +█?[▁-█]{3,}")
assert re.search(r"temperature +40 +40 +40 C", page), page
terminal.press("\x1b[C")
terminal.shows(r"^GPU 1 .*\n(.*\n)+  temperature +41")
terminal.press("\x1b[D")
terminal.shows(r"^GPU 0 ")
terminal.press("p")
assert len(re.findall(r"^GPU \d", terminal.shows(r"^GPU +process +memory"), re.M)) == 3
terminal.press("?")
terminal.shows(r"^Keys")
terminal.press("\x1b")
terminal.shows(r"sort: busy")
terminal.press("q")
assert terminal.ended() == 0

# On a small terminal nothing scrolls away by itself, and the rest is a key away.
terminal = Terminal("monitor", "--interval", "0.2", rows=5, columns=80)
assert len(terminal.shows("q quit").splitlines()) == 5
terminal.press("jj")
terminal.shows(r"^1 +H200|^ +1 ")
assert max(len(line) for line in terminal.screen().splitlines()) <= 80
terminal.process.send_signal(signal.SIGINT)
assert terminal.ended() == 0
print("ok: the monitor's keys")
