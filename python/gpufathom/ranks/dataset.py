"""The tables of a dataset: what they hold, and how their files come into being.

    dataset/ranks/KEY.parquet         one row a rank; written last: a rank is there when this file is
    dataset/steps/KEY.parquet         ... and so on for the other tables
    dataset/parts/KEY.jsonl.zst       the ranks as the program printed them: what a reduction reads. Ten thousand of them, one after the
                                      other, are one file to the program; that many Parquet footers
                                      take seconds
    dataset/failed/NAME.json          captures that could not be read, and why
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import tempfile
from typing import Any, BinaryIO, Callable, Dict, List, Sequence, Tuple, Union

Path = Union[str, "os.PathLike[str]"]
Columns = Dict[str, Dict[str, List[Any]]]

TABLES = ("steps", "collectives", "idle", "levels", "quality", "ranks")

_TYPES = ("other", "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
          "all_to_all", "gather", "scatter", "send",
          "receive", "send_receive", "barrier")
_WORK = {"kernels", "copies", "collectives"}


def key_of(path: Path, version: str) -> str:
    """Names what is made of a capture: its content and the program's version."""
    content = hashlib.sha256(version.encode() + b"\0")
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            content.update(block)
    return content.hexdigest()[:40]


def _columns(part: dict[str, Any]) -> Columns:
    """Columns of each table, for one rank."""
    rank, found = part["rank"], part["collectives"]
    count = len(found["start_ns"])
    groups = [group["name"] for group in part["groups"]]
    indices = [step["index"] for step in part["steps"]]
    steps: dict[str, List[Any]] = {"rank": [rank] * len(part["steps"])}
    for name, source in (("step", "index"), ("start_ns", "start_ns"),
                         ("duration_ns", "duration_ns")):
        steps[name] = [step[source] for step in part["steps"]]
    for name in ("kernels", "copies", "collectives"):
        steps[name + "_ns"] = [sum(piece["ns"] for piece in step["time"] if piece["part"] == name)
                               for step in part["steps"]]
    steps["idle_ns"] = [sum(piece["ns"] for piece in step["time"] if piece["part"] not in _WORK)
                        for step in part["steps"]]
    collectives = {
        "rank": [rank] * count,
        "group": [groups[number] if number >= 0 else None for number in found["group"]],
        "type": [_TYPES[number] for number in found["type"]],
        "step": [indices[number] if number >= 0 else None for number in found["step"]],
        "kernel": [part["texts"][number] for number in found["kernel"]],
    }
    for name in ("sequence", "bytes"):
        collectives[name] = [value if value >= 0 else None for value in found[name]]
    for name in ("start_ns", "duration_ns", "exposed_ns"):
        collectives[name] = found[name]
    idle = [piece for piece in part["time"] if piece["part"] not in _WORK]
    span = part["span_ns"] or None
    levels = {"gpu.busy": part["busy_ns"], "gpu.compute": part["compute_ns"],
              "gpu.communication": part["communication_ns"],
              "gpu.communication.exposed": part["exposed_ns"]}
    return {
        "steps": steps,
        "collectives": collectives,
        "idle": {"rank": [rank] * len(idle), "cause": [piece["part"] for piece in idle], "ns": [piece["ns"] for piece in idle]},
        "levels": {"rank": [rank] * len(levels), "level": list(levels),
                   "value": [value / span if span else None for value in levels.values()]},
        "quality": {"rank": [rank] * len(part["quality"]), **{
            name: [note[name] for note in part["quality"]]
            for name in ("code", "count", "detail")}},
    }


def schemas() -> dict[str, Any]:
    import pyarrow as pa

    whole, text = pa.int64(), pa.string()
    return {
        "steps": pa.schema([(name, whole)
                            for name in ("rank", "step", "start_ns", "duration_ns", "kernels_ns",
                                         "copies_ns",
                                                       "collectives_ns", "idle_ns")]),
        "collectives": pa.schema([("rank", whole), ("group", text), ("type", text), ("step", whole),
                                  ("kernel", text),
                                  ("sequence", whole), ("bytes", whole), ("start_ns", whole), ("duration_ns", whole),
                                  ("exposed_ns", whole)]),
        "idle": pa.schema([("rank", whole), ("cause", text), ("ns", whole)]),
        "levels": pa.schema([("rank", whole), ("level", text), ("value", pa.float64())]),
        "quality": pa.schema([("rank", whole), ("code", text), ("count", whole), ("detail", text)]),
        "ranks": pa.schema([("rank", whole), ("world_size", whole), ("job", text), ("host", text), ("device", text), ("source", text),
                            ("start_ns", whole), ("span_ns", whole), ("busy_ns", whole), ("compute_ns", whole),
                            ("communication_ns", whole), ("exposed_ns", whole), ("collectives", whole), ("key", text)]),
    }


def tables_of(lines: Sequence[bytes], key: str) -> dict[str, Any]:
    """Arrow tables of the ranks that one capture holds; `lines`: what `gpufathom ranks --map`
    printed."""
    import pyarrow as pa

    known = schemas()
    rows: Columns = {name: {field: [] for field in schema.names} for name, schema in known.items()}
    for line in lines:
        part = json.loads(line)
        for name, columns in _columns(part).items():
            for field, values in columns.items():
                rows[name][field].extend(values)
        for field in known["ranks"].names:
            if field in part and field != "collectives":
                rows["ranks"][field].append(part[field])
        rows["ranks"]["collectives"].append(len(part["collectives"]["start_ns"]))
        rows["ranks"]["key"].append(key)
    return {name: pa.table(columns, schema=known[name]) for name, columns in rows.items()}


def write_whole(files: Dict[pathlib.Path, Callable[[BinaryIO], object]]) -> None:
    """Each file appears complete or not at all, one after the other, whatever happens to the
    process or the disk. All are written before the first one is waited for: the disk takes them together."""
    drafts: List[Tuple[str, BinaryIO]] = []
    try:
        for path, write in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
            drafts.append((name, os.fdopen(handle, "wb")))
            write(drafts[-1][1])
            drafts[-1][1].flush()
        for (name, file), path in zip(drafts, files):
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o644)
            os.replace(name, path)
    except BaseException:
        for name, _ in drafts:
            pathlib.Path(name).unlink(missing_ok=True)
        raise
    finally:
        for _, file in drafts:
            file.close()


def write_ranks(dataset: Path, key: str, lines: Sequence[bytes]) -> None:
    """All that is kept of a capture; the table `ranks`, which says that it is there, comes last."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = tables_of(lines, key)
    packed = pa.Codec("zstd").compress(b"".join(line + b"\n" for line in lines), asbytes=True)
    files: Dict[pathlib.Path, Callable[[BinaryIO],
                                       object]] = {_part_file(dataset,
                                                              key): lambda draft: draft.write(packed)}
    for name in TABLES:
        files[pathlib.Path(dataset) / name / f"{key}.parquet"] = functools.partial(
            pq.write_table, tables[name], compression="zstd", store_schema=False)
    write_whole(files)


def is_there(dataset: Path, key: str) -> bool:
    return (pathlib.Path(dataset) / "ranks" / f"{key}.parquet").is_file()


def _part_file(dataset: Path, key: str) -> pathlib.Path:
    return pathlib.Path(dataset) / "parts" / f"{key}.jsonl.zst"


def part_files(dataset: Path) -> List[pathlib.Path]:
    """Those of the captures whose tables are all there."""
    return [_part_file(dataset, path.stem)
            for path in sorted((pathlib.Path(dataset) / "ranks").glob("*.parquet"))]


def parts_of(dataset: Path) -> List[bytes]:
    """The ranks as the program printed them, by rank."""
    import pyarrow as pa

    lines: List[bytes] = []
    for path in part_files(dataset):
        with pa.input_stream(str(path), compression="zstd") as file:
            lines += file.read().splitlines()
    rows = [(json.loads(line), line) for line in lines]
    return [line for _, line in sorted(rows, key=lambda row: (row[0]["rank"], row[0]["source"]))]


def digest(dataset: Path) -> str:
    """SHA-256 over every part and every file of every table, by name: equal datasets, equal
    digest."""
    content = hashlib.sha256()
    for name in ("parts", *TABLES):
        for path in sorted((pathlib.Path(dataset) / name).glob("[!.]*")):
            content.update(f"{name}/{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return content.hexdigest()
