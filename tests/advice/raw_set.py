"""Raw events of a capture of a set of programs, read without any code of gpufathom's.

The JSON of torch.profiler, the xplane (by JAX's own reader) or gpufathom's SQLite rows.
"""

import gzip
import json
import re
import sqlite3
import tempfile

KINDS = [
    ("nccl", r"nccl"),
    ("attention", r"fmha|flash|attention|sdpa|cudnn_generated_fort_native_sdpa"),
    ("convolution", r"conv|fprop|dgrad|wgrad|winograd|implicit_gemm"),
    ("product", r"gemm|gemv|cutlass|xmma|nvjet|_dot|cublas|product|trsm|potrf|syrk|trmm"),
    ("transform", r"fft|regular_|vector_"),
    ("sort", r"sort|radix|topk|TopK|argmax|scan_by_key|Scan"),
    ("index", r"scatter|gather|index|embedding|nonzero"),
    ("layout", r"nchwToNhwc|nhwcToNchw|transpose|permute|CatArray"),
    ("norm", r"norm|Norm|softmax|SoftMax|batch_norm|bn_"),
    ("optimiser", r"multi_tensor|Adam|foreach"),
    ("reduction", r"reduce|Reduce|sum|mean"),
    ("elementwise", r"elementwise|loop_|fill|copy_kernel|Functor|fusion|cupy_|where"),
]


def kind_of(name):
    return next((kind for kind, found in KINDS if re.search(found, name)), "other")


class Capture:
    """gpu: (begin, end, name, kind, stream, correlation, args); calls, ops, steps. In us."""

    def __init__(self):
        self.gpu, self.calls, self.ops, self.python, self.steps = [], [], [], [], []


def read_kineto(path):
    capture = Capture()
    with gzip.open(path, "rt") as source:
        events = json.load(source)["traceEvents"]
    for event in events:
        if event.get("ph") != "X":
            continue
        category, args = event.get("cat"), event.get("args", {})
        begin, end = event["ts"], event["ts"] + event.get("dur", 0)
        row = (begin, end, event["name"], event.get("tid"), args.get("correlation"), args)
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            kind = kind_of(event["name"]) if category == "kernel" else category[4:]
            capture.gpu.append(
                (begin, end, event["name"], kind, args.get("stream"), args.get("correlation"), args)
            )
        elif category in ("cuda_runtime", "cuda_driver"):
            capture.calls.append(row)
        elif category == "cpu_op" or (
            category == "user_annotation" and "ProfilerStep" not in event["name"]
        ):
            capture.ops.append(row)
        elif category == "python_function":
            capture.python.append(row)
        elif category == "user_annotation":
            capture.steps.append(row)
    return capture


def read_xplane(path):
    from jax.profiler import ProfileData

    capture = Capture()
    data = ProfileData.from_serialized_xspace(gzip.open(path).read())
    for plane in data.planes:
        for line in plane.lines:
            for event in line.events:
                begin, end = event.start_ns / 1e3, (event.start_ns + event.duration_ns) / 1e3
                args = (
                    dict(event.stats)
                    if plane.name.startswith("/device:GPU") or "correlation_id" in str(event.name)
                    else {}
                )
                if plane.name.startswith("/device:GPU"):
                    if not line.name.startswith("Stream"):
                        continue
                    kind = (
                        "memcpy"
                        if "Memcpy" in event.name
                        else "memset"
                        if "emset" in event.name
                        else kind_of(event.name)
                    )
                    grid = re.search(r"grid:(\d+),(\d+),(\d+)", str(args.get("kernel_details")))
                    if grid:
                        args["grid"] = [int(count) for count in grid.groups()]
                    size = re.search(r"size:(\d+)", str(args.get("memcpy_details")))
                    if size:
                        args["bytes"] = int(size[1])
                    capture.gpu.append(
                        (begin, end, event.name, kind, line.name, args.get("correlation_id"), args)
                    )
                elif plane.name.startswith("/host:CPU"):
                    args = dict(event.stats)
                    row = (begin, end, event.name, line.name, args.get("correlation_id"), args)
                    (
                        capture.calls if re.match(r"cu[A-Z]|cuda[A-Z]", event.name) else capture.ops
                    ).append(row)
    return capture


def read(folder, name):
    for suffix, reader in (
        ("json.gz", read_kineto),
        ("xplane.pb.gz", read_xplane),
        ("gpf.gz", read_rows),
    ):
        path = folder / f"{name}.{suffix}"
        if path.exists():
            return reader(path)
    return None


def column(base, table, name):
    """A packed column as docs/capture.md says, without what stands in rows."""
    import zstandard

    values, query = (
        [],
        'select names, rows, data from column_blocks where "table" = ? and "column" = ? '
        "order by row",
    )
    for names, count, data in base.execute(query, (table, name)):
        way, width, packed = data[0], data[1], data[2]
        first, before = (int.from_bytes(data[at : at + 8], "little", signed=True) for at in (3, 11))
        rest = (
            zstandard.ZstdDecompressor().decompressobj().decompress(data[19:])
            if packed
            else data[19:]
        )
        names = names.split(",") if names else None
        for k in range(count):
            part = int.from_bytes(rest[k * width : k * width + width], "little") if width else 0
            before = first + part + (before if way else 0)
            values.append(names[before] if names else before)
    return values


def rows_of(base, table, columns):
    """Rows of a table, the packed ones first."""
    rows = table if table in TABLES(base) else f"_{table}"
    plain = [
        tuple(row) for row in base.execute(f"select {','.join(columns)} from {rows} order by row")
    ]
    if rows == table:
        return plain
    texts, place = dict(base.execute("select * from strings").fetchall()), columns.index("name")
    plain = [(*row[:place], texts.get(row[place], ""), *row[place + 1 :]) for row in plain]
    plain = [
        tuple(None if name in ("kind", "copy") else value for name, value in zip(columns, row))
        for row in plain
    ]
    packed = [column(base, table, name) for name in columns]
    count = max(len(values) for values in packed)
    packed = [
        [texts.get(v, v) for v in values] if name == "name" else values or [None] * count
        for name, values in zip(columns, packed)
    ]
    return [*zip(*packed), *plain]


def TABLES(base):
    return {
        row[0]
        for row in base.execute("select name from sqlite_master where type in ('view', 'table')")
    }


def read_rows(path):
    capture = Capture()
    with tempfile.NamedTemporaryFile() as plain:
        plain.write(gzip.open(path).read())
        plain.flush()
        base = sqlite3.connect(plain.name)
        for found in base.execute("select * from recording_windows").fetchall():
            print("  window", found)
        for row in rows_of(
            base,
            "activities",
            [
                "start_ns",
                "duration_ns",
                "name",
                "kind",
                "stream",
                "correlation",
                "grid_x",
                "grid_y",
                "grid_z",
                "bytes",
                "copy",
            ],
        ):
            begin, end = row[0] / 1e3, (row[0] + row[1]) / 1e3
            kind = (
                kind_of(row[2] or "")
                if row[3] in ("kernel", None)
                else "memset"
                if "set" in str(row[3])
                else "memcpy"
            )
            name = row[2] if row[3] in ("kernel", None) else f"{row[3]} {row[10]}"
            capture.gpu.append(
                (
                    begin,
                    end,
                    name,
                    kind,
                    row[4],
                    row[5],
                    {"grid": list(row[6:9]), "bytes": row[9] or 0},
                )
            )
        for row in rows_of(
            base, "api_calls", ["start_ns", "duration_ns", "name", "thread", "correlation"]
        ):
            capture.calls.append(
                (row[0] / 1e3, (row[0] + row[1]) / 1e3, row[2], row[3], row[4], {})
            )
    return capture
