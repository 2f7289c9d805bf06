"""Exports of Nsight Systems as Parquet, Arrow and HDF5 are read as the SQLite export of the same
report is: every table, every column. Usage: nsys_tables_test.py BUILD_DIR
"""

import os
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy
    import pyarrow
    import pyarrow.parquet
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = str(BUILD / "gpufathom")
os.environ["GPUFATHOM_BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gpufathom as gf  # noqa: E402

TID = 4242 << 24  # of process 4242
I32, I64, U32, U64 = "int32", "int64", "uint32", "uint64"
TEXT, FLAG, REAL = "text", "flag", "real"
# The columns of each table with their types in Arrow and HDF5, and its rows. None is a NULL.
WORK = [("start", I64), ("end", I64), ("deviceId", U32), ("contextId", U64), ("streamId", U64),
        ("correlationId", U32), ("globalPid", U64)]
KERNEL = WORK + [("demangledName", U64), ("shortName", U64), ("registersPerThread", U32),
                 *((a + b, I32) for a in ("grid", "block") for b in "XYZ"),
                 ("staticSharedMemory", I32), ("dynamicSharedMemory", I32), ("graphId", U32),
                 ("graphNodeId", U64)]


def kernel(i, gpu, graph=None, node=None):
    return (1000 + 10 * i, 1008 + 10 * i, gpu, 1, 7 + gpu, 100 + i, TID, 1, 2, 40, 256, 2, 1, 128,
            1,
            1, 0, 1024, graph, node)


TABLES = {
    "TARGET_INFO_SESSION_START_TIME": ([("utcEpochNs", U64), ("utcTime", TEXT)],
                                       [(1_700_000_000_000_000_000, "x")]),
    "META_DATA_EXPORT": ([("name", TEXT), ("value", TEXT)], [("EXPORT_SCHEMA_VERSION", "3.1")]),
    "StringIds": ([("id", I32), ("value", TEXT)],
                  [(1, "void gemm<float>(int)"), (2, "gemm"), (3, "cudaLaunchKernel_v7000"),
                   (4, "step é"), (5, "main"), (6, "cudaDeviceSynchronize_v3020")]),
    "TARGET_INFO_GPU": ([("id", U32), ("cuDevice", I32), ("name", TEXT), ("uuid", TEXT),
                         ("smCount", U32), ("totalMemory", U64), ("clockRate", U64),
                         ("computeMajor", U32), ("computeMinor", U32), ("isDiscrete", FLAG)],
                        [(0, 0, "NVIDIA H100", "GPU-1", 132, 80 << 30, 1_980_000_000, 9, 0, 1),
                         (1, 1, "NVIDIA H100", "GPU-2", 132, 80 << 30, 1_980_000_000, 9, 0, 1)]),
    "PROCESSES": ([("globalPid", U64), ("pid", U32), ("name", TEXT)], [(TID, 4242, "python")]),
    "ThreadNames": ([("nameId", U64), ("priority", U64), ("globalTid", U64)], [(5, 0, TID + 1)]),
    "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL, [kernel(i, i % 2) for i in range(8)]
                                   + [kernel(8, 0, 3, (1 << 63) + 5), kernel(9, 1, 3, 77)]),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (WORK + [("bytes", U64), ("copyKind", U64), ("srcKind", U32),
                                           ("dstKind", U32), ("graphNodeId", U64)],
                                   [(1100, 1120, 0, 1, 7, 120, TID, 4096, 1, 1, 2, None),
                                    (1130, 1150, 1, 1, 8, 121, TID, 1 << 40, 2, 2, 0, 9)]),
    "CUPTI_ACTIVITY_KIND_MEMSET": (WORK + [("bytes", U64), ("graphNodeId", U64)],
                                   [(1160, 1161, 0, 1, 7, 122, TID, 64, None)]),
    "CUPTI_ACTIVITY_KIND_RUNTIME": ([("start", I64), ("end", I64), ("eventClass", U32),
                                     ("globalTid", U64), ("correlationId", U32), ("nameId", U64),
                                     ("returnValue", U32), ("callchainId", I64)],
                                    [(900 + i, 901 + i, 1, TID + 1, 100 + i, 3, 0, None)
                                     for i in range(10)]
                                    + [(1200, 1210, 1, TID + 1, 140, 6, 0, 12)]),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": (WORK + [("syncType", U32), ("eventId", U32)],
                                            [(1201, 1209, 0, 1, 0xFFFFFFFF, 140, TID, 4, 0)]),
    "ENUM_CUPTI_SYNC_TYPE": ([("id", I64), ("name", TEXT), ("label", TEXT)],
                             [(4, "CONTEXT", "Context sync")]),
    "NVTX_EVENTS": ([("start", I64), ("end", I64), ("eventType", U32), ("text", TEXT),
                     ("textId", U64), ("globalTid", U64), ("binaryData", TEXT)],
                    [(890, 1000, 59, "spelled out", None, TID + 1, None),
                     (1000, 1250, 59, None, 4, TID + 1, None),
                     (1010, None, 34, "a mark", None, TID + 1, None),
                     (1020, None, 59, None, 4, TID + 1, None)]),
    "TARGET_INFO_GPU_METRICS": ([("typeId", U64), ("metricId", U64), ("metricName", TEXT)],
                                [(256, 1, "SMs Active [Throughput %]")]),
    "GPU_METRICS": ([("timestamp", I64), ("typeId", U64), ("metricId", U64), ("value", REAL)],
                    [(1000 + 100 * i, 256, 1, 10.5 * i) for i in range(4)]),
    "OSRT_API": ([("start", I64), ("end", I64)], [(1, 2)]),  # of no interest
}
ARROW = {TEXT: pyarrow.binary(), FLAG: pyarrow.bool_(), REAL: pyarrow.float64(),
         I32: pyarrow.int32(), I64: pyarrow.int64(), U32: pyarrow.uint32(), U64: pyarrow.uint64()}


def signed(value):
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def sqlite_export(path, tables=TABLES):
    db = sqlite3.connect(path)
    for name, (columns, rows) in tables.items():
        kinds = {TEXT: "TEXT", REAL: "REAL"}
        told = ", ".join(f'"{column}" {kinds.get(kind, "INTEGER")}' for column, kind in columns)
        db.execute(f"create table {name} ({told})")
        db.executemany(f"insert into {name} values ({', '.join('?' * len(columns))})",
                       [tuple(map(signed, row)) for row in rows])
    db.commit()
    db.close()
    return path


def arrow_table(name, types=ARROW):
    columns, rows = TABLES[name]
    fields = [pyarrow.field(column, types[kind]) for column, kind in columns]
    values = [[bytes(row[i], "utf8") if kind == TEXT and row[i] is not None else row[i]
               for row in rows] for i, (_, kind) in enumerate(columns)]
    arrays = [pyarrow.array(map(bool, column) if kind == FLAG else column, ARROW[kind])
              .cast(field.type) for column, field, (_, kind) in zip(values, fields, columns)]
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(
        fields, metadata={"table_name": name}))


def parquet_folder(path, **options):
    path.mkdir()
    for name in TABLES:
        pyarrow.parquet.write_table(arrow_table(name), path / f"{name}.parquet", **options)
    return path


def arrow_folder(path, writer):
    path.mkdir()
    for name in TABLES:
        table = arrow_table(name).replace_schema_metadata(None)
        with writer(str(path / f"{name}.arrow"), table.schema) as out:
            out.write_table(table, max_chunksize=3)
    return path


def arrow_streams(path, ends=True):
    """One stream after another, as the releases of 2022 write them."""
    with open(path, "wb") as out:
        for name in TABLES:
            with pyarrow.ipc.new_stream(out, arrow_table(name).schema) as stream:
                stream.write_table(arrow_table(name))
    if not ends:
        with open(path, "r+b") as out:
            out.truncate(os.path.getsize(path) - 100)
    return path


def hdf5(path, strings=None, only=None):
    """As nsys writes it: zeros and empty texts instead of NULL."""
    kinds = {TEXT: strings or h5py.special_dtype(vlen=bytes), FLAG: "uint8", REAL: "float64"}
    with h5py.File(path, "w") as out:
        for name in only or TABLES:
            columns, rows = TABLES[name]
            kind = numpy.dtype([(column, kinds.get(kind, kind)) for column, kind in columns])
            plain = [tuple(value.encode() if isinstance(value, str) else
                           (b"" if kind == TEXT else 0) if value is None else value
                           for value, (_, kind) in zip(row, columns)) for row in rows]
            out.create_dataset(name, data=numpy.array(plain, dtype=kind))
    return path


def contents(path):
    run = gf.open(str(path), allow_incomplete=True)
    return {name: run.table(name).to_dicts() for name in run.tables}


class Same(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        self.truth = contents(sqlite_export(self.at / "r.sqlite"))

    def same(self, path):
        said = contents(path)
        self.assertEqual(said.keys(), self.truth.keys())
        for name in said:
            if name == "metadata" or name == "quality":
                continue  # the format, and that Python read it
            self.assertEqual(said[name], self.truth[name], (str(path), name))
        codes = [row["code"] for row in said["quality"]]
        self.assertEqual(sorted(codes), sorted(["exported_here"] + [
            row["code"] for row in self.truth["quality"]]))

    def test_parquet(self):
        self.same(parquet_folder(self.at / "r_pqtdir"))
        self.same(self.at / "r_pqtdir" / "StringIds.parquet")  # one of them stands for all
        self.same(parquet_folder(self.at / "zstd", compression="zstd", row_group_size=2))

    def test_parquet_with_other_types(self):
        wide = {**ARROW, TEXT: pyarrow.large_string(), U32: pyarrow.int64(), I32: pyarrow.int64()}
        path = self.at / "wide"
        path.mkdir()
        for name in TABLES:
            table = arrow_table(name, wide)
            for i, field in enumerate(table.schema):
                if field.type == pyarrow.large_string():
                    table = table.set_column(i, field.name, table[field.name].dictionary_encode())
            table = table.append_column("later", pyarrow.nulls(table.num_rows))
            table = table.select(list(reversed(table.schema.names)))
            pyarrow.parquet.write_table(table, path / f"{name}.parquet")
        self.same(path)

    def test_arrow(self):
        self.same(arrow_streams(self.at / "r.arrow"))
        with open(self.at / "r.arrow", "ab") as out:
            out.write(struct.pack("<iI", -1, 0))
        self.same(arrow_folder(self.at / "r_arwdir", pyarrow.ipc.new_stream))
        self.same(arrow_folder(self.at / "files", pyarrow.ipc.new_file))

    def test_bytes_that_are_no_text(self):
        """A name with a zero and a letter of no alphabet is as it is in SQLite."""
        name, odd = "StringIds", b"ge\0mm\xff"
        path = parquet_folder(self.at / "odd")
        said = pyarrow.parquet.read_table(path / f"{name}.parquet")
        values = [odd if i == 1 else value for i, value in zip(
            said["id"].to_pylist(), said["value"].to_pylist())]
        said = said.set_column(1, "value", pyarrow.array(values, pyarrow.binary()))
        pyarrow.parquet.write_table(said, path / f"{name}.parquet")
        db = sqlite3.connect(self.at / "r.sqlite")
        db.execute(f"update {name} set value = cast(? as text) where id = 1", (odd,))
        db.commit()
        db.close()
        self.truth = contents(self.at / "r.sqlite")
        self.same(path)

    def test_hdf5(self):
        self.same(hdf5(self.at / "r.h5"))
        self.same(hdf5(self.at / "fixed.h5", strings="S200"))
        subprocess.run(["gzip", "-k", self.at / "r.h5"], check=True)
        self.same(self.at / "r.h5.gz")


class Refused(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def said(self, path, **environment):
        done = subprocess.run(
            [PROGRAM, "analyze", path], capture_output=True, text=True,
            env={**os.environ, "GPUFATHOM_PYTHON": sys.executable, **environment})
        self.assertEqual((done.returncode, done.stdout), (1, ""), path)
        self.assertIn("nsys export --type sqlite REPORT.nsys-rep", done.stderr)
        return done.stderr

    def test_damage(self):
        self.assertIn("cannot be read", self.said(arrow_streams(self.at / "cut.arrow", ends=False)))
        whole = hdf5(self.at / "r.h5").read_bytes()
        (self.at / "cut.h5").write_bytes(whole[:-200])
        self.assertIn("cannot be read", self.said(self.at / "cut.h5"))
        parquet_folder(self.at / "p")
        (self.at / "p/CUPTI_ACTIVITY_KIND_KERNEL.parquet").write_bytes(b"PAR1 and no more")
        self.assertIn("CUPTI_ACTIVITY_KIND_KERNEL", self.said(self.at / "p"))

    def test_other_types(self):
        (self.at / "t").mkdir()
        times = pyarrow.table({"start": pyarrow.array([1], pyarrow.timestamp("ns"))})
        pyarrow.parquet.write_table(times, self.at / "t/CUPTI_ACTIVITY_KIND_KERNEL.parquet")
        self.assertIn("CUPTI_ACTIVITY_KIND_KERNEL.start is of the type timestamp[ns]",
                      self.said(self.at / "t"))

    def test_tables_of_other_files(self):
        with h5py.File(self.at / "link.h5", "w") as out:
            out["StringIds"] = h5py.ExternalLink("other.h5", "/StringIds")
        self.assertIn("none of the tables", self.said(self.at / "link.h5"))
        with h5py.File(self.at / "outside.h5", "w") as out:
            kind = numpy.dtype([("id", "i8")])
            out.create_dataset("StringIds", (4,), kind, external=[("/etc/hostname", 0, 32)])
        self.assertIn("in another file", self.said(self.at / "outside.h5"))

    def test_no_package(self):
        (self.at / "empty").mkdir()
        (self.at / "python").write_text(
            f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")  # without the packages of the site
        (self.at / "python").chmod(0o755)
        for path, name in ((hdf5(self.at / "r.h5"), "h5py"),
                           (parquet_folder(self.at / "p"), "pyarrow")):
            told = self.said(path, GPUFATHOM_PYTHON=str(self.at / "python"))
            self.assertIn(f"/python -m pip install {name}", told)
            told = self.said(path, GPUFATHOM_PYTHON="", PATH=str(self.at / "empty"))
            self.assertIn("there is no python3 in PATH", told)

    def test_missing_tables(self):
        """Kernels alone are read as kernels alone are in SQLite."""
        only = ("CUPTI_ACTIVITY_KIND_KERNEL",)
        said = contents(hdf5(self.at / "k.h5", only=only))
        truth = contents(sqlite_export(self.at / "k.sqlite", {name: TABLES[name] for name in only}))
        self.assertEqual(said["activities"], truth["activities"])


if __name__ == "__main__":
    unittest.main()
