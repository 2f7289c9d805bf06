"""libgpufathom by ctypes: captures, tables as Arrow streams, answers as JSON and as a page."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import re
from typing import Any, List, Sequence

from gpufathom import _places


class Error(RuntimeError):
    """An error of the library: what is wrong, where, and what to do."""


@dataclasses.dataclass(frozen=True)
class Missing:
    """Something that a capture lacks, so that results based on it are incomplete.

    path: the capture.
    code: kind of damage (docs/capture.md); empty where it is of no kind of its own.
    count: how often.
    detail: one sentence.
    """

    path: str
    code: str
    count: int
    detail: str

    def __str__(self) -> str:
        what = f"{self.count} x {self.code}: {self.detail}" if self.code else self.detail
        return f"{self.path}: {what}" if self.path else what

    @classmethod
    def told(cls, said: str, path: str) -> List[Missing]:
        """From what the program says, a sentence a line; `path` where a line names no file."""
        found = []
        for line in filter(None, map(str.strip, said.splitlines())):
            line = re.sub(r"^gpufathom: ", "", line)
            whose = re.match(r"(.*?): (?:incomplete result|is damaged): (.*)", line)
            of, text = (whose[1], whose[2]) if whose else (path, line)
            if text.startswith(path + ": "):
                text = text[len(path) + 2 :]
            row = re.match(r"([\d ]+) x (\w+): (.*)", text)
            if row:
                found.append(cls(of, row[2], int(row[1].replace(" ", "")), row[3]))
            else:
                found.append(cls(of, "", 1, text))
        return found


class IncompleteEvidence(Error):
    """A capture is incomplete: `rows` say what it lacks. `allow_incomplete=True` continues with
    it."""

    def __init__(self, rows: Sequence[Missing]) -> None:
        self.rows = list(rows)
        told = "; ".join(map(str, self.rows))
        super().__init__(f"{told} (incomplete: allow_incomplete=True or --allow-incomplete continues)")


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("window", ctypes.c_char_p),
        ("batch", ctypes.c_longlong),
        ("energy_model", ctypes.c_char_p),
        ("devices", ctypes.c_char_p),
    ]


class _ArrowArrayStream(ctypes.Structure):
    """https://arrow.apache.org/docs/format/CStreamInterface.html"""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")
    ]


JSON, PAGE = 0, 1
_STREAM_NAME = b"arrow_array_stream"


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """The library, loaded when it is first needed."""
    lib = ctypes.CDLL(_places.library())
    text, pointer, error = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    stream = ctypes.POINTER(_ArrowArrayStream)
    lib.gpufathom_open_with.argtypes = [text, text, text, ctypes.POINTER(pointer), error]
    lib.gpufathom_open_graphs.argtypes = [
        text,
        text,
        text,
        ctypes.POINTER(text),
        ctypes.POINTER(pointer),
        error,
    ]
    lib.gpufathom_close.argtypes, lib.gpufathom_close.restype = [pointer], None
    lib.gpufathom_tables.restype = text
    lib.gpufathom_table.argtypes = [pointer, text, stream, error]
    lib.gpufathom_shape.argtypes = [
        pointer,
        text,
        ctypes.POINTER(ctypes.c_longlong),
        ctypes.POINTER(pointer),
        error,
    ]
    lib.gpufathom_kernels.argtypes = [pointer, text, stream, error]
    lib.gpufathom_report_checked.argtypes = [
        pointer,
        ctypes.POINTER(_Options),
        ctypes.c_int,
        ctypes.POINTER(pointer),
        ctypes.POINTER(pointer),
        error,
    ]
    lib.gpufathom_missing.argtypes = [pointer, ctypes.POINTER(pointer), error]
    lib.gpufathom_free.argtypes, lib.gpufathom_free.restype = [pointer], None
    return lib


def _take(text: ctypes.c_void_p) -> str:
    try:
        return ctypes.string_at(text.value or 0).decode("utf-8", "replace") if text.value else ""
    finally:
        library().gpufathom_free(text)


def _call(function: Any, *arguments: Any) -> None:
    error = ctypes.c_void_p()
    if function(*arguments, ctypes.byref(error)):
        raise Error(_take(error))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _destroy_stream(capsule: int) -> None:
    """Releases a stream that nobody took."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    address = pointer(capsule, _STREAM_NAME)
    stream = _streams.pop(address, None)
    if stream is not None and stream.release:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream.release)(address)


_destroy = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_destroy_stream)
_streams: dict[int, _ArrowArrayStream] = {}


def capsule(stream: _ArrowArrayStream) -> Any:
    """The capsule of the Arrow PyCapsule interface."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_void_p,
    ]
    address = ctypes.addressof(stream)
    _streams[address] = stream
    return make(address, _STREAM_NAME, ctypes.cast(_destroy, ctypes.c_void_p))


class Handle:
    """An open capture of the library."""

    def __init__(
        self, path: str, counters: str | None, power: str | None, graphs: list[str] | None = None
    ) -> None:
        self._pointer = ctypes.c_void_p()
        told = [graph.encode() for graph in graphs or []]
        _call(
            library().gpufathom_open_graphs,
            path.encode(),
            _bytes(counters),
            _bytes(power),
            (ctypes.c_char_p * (len(told) + 1))(*told, None),
            ctypes.byref(self._pointer),
        )

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            library().gpufathom_close(self._pointer)
            self._pointer = ctypes.c_void_p()

    def table(self, name: str) -> Any:
        stream = _ArrowArrayStream()
        _call(library().gpufathom_table, self._pointer, name.encode(), ctypes.byref(stream))
        return stream

    def shape(self, name: str) -> tuple[int, list[str]]:
        """The number of rows of a table, and its columns, none of which is made for that."""
        rows, columns = ctypes.c_longlong(), ctypes.c_void_p()
        _call(
            library().gpufathom_shape,
            self._pointer,
            name.encode(),
            ctypes.byref(rows),
            ctypes.byref(columns),
        )
        return rows.value, _take(columns).split(",")

    def kernels(self, window: str | None) -> Any:
        stream = _ArrowArrayStream()
        _call(library().gpufathom_kernels, self._pointer, _bytes(window), ctypes.byref(stream))
        return stream

    def missing(self) -> str:
        """The parts that the capture lacks, a sentence a line."""
        text = ctypes.c_void_p()
        _call(library().gpufathom_missing, self._pointer, ctypes.byref(text))
        return _take(text)

    def report(
        self,
        window: str | None,
        batch: int,
        energy_model: str | None,
        devices: str | None,
        form: int,
    ) -> tuple[str, str]:
        """The answer, and what it lacks, a sentence a line."""
        options = _Options(
            ctypes.sizeof(_Options), _bytes(window), batch, _bytes(energy_model), _bytes(devices)
        )
        text, missing = ctypes.c_void_p(), ctypes.c_void_p()
        _call(
            library().gpufathom_report_checked,
            self._pointer,
            ctypes.byref(options),
            form,
            ctypes.byref(text),
            ctypes.byref(missing),
        )
        return _take(text), _take(missing)


def table_names() -> list[str]:
    names: bytes = library().gpufathom_tables()
    return names.decode().split(",")
