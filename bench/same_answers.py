#!/usr/bin/env python3
"""Checks that two builds give the same answers: same_answers.py BUILD OTHER [FILE...] [--work DIR]

Of every capture (default: those of examples/, tests/, and of GPUFATHOM_CORPUS) both say the same,
byte for byte: the answer as JSON, as text, in short and in full, and as a page; the capture as JSON
lines and as a capture file read again; what query counts. What both refuse must be refused with one
message. Prints what differs and ends with 1; a change for speed alone must leave nothing to print.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = (".json", ".json.gz", ".gpf", ".gpf.gz", ".gpf.xz", ".pb", ".sqlite", ".nsys-rep",
            ".tgz", ".csv", ".csv.gz", ".ncu-rep",
            ".ncu-rep.gz", ".jsonl", ".pickle")
QUESTIONS = (["analyze", "{}", "--format", "json"], ["analyze", "{}"], ["analyze", "{}", "--full"],
             ["analyze", "{}", "-o", "{}.html"],
             ["import", "{}", "-o", "{}.gpf"], ["analyze", "{}.gpf", "--format", "json"],
             ["query", "{}.gpf", "select name, count(*), sum(duration_ns) from activities group by name order by 1, 2"],
             ["query", "{}.gpf", "select * from host_ops order by rowid limit 3000"],
             ["work", "{}", "--format", "json"], ["export", "{}", "--perfetto", "-o", "{}.trace"])


def captures():
    folders = [ROOT / "examples", ROOT / "tests"]
    if corpus := os.environ.get("GPUFATHOM_CORPUS"):
        folders.append(pathlib.Path(corpus))
    return sorted(p for folder in folders for p in folder.rglob("*") if p.is_file()
                  and p.name.endswith(SUFFIXES))


def answers(build, capture, work):
    """The exit code and a hash of the output for each question."""
    program = pathlib.Path(build) / "gpufathom" if pathlib.Path(build).is_dir() else pathlib.Path(build)
    said = []
    with tempfile.TemporaryDirectory(dir=work) as folder:
        made = os.path.join(folder, "made")
        for question in QUESTIONS:
            words = [made + word[2:] if word.startswith("{}.") else word.format(capture)
                     for word in question]
            ran = subprocess.run([program, *words], capture_output=True, cwd=folder)
            digest = hashlib.sha256()
            for text in (ran.stdout, ran.stderr):
                digest.update(text.replace(folder.encode(), b"") + b"\0")
            written = pathlib.Path(words[-1])
            if "-o" in question and written.exists() and written.suffix != ".gpf":
                digest.update(written.read_bytes().replace(folder.encode(), b""))
            said.append((ran.returncode, digest.hexdigest()))
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("other", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("files", nargs="*", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--work", default=None, help="where files are written meanwhile")
    o = parser.parse_args()
    files = o.files or captures()
    differ = 0
    with (tempfile.TemporaryDirectory() as state,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        os.environ["XDG_STATE_HOME"] = state  # for the key that imports make
        pairs = pool.map(lambda f: (f, answers(o.build, f, o.work), answers(o.other, f, o.work)),
                         files)
        whole = 0
        for capture, first, second in pairs:
            whole += first[0][0] == 0
            for question, one, two in zip(QUESTIONS, first, second):
                if one != two:
                    differ += 1
                    print(f"{capture}: {' '.join(question[:1] + question[2:])[:60]} differs (exit {one[0]} and {two[0]})")
    print(f"{len(files)} files, {whole} of them analyzed, {len(files) * len(QUESTIONS)} answers, {differ} differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
