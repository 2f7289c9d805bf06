"""libgpufathom by ctypes: captures, tables as Arrow streams, answers as JSON and as a page."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from gpufathom import _places


class Error(RuntimeError):
    """What the library says is wrong: what, where, and what to do about it."""


class _Options(ctypes.Structure):
    _fields_ = [
        ("window", ctypes.c_char_p),
        ("batch", ctypes.c_longlong),
        ("energy_model", ctypes.c_char_p),
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
    lib.gpufathom_close.argtypes, lib.gpufathom_close.restype = [pointer], None
    lib.gpufathom_tables.restype = text
    lib.gpufathom_table.argtypes = [pointer, text, stream, error]
    lib.gpufathom_kernels.argtypes = [pointer, text, stream, error]
    lib.gpufathom_report.argtypes = [
        pointer,
        ctypes.POINTER(_Options),
        ctypes.c_int,
        ctypes.POINTER(pointer),
        error,
    ]
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
    """Of a stream that nobody took."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    address = pointer(capsule, _STREAM_NAME)
    stream = _streams.pop(address, None)
    if stream is not None and stream.release:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream.release)(address)


_destroy = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_destroy_stream)
_streams: dict[int, _ArrowArrayStream] = {}


def _capsule(stream: _ArrowArrayStream) -> Any:
    """What the Arrow PyCapsule interface hands over."""
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

    def __init__(self, path: str, counters: str | None, power: str | None) -> None:
        self._pointer = ctypes.c_void_p()
        _call(
            library().gpufathom_open_with,
            path.encode(),
            _bytes(counters),
            _bytes(power),
            ctypes.byref(self._pointer),
        )

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            library().gpufathom_close(self._pointer)
            self._pointer = ctypes.c_void_p()

    def table(self, name: str) -> Any:
        stream = _ArrowArrayStream()
        _call(library().gpufathom_table, self._pointer, name.encode(), ctypes.byref(stream))
        return _capsule(stream)

    def kernels(self, window: str | None) -> Any:
        stream = _ArrowArrayStream()
        _call(library().gpufathom_kernels, self._pointer, _bytes(window), ctypes.byref(stream))
        return _capsule(stream)

    def report(self, window: str | None, batch: int, energy_model: str | None, form: int) -> str:
        options = _Options(_bytes(window), batch, _bytes(energy_model))
        text = ctypes.c_void_p()
        _call(
            library().gpufathom_report,
            self._pointer,
            ctypes.byref(options),
            form,
            ctypes.byref(text),
        )
        return _take(text)


def table_names() -> list[str]:
    names: bytes = library().gpufathom_tables()
    return names.decode().split(",")
