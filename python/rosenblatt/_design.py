"""Design matrices: what a frame with categories, a formula or a model of statsmodels says."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterator

import numpy as np
from scipy import sparse

from . import _arrow, _data


@dataclass(frozen=True)
class Design:
    """Rows, labels and the names of columns."""

    X: Any
    y: Any
    #: None where X says it, or nobody.
    names: list[str] | None = None
    #: Whether X is complete: a constant, where there is one, is among its columns.
    complete: bool = False
    #: The level of each category that has no column.
    reference_levels: dict[str, str] = field(default_factory=dict)


def design(X: Any, y: Any, data: Any, fit_intercept: bool) -> Design:
    """What was given, as rows of numbers and labels."""
    if isinstance(X, str):
        if y is not None or data is None:
            raise ValueError(
                "a formula has its labels in data: check_separability(formula, data=frame)"
            )
        return _of_formula(X, data)
    if data is not None:
        raise ValueError("data is for a formula as X")
    model = getattr(X, "model", X)
    if hasattr(model, "endog") and hasattr(model, "exog"):
        if y is not None:
            raise ValueError("a model of statsmodels has its labels: leave out y")
        return _of_model(model)
    if y is None:
        raise ValueError(
            "y is missing: only a formula or a model of statsmodels has its labels"
        )
    if _arrow.speaks(y):
        y = _arrow.column(y)
    if _arrow.speaks(X):
        for column in _arrow.columns(X).values:
            _data.refuse_rounding(column)
        names, X = _arrow.matrix(X)
        return Design(X, y, names)
    return _of_frame(X, y, fit_intercept)


def _of_formula(formula: str, data: Any) -> Design:
    try:
        import formulaic
    except ImportError:
        raise ImportError(
            "a formula needs formulaic 1.1 or later: pip install 'rosenblatt[formula]'"
        ) from None
    # A row with a missing value is refused: which rows count is not for us to say.
    made = formulaic.model_matrix(
        formula, data, na_action="raise", output="sparse", context={}
    )
    if not hasattr(made, "lhs"):
        raise ValueError(f"{formula!r} has no labels: write 'label ~ …'")
    names = list(made.lhs.model_spec.column_names)
    labels = made.lhs.toarray()
    if len(names) == 1:
        y = labels[:, 0]
    else:
        # A label that is no number comes as a column for each class.
        levels = [re.sub(r"^.*\[(?:T\.)?(.*)\]$", r"\1", name) for name in names]
        if not np.all((labels == 0) | (labels == 1)) or not np.all(labels.sum(axis=1) == 1):
            raise ValueError(f"{formula!r}: expected one label, found {', '.join(names)}")
        y = np.array(levels)[labels.argmax(axis=1)]
    rhs = made.rhs
    return Design(sparse.csr_matrix(rhs), y, list(rhs.model_spec.column_names), complete=True)


def _of_model(model: Any) -> Design:
    y = np.asarray(model.endog)
    if y.ndim != 1 or not np.all(y == np.round(y)):
        raise ValueError(
            "expected a model whose endog is a class for each row, not shares or counts"
        )
    for weights in ("freq_weights", "var_weights"):
        if not np.all(np.asarray(getattr(model, weights, 1)) > 0):
            raise ValueError(f"rows whose {weights} are 0 count for nothing: leave them out")
    names = [str(name) for name in model.exog_names]
    return Design(np.asarray(model.exog), y, names, complete=True)


def _columns(X: Any) -> Iterator[tuple[str, Any]] | None:
    """The columns of a frame by name; None if it is none."""
    if hasattr(X, "iloc") and hasattr(X, "columns") and len(X.shape) == 2:
        return ((str(name), X.iloc[:, j]) for j, name in enumerate(X.columns))
    if hasattr(X, "get_columns"):  # polars
        return ((column.name, column) for column in X.get_columns())
    return None


def _levels(column: Any) -> tuple[list[Any], np.ndarray] | None:
    """The levels of a category and the place of each row's among them; None for numbers."""
    dtype = column.dtype
    ordered = None
    if hasattr(dtype, "categories"):
        of_polars = hasattr(column.cat, "get_categories")
        ordered = list(column.cat.get_categories() if of_polars else column.cat.categories)
    values = np.asarray(column, dtype=object)
    if ordered is None and not any(isinstance(value, str) for value in values):
        return None
    present = dict.fromkeys(v for v in values if not _missing(v))
    # A level that no row has would be a column of zeros.
    if ordered is None:
        levels = sorted(present, key=str)
    else:
        levels = [level for level in ordered if level in present]
    places = {level: place for place, level in enumerate(levels)}
    return levels, np.array([places.get(v, -1) if not _missing(v) else -1 for v in values])


def _missing(value: Any) -> bool:
    return value is None or value != value or str(value) == "<NA>"


def _of_frame(X: Any, y: Any, fit_intercept: bool) -> Design:
    columns = _columns(X)
    if columns is None:
        return Design(X, y)
    parts: list[Any] = []
    names: list[str] = []
    references: dict[str, str] = {}
    # Without an intercept, the levels of one category stand for it.
    full = not fit_intercept
    for name, column in columns:
        found = _levels(column)
        if found is None:
            parts.append(column)
            names.append(name)
            continue
        levels, places = found
        if np.any(places < 0):
            raise ValueError(f"{name} in X has a missing value in row {int(np.argmin(places))}")
        if not full and levels:
            references[name] = str(levels[0])
        first, full = (0 if full else 1), False
        member = places >= first
        rows, of_level = np.flatnonzero(member), places[member] - first
        ones = (np.ones(len(rows)), (rows, of_level))
        parts.append(sparse.csr_matrix(ones, shape=(len(places), len(levels) - first)))
        names += [f"{name}[{'T.' if first else ''}{level}]" for level in levels[first:]]
    if not any(sparse.issparse(part) for part in parts):
        return Design(X, y)
    parts = [
        part if sparse.issparse(part) else sparse.csr_matrix(_numbers(part)) for part in parts
    ]
    return Design(sparse.hstack(parts, format="csr"), y, names, reference_levels=references)


def _numbers(column: Any) -> np.ndarray:
    values = np.asarray(column)
    _data.refuse_rounding(values)
    values = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(values)):
        name = getattr(column, "name", None)
        row = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"{name} in X has a missing or infinite value in row {row}")
    return values.reshape(-1, 1)
