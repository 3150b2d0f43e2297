"""Columns of dask dataframes as features, as :func:`rosenblatt.read_table` makes them of a file.

What partitions say of their columns is united in their order, and sums for scaling go from
partition to partition, one number after the other, so that all is that of one machine, bit for
bit. What texts are and which terms they have is found in the core.
"""

from __future__ import annotations

import functools
import operator
import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .. import _core
from .._mix import _aligned as aligned
from . import _blocks
from ._blocks import Block

#: Texts that stand for a value that is not there.
MISSING = frozenset({"", "?", "NA", "NaN", "nan"})

SCALES = ("none", "standard", "minmax")

#: What the column of labels is called in files where it has no other name.
LABEL_NAMES = ("label", "class", "target", "y")

#: Why a column of numbers or texts may not be one of dates.
DATES = (
    "holds dates; make numbers of them first, or leave it out with columns={{{name!r}: 'ignore'}}"
)


class Rules(NamedTuple):
    """How columns are asked to become features."""

    #: Scaling and texts, as the reader of files takes them.
    given: dict[str, Any]
    #: Kinds of columns by name.
    columns: dict[str, str]

    @property
    def scale(self) -> str:
        """How columns are scaled."""
        return str(self.given["scale"])


def rules(estimator: Any, scale: str) -> Rules:
    """How an estimator asks for columns."""
    columns = dict(estimator.columns or {})
    for name, kind in columns.items():
        try:
            _core.column_kind(kind)
        except (TypeError, ValueError) as error:
            raise ValueError(f"columns: {name!r}: {error}") from None
    names = ("text", "term_weights", "min_df", "max_df", "vocabulary")
    given = {name: getattr(estimator, name) for name in (*names, "keep_case", "strip_accents")}
    given = {name: value for name, value in given.items() if value is not None}
    return Rules({"scale": scale, **given}, columns)


def needed(X: Any, scale: str | None, columns: dict[str, str] | None = None) -> bool:
    """Whether the columns of a frame become other features."""
    if scale is not None and scale not in SCALES:
        raise ValueError(
            f"scale must be one of {', '.join(SCALES)}, or None. Got {scale!r} instead."
        )
    if not hasattr(X, "columns"):
        if scale not in (None, "none") or columns:
            raise ValueError("scale and columns are for the columns of dataframes")
        return False
    return scale is not None or bool(columns) or not all(map(_is_number, X.dtypes))


def _is_number(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "iuf"


def _is_category(dtype: Any) -> bool:
    """Whether the frame itself says so."""
    return getattr(dtype, "kind", "O") == "b" or str(dtype) in ("category", "boolean")


def texts(frame: Any, j: int) -> list[str | None]:
    """The cells of a column as texts, None where one is missing."""
    column = frame.iloc[:, j]
    cells = column.astype(object).to_numpy()
    missing = column.isna().to_numpy()
    return [None if gone else str(cell) for cell, gone in zip(cells, missing)]


class Numbers(NamedTuple):
    """A column of numbers."""

    place: int
    #: Whether commas are decimal signs, where numbers are written as texts.
    commas: bool = False
    #: Whether a text that is no number is an error, not a missing value.
    fixed: bool = False


def numbers(frame: Any, columns: list[Numbers]) -> np.ndarray:
    """The numeric columns as rows, missing values as NaN."""
    found = [_numbers(frame, column) for column in columns]
    return np.stack(found, axis=1) if found else np.empty((len(frame), 0))


def _numbers(frame: Any, column: Numbers) -> np.ndarray:
    cells = frame.iloc[:, column.place]
    if _is_number(cells.dtype):
        values = np.ascontiguousarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(aligned(values))
    name = str(frame.columns[column.place])
    return _core.text_numbers(name, texts(frame, column.place), column.commas, column.fixed)


class Columns(NamedTuple):
    """What a partition says of its columns."""

    names: list[str]
    rows: int
    numeric: list[bool]
    #: Columns that the frame says are categories.
    categories: list[int]
    #: What the cells of columns of texts say of their kind.
    facts: dict[int, _core.CellFacts]


def columns(frame: Any, asked: dict[str, str]) -> Columns:
    """What a partition says of its columns."""
    names = [str(name) for name in frame.columns]
    facts = {}
    for j, (name, dtype) in enumerate(zip(names, frame.dtypes)):
        kind = asked.get(name)
        if kind in ("text", "ignore") or (_is_number(dtype) and kind != "category"):
            continue
        if dtype.kind in "mM":
            raise ValueError(f"the column {name} {DATES.format(name=name)}")
        all_values = kind == "category" or _is_category(dtype)
        facts[j] = _core.CellFacts.of(texts(frame, j), all_values)
    numeric = [_is_number(dtype) for dtype in frame.dtypes]
    categories = [j for j, dtype in enumerate(frame.dtypes) if _is_category(dtype)]
    return Columns(names, len(frame), numeric, categories, facts)


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


def tally(frame: Any, before: Tally, numeric: list[Numbers]) -> Tally:
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


def squares(
    frame: Any, before: np.ndarray, numeric: list[Numbers], centre: np.ndarray
) -> np.ndarray:
    """The squared distances from the centres with another partition."""
    apart = numbers(frame, numeric) - centre
    return _added(before, np.where(np.isnan(apart), 0.0, apart * apart))


@dataclass(frozen=True)
class Preparation:
    """How columns become features."""

    names: list[str]
    #: What each column is: numeric, category, text or ignore.
    kinds: list[str]
    #: As the core knows it, and model files store it.
    core: _core.TablePreparation

    def feature_names(self) -> list[str]:
        """The names of the features."""
        return self.core.feature_names()

    def rows(self, frame: Any) -> Any:
        """The features of a frame's rows; what training has not seen makes none."""
        if [str(name) for name in frame.columns] != self.names:
            raise ValueError(f"expected the columns {self.names}, found {list(frame.columns)}")
        cells: list[Any] = []
        for j, kind in enumerate(self.kinds):
            if kind == "ignore":
                cells.append(None)
            elif kind == "numeric" and _is_number(frame.dtypes.iloc[j]):
                cells.append(_numbers(frame, Numbers(j)))
            else:
                cells.append(texts(frame, j))
        columns, offsets, indices, values = self.core.rows(len(frame), cells)
        indices = indices.view(np.int32) if columns <= 2**31 else indices.astype(np.int64)
        return sparse.csr_matrix((values, indices, offsets), shape=(len(frame), columns))


def terms(frame: Any, j: int, given: dict[str, Any]) -> _core.TermCounts:
    """How many rows of a partition have each term of a column."""
    return _core.TermCounts.of(str(frame.columns[j]), texts(frame, j), given)


def all_terms(found: list[_core.TermCounts]) -> _core.TermCounts:
    """How many rows of neighbouring partitions have each term."""
    return _core.TermCounts.united(found)


def asks_for_codes(counts: _core.TermCounts) -> bool:
    """Whether codes must be looked for to say whether a column is set aside."""
    return counts.asks_for_codes


def codes(frame: Any, j: int, given: dict[str, Any], counts: _core.TermCounts) -> _core.Codes:
    """What of a partition tells whether the texts of a column are codes."""
    return _core.Codes.of(texts(frame, j), given, counts)


def all_codes(found: list[_core.Codes]) -> _core.Codes:
    """What of partitions tells whether texts are codes."""
    return _core.Codes.united(found)


def aside(counts: _core.TermCounts, name: str, codes: _core.Codes | None) -> str | None:
    """Why a column of texts is set aside, if it is."""
    return counts.aside(name, codes)


def vocabulary(counts: _core.TermCounts, given: dict[str, Any]) -> _core.Vocabulary:
    """The terms that get a feature of their own."""
    return counts.vocabulary(given)


def rows_with_buckets(
    frame: Any, j: int, given: dict[str, Any], vocabulary: _core.Vocabulary
) -> np.ndarray:
    """How many rows of a partition have each of the features that other terms share."""
    return vocabulary.rows_with_buckets(texts(frame, j), given)


def total(found: list[np.ndarray]) -> np.ndarray:
    """Counts together."""
    return np.asarray(functools.reduce(operator.add, found))


def held(preparation: Preparation) -> Preparation:
    """A preparation where workers find it."""
    return preparation


def _fit_text(cluster: Any, frames: list[Any], j: int, name: str, rules: Rules) -> Any:
    """What becomes of a column of texts."""
    given = rules.given
    counts = cluster.united([cluster.submit(terms, frame, j, given) for frame in frames], all_terms)
    if name not in rules.columns:
        looked = None
        if cluster.submit(asks_for_codes, counts).result():
            each = [cluster.submit(codes, frame, j, given, counts) for frame in frames]
            looked = cluster.united(each, all_codes)
        why = cluster.submit(aside, counts, name, looked).result()
        if why is not None:
            return ("aside", "text", why)
    kept = cluster.submit(vocabulary, counts, given)
    found = kept.result()
    if not found.weighs_buckets:
        return ("text", found, None)
    each = [cluster.submit(rows_with_buckets, frame, j, given, kept) for frame in frames]
    return ("text", found, aligned(cluster.united(each, total).result()))


def _surveyed(cluster: Any, frames: list[Any], rules: Rules) -> list[Columns]:
    """What partitions say of their columns."""
    try:
        found: list[Columns] = cluster.gather(
            [cluster.submit(columns, frame, rules.columns) for frame in frames]
        )
    except ValueError as error:
        if "EOF inside string" not in str(error):
            raise
        raise ValueError(
            "a cell of several lines lies in two partitions; have each file read as a whole, with "
            "read={'partition_bytes': N} and N above the size of the largest, or use Parquet"
        ) from error
    first = found[0]
    for k, other in enumerate(found):
        if other.names != first.names or other.numeric != first.numeric:
            raise ValueError(
                f"partition {k} has other columns, or of other types, than partition 0"
            )
    for name in rules.columns:
        if name not in first.names:
            raise ValueError(f"columns: there is no column {name!r}, only {first.names}")
    return found


def _kind(name: str, is_number: bool, facts: Any, rules: Rules) -> str:
    """What a column is."""
    kind = rules.columns.get(name)
    if kind is None:
        kind = "numeric" if is_number else facts.kind
        # Without a value.
        kind = "category" if kind == "ignore" else kind
    if kind.startswith("date"):
        raise ValueError(f"the column {name} {DATES.format(name=name)}")
    return "numeric" if kind in ("numeric-or-missing", "decimal-comma") else kind


def fit(
    cluster: Any, frames: list[Any], rules: Rules, label: tuple[int, str] | None = None
) -> Preparation:
    """What all partitions ask for; ``label`` is the place and name of the labels in files."""
    found = _surveyed(cluster, frames, rules)
    names, is_number = found[0].names, found[0].numeric
    rows = sum(each.rows for each in found)
    facts = {j: _core.CellFacts.united([each.facts[j] for each in found]) for j in found[0].facts}
    kinds, numeric = [], []
    for j, name in enumerate(names):
        asked = rules.columns.get(name)
        if asked is None and j in found[0].categories:
            kinds.append("category")
        else:
            kinds.append(_kind(name, is_number[j], facts.get(j), rules))
        if kinds[j] == "numeric":
            commas = j in facts and (asked == "decimal-comma" or facts[j].has_decimal_commas)
            numeric.append(Numbers(j, commas, asked == "numeric"))
    centre, spread, sums = _moments(cluster, frames, numeric, names, rules.scale)
    known: list[Any] = []
    for j, (name, kind) in enumerate(zip(names, kinds)):
        if kind == "numeric":
            k = [column.place for column in numeric].index(j)
            range_ = float(sums.low[k]), float(sums.high[k])
            missing = rows - int(sums.present[k])
            written = (facts[j], numeric[k].commas) if j in facts else None
            what: Any = (kind, float(centre[k]), float(spread[k]), missing, range_, written)
        elif kind == "category":
            what = (kind, facts[j])
        elif kind == "text":
            what = _fit_text(cluster, frames, j, name, rules)
        else:
            what = ("aside", "ignore", None)
        if what[0] == "aside":
            kinds[j] = "ignore"
        known.append((name, name in rules.columns, what))
    core, told = _core.prepare_table(known, label, rows, rules.given)
    for text in told:
        warnings.warn(text, UserWarning, stacklevel=4)
    return Preparation(names, kinds, core)


def _moments(
    cluster: Any, frames: list[Any], numeric: list[Numbers], names: list[str], scale: str
) -> tuple[np.ndarray, np.ndarray, Tally]:
    """Centre and scale of each numeric column, and its sums."""
    told: Any = nothing(len(numeric))
    if not numeric:
        return np.empty(0), np.empty(0), told
    for frame in frames:
        told = cluster.submit(tally, frame, told, numeric)
    sums: Tally = told.result()
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
        name = names[numeric[int(np.flatnonzero(bad)[0])].place]
        raise ValueError(
            f"the numbers of the column {name} are too large, or too far apart, to be scaled"
        )
    return centre, spread, sums


def block(frame: Any, y: Any, weight: Any, number: int, preparation: Preparation) -> Block:
    """The rows of a partition with their features; labels of a file are texts."""
    if getattr(y.dtype, "kind", "O") in "biuf":
        return _blocks.block(preparation.rows(frame), y, weight, number)
    if y.isna().any():
        raise ValueError(f"partition {number}: a label is missing")
    texts, codes = np.unique(y.astype(str).to_numpy(dtype=object), return_inverse=True)
    found = _blocks.block(preparation.rows(frame), codes, weight, number)
    return replace(found, labels=found.labels.astype(np.uint32), texts=texts.tolist())


def label_name(X: Any, y: Any) -> tuple[int, str] | None:
    """Place and name of the column that labels have in files beside those of a frame."""
    columns = [str(name) for name in X.columns]
    name = getattr(y, "name", None)
    names = [name] if isinstance(name, str) and hasattr(y, "to_delayed") else []
    free = [each for each in (*names, *LABEL_NAMES) if each not in columns]
    return (len(columns), free[0]) if free else None


def blocks(
    cluster: Any, X: Any, y: Any, weight: Any, rules: Rules, label: tuple[int, str] | None
) -> tuple[list[Any], Preparation]:
    """The blocks of a frame, and how they were made."""
    rows = _blocks.delayed(X)
    labels = _blocks._along(y, rows, None, "y")
    weights = [None] * len(rows)
    if weight is not None:
        weights = _blocks._along(weight, rows, None, "sample_weight")
    frames = cluster.client.compute(rows)
    preparation = fit(cluster, frames, rules, label)
    labels = [cluster.client.compute(label) for label in labels]
    weights = [w if w is None else cluster.client.compute(w) for w in weights]
    there = cluster.submit(held, preparation)
    found = zip(frames, labels, weights)
    made = [cluster.submit(block, *each, k, there) for k, each in enumerate(found)]
    return made, preparation
