#!/usr/bin/env python3
"""nsys_tables.py [SECONDS] [FILE...]: damaged exports of Nsight Systems as Parquet, Arrow and HDF5,
through the script that reads them (src/import/nsight_systems/tables.py). It must end with a table
or with a reason; what ends it otherwise is kept in .cache/fuzz/nsys_tables. FILE: exports beside those that the test of these formats makes."""
import collections
import importlib.util
import os
import pathlib
import random
import resource
import runpy
import shutil
import sys
import tempfile
import time

import h5py  # noqa: F401  loaded once, for all children
import pyarrow.ipc
import pyarrow.parquet  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCRIPT = str(ROOT / "src/import/nsight_systems/tables.py")
KEPT = ROOT / ".cache/fuzz/nsys_tables"
WHOLE, REASON = 0, 4


def writers():
    """The test's module: it takes its build folder from the command line."""
    command, sys.argv = sys.argv, ["nsys_tables_test.py", str(ROOT / "build")]
    spec = importlib.util.spec_from_file_location("tables_test",
                                                  ROOT / "tests/python/nsys_tables_test.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.argv = command
    return module


def damaged(data, chance):
    data, kind = bytearray(data), chance.random()
    if kind < 0.25:
        return data[: chance.randrange(1, len(data))]
    if kind < 0.85:
        for _ in range(chance.choice((1, 1, 2, 5, 20))):
            at = chance.randrange(len(data))
            data[at] = chance.choice((0, 255, 127, 128, data[at] ^ 1 << chance.randrange(8),
                                      chance.randrange(256)))
        return data
    at = chance.randrange(len(data))
    end = min(len(data), at + chance.randrange(1, 64))
    data[at:end] = data[chance.randrange(len(data)) :][: end - at]
    return data


def run(file, output, tables):
    """Exit status of the script; a signal's number below zero."""
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        sys.argv = [SCRIPT, str(file), str(output), str(1 << 28), *tables]
        try:
            runpy.run_path(SCRIPT, run_name="__main__")
        except SystemExit as end:
            os._exit(end.code or WHOLE)
        except BaseException:
            os._exit(99)
        os._exit(WHOLE)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    test, chance, tally = writers(), random.Random(5), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        parquet = test.parquet_folder(at / "parquet")
        arrow = test.arrow_folder(at / "arrow", pyarrow.ipc.new_file)
        seeds = [test.arrow_streams(at / "r.arrow"), test.hdf5(at / "r.h5"),
                 parquet / "StringIds.parquet",
                 parquet / "CUPTI_ACTIVITY_KIND_KERNEL.parquet",
                 arrow / "CUPTI_ACTIVITY_KIND_RUNTIME.arrow",
                 *map(pathlib.Path, sys.argv[2:])]
        end = time.time() + seconds
        while time.time() < end:
            seed, output = chance.choice(seeds), at / "out.sqlite"
            file = at / f"damaged{seed.suffix}"
            file.write_bytes(damaged(seed.read_bytes(), chance))
            output.unlink(missing_ok=True)
            code = run(file, output, test.TABLES)
            tally[code] += 1
            if code not in (WHOLE, REASON):
                KEPT.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, KEPT / f"{tally.total()}{seed.suffix}")
    print(f"{tally.total()} files: {tally[WHOLE]} read, {tally[REASON]} refused with a reason, others {tally.total() - tally[WHOLE] - tally[REASON]}")
    sys.exit(tally[WHOLE] + tally[REASON] != tally.total())


if __name__ == "__main__":
    main()
