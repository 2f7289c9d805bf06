"""Feeds files and statements that mean ill to the program: run.py PROGRAM [--keep FOLDER] [--sanitized]. Every one must end with an answer,
or with a message that says what is wrong: within its time and memory, without a signal, a raw exception or a sanitizer's report."""
import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import databases
import traces
from statements import STATEMENTS

SECONDS, GIGABYTES = 60, 4
RAW = re.compile(r"terminate called|bad_alloc|length_error|std::|Sanitizer|runtime error")


def limits(sanitized):
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def fault(command, sanitized):
    """What is wrong with how a command ends; empty: nothing."""
    environment = dict(os.environ)
    if sanitized:
        environment["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=6000"
        environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment,
                          preexec_fn=lambda: limits(sanitized)) as process:
        message = process.stderr.read(1 << 20).decode("utf8", "replace")
    code = process.returncode
    if code < 0:
        return f"signal {-code}: {message[:600]}"
    if RAW.search(message):
        return message[:1500]
    if code not in (0, 1, 2):
        return f"exit code {code}: {message[:300]}"
    if code == 1 and not message.strip():
        return "exit code 1 without a word"
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", message):
        return f"what a terminal obeys: {message[:300]!r}"
    return ""


def commands(program, folder):
    out = folder / "out"
    out.mkdir(exist_ok=True)
    inputs = sorted(path for path in folder.iterdir() if path.is_file())
    for number, path in enumerate(inputs):
        yield [program, "analyze", path, "--format", "json", "-o", out / f"{number}.json"]
        yield [program, "analyze", path, "--window", "stable"]
        yield [program, "query", path, "select * from activities limit 5"]
        yield [program, "query", path]
        if path.stat().st_size < 1 << 20:
            yield [program, "export", path, "--perfetto", "-o", out / f"{number}.pftrace"]
            yield [program, "analyze", path, "-o", out / f"{number}.html"]
            yield [program, "compare", path, folder / "k_plain.json"]
            yield [program, "energy", path]
    for statement in STATEMENTS:
        yield [program, "query", folder / "s_plain.gpf", statement, "--max-seconds", "5", "--max-bytes", "300MB"]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("program", type=Path)
    options.add_argument("--keep", type=Path, help="folder for the inputs; without it they go away")
    options.add_argument("--sanitized", action="store_true", help="a build with sanitizers, which need room of their own")
    o = options.parse_args()
    program = o.program.resolve()
    start = time.time()
    with tempfile.TemporaryDirectory() as temporary:
        folder = o.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        traces.make(folder)
        databases.make(folder, program)
        todo = list(commands(program, folder))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            faults = list(pool.map(lambda command: fault(command, o.sanitized), todo))
    bad = 0
    for command, found in zip(todo, faults):
        if found:
            bad += 1
            print(f"{' '.join(str(word)[:200] for word in command[1:])}: {found}")
    print(f"{len(todo)} commands, {bad} with faults, {time.time() - start:.0f} s")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
