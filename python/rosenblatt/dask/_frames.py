"""Columns of dask dataframes as features, as :func:`rosenblatt.read_table` makes them of a file.

Levels of categories are united; sums for scaling go from partition to partition in their order,
one number after the other, so that they are those of one machine, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from . import _blocks
from ._blocks import Block

#: Texts that stand for a value that is not there, and what its level is called.
MISSING = frozenset({"", "?", "NA", "NaN", "nan"})
MISSING_LEVEL = "?"

#: A column of texts with more of them is no category.
MOST_LEVELS = 10_000

SCALES = ("none", "standard", "minmax")


def needed(X: Any, scale: str | None) -> bool:
    """Whether the columns of a frame become other features."""
    if scale is not None and scale not in SCALES:
        raise ValueError(
            f"scale must be one of {', '.join(SCALES)}, or None. Got {scale!r} instead."
        )
    if not hasattr(X, "columns"):
        if scale not in (None, "none"):
            raise ValueError("scale is for the columns of dataframes")
        return False
    return scale is not None or not all(map(_is_number, X.dtypes))


def _is_number(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "iuf"


def _texts(column: Any) -> np.ndarray:
    """The cells of a category as texts, missing ones as their level."""
    cells = column.astype(object).to_numpy()
    missing = column.isna().to_numpy()
    texts = np.array([MISSING_LEVEL if gone else str(c) for c, gone in zip(cells, missing)], object)
    texts[[text in MISSING for text in texts]] = MISSING_LEVEL
    return texts


def numbers(frame: Any, columns: list[int]) -> np.ndarray:
    """The numeric columns as rows, missing values as NaN."""
    found = [frame.iloc[:, j].to_numpy(dtype=np.float64, na_value=np.nan) for j in columns]
    return np.stack(found, axis=1) if found else np.empty((len(frame), 0))


class Columns(NamedTuple):
    """What a partition says of its columns."""

    names: list[str]
    numeric: list[bool]
    #: The levels of each category.
    levels: dict[int, set[str]]


def columns(frame: Any) -> Columns:
    """What a partition says of its columns."""
    numeric = [_is_number(dtype) for dtype in frame.dtypes]
    levels = {}
    for j, is_number in enumerate(numeric):
        if is_number:
            continue
        if frame.dtypes.iloc[j].kind == "M":
            raise ValueError(
                f"the column {frame.columns[j]} holds dates; make numbers of them first"
            )
        levels[j] = set(_texts(frame.iloc[:, j]).tolist())
    return Columns([str(name) for name in frame.columns], numeric, levels)


class Tally(NamedTuple):
    """Sums over the rows so far, a number for each numeric column."""

    sum: np.ndarray
    present: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rows: int


def nothing(width: int) -> Tally:
    """Before the first row."""
    return Tally(
        np.zeros(width), np.zeros(width, int), np.full(width, np.inf), np.full(width, -np.inf), 0
    )


def _added(start: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The sum of rows, one after the other."""
    return np.asarray(np.add.accumulate(np.vstack([start[None], values]), axis=0)[-1])


def tally(frame: Any, before: Tally, numeric: list[int]) -> Tally:
    """The sums with another partition."""
    values = numbers(frame, numeric)
    here = ~np.isnan(values)
    return Tally(
        _added(before.sum, np.where(here, values, 0.0)),
        before.present + here.sum(axis=0),
        np.minimum(before.low, np.where(here, values, np.inf).min(axis=0, initial=np.inf)),
        np.maximum(before.high, np.where(here, values, -np.inf).max(axis=0, initial=-np.inf)),
        before.rows + len(values),
    )


def squares(frame: Any, before: np.ndarray, numeric: list[int], centre: np.ndarray) -> np.ndarray:
    """The squared distances from the centres with another partition."""
    apart = numbers(frame, numeric) - centre
    return _added(before, np.where(np.isnan(apart), 0.0, apart * apart))


@dataclass(frozen=True)
class Preparation:
    """How columns become features."""

    names: list[str]
    numeric: list[int]
    centre: np.ndarray
    scale: np.ndarray
    #: Which numeric columns have a feature that says a value is missing.
    missing: np.ndarray
    levels: dict[int, list[str]]

    def feature_names(self) -> list[str]:
        """The names of the features."""
        found = []
        for j, name in enumerate(self.names):
            if j in self.levels:
                found += [f"{name}={level}" for level in self.levels[j]]
                continue
            found.append(name)
            if self.missing[self.numeric.index(j)]:
                found.append(f"{name}={MISSING_LEVEL}")
        return found

    def rows(self, frame: Any) -> Any:
        """The features of a frame's rows; levels that training has not seen make none."""
        if [str(name) for name in frame.columns] != self.names:
            raise ValueError(f"expected the columns {self.names}, found {list(frame.columns)}")
        values = numbers(frame, self.numeric)
        made = []
        for j in range(len(self.names)):
            if j in self.levels:
                places = {level: k for k, level in enumerate(self.levels[j])}
                texts = _texts(frame.iloc[:, j])
                known = np.array([places.get(text, -1) for text in texts], dtype=np.int64)
                rows = np.flatnonzero(known >= 0)
                shape = (len(frame), len(places))
                made.append(sparse.csr_matrix((np.ones(len(rows)), (rows, known[rows])), shape))
                continue
            k = self.numeric.index(j)
            gone = np.isnan(values[:, k])
            scaled = (values[:, k] - self.centre[k]) / self.scale[k]
            made.append(np.where(gone, 0.0, scaled)[:, None])
            if self.missing[k]:
                made.append(gone.astype(np.float64)[:, None])
        return sparse.hstack([sparse.csr_matrix(part) for part in made], format="csr")


def fit(cluster: Any, frames: list[Any], scale: str) -> Preparation:
    """What all partitions ask for."""
    found = cluster.gather([cluster.submit(columns, frame) for frame in frames])
    names, is_number, _ = found[0]
    for k, other in enumerate(found):
        if other.names != names or other.numeric != is_number:
            raise ValueError(
                f"partition {k} has other columns, or of other types, than partition 0"
            )
    numeric = [j for j, is_one in enumerate(is_number) if is_one]
    levels = {}
    for j in found[0].levels:
        all_levels = set().union(*(other.levels[j] for other in found))
        if len(all_levels) > MOST_LEVELS:
            raise ValueError(
                f"the column {names[j]} has {len(all_levels)} different texts; leave it out"
            )
        levels[j] = sorted(all_levels, key=lambda level: level.encode())
    told: Any = nothing(len(numeric))
    for frame in frames:
        told = cluster.submit(tally, frame, told, numeric)
    sums = told.result() if frames else told
    present = np.maximum(sums.present, 1)
    width = len(numeric)
    centre, spread = np.zeros(width), np.ones(width)
    with np.errstate(invalid="ignore", over="ignore"):
        if scale == "standard":
            centre = np.where(sums.low == sums.high, sums.low, sums.sum / present)
            centre = np.where(sums.present > 0, centre, 0.0)
            squared: Any = np.zeros(width)
            for frame in frames:
                squared = cluster.submit(squares, frame, squared, numeric, centre)
            deviation = np.sqrt(squared.result() / present)
            spread = np.where(deviation > 0, deviation, 1.0)
        elif scale == "minmax":
            centre = np.where(sums.present > 0, sums.low, 0.0)
            span = sums.high - sums.low
            spread = np.where((sums.present > 0) & (span > 0), span, 1.0)
    bad = ~(np.isfinite(centre) & np.isfinite(spread) & (spread > 1e-150))
    if bad.any():
        name = names[numeric[int(np.flatnonzero(bad)[0])]]
        raise ValueError(
            f"the numbers of the column {name} are too large, or too far apart, to be scaled"
        )
    return Preparation(names, numeric, centre, spread, sums.rows > sums.present, levels)


def block(frame: Any, y: Any, weight: Any, number: int, preparation: Preparation) -> Block:
    """The rows of a partition with their features; labels of a file are texts."""
    if getattr(y.dtype, "kind", "O") in "biuf":
        return _blocks.block(preparation.rows(frame), y, weight, number)
    if y.isna().any():
        raise ValueError(f"partition {number}: a label is missing")
    texts, codes = np.unique(y.astype(str).to_numpy(dtype=object), return_inverse=True)
    found = _blocks.block(preparation.rows(frame), codes, weight, number)
    return replace(found, labels=found.labels.astype(np.uint32), texts=texts.tolist())


def blocks(cluster: Any, X: Any, y: Any, weight: Any, scale: str) -> tuple[list[Any], Preparation]:
    """The blocks of a frame, and how they were made."""
    rows = _blocks.delayed(X)
    labels = _blocks._along(y, rows, None, "y")
    weights = [None] * len(rows)
    if weight is not None:
        weights = _blocks._along(weight, rows, None, "sample_weight")
    frames = cluster.client.compute(rows)
    preparation = fit(cluster, frames, scale)
    labels = [cluster.client.compute(label) for label in labels]
    weights = [w if w is None else cluster.client.compute(w) for w in weights]
    found = zip(frames, labels, weights)
    made = [cluster.submit(block, *each, k, preparation) for k, each in enumerate(found)]
    return made, preparation
