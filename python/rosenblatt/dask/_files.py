"""Files as partitions: workers read them, each a part of a file or a whole one."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np
from scipy import sparse

from .. import _core
from ._blocks import Block
from ._frames import LABEL_NAMES, MISSING

#: The text that makes a partition.
PARTITION_BYTES = 64 << 20

#: How compressed files are called; they are read as a whole.
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")


def is_files(X: Any) -> bool:
    """Whether X names files."""
    return isinstance(X, (str, os.PathLike)) or (
        isinstance(X, (list, tuple))
        and bool(X)
        and all(isinstance(n, (str, os.PathLike)) for n in X)
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
            f"the format {read['format']} is not read on workers; read the files with "
            "dask.dataframe and give the frame"
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


#: Formats of tables, by what a file's name ends with, and their separators.
TABLES = {".csv": ",", ".tsv": "\t", ".parquet": None}


def table_format(X: Any, read: dict[str, Any] | None) -> str | None:
    """Of tables the ending of their names, else None."""
    given = (read or {}).get("format")
    if given is not None:
        return f".{given}" if f".{given}" in TABLES else None
    endings = set()
    for name in names(X):
        for packed in COMPRESSED:
            name = name.removesuffix(packed)
        endings.add(next((ending for ending in TABLES if name.endswith(ending)), None))
    if len(endings) > 1:
        raise ValueError("files of several formats are not one set of rows; say format")
    return endings.pop()


def table(
    X: Any, ending: str, read: dict[str, Any] | None, columns: dict[str, str] | None
) -> tuple[Any, Any, tuple[int, str]]:
    """Tables as a dask dataframe without its labels, the labels, and their place and name."""
    import dask.dataframe as dd

    read = dict(read or {})
    unknown = set(read) - {"format", "label", "partition_bytes"}
    if unknown:
        raise ValueError(
            f"read knows format, label and partition_bytes of tables, not {sorted(unknown)}"
        )
    found = names(X)
    if ending == ".parquet":
        groups: Any = True  # One partition each.
        frame = dd.read_parquet(found, split_row_groups=groups)
        label = _label(list(frame.columns), read.get("label"))
    else:
        packed = any(name.endswith(COMPRESSED) for name in found)
        how = {
            "sep": TABLES[ending],
            "keep_default_na": False,
            "na_values": sorted(MISSING),
            "assume_missing": True,
            # As exact as other readers are.
            "float_precision": "round_trip",
            "blocksize": None if packed else read.get("partition_bytes", PARTITION_BYTES),
        }
        try:
            head = dd.read_csv(found[:1], **how)
        except ValueError as error:
            raise ValueError(
                f"{found[0]}: the first lines cannot be read as a table; "
                f"'rosenblatt train {found[0]} --dry-run' names the line and column"
            ) from error
        label = _label(list(head.columns), read.get("label"))
        # Labels stay as they are written, as do columns that the user speaks of.
        as_written = [name for name in head.columns if name == label or name in (columns or {})]
        frame = dd.read_csv(found, **how, dtype={name: "string" for name in as_written})
    place = list(frame.columns).index(label)
    return frame.drop(columns=[label]), frame[label], (place, str(label))


def _label(columns: list[str], given: str | None) -> str:
    if given is not None and given not in columns:
        raise ValueError(f"there is no column {given!r}; the columns are {', '.join(columns)}")
    return given or next((name for name in columns if name.lower() in LABEL_NAMES), columns[-1])


def _line_after(file: Any, place: int) -> int:
    """Where the first line begins that begins at this place or after it."""
    if place == 0:
        return 0
    file.seek(place - 1)
    file.readline()
    return int(file.tell())


def _numbers(
    name: str, read: dict[str, Any], span: tuple[int, int, bytes] | None
) -> dict[str, Any]:
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
    long = tuple(found["long_decimals"])
    return Block(rows, found["labels"], found["weights"], told, first, found["classes"], long)
