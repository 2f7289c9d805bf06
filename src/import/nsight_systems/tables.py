"""Tables of an export of Nsight Systems, from Parquet, Arrow or HDF5 into SQLite.

Usage: tables.py EXPORT OUTPUT BYTES TABLE ...   EXPORT: a file of tables, or a folder of a file each

The program runs it with the Python that it finds. Exit status 3: a package is missing, whose name
is printed; 4: the export cannot be read, for the reason that is printed. SIGALRM ends it where a
library does not come back from a damaged file.
"""

import os
import signal
import sys

ROWS = 1 << 16  # at a time
PATIENCE = 120  # seconds, for these
# HDF5 knows no missing values: there these columns are zero or empty where an SQLite export has
# NULL.
ZERO_IS_NONE = {"binaryData", "end", "graphId", "graphNodeId", "text", "textId"}
LACKING, UNREADABLE = 3, 4


def leave(code, said):
    print(said)
    sys.exit(code)


def package(name):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        leave(LACKING, name.split(".")[0])


def signed(value):
    """As SQLite has it: 64 bits with a sign."""
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def raw(value):
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else signed(value)


def values_of_arrow(column, where):
    """A column of a batch as what SQLite takes."""
    types = package("pyarrow").types
    kind = column.type
    if types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    plain = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_string,
             types.is_large_string, types.is_binary, types.is_large_binary)
    if not any(is_one(kind) for is_one in plain):
        raise ValueError(f"{where} is of the type {kind}, which no export has")
    return list(map(raw, column.to_pylist()))


def batches_of_arrow(batches):
    for batch in batches:
        batch.validate(full=True)  # damage ends with a word, not with the process
        for first in range(0, batch.num_rows, ROWS):
            yield batch.slice(first, ROWS)


def table_in(schema, path):
    named = (schema.metadata or {}).get(b"table_name")
    return named.decode("utf-8", "replace") if named else os.path.basename(path).split(".")[0]


def arrow_tables(path):
    """(name, columns, batches) of a file of Arrow: one table, or several streams after one
    another."""
    ipc, arrow = package("pyarrow.ipc"), package("pyarrow")
    with arrow.OSFile(path) as file:
        if file.read(6) == b"ARROW1":
            reader = ipc.open_file(path)
            batches = map(reader.get_batch, range(reader.num_record_batches))
            yield table_in(reader.schema, path), reader.schema.names, batches_of_arrow(batches)
            return
        file.seek(0)
        while file.tell() < file.size():
            reader = ipc.open_stream(file)
            yield table_in(reader.schema, path), reader.schema.names, batches_of_arrow(reader)
            for _ in reader:  # what was not asked for
                pass


def parquet_tables(path):
    file = package("pyarrow.parquet").ParquetFile(path)
    names = file.schema_arrow.names
    yield table_in(file.schema_arrow, path), names, file.iter_batches(batch_size=ROWS)


def none_of_hdf5(name, value):
    """A value of HDF5, or None."""
    return None if name in ZERO_IS_NONE and not value else raw(value)


def rows_of_hdf5(table):
    names = table.dtype.names
    for first in range(0, len(table), ROWS):
        rows = table[first : first + ROWS]
        yield list(zip(*([none_of_hdf5(name, one) for one in rows[name].tolist()]
                         for name in names)))


def hdf5_tables(path, wanted):
    """The datasets of the file itself: none that it takes from another file."""
    h5py = package("h5py")
    with h5py.File(path, "r") as file:
        for name in wanted:
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                continue
            table = file[name]
            if not isinstance(table, h5py.Dataset) or not table.dtype.names:
                raise ValueError(f"{name} is no table")
            if table.external or table.is_virtual:
                raise ValueError(f"{name} is in another file")
            if any(table.dtype[column].shape or table.dtype[column].names
                   for column in table.dtype.names):
                raise ValueError(f"{name} has columns of columns")
            yield name, table.dtype.names, rows_of_hdf5(table)


def tables(path, wanted):
    """(name, columns, rows by pieces) of what is wanted."""
    if os.path.isdir(path):
        for name in wanted:
            for ending in (".parquet", ".arrow"):
                file = os.path.join(path, name + ending)
                if not os.path.isfile(file):
                    continue
                try:
                    yield from tables(file, wanted)
                except Exception as error:
                    raise ValueError(f"{name}: {error}") from error
                break
        return
    with open(path, "rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x89HDF"):
        yield from hdf5_tables(path, wanted)
        return
    read = parquet_tables if magic.startswith(b"PAR1") else arrow_tables
    for name, columns, batches in read(path):
        if name in wanted:
            yield name, columns, rows_of_arrow(name, columns, batches)


def rows_of_arrow(name, columns, batches):
    for batch in batches:
        yield list(zip(*(values_of_arrow(batch.column(i), f"{name}.{column}")
                         for i, column in enumerate(columns))))


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def main(path, output, most, wanted):
    db = package("sqlite3").connect(output, isolation_level=None)
    for setting in ("journal_mode = off", "synchronous = off", "page_size = 65536"):
        db.execute(f"pragma {setting}")
    db.execute("begin")
    found, at = 0, ""
    signal.alarm(PATIENCE)
    try:
        for name, columns, pieces in tables(path, wanted):
            found, at = found + 1, name + ": "
            listed = ", ".join(map(quoted, columns))
            db.execute(f"create table {quoted(name)} ({listed})")
            holes = ", ".join("?" * len(columns))
            for rows in pieces:
                signal.alarm(PATIENCE)
                db.executemany(f"insert into {quoted(name)} values ({holes})", rows)
                pages = db.execute("pragma page_count").fetchone()[0]
                if pages * 65536 > most:
                    leave(UNREADABLE, f"it grows past {most} bytes")
            at = ""
    except Exception as error:
        leave(UNREADABLE, f"{at}{error or type(error).__name__}")
    if not found:
        leave(UNREADABLE, "it has none of the tables that are read, such as StringIds")
    db.execute("commit")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
