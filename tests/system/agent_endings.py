"""Runs every program of tests/fakes/endings.cpp alone and recorded, and compares: agent_endings.py
BUILD_DIR [NAME ...]"""
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
ENDINGS = str(BUILD / "fakes/endings")
ENVIRONMENT = {**os.environ, "GPUFATHOM_LIBRARY_PATH": str(BUILD / "fakes"), "GPUFATHOM_FAKE": ""}


def files_of(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


def run(command, folder):
    """Exit code as a shell gives it, output, and the files that the program left."""
    folder.mkdir()
    folder.chmod(0o777)
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, timeout=60)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    for _ in range(30):  # a daemon goes on alone
        if not subprocess.run(["pgrep", "-f", f"^{ENDINGS} daemon"], capture_output=True).stdout:
            break
        time.sleep(0.1)
    return code, done.stdout, done.stderr, files_of(folder)


def kernels_of(capture):
    with sqlite3.connect(capture) as database:
        return database.execute("select count(*) from activities where kind = 'kernel'").fetchone()[0]


def main():
    listed = subprocess.run([ENDINGS], capture_output=True, text=True,
                            check=True).stdout.splitlines()
    failures = 0
    print("| program | ends with | recorded | output, files | kernels |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        work.chmod(0o755)
        for line in listed:
            name, least, what = line.split("\t")
            if len(sys.argv) > 2 and name not in sys.argv[2:]:
                continue
            capture = work / f"{name}.gpf"
            alone = run([ENDINGS, name], work / f"{name}.alone")
            record = [BUILD / "gpufathom", "record", "-q", "--kernels", "--window", "0", "-o",
                      capture, "--"]
            recorded = run([*record, ENDINGS, name], work / f"{name}.recorded")
            kernels = kernels_of(capture)
            same = alone[1:] == recorded[1:]
            good = same and alone[0] == recorded[0] and kernels >= int(least)
            failures += not good
            print(f"| {what} | {alone[0]} | {recorded[0]} | {'the same' if same else 'DIFFER'} | {kernels} |" + ("" if good else " <- FAILED"), flush=True)
            if not same:
                for title, a, b in zip(("output", "errors", "files"), alone[1:], recorded[1:]):
                    if a != b:
                        print(f"  {title}: {str(a)[:300]}\n  recorded: {str(b)[:600]}")
        left = [p.name for p in work.iterdir() if p.name.startswith(".gpufathom")]
        if left:
            failures += 1
            print(f"left behind: {left}")
    print("all well" if failures == 0 else f"{failures} failed")
    return failures > 0


sys.exit(main())
