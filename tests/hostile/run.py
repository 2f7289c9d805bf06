"""Feeds files and statements that mean ill to the program: run.py PROGRAM [--short] [--more FOLDER]
[--keep FOLDER] [--sanitized].

Every command must end with an answer, or with a message that says what is wrong: within its time
and memory, without a signal, a raw exception, a sanitizer's report or what a terminal obeys; and no file but its own answer may appear or change."""
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
from statements import statements

SECONDS, GIGABYTES = 60, 4
SANITIZED_TIMES = 8  # as long with sanitizers
KEPT_BYTES = 1 << 20  # of what a command says
RAW = re.compile(rb"terminate called|bad_alloc|length_error|std::(?!allocator)|AddressSanitizer|UndefinedBehavior|runtime error")
OBEYED = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
LARGE = 1 << 20  # a file above is read by few verbs


def limits(sanitized):
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = SECONDS * (SANITIZED_TIMES if sanitized else 1)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def environment(sanitized):
    if not sanitized:
        return None
    return {**os.environ,
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=6000",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}


def fault_of(code, said, message):
    """The error in how a command ended; empty: none."""
    shown = message[:1500].decode("utf8", "replace")
    if code < 0:
        return f"signal {-code}: {shown}"
    if RAW.search(message):
        return shown
    if code not in (0, 1, 2, 3, 4):
        return f"exit code {code}: {shown}"
    if code in (1, 3, 4) and not message.strip() and not said.strip():
        return f"exit code {code} without a word"
    for text in (message, said):
        order = OBEYED.search(text)
        if order:
            return f"what a terminal obeys: {text[max(order.start() - 100, 0):order.start() + 100]!r}"
    return ""


def run(command, sanitized):
    """The error, and the processor time of the command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err, env=environment(sanitized),
                                   preexec_fn=lambda: limits(sanitized))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return fault_of(process.returncode, out.read(KEPT_BYTES),
                        err.read(KEPT_BYTES)), usage.ru_utime + usage.ru_stime


def of_file(program, path, plain, out):
    """Every verb that reads a file, those that take longest first."""
    limit = ["--max-bytes", "32MB"] if "bomb" in path.name else []
    yield [program, "analyze", path, "--format", "json", "-o", f"{out}.json", *limit]
    yield [program, "query", path, "select * from activities limit 5"]
    yield [program, "analyze", path, "--window", "stable"]
    yield [program, "analyze", path, "-o", f"{out}.html"]
    yield [program, "export", path, "--perfetto", "-o", f"{out}.pftrace"]
    yield [program, "work", path]
    yield [program, "energy", path]
    yield [program, "compare", path, plain]
    yield [program, "reproduce", "dsd22", path]
    yield [program, "reproduce", "date24", path]
    yield [program, "query", path]
    yield [program, "import", path, "-o", f"{out}.gpf"]
    yield [program, "ranks", path]


def commands(program, folder, out, more, short):
    plain = folder / "k_plain.json"
    inputs = sorted(path for path in folder.iterdir() if path.is_file())
    inputs += sorted((path for place in more for path in place.rglob("*") if path.is_file()),
                     key=lambda path: path.stat().st_size)
    for number, path in enumerate(inputs):
        verbs = list(of_file(program, path, plain, out / str(number)))
        if short:  # each file is analysed, and read by one more verb in turn
            verbs = [verbs[0], verbs[1 + number % (len(verbs) - 1)]]
        elif path.stat().st_size > LARGE:
            verbs = verbs[:3]
        yield from verbs
    for statement in statements(folder):
        yield [program, "query", folder / "s_plain.gpf", statement, "--max-seconds", "5",
               "--max-bytes", "300MB"]


def listing(folder):
    """The state that must not change: every file with its size and time."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}


def feed(o, program, folder, out):
    classes = {**traces.make(folder, o.short), **databases.make(folder, program)}
    before = listing(folder)
    todo = list(commands(program, folder, out, o.more, o.short))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ended = list(pool.map(lambda command: run(command, o.sanitized), todo))
    faults = [(command, fault) for command, (fault, _) in zip(todo, ended) if fault]
    after = listing(folder)
    faults += [([program, path.name], "a file beside the inputs has appeared, changed or gone")
               for path in sorted(before.keys() | after.keys())
               if before.get(path) != after.get(path)]
    slowest = sorted(((seconds, command) for command, (_, seconds) in zip(todo, ended)),
                     key=lambda one: -one[0])[:5]
    return todo, faults, slowest, classes


def table(todo, faults, classes):
    """One line a class: how many inputs, commands that read them, commands that ended as they must
    not."""
    rows = {}
    for command in todo:
        statement = command[1] == "query" and len(command) > 4 and command[4] == "--max-seconds"
        path = next(word for word in command[2:] if isinstance(word, Path))
        kind = "SQL statements" if statement else classes.get(path.name, "files of --more")
        inputs, commands, broken = rows.setdefault(kind, (set(), [], []))
        inputs.add(command[3] if statement else path)
        commands.append(command)
        broken += [fault for at, fault in faults if at is command]
    yield f"{'class':24} {'inputs':>7} {'commands':>9} {'faults':>7}"
    for kind, (inputs, commands, broken) in sorted(rows.items()):
        yield f"{kind:24} {len(inputs):7} {len(commands):9} {len(broken):7}"


def words(command):
    return " ".join(str(word)[:200] for word in command[1:])


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", type=Path)
    options.add_argument("--short", action="store_true",
                         help="files of at most 1 MB, two verbs for each: some seconds instead of minutes")
    options.add_argument("--more", type=Path, action="append", default=[],
                         help="feed the files of this folder too")
    options.add_argument("--keep", type=Path, help="folder for the inputs; without it they go away")
    options.add_argument("--sanitized", action="store_true",
                         help="a build with sanitizers, which need room and time of their own")
    o = options.parse_args()
    start = time.time()
    with tempfile.TemporaryDirectory() as temporary:
        folder, out = o.keep or Path(temporary) / "in", Path(temporary) / "out"
        folder.mkdir(exist_ok=True)
        out.mkdir()
        os.environ["XDG_STATE_HOME"] = temporary  # for the key that imports make
        todo, faults, slowest, classes = feed(o, o.program.resolve(), folder, out)
    for command, fault in faults:
        print(f"{words(command)}: {fault}")
    for seconds, command in slowest:
        print(f"{seconds:6.1f} s of processor time: {words(command)}")
    print(*table(todo, faults, classes), sep="\n")
    print(f"{len(todo)} commands, {len(faults)} with faults, {time.time() - start:.0f} s")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
