"""Arrays as the core takes them, copied only where there is no other way."""

from __future__ import annotations

import re
import warnings
from numbers import Integral
from typing import Any, Iterator

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight, validate_data

from . import _arrow

#: What the core computes with; other numbers become float64, which copies.
FLOATS: Any = [np.float64, np.float32]

#: How scikit-learn is to check an array of rows.
ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C", "accept_large_sparse": True}


def checked(estimator: Any, X: Any, *y: Any, reset: bool = True, **how: Any) -> Any:
    """Rows, and labels where there are some, as scikit-learn checks them for an estimator.

    Beside what scikit-learn takes, they may be Arrow data of any library.
    """
    y = tuple(_arrow.column(each) if _arrow.speaks(each) else each for each in y)
    how = {**ROWS, **how}
    if not _arrow.speaks(X):
        return validate_data(estimator, X, *y, reset=reset, **how)
    names, X = _arrow.matrix(X)
    if reset:
        found = validate_data(estimator, X, *y, reset=True, **how)
        estimator.feature_names_in_ = np.array(names, dtype=object)
        return found
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and list(known) != names:
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"found {', '.join(names)}, expected {', '.join(map(str, known))}"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return validate_data(estimator, X, *y, reset=False, **how)


def rows(X: Any) -> Any:
    """Rows for the core: a C-ordered array, or the parts of a canonical CSR matrix.

    Not copied: arrays in C order, the values of CSR matrices, and their indices if they have
    32 bits. Copied: other orders; 64-bit indices, to 32; offsets of 32 bits, to 64; matrices
    with unsorted or repeated indices or stored zeros.
    """
    if not sparse.issparse(X):
        return np.ascontiguousarray(X)
    if X.shape[1] > np.iinfo(np.uint32).max:
        raise ValueError(f"X has {X.shape[1]} features, at most {2**32 - 1} can be told apart")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if np.count_nonzero(X.data) != X.nnz:
        X = X.copy()
        X.eliminate_zeros()
    stored = int(X.indptr[-1])
    indices = X.indices[:stored]
    indices = (
        indices.view(np.uint32) if indices.dtype == np.int32 else indices.astype(np.uint32)
    )
    offsets = X.indptr
    offsets = offsets.view(np.uintp) if offsets.dtype == np.intp else offsets.astype(np.uintp)
    return X.shape[1], offsets, indices, X.data[:stored]


def _parts(X: Any) -> Iterator[np.ndarray]:
    """The numbers of X as they were given: what has columns may have a type for each."""
    if sparse.issparse(X):
        yield X.data
    elif hasattr(X, "iloc"):
        for j in range(X.shape[1] if len(X.shape) == 2 else 0):
            yield np.asarray(X.iloc[:, j])
    elif hasattr(X, "get_columns"):  # polars
        for column in X.get_columns():
            yield np.asarray(column)
    elif hasattr(X, "column_names"):  # Arrow
        for name in X.column_names:
            yield np.asarray(X[name])
    else:
        # In a list, whole numbers beside others would become floats unseen.
        yield np.asarray(X, dtype=None if hasattr(X, "dtype") else object)


def refuse_rounding(X: Any) -> None:
    """Refuses whole numbers that float64 cannot hold: what is proved is of the numbers given."""
    for part in _parts(X):
        if part.dtype.kind in "iu":
            part = part[(part > 2**53) | (part < -(2**53))]
        elif part.dtype.kind != "O":
            continue
        for value in part.ravel().tolist():
            if isinstance(value, Integral) and not _holds(value):
                raise ValueError(
                    f"{value} in X is not exact as a float64; subtract a constant from its "
                    "column, or round it first"
                )


def _holds(value: Integral) -> bool:
    try:
        return int(float(value)) == int(value)
    except OverflowError:
        return False


def weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Checked weights of rows, or None if all count alike."""
    if sample_weight is None:
        return None
    found = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (found < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`")
    if not found.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return np.ascontiguousarray(found)


def counted(weight: np.ndarray | None) -> np.ndarray | None:
    """Which rows count, None if all do: those of weight 0 are left out."""
    return None if weight is None or weight.all() else weight > 0


def names(classes: np.ndarray) -> list[str]:
    """Classes as texts."""
    return [str(label) for label in classes.tolist()]


#: A number as it is commonly written: without padding, and + at most as libsvm has it.
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def _whole(name: str) -> int | None:
    found = NUMBER.fullmatch(name)
    if found is None or found[2] or found[3] or name == "-0":
        return None
    return int(name) if -(2**63) <= int(name) < 2**63 else None


def _real(name: str) -> float | None:
    if NUMBER.fullmatch(name) is None or not np.isfinite(float(name)):
        return None
    # Digits that a float would lose are a name, not a number.
    exact = not name.lstrip("+-").isdigit() or int(float(name)) == int(name)
    return float(name) if exact else None


def labels(names: list[str], label_type: str | None = None) -> np.ndarray:
    """Classes from their texts, as ``label_type`` says where a file does.

    Else whole numbers, else numbers, where all are; else texts. 007 and 1_0 are names that
    Python would take for numbers, and so is what int64 cannot hold.
    """
    if label_type == "bool":
        return np.array([name == "True" for name in names])
    if label_type is not None:
        return np.array(names, dtype=label_type)
    for kind, dtype in ((_whole, np.int64), (_real, np.float64)):
        found = [kind(name) for name in names]
        if None not in found and len(set(found)) == len(names):
            return np.array(found, dtype=dtype)
    return np.array(names)


def label_type(classes: np.ndarray, names: list[str]) -> str | None:
    """The type of classes that their texts alone would not give back, else None."""
    kinds = {type(label) for label in classes.tolist()}
    if kinds == {type(label) for label in labels(names).tolist()}:
        return None
    return kinds.pop().__name__ if len(kinds) == 1 else None
