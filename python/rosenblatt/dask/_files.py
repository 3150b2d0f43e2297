"""libsvm files as partitions: workers read them, each a part of a file or a whole one."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np
from scipy import sparse

from .. import _core
from ._blocks import Block

#: The text that makes a partition.
PARTITION_BYTES = 64 << 20

#: How compressed files are called; they are read as a whole.
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")


def is_files(X: Any) -> bool:
    """Whether X names files."""
    return isinstance(X, (str, os.PathLike)) or (
        isinstance(X, (list, tuple)) and bool(X) and all(isinstance(n, (str, os.PathLike)) for n in X)
    )


def names(X: Any) -> list[str]:
    """The files that are named, a pattern's in the order of their names."""
    found = []
    for name in [X] if isinstance(X, (str, os.PathLike)) else X:
        name = os.fspath(name)
        if os.path.exists(name):
            found.append(name)
            continue
        matching = sorted(glob.glob(name, recursive=True))
        if not matching:
            raise FileNotFoundError(f"there is no file {name!r}")
        found += [match for match in matching if not os.path.isdir(match)]
    return found


def parts(X: Any, read: dict[str, Any] | None) -> list[tuple[str, int, int | None, dict[str, Any]]]:
    """The partitions: a file, the first byte and the byte after the last (None: all of it)."""
    read = dict(read or {})
    size = read.pop("partition_bytes", PARTITION_BYTES)
    if not isinstance(size, int) or size < 1:
        raise ValueError(f"partition_bytes must be a whole number above 0. Got {size!r} instead.")
    if read.setdefault("format", "libsvm") != "libsvm":
        raise ValueError(
            f"the format {read['format']} is not read in parts; read the files with dask.dataframe "
            "and give the frame"
        )
    unknown = set(read) - {"format", "precision"}
    if unknown:
        raise ValueError(f"read knows format, precision and partition_bytes, not {sorted(unknown)}")
    found: list[tuple[str, int, int | None, dict[str, Any]]] = []
    for name in names(X):
        length = os.path.getsize(name)
        if name.endswith(COMPRESSED) or length <= size:
            found.append((name, 0, None, read))
            continue
        count = -(-length // size)
        ends = [length * k // count for k in range(count + 1)]
        found += [(name, start, end, read) for start, end in zip(ends, ends[1:])]
    return found


def _line_after(file: Any, place: int) -> int:
    """Where the first line begins that begins at this place or after it."""
    if place == 0:
        return 0
    file.seek(place - 1)
    file.readline()
    return file.tell()


def _numbers(name: str, read: dict[str, Any], span: tuple[int, int, bytes] | None) -> dict[str, Any]:
    """A file, or a part of it, as the core reads it."""
    return _core.read_file(name, {**read, "threads": 1}, None, span)


def block(name: str, start: int, end: int | None, read: dict[str, Any]) -> Block:
    """The rows that begin in a part of a file."""
    span = None
    told = name
    if end is not None:
        with open(name, "rb") as file:
            first, last = _line_after(file, start), _line_after(file, end)
        if first == last:
            nothing = sparse.csr_matrix((0, 0), dtype=np.float32)
            return Block(nothing, np.empty(0, dtype=np.uint32), None, name, 1, [])
        span = (first, last, b"")
        told = f"{name}, bytes {first} to {last}"
    found = _numbers(name, read, span)
    columns, offsets, indices, values = found["rows"]
    parts = (values, indices.view(np.int32), offsets)
    rows = sparse.csr_matrix(parts, shape=(len(offsets) - 1, columns))
    first = found["names"][0] if columns else 1
    return Block(rows, found["labels"], found["weights"], told, first, found["classes"])
