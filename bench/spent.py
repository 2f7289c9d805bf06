"""Processor time and peak memory of a program: `finish(start(command))`.

The system counts the memory of whoever starts a program as that program's peak (ru_maxrss outlives
exec), and a Python program that made its inputs holds more than `analyze` takes. So a small process
of its own stands between: started as `python3 -S spent.py FD COMMAND...` it runs the command, waits
for it and writes down its figures.
"""
import os
import sys

if __name__ == "__main__":
    child = os.fork()
    if child == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    _, ended, used = os.wait4(child, 0)
    os.write(int(sys.argv[1]), f"{os.waitstatus_to_exitcode(ended)} {used.ru_utime} {used.ru_stime} {used.ru_maxrss * 1024}".encode())
    sys.exit()

import platform  # noqa: E402: the process between needs none of these
import subprocess  # noqa: E402
import typing  # noqa: E402


def processor():
    """Its name, as results say on what they were measured."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":", 1)[1].strip() for line in lines
                     if line.startswith("model name")), platform.machine())


class Spent(typing.NamedTuple):
    status: int
    user: float  # seconds
    system: float
    peak_bytes: int
    output: bytes
    error: bytes

    @property
    def cpu(self):
        return self.user + self.system


class Running(typing.NamedTuple):
    process: subprocess.Popen
    figures: int  # the end of a pipe that they come through


def start(command, cwd=None, **limits):
    figures, write = os.pipe()
    process = subprocess.Popen([sys.executable, "-S", "-E", __file__, str(write),
                                *map(str, command)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, cwd=cwd, pass_fds=[write], **limits)
    os.close(write)
    return Running(process, figures)


def finish(running):
    output, error = running.process.communicate()
    with os.fdopen(running.figures) as figures:
        status, user, system, peak = figures.read().split()
    return Spent(int(status), float(user), float(system), int(peak), output, error)


def run(command, cwd=None, **limits):
    return finish(start(command, cwd, **limits))
