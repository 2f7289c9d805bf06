#!/usr/bin/env python3
"""corpus.py PROGRAM: captures that nobody changed add up.

No capture of examples/, of tests/ and, where GPUFATHOM_CORPUS is set, of the corpus has a row of
quality that says that its evidence does not add up, but for those listed here and in docs/evidence.md with the reason."""
import concurrent.futures
import functools
import gzip
import lzma
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEDGER = {"no_kernel", "kernel_before_launch", "stream_overlap", "repeated_kernel",
          "implausible_reading", "readings_disagree",
          "readings_missing", "clock_back", "few_without_kernel", "few_before_launch", "few_overlaps", "few_repeated", "no_copy",
          "few_without_copy", "runs_past_wait", "few_run_past_wait", "late_kernels", "few_late_kernels", "short_kernels",
          "few_short_kernels", "lengths_alike", "marks_missing", "lost_samples", "changed_file", "devices_mixed", "ops_missing",
          "calls_missing", "repeated_call", "no_name"}
EXCEPTIONS = {
    "resnet50_fp32_b512_energy.gpf.gz": {"lost_samples"},
    "gpt_first_window.gpf.gz": {"few_without_kernel"},
    "unet3d.rates.gpf.xz": {"few_without_kernel"},
    "unet3d.every.gpf.xz": {"few_without_kernel", "few_without_copy", "few_before_launch"},
    "tracelens_mi300_jax_conv.xplane.pb": {"few_repeated"},  # a launch of two
    "k_gcond.every.gpf.xz": {"no_kernel"},
    "k_persist.every.gpf.xz": {"no_kernel"},
}


def captures(scratch):
    """(name, path) of every capture, unpacked where the program does not do it itself."""
    folders = [ROOT / "examples", ROOT / "tests" / "ranks", ROOT / "tests" / "advice" / "captures"]
    if os.environ.get("GPUFATHOM_CORPUS"):
        folders.append(pathlib.Path(os.environ["GPUFATHOM_CORPUS"]))
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = path.name
            if name.endswith((".gpf.gz", ".gpf.xz")):
                unpacked = scratch / f"{len(list(scratch.iterdir()))}_{path.stem}"
                with (gzip if name.endswith("gz")
                      else lzma).open(path) as packed, open(unpacked, "wb") as out:
                    shutil.copyfileobj(packed, out)
                yield name, unpacked
            elif name.endswith(".tgz"):
                unpacked = scratch / f"{len(list(scratch.iterdir()))}_{path.stem}"
                with tarfile.open(path) as archive:
                    archive.extractall(unpacked, filter="data")
                for inside in sorted(unpacked.rglob("*")):
                    if inside.name.endswith((".xplane.pb", ".trace.json.gz")):
                        yield f"{name}/{inside.name}", inside
            elif name.endswith((".json.gz", ".gpf", ".sqlite", ".xplane.pb", ".xplane.pb.gz",
                                ".csv.gz")):
                yield name, path


def rows(program, path, stored):
    """The quality of a capture that was read; None for a file that is none."""
    subprocess.run([program, "import", path, "-o", stored, "--no-answer"], capture_output=True)
    if not stored.exists():
        return None
    database = sqlite3.connect(stored)
    found = {code: count for code, count in database.execute("select code, count from quality")
             if code in LEDGER}
    database.close()
    stored.unlink()
    return found


def main(program):
    failures, seen = [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        names, paths = zip(*captures(pathlib.Path(folder)))
        stored = [pathlib.Path(folder) / f"stored{number}.gpf" for number in range(len(paths))]
        for name, found in zip(names, pool.map(functools.partial(rows, program), paths, stored)):
            if found is None:
                continue
            seen += 1
            if set(found) != EXCEPTIONS.get(name, set()):
                failures.append(f"{name}: {found or 'nothing'}, where {EXCEPTIONS.get(name) or 'nothing'} is expected")
    print("\n".join(failures) or f"{seen} captures add up")
    return bool(failures) or seen < 20


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
