#!/usr/bin/env python3
"""Runs a tutorial as a reader would: tutorials.py BUILD_DIR PAGE, where PAGE is the name of a page
of docs/tutorial.

Every indented block of the page is given to one shell, every block of ```python to one interpreter,
in the order of the page. Each must end with 0. The lines of a block of ```text must be among what
the block above it printed, in that order; "…" stands for lines in between. What this machine cannot
run (a training, an installation) stands in blocks of another name and is not run.

Over the fake driver with two GPUs, which a Slurm job holds; ports of the page become free ones.
Exit 77: a program is not installed.
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Programs that a page wants and that are not of this repository.
NEEDS = {"fleet": ["prometheus", "promtool", "curl"]}
PORTS = ["9400", "9090"]
LIMIT_S = 150  # a page takes twenty; nothing that it began is left behind
END = "--- end of a block:"


def blocks(page):
    """The commands and their output: (kind, first line's number, text)."""
    found, lines, at = [], page.splitlines(), 0
    while at < len(lines):
        begin, fence = at + 1, re.match(r"```(\w+)", lines[at])
        part = []
        if fence:
            at += 1
            while not lines[at].startswith("```"):
                part.append(lines[at])
                at += 1
        while not fence and at < len(lines) and (lines[at].startswith("    ")
                                                 or (part and not lines[at])):
            part.append(lines[at][4:])
            at += 1
        if part:
            found.append((fence[1] if fence else "shell", begin, "\n".join(part).rstrip()))
        at += bool(fence) or not part
    return found


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    return [str(one.getsockname()[1]) for one in held]


class Session:
    """A shell, or an interpreter, that runs block after block and says what each printed."""

    def __init__(self, words, last_line, folder, environment):
        self.last_line = last_line
        self.process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, encoding="utf-8",
                                        start_new_session=True)

    def run(self, text):
        self.process.stdin.write(text + "\n" + self.last_line)
        self.process.stdin.flush()
        printed = []
        try:
            for line in self.process.stdout:
                before, end, code = line.partition(END)
                printed.append(before)
                if end:
                    return "".join(printed), int(code)
            return "".join(printed), self.process.wait()
        except TimeoutError:
            return "".join(printed), f"nothing after {LIMIT_S} s"

    def end(self):
        # Programs that the page began in the background end, too.
        if self.process.poll() is None or words_left(self.process.pid):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def words_left(group):
    try:
        os.killpg(group, 0)
        return True
    except ProcessLookupError:
        return False


def not_printed(expected, printed):
    lines = iter([line.rstrip() for line in printed.splitlines()])
    return [want for want in expected.splitlines() if want.strip() != "…"
            and not any(line == want.rstrip() for line in lines)]


# A block of Python as a whole; an exception ends the session as it would end a program.
PYTHON = f"""
import sys
block = []
for line in sys.stdin:
    if line == "{END}\\n":
        exec(compile("".join(block), "the page", "exec"), globals())
        print("{END}0", flush=True)
        block = []
    else:
        block.append(line)
"""


def took_too_long(number, frame):
    raise TimeoutError


def main():
    signal.signal(signal.SIGALRM, took_too_long)
    signal.alarm(LIMIT_S)
    build, name = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    path = os.pathsep.join([str(build), os.environ["PATH"],
                            str(ROOT / ".cache/prometheus/usr/bin")])
    missing = [program for program in NEEDS.get(name, []) if not shutil.which(program, path=path)]
    if missing:
        print(f"{', '.join(missing)} is not installed: ./dev setup")
        return 77
    page = (ROOT / "docs/tutorial" / f"{name}.md").read_text(encoding="utf-8")
    for port, free in zip(PORTS, free_ports(len(PORTS))):
        page = re.sub(rf"\b{port}\b", free, page)
    with tempfile.TemporaryDirectory() as folder:
        for entry in ["docs", "examples", "share", "python"]:
            os.symlink(ROOT / entry, pathlib.Path(folder) / entry)
        who = {"SLURM_JOB_ID": "7", "SLURM_JOB_NAME": "train", "SLURM_JOB_USER": "ann",
               "SLURM_PROCID": "0"}
        job = subprocess.Popen(["sleep", "600"], env=who)
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "python"),
                       "PYTHONDONTWRITEBYTECODE": "1",
                       "GPUFATHOM_BUILD": str(build), "GPUFATHOM_LIBRARY_PATH": str(build / "fakes"),
                       "GPUFATHOM_FAKE": f"gpus=2,pid={job.pid}", "COLUMNS": "80", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        # Commands of the page must not read on in the page.
        shell = Session(["bash", "-e", "-o", "pipefail"], f'}} < /dev/null\necho "{END}$?"\n',
                        folder, environment)
        python = Session([sys.executable, "-c", PYTHON], f"{END}\n", folder, environment)
        # Where a command fails the shell ends, and what it began in the background goes on with its
        # output: that would be waited for.
        shell.process.stdin.write(f"trap 'echo \"{END}$?\"' EXIT\n")
        sessions = {"shell": shell, "python": python}
        printed, ran = "", 0
        try:
            for kind, line, text in blocks(page):
                if kind in sessions:
                    printed, code = sessions[kind].run("{\n" + text if kind == "shell" else text)
                    ran += 1
                    if code:
                        print(f"docs/tutorial/{name}.md:{line}: ends with {code}\n{text}\n{printed}")
                        return 1
                elif kind == "text" and (lacking := not_printed(text, printed)):
                    print(f"docs/tutorial/{name}.md:{line}: not printed: {lacking[0]}\nbut\n{printed}")
                    return 1
        finally:
            for session in sessions.values():
                session.end()
            job.kill()
            job.wait()
    if not ran:
        print(f"docs/tutorial/{name}.md has no commands")
        return 1
    print(f"ok: {ran} blocks of docs/tutorial/{name}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
