"""The library's tables without Arrow's packages: the C data interface of the columns that it makes,
which are numbers, and texts by the number of a dictionary.
https://arrow.apache.org/docs/format/CDataInterface.html"""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    *[(name, ctypes.c_int64) for name in ("length", "nulls", "offset", "n_buffers", "n_children")],
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_NUMBERS = {
    b"l": ctypes.c_int64,
    b"i": ctypes.c_int32,
    b"I": ctypes.c_uint32,
    b"C": ctypes.c_uint8,
    b"g": ctypes.c_double,
}


def _release(part: Any) -> None:
    if part.release:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(part.release)(ctypes.addressof(part))


class _Texts(Dict[int, str]):
    """Texts of a dictionary by their numbers, each decoded when it is first asked for."""

    def __init__(self, array: Any) -> None:
        super().__init__()
        self._offsets = (ctypes.c_int64 * (array.length + 1)).from_address(array.buffers[1])
        self._bytes = array.buffers[2] or 0

    def __missing__(self, number: int) -> str:
        first, end = self._offsets[number], self._offsets[number + 1]
        text = self[number] = ctypes.string_at(self._bytes + first, end - first).decode()
        return text


class Columns:
    """The rows of a stream, read where they lie as long as this is held."""

    def __init__(self, stream: Any) -> None:
        self._schema, self._stream = _Schema(), stream
        self._batches: List[Any] = []
        address = ctypes.addressof(stream)
        call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        if call(stream.get_schema)(address, ctypes.addressof(self._schema)):
            raise MemoryError
        while True:
            batch = _Array()
            if call(stream.get_next)(address, ctypes.addressof(batch)):
                raise MemoryError
            if not batch.release:
                break
            self._batches.append(batch)
        children = self._schema.children
        self._formats = [children[i][0].format for i in range(self._schema.n_children)]
        self.names = [children[i][0].name.decode() for i in range(self._schema.n_children)]
        self.rows = sum(batch.length for batch in self._batches)

    def __del__(self) -> None:
        for part in (*self._batches, self._schema, self._stream):
            _release(part)

    def values(self, name: str, rows: range) -> List[Any]:
        """Numbers and texts of a column; None is not known."""
        number, first, out = self.names.index(name), 0, []
        for batch in self._batches:
            own = [row - first for row in rows if 0 <= row - first < batch.length]
            first += batch.length
            if own:
                out += self._of(batch.children[number][0], self._formats[number], own)
        return out

    @staticmethod
    def _of(array: Any, form: bytes, rows: List[int]) -> List[Any]:
        numbers = (_NUMBERS[form] * array.length).from_address(array.buffers[1])
        valid = None
        if array.buffers[0]:
            valid = (ctypes.c_uint8 * ((array.length + 7) // 8)).from_address(array.buffers[0])
        texts = _Texts(array.dictionary[0]) if array.dictionary else None
        out: List[Any] = []
        for row in rows:
            known = valid is None or valid[row // 8] >> row % 8 & 1
            value = numbers[row] if known else None
            out.append(value if texts is None or value is None else texts[value])
        return out
