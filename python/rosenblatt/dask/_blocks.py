"""Where the rows lie: blocks of dask collections, or parts of files, as futures on the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .. import _core, _data
from .._mix import _aligned as aligned
from ..mixing import Survey, part_options


@dataclass(frozen=True)
class Block:
    """Rows of one partition, before the others are known."""

    rows: Any
    #: The label of each row; of a file the number of its text.
    labels: np.ndarray
    weights: np.ndarray | None
    #: Which partition it is, for messages.
    name: str
    #: What indices count from, in rows of a libsvm file.
    first: int = 0
    #: The labels as a file spells them.
    texts: list[str] | None = None
    #: Numbers of a file that float64 does not tell: row, column, text. Asked for by proofs.
    long: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True)
class Facts:
    """What a block says of itself."""

    rows: int
    features: int
    first: int
    single: bool
    sparse: bool
    labels: np.ndarray
    #: How many rows have each label.
    counts: np.ndarray
    #: Whether labels are texts of a file.
    texts: bool


@dataclass(frozen=True)
class Plan:
    """What all blocks together decide."""

    classes: np.ndarray
    #: The numbers of classes by the texts that files have for them.
    spelled: dict[str, int] | None
    features: int
    first: int
    single: bool
    #: Weights of classes that come of their numbers.
    class_weights: np.ndarray | None
    #: The share of rows that are held out, and the seed.
    hold_out: tuple[float, int] | None
    #: Whether passes run in the order of memory.
    permute: bool
    #: What the rows are learned with, where it is known.
    options: dict[str, str]


def is_lazy(X: Any) -> bool:
    """Whether X is a dask collection."""
    from dask.base import is_dask_collection

    return bool(is_dask_collection(X))


def _is_frame(X: Any) -> bool:
    return hasattr(X, "npartitions") and hasattr(X, "to_delayed") and not hasattr(X, "chunks")


def array(X: Any) -> Any:
    """A block as a CSR matrix or an array of floats in C order."""
    if hasattr(X, "to_scipy_sparse"):  # of the package sparse
        X = X.to_scipy_sparse()
    if sparse.issparse(X):
        X = X.tocsr()
        return X if X.dtype in _data.FLOATS else X.astype(np.float64)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    X = np.asarray(X)
    if X.dtype not in _data.FLOATS:
        X = X.astype(np.float64)
    if X.ndim != 2:
        raise ValueError(f"expected a two-dimensional array of rows, found {X.ndim} dimensions")
    return np.ascontiguousarray(X)


def block(X: Any, y: Any, weight: Any, number: int) -> Block:
    """A block of dask collections."""
    name = f"partition {number}"
    try:
        rows = array(X)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if labels.shape != (rows.shape[0],):
        raise ValueError(f"{name}: {rows.shape[0]} rows, but labels of shape {labels.shape}")
    if weight is not None:
        weight = _data.weights(weight, rows)
        counted = _data.counted(weight)
        if counted is not None:
            rows, labels, weight = rows[np.flatnonzero(counted)], labels[counted], weight[counted]
    return Block(rows, labels, weight, name)


def facts(block: Block) -> Facts:
    """What a block says of itself."""
    labels, counts = np.unique(block.labels, return_counts=True)
    if block.texts is not None:
        labels = np.array(block.texts, dtype=object)[labels]
    return Facts(
        rows=len(block.labels),
        features=block.rows.shape[1],
        first=block.first,
        single=block.rows.dtype == np.float32,
        sparse=sparse.issparse(block.rows),
        labels=labels,
        counts=counts,
        texts=block.texts is not None,
    )


def partition(
    block: Block, plan: Plan, first: int
) -> tuple[_core.Partition, _core.Partition | None, Survey | None]:
    """The rows of a block to be learned, those that are held out, and what the former say of
    themselves where they are all, and begin at row ``first``."""
    rows, classes = block.rows, plan.classes
    shift = block.first - plan.first
    if sparse.issparse(rows):
        parts = (aligned(rows.data), aligned(rows.indices + shift), aligned(rows.indptr))
        rows = sparse.csr_matrix(parts, shape=(rows.shape[0], plan.features))
    elif rows.shape[1] != plan.features:
        raise ValueError(
            f"{block.name}: rows of {rows.shape[1]} features, but other partitions have "
            f"{plan.features}; only sparse rows may be narrower"
        )
    else:
        rows = aligned(rows)
    if not plan.single and rows.dtype == np.float32:
        rows = rows.astype(np.float64)
    if block.texts is None:
        numbers = np.searchsorted(classes, block.labels).astype(np.uint32)
    else:
        spelled = plan.spelled or {}
        of_text = np.array([spelled[text] for text in block.texts], dtype=np.uint32)
        numbers = of_text[block.labels]
    weights = aligned(block.weights)
    if plan.class_weights is not None:
        ones = np.ones(len(numbers)) if weights is None else weights
        weights = ones * plan.class_weights[numbers]
    try:
        rows = _data.rows(rows)
        made = _core.Partition(rows, numbers, _data.names(classes), weights)
    except ValueError as error:
        raise ValueError(f"{block.name}: {error}") from error
    held_out = found = None
    if plan.hold_out is not None:
        made, held_out = made.hold_out(*plan.hold_out)
    elif plan.options:
        found = Survey.of(made, plan.options, first)
    return (made.permuted() if plan.permute else made), held_out, found


def delayed_blocks(X: Any, y: Any, weight: Any) -> list[Any]:
    """The blocks of dask collections, not yet computed."""
    from dask.delayed import delayed as later

    if _is_frame(X):
        rows = delayed(X)
        lengths = None
    elif hasattr(X, "chunks"):
        if len(X.shape) != 2:
            raise ValueError(f"X has the shape {X.shape}, expected rows and features")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        rows = X.to_delayed().ravel().tolist()
        lengths = X.chunks[0]
    else:
        raise TypeError(
            "expected a dask array, a dask dataframe, or names of files; for rows in the memory "
            "of one machine use the estimator without Dask, or dask.array.from_array"
        )
    labels = _along(y, rows, lengths, "y")
    weights = (
        [None] * len(rows) if weight is None else _along(weight, rows, lengths, "sample_weight")
    )
    made = later(block, pure=False)
    return [made(*each, number) for number, each in enumerate(zip(rows, labels, weights))]


def delayed(X: Any) -> list[Any]:
    """The blocks of a collection."""
    if _is_frame(X):
        # Dask may fuse partitions of a column that it would not fuse of a whole frame.
        return list(X.to_delayed(optimize_graph=False))
    return list(X.to_delayed().ravel())


def _along(y: Any, rows: list[Any], lengths: Any, name: str) -> list[Any]:
    """Labels or weights cut where the rows are."""
    known = bool(lengths) and not np.isnan(lengths).any()
    if not is_lazy(y):
        if not known:
            raise ValueError(
                f"{name} must be a dask collection, since the lengths of X's blocks are not known"
            )
        y = np.asarray(y)
        if len(y) != sum(lengths):
            raise ValueError(f"{name} has {len(y)} values for {sum(lengths)} rows")
        return np.split(y, np.cumsum(lengths)[:-1])
    if hasattr(y, "chunks") and known:
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if not np.isnan(y.chunks[0]).any():
            if y.shape[0] != sum(lengths):
                raise ValueError(f"{name} has {y.shape[0]} values for {sum(lengths)} rows")
            if y.chunks[0] != lengths:
                y = y.rechunk((lengths,))
    found = delayed(y)
    if len(found) != len(rows):
        raise ValueError(f"X has {len(rows)} partitions, but {name} has {len(found)}")
    return found


def plan(found: list[Facts], estimator: Any = None) -> Plan:
    """What all blocks together decide, and the estimator that learns them; sets its classes."""
    there = [each for each in found if each.rows]
    if not there:
        raise ValueError("there are no rows")
    spelled = None
    every = np.concatenate([each.labels for each in there])
    if there[0].texts:
        texts = list(dict.fromkeys(every.tolist()))
        ordered = _core.classes_of(texts)
        classes = _data.labels(ordered)
        pairs = zip(texts, _core.class_numbers(ordered, texts))
        spelled = {text: number for text, number in pairs if number is not None}
    else:
        classes = np.unique(every)
    if len(classes) < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {len(classes)} class"
        )
    first = min(each.first for each in there)
    counts = np.zeros(len(classes), dtype=np.int64)
    for each in there:
        if spelled is None:
            numbers = np.searchsorted(classes, each.labels)
        else:
            numbers = np.array([spelled[text] for text in each.labels], dtype=np.int64)
        np.add.at(counts, numbers, each.counts)
    weights = share = None
    options: dict[str, str] = {}
    if estimator is not None:
        if estimator.class_weight == "balanced":
            weights = counts.sum() / (len(classes) * counts)
        estimator.classes_ = classes
        options = estimator._options()
        share = estimator._session().get("validate")
    return Plan(
        classes=classes,
        spelled=spelled,
        features=max(each.features + each.first for each in there) - first,
        first=first,
        single=all(each.single for each in there),
        class_weights=weights,
        hold_out=None if share is None else (share, int(options.get("seed", 0))),
        permute=options.get("order", "shuffled") == "shuffled",
        options=part_options(options),
    )
