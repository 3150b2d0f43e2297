"""Columns of any library that speaks Arrow, by the PyCapsule interface and nothing else.

https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html. Objects that are
arrays to NumPy as well are left to it.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

_P = ctypes.c_void_p


class _Schema(ctypes.Structure):
    format: bytes
    name: bytes | None
    n_children: int
    children: Any
    dictionary: Any
    release: Any


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", _P),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, _P)),
    ("private_data", _P),
]


class _Array(ctypes.Structure):
    length: int
    null_count: int
    offset: int
    n_buffers: int
    n_children: int
    buffers: Any
    children: Any
    dictionary: Any
    release: Any


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(_P)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, _P)),
    ("private_data", _P),
]


class _Stream(ctypes.Structure):
    get_schema: Any
    get_next: Any
    get_last_error: Any


_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, _P, _P)),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, _P, _P)),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, _P)),
    ("release", ctypes.CFUNCTYPE(None, _P)),
    ("private_data", _P),
]

#: Numbers by their letter in a schema.
_NUMBERS: dict[str, Any] = {
    "c": np.int8,
    "C": np.uint8,
    "s": np.int16,
    "S": np.uint16,
    "i": np.int32,
    "I": np.uint32,
    "l": np.int64,
    "L": np.uint64,
    "e": np.float16,
    "f": np.float32,
    "g": np.float64,
}


class Columns(NamedTuple):
    """Columns of one length."""

    names: list[str]
    values: list[np.ndarray]


def speaks(X: Any) -> bool:
    """Whether X is Arrow data and nothing that NumPy knows."""
    arrow = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    return arrow and not hasattr(X, "__array__") and not isinstance(X, type)


def _pointer(capsule: Any, name: bytes) -> Any:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = _P, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def columns(X: Any) -> Columns:
    """The columns of X, copied; a single one has no name."""
    if not hasattr(X, "__arrow_c_stream__"):
        of_schema, of_array = X.__arrow_c_array__()
        schema = _Schema.from_address(_pointer(of_schema, b"arrow_schema"))
        array = _Array.from_address(_pointer(of_array, b"arrow_array"))
        return _joined(schema, [_batch(schema, array)])
    capsule = X.__arrow_c_stream__()
    stream = _Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
    at = ctypes.addressof(stream)

    def asked(function: Any, found: Any) -> None:
        if function(at, ctypes.addressof(found)):
            told = stream.get_last_error(at)
            raise ValueError((told or b"the Arrow stream failed").decode(errors="replace"))

    schema = _Schema()
    asked(stream.get_schema, schema)
    try:
        batches: list[list[np.ndarray]] = []
        while True:
            array = _Array()
            asked(stream.get_next, array)
            if not array.release:
                return _joined(schema, batches)
            try:
                batches.append(_batch(schema, array))
            finally:
                array.release(ctypes.addressof(array))
    finally:
        schema.release(ctypes.addressof(schema))


def _joined(schema: _Schema, batches: list[list[np.ndarray]]) -> Columns:
    fields = _fields(schema)
    names = [(field.name or b"").decode() for field in fields]
    if not batches:
        return Columns(names, [np.empty(0) for _ in fields])
    return Columns(names, [np.concatenate(parts) for parts in zip(*batches)])


def _fields(schema: _Schema) -> list[Any]:
    if schema.format != b"+s":
        return [schema]
    return [schema.children[j].contents for j in range(schema.n_children)]


def _batch(schema: _Schema, array: _Array) -> list[np.ndarray]:
    if schema.format != b"+s":
        return [_values(schema, array, 0, array.length)]
    if array.null_count > 0:
        raise ValueError("a row of the Arrow table is null as a whole")
    span = (array.offset, array.length)
    return [
        _values(field, array.children[j].contents, *span) for j, field in enumerate(_fields(schema))
    ]


def _bytes(array: _Array, number: int, size: int) -> np.ndarray:
    """A buffer's first bytes."""
    address = array.buffers[number]
    if not address or not size:
        return np.zeros(size, dtype=np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def _bits(array: _Array, number: int, first: int, length: int) -> np.ndarray:
    found = _bytes(array, number, -(-(first + length) // 8))
    return np.unpackbits(found, bitorder="little")[first : first + length].astype(bool)


def _values(schema: _Schema, array: _Array, skipped: int, length: int) -> np.ndarray:
    """The values of a column from one on, copied: numbers, or texts with None for nulls."""
    first = array.offset + skipped
    kind = schema.format.decode()
    if kind == "n":
        return np.full(length, np.nan)
    known = None
    if array.null_count != 0 and array.n_buffers and array.buffers[0]:
        known = _bits(array, 0, first, length)
        known = None if known.all() else known
    if schema.dictionary:
        codes = _numbers(array, _NUMBERS[kind], first, length).astype(np.int64)
        words = array.dictionary.contents
        values = _values(schema.dictionary.contents, words, 0, words.length)
        if known is not None:
            codes[~known] = 0
            values = values if len(values) else np.zeros(1)
        found = values[codes]
    elif kind in _NUMBERS:
        found = _numbers(array, _NUMBERS[kind], first, length)
    elif kind == "b":
        found = _bits(array, 1, first, length)
    elif kind in ("u", "U", "vu"):
        found = _texts(array, kind, first, length, known)
    else:
        name = (schema.name or b"").decode()
        raise ValueError(
            f"column {name!r} has the Arrow type {kind!r}; numbers, truth values, texts and "
            "dictionaries of them are taken"
        )
    if known is None:
        return found
    if found.dtype == object:
        found[~known] = None
        return found
    found = found.astype(found.dtype if found.dtype.kind == "f" else np.float64)
    found[~known] = np.nan
    return found


def _numbers(array: _Array, dtype: Any, first: int, length: int) -> np.ndarray:
    size = np.dtype(dtype).itemsize
    found: np.ndarray = _bytes(array, 1, (first + length) * size).view(dtype)[first:].copy()
    return found


def _texts(
    array: _Array, kind: str, first: int, length: int, known: np.ndarray | None
) -> np.ndarray:
    found = np.empty(length, dtype=object)
    if kind != "vu":
        size = 4 if kind == "u" else 8
        ends = _bytes(array, 1, (first + length + 1) * size).view(f"i{size}")[first:].tolist()
        data = _bytes(array, 2, ends[-1]).tobytes()
        spans = [(data, start, end) for start, end in zip(ends, ends[1:])]
    else:
        # Short texts lie in their view, long ones in a buffer that it names.
        views = _bytes(array, 1, (first + length) * 16).reshape(-1, 16)[first:]
        count = array.n_buffers - 3
        sizes = _bytes(array, array.n_buffers - 1, count * 8).view(np.int64).tolist()
        data_of = [_bytes(array, 2 + k, size).tobytes() for k, size in enumerate(sizes)]
        numbers = np.ascontiguousarray(views).view(np.int32).reshape(-1, 4).tolist()
        spans = []
        for view, (size, _, number, start) in zip(views, numbers):
            if size <= 12:
                spans.append((view.tobytes(), 4, 4 + size))
            else:
                spans.append((data_of[number], start, start + size))
    for i, (data, start, end) in enumerate(spans):
        if known is None or known[i]:
            found[i] = data[start:end].decode()
    return found


def matrix(X: Any) -> tuple[list[str], np.ndarray]:
    """Columns of numbers side by side, and their names."""
    names, values = columns(X)
    for name, column in zip(names, values):
        if column.dtype == object:
            raise ValueError(f"column {name!r} holds texts; read_table makes features of a file's")
    if not values:
        return names, np.empty((0, 0))
    return names, np.column_stack(values)


def column(y: Any) -> np.ndarray:
    """The one column of labels or numbers."""
    names, values = columns(y)
    if len(values) != 1:
        raise ValueError(f"y has {len(values)} columns ({', '.join(names)}), expected one")
    return values[0]
