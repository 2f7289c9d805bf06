"""Captures of every reader as data: the device activities of each can be changed and written again.

A capture gives `activities()`, a list of [start, duration, handle] in its own unit (`unit` of them
are a nanosecond), kernels first asked for by `is_kernel(handle)`, and `write(path, activities)`. Every other record stays as it is."""
import gzip
import json
import sqlite3
import subprocess
import tarfile


class Kineto:
    """Chrome trace of torch.profiler: microseconds."""
    suffix, unit = ".json", 1e-3

    def __init__(self, source):
        self.trace = json.loads(gzip.open(source).read())
        self.rest = [event for event in self.trace["traceEvents"] if not self._on_device(event)]

    @staticmethod
    def _on_device(event):
        return event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")

    def activities(self):
        return [[event["ts"], event["dur"], event] for event in self.trace["traceEvents"]
                if self._on_device(event)]

    @staticmethod
    def is_kernel(event):
        return event["cat"] == "kernel"

    def write(self, path, activities):
        events = [dict(event, ts=start, dur=duration) for start, duration, event in activities]
        path.write_text(json.dumps(dict(self.trace, traceEvents=self.rest + events)))


class TensorFlowJson(Kineto):
    """trace.json.gz of the TensorFlow profiler: microseconds; a stream is a thread of a GPU's
    process."""

    def __init__(self, source):
        self.trace = json.loads(gzip.open(source).read())
        events = self.trace["traceEvents"]
        gpus = {event["pid"] for event in events
                if event.get("name") == "process_name" and "/device:GPU" in event["args"]["name"]}
        self.streams = {(event["pid"], event["tid"]) for event in events
                        if event.get("name") == "thread_name" and event["pid"] in gpus
                        and event["args"]["name"].startswith("Stream")}
        self.rest = [event for event in events if not self._on_device(event)]

    def _on_device(self, event):
        return event.get("ph") == "X" and (event["pid"], event["tid"]) in self.streams

    @staticmethod
    def is_kernel(event):
        return not event["name"].lower().startswith("mem")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, wire type, value) of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        yield key >> 3, kind, value


def encode_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def encode(parts):
    out = bytearray()
    for number, kind, value in parts:
        out += encode_varint(number << 3 | kind)
        if kind == 0:
            out += encode_varint(value)
        elif kind == 2:
            out += encode_varint(len(value)) + value
        else:
            out += value
    return bytes(out)


class XPlane:
    """XSpace protobuf: picoseconds from the start of a line. XSpace.planes 1; XPlane.name 2, .lines
    3; XLine.name 2, .events 4; XEvent.offset_ps 2, .duration_ps 3."""
    suffix, unit = ".xplane.pb", 1000

    def __init__(self, content):
        self.space = []
        self.found = []
        for number, kind, value in fields(content):
            if number == 1:
                value = self._plane(list(fields(value)))
            self.space.append([number, kind, value])

    def _plane(self, plane):
        name = next((value for number, _, value in plane if number == 2), b"")
        if b"/device:GPU" not in name:
            return encode(plane)
        names = {}  # of events, by their metadata
        for number, _, value in plane:
            if number == 4:
                entry = dict((key, item) for key, _, item in fields(value))
                names[entry[1]] = next((item for key, _, item in fields(entry[2]) if key == 2), b"")
        return [[number, kind, self._line(list(fields(value)), names) if number == 3 else value]
                for number, kind, value in plane]

    def _line(self, line, names):
        name = next((value for number, _, value in line if number == 2), b"")
        if not name.startswith(b"Stream"):
            return encode(line)
        rest = [part for part in line if part[0] != 4]
        for number, _, value in line:
            if number == 4:
                event = list(fields(value))
                of = {key: item for key, _, item in event}
                self.found.append([of.get(2, 0), of.get(3, 0),
                                   (rest, event, names.get(of.get(1, 0), b""))])
        return rest

    def activities(self):
        return list(self.found)

    @staticmethod
    def is_kernel(handle):
        return not handle[2].lower().startswith((b"mem", b"cumem"))

    def write(self, path, activities):
        events = {}
        # An offset cannot be negative: the line begins earlier instead.
        early = max(0, -int(min(start for start, _, _ in activities)))
        early += -early % 1000
        for start, duration, (line, event, _) in activities:
            message = [part for part in event
                       if part[0] not in (2, 3)] + [(2, 0, int(start) + early),
                                                    (3, 0, int(duration))]
            events.setdefault(id(line), []).append((4, 2, encode(message)))

        def line_of(line):
            moved = [(number, kind, value - early // 1000 if number == 3 else value)
                     for number, kind, value in line]
            return encode(moved + events.get(id(line), []))
        space = []
        for number, kind, value in self.space:
            if isinstance(value, list):
                value = encode([(inner, of, line_of(item) if isinstance(item, list) else item)
                                for inner, of, item in value])
            space.append((number, kind, value))
        path.write_bytes(encode(space))


class Database:
    """SQLite: nanoseconds. A subclass says which tables hold device activities and how they call
    their times."""
    unit = 1

    def __init__(self, content):
        self.content = content
        database = sqlite3.connect(":memory:")
        database.deserialize(content)
        self.found = [[start, duration, (table, row)] for table, query in self.queries.items()
                      for start, duration, row in ((line[0], line[1], line[2:])
                                                   for line in database.execute(query))]

    def activities(self):
        return list(self.found)

    def write(self, path, activities):
        path.write_bytes(self.content)
        database = sqlite3.connect(path)
        for table in self.queries:
            database.execute(f"delete from {table}")
        for start, duration, (table, row) in activities:
            values = self.values(table, int(start), int(duration), row)
            database.execute(f"insert into {table} values ({','.join('?' * len(values))})", values)
        database.commit()
        database.close()


class OwnCapture(Database):
    """A capture file of gpufathom: table _activities, whose first three columns are row, start and
    duration."""
    suffix, queries = ".gpf", {"_activities": "select start_ns, duration_ns, * from _activities"}

    def __init__(self, content):
        database = sqlite3.connect(":memory:")
        database.deserialize(content)
        self.kernel = database.execute("select id from strings where id < 0 and text = 'kernel'").fetchone()[0]
        columns = [line[1] for line in database.execute("pragma table_info(_activities)")]
        self.kind, self.name = columns.index("kind"), columns.index("name")
        assert columns[:3] == ["row", "start_ns", "duration_ns"]
        self.next = 0
        super().__init__(content)

    def is_kernel(self, handle):
        return handle[1][self.kind] == self.kernel

    def write(self, path, activities):
        self.next = 0
        super().write(path, activities)

    def values(self, _, start, duration, row):
        self.next += 1
        return (self.next - 1, start, duration, *row[3:])


class NsightSystems(Database):
    """An export of Nsight Systems; one of the same calls and kernels as a Kineto trace, where there
    is none."""
    suffix = ".sqlite"
    queries = {"CUPTI_ACTIVITY_KIND_KERNEL": 'select start, "end" - start, * from CUPTI_ACTIVITY_KIND_KERNEL'}

    @staticmethod
    def is_kernel(_):
        return True

    @staticmethod
    def values(_, start, duration, row):
        return (start, start + duration, *row[2:])

    @classmethod
    def of_kineto(cls, source):
        events = json.loads(gzip.open(source).read())["traceEvents"]
        database = sqlite3.connect(":memory:")
        database.executescript("""
            create table META_DATA_EXPORT(name text, value text);
            insert into META_DATA_EXPORT values ('EXPORT_SCHEMA_VERSION', '3.11.0');
            create table StringIds(id integer, value text);
            create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, "end" integer, deviceId integer, contextId integer,
              streamId integer, correlationId integer, shortName integer);
            create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, "end" integer, globalTid integer, correlationId integer,
              nameId integer);""")
        texts = {}
        origin = min(event["ts"] for event in events if event.get("ph") == "X")
        for event in events:
            if event.get("cat") not in ("kernel", "cuda_runtime"):
                continue
            name = texts.setdefault(event["name"], len(texts) + 1)
            start = round((event["ts"] - origin) * 1000)
            end, correlation = start + round(event["dur"] * 1000), event["args"]["correlation"]
            if event["cat"] == "kernel":
                database.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values (?, ?, 0, 1, ?, ?, ?)",
                                 (start, end, event["args"]["stream"], correlation, name))
            else:
                database.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, 1, ?, ?)",
                                 (start, end, correlation, name))
        database.executemany("insert into StringIds values (?, ?)",
                             [(number, text) for text, number in texts.items()])
        database.commit()
        return cls(database.serialize())


def of_every_reader(program, examples, scratch):
    """[(name, capture)]: small captures, of each reader that tells launches from kernels."""
    with tarfile.open(examples / "jax_mlp.tgz") as archive:
        for member in archive.getmembers():
            if member.name.endswith(".xplane.pb"):
                xplane = archive.extractfile(member).read()
            elif member.name.endswith(".trace.json.gz"):
                (scratch / "jax.json.gz").write_bytes(archive.extractfile(member).read())
    own = scratch / "own.gpf"
    subprocess.run([program, "import", examples / "lenet_train_b64.json.gz", "-o", own,
                    "--no-answer"], check=True, capture_output=True)
    return [("kineto", Kineto(examples / "lenet_train_b64.json.gz")),
            ("graphs", Kineto(examples / "lenet_graphs_b1.json.gz")),
            ("nsight_systems", NsightSystems.of_kineto(examples / "lenet_train_b64.json.gz")),
            ("gpf", OwnCapture(own.read_bytes())),
            ("xplane", XPlane(xplane)),
            ("tf_trace_json", TensorFlowJson(scratch / "jax.json.gz"))]
