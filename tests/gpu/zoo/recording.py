"""Records a program in one of the ways that there are; what it said, and where the capture is."""
import dataclasses
import glob
import json
import os
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))


@dataclasses.dataclass
class Recorded:
    program: str
    mode: str
    command: list = dataclasses.field(default_factory=list)
    code: int | None = None
    seconds: float = 0  # from the start of the program to its end
    until_ready: float | None = None  # from its start to its loop
    report: dict | None = None  # what the program itself said
    summary: dict | None = None  # what the recorder said
    capture: str = ""
    phases: list = dataclasses.field(default_factory=list)  # (recorder "on" or "off", from, to)
    note: str = ""


def environment(gpu):
    return {
        **os.environ,
        "PYTHONPATH": os.path.join(HERE, "..", "..", "..", "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "ZOO_GPU": str(gpu),
        **({"CUDA_VISIBLE_DEVICES": str(gpu)} if gpu is not None and gpu >= 0 else {}),
    }


class Started:
    """A running program: when it was ready, and in the end what it said and how it ended."""

    def __init__(self, command, gpu, log):
        self.begin = time.monotonic()
        self.ready = threading.Event()
        self.until_ready = None
        self.lines = []
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment(gpu),
            start_new_session=True,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("ready") and self.until_ready is None:
                self.until_ready = time.monotonic() - self.begin
                self.ready.set()
        self.ready.set()

    def wait(self, limit):
        """The exit code; a program past its limit is ended with all that it started."""
        try:
            code = self.process.wait(max(limit - (time.monotonic() - self.begin), 0.1))
        except subprocess.TimeoutExpired:
            self.end()
            code = None
        self.reader.join(5)
        return code

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def report(self):
        for line in reversed(self.lines):
            if line.startswith("{"):
                try:
                    return json.loads(line)
                except ValueError:
                    continue
        return None


def read_json(path):
    try:
        with open(path) as text:
            return json.load(text)
    except (OSError, ValueError):
        return None


def under_recorder(job, arguments, mode):
    """The program as the recorder's child."""
    capture = os.path.join(job.folder, f"{job.name}.{mode}.gpf")
    for old in glob.glob(f"{capture}*"):
        os.unlink(old)
    devices = ["--devices", str(job.gpu)] if job.ranks == 1 and job.gpu >= 0 else []
    command = [job.gpufathom, "record", "-o", capture, "--summary", f"{capture}.json", *devices,
               *arguments, "--", *job.command]
    with open(f"{capture}.log", "w") as log:
        started = Started(command, None if job.ranks > 1 else job.gpu, log)
        code = started.wait(job.limit)
    recorded = Recorded(job.name, mode, command, code, time.monotonic() - started.begin,
                        started.until_ready, started.report(), read_json(f"{capture}.json"),
                        capture)
    if code is None:
        recorded.note = f"ended after {job.limit:.0f} s"
    return recorded


def attached(job, seconds, more=()):
    """One program, the recorder beside it in turns; then what needs a process id."""
    capture = os.path.join(job.folder, f"{job.name}.levels.gpf")
    recorded = Recorded(job.name, "levels", job.command, capture=capture)
    devices = ["--devices", str(job.gpu)] if job.ranks == 1 and job.gpu >= 0 else []
    with open(f"{capture}.log", "w") as log:
        started = Started(job.command, None if job.ranks > 1 else job.gpu, log)
        if started.ready.wait(job.limit) and started.until_ready is not None:
            time.sleep(0.3)
            for kind in ("off", "on", "off", "on", "off"):
                begin = time.time_ns()
                if kind == "off":
                    time.sleep(seconds * 0.7)
                else:
                    subprocess.run(
                        [job.gpufathom, "record", "-q", "-o", capture, "--summary",
                         f"{capture}.json", "--duration", str(seconds), *devices],
                        stderr=log, timeout=30,
                    )
                    begin += 900_000_000  # the recorder's own start is not recording yet
                recorded.phases.append((kind, begin, time.time_ns()))
            for name, arguments in more:
                begin = time.time_ns()
                path = os.path.join(job.folder, f"{job.name}.{name}.gpf")
                pid = str(started.process.pid)
                done = subprocess.run(
                    [job.gpufathom, "record", "-o", path, "--summary", f"{path}.json",
                     *arguments, "--pid", pid], stderr=log, timeout=30,
                )
                recorded.phases.append((name, begin, time.time_ns(), done.returncode))
        recorded.code = started.wait(job.limit)
    recorded.seconds = time.monotonic() - started.begin
    recorded.until_ready = started.until_ready
    recorded.report = started.report()
    recorded.summary = read_json(f"{capture}.json")
    return recorded


@dataclasses.dataclass
class Job:
    """One program on one GPU, with what is needed to record it."""

    name: str
    words: list  # script and arguments, without --seconds
    gpufathom: str
    folder: str
    gpu: int = 0
    ranks: int = 1
    seconds: float = 4
    limit: float = 45
    tiny: bool = False

    @property
    def command(self):
        script, *arguments = self.words
        timed = ["--seconds", str(self.seconds)]
        more = [*arguments, *timed, *(["--tiny"] if self.tiny else [])]
        path = os.path.join(PROGRAMS, script)
        if not script.endswith(".py"):
            return [os.path.join(self.folder, script), str(self.seconds)]
        if self.ranks > 1:
            return [sys.executable, "-m", "torch.distributed.run", "--standalone",
                    "--nproc-per-node", str(self.ranks), path, *more]
        return [sys.executable, path, *more]
