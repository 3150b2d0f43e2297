"""Passes over partitions, and their sums: the pure functions of :mod:`rosenblatt.mixing`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _core, _data


def Partition(X: Any, y: Any, classes: Any, sample_weight: Any = None) -> _core.Partition:
    """Rows that are learned together.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels.
    classes : array-like of shape (n_classes,)
        All classes of all partitions, sorted.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of rows.

    Returns
    -------
    partition : Partition
        What :func:`one_pass` and :func:`sweep` take. It can be pickled.
    """
    classes = np.asarray(classes)
    numbers = np.searchsorted(classes, y).astype(np.uint32)
    if not np.array_equal(classes[np.minimum(numbers, len(classes) - 1)], y):
        raise ValueError("y contains labels that are not among the classes")
    rows: Any = X if hasattr(X, "tocsr") else np.asarray(X)
    if rows.dtype not in _data.FLOATS:
        rows = rows.astype(np.float64)
    rows = _data.rows(rows.tocsr() if hasattr(rows, "tocsr") else rows)
    weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    return _core.Partition(rows, numbers, _data.names(classes), weight)


def _rebuilt(
    rows: Any, labels: np.ndarray, classes: list[str], weights: np.ndarray | None, permuted: bool
) -> _core.Partition:
    """A partition that was sent: what came over a network may lie anywhere in memory."""
    rows = tuple(map(_aligned, rows)) if isinstance(rows, tuple) else _aligned(rows)
    return _core.Partition(rows, _aligned(labels), classes, _aligned(weights), permuted)


def _aligned(found: Any) -> Any:
    """An array as the core takes it."""
    return np.require(found, requirements=["C", "A"]) if isinstance(found, np.ndarray) else found


class Pass(NamedTuple):
    """What happened in a pass."""

    visits: int = 0
    mistakes: int = 0
    updates: int = 0
    perceptron_loss: float = 0.0
    hinge_loss: float = 0.0
    squared_error: float = 0.0
    on_boundary: int = 0
    validation_accuracy: float | None = None

    def plus(self, other: Pass) -> Pass:
        """Both together."""
        both: list[Any] = [a + b for a, b in zip(self[:-1], other[:-1])]
        return Pass(*both)

    def record(self, epoch: int) -> dict[str, Any]:
        """For a ``progress`` callable."""
        visits = max(self.visits, 1)
        return {
            "epoch": epoch,
            "visits": self.visits,
            "mistakes": self.mistakes,
            "updates": self.updates,
            "loss": self.perceptron_loss / visits,
            "hinge_loss": self.hinge_loss / visits,
            "squared_error": self.squared_error / visits,
            "validation_accuracy": self.validation_accuracy,
        }


@dataclass(frozen=True)
class Task:
    """What every partition begins a pass with."""

    options: dict[str, str]
    #: Weights feature by feature with the biases last, and what else a run remembers.
    state: dict[str, Any]
    #: How far the whole run has come.
    passes: int
    updates: int
    mixing: str


@dataclass(frozen=True)
class Update:
    """What a pass over one partition made of the weights.

    Where few weights changed, only their new values are held.
    """

    #: Places of the weights that changed; None if all are held.
    places: np.ndarray | None
    weights: np.ndarray
    confidence: np.ndarray | None
    #: For the average over visits: Σ over visits of the weights is factor·weights + correction.
    correction: np.ndarray | None
    factor: np.ndarray | None
    visits: np.ndarray | None
    happened: Pass
    squared_steps: float
    broken_off: bool


@dataclass(frozen=True)
class Mixture:
    """The sum of updates, and of mixtures: what the mean is made of."""

    #: Σ of the shares by which weights are mixed.
    share: float
    #: Σ of share·weights; with a confidence of share·weights/confidence.
    weights: np.ndarray
    #: Σ of share/confidence.
    precision: np.ndarray | None
    #: Which weights any partition changed, eight to a byte.
    changed: np.ndarray
    #: Σ of the weights over all visits.
    summed: np.ndarray | None
    visits: np.ndarray | None
    happened: Pass
    squared_steps: float
    #: Σ of share·updates.
    share_updates: float
    broken_off: bool
    #: The update, if it is but one.
    alone: Update | None = None


def one_pass(partition: _core.Partition, task: Task) -> Update:
    """Learn a partition once.

    Parameters
    ----------
    partition : Partition
        Rows.
    task : Task
        The weights to begin with, and how far the run has come.

    Returns
    -------
    update : Update
        What :func:`mix` takes.
    """
    state, happened, squared_steps, broken_off = partition.one_pass(
        task.options, _aligned_state(task), task.passes, task.updates
    )
    update = Update(
        places=None,
        weights=state["weights"],
        confidence=state.get("confidence"),
        correction=state.get("correction"),
        factor=state.get("factor"),
        visits=state.get("visits"),
        happened=Pass(*happened),
        squared_steps=squared_steps,
        broken_off=broken_off,
    )
    return update if "correction" in task.state else _changes(update, task.state)


def _aligned_state(task: Task) -> dict[str, Any]:
    """The weights of a task as the core takes them."""
    return {name: _aligned(found) for name, found in task.state.items()}


def _margin(partition: _core.Partition, task: Task) -> tuple[float, float]:
    """The smallest margin of a task's weights, and the length of the shortest row."""
    return partition.margin(task.options, _aligned_state(task))


def _changes(update: Update, before: dict[str, Any]) -> Update:
    """The update without what is as before, where that is most of it."""
    changed = _differ(update.weights, before["weights"])
    if update.correction is not None:
        changed |= update.correction != 0
    if update.confidence is not None:
        changed |= _differ(update.confidence, before["confidence"])
    places = np.flatnonzero(changed)
    if 2 * len(places) > len(changed):
        return update

    def taken(found: np.ndarray | None) -> np.ndarray | None:
        return None if found is None else found[places]

    return replace(
        update,
        places=places,
        weights=update.weights[places],
        confidence=taken(update.confidence),
        correction=taken(update.correction),
    )


def _differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where bits differ."""
    return np.asarray(one.view(np.uint64) != other.view(np.uint64))


def mix(found: Sequence[Update | Mixture], task: Task) -> Mixture:
    """Sum updates of partitions, or sums of them, in the order given.

    Floating-point sums depend on their order: whoever sums in a tree, sums neighbours in the
    order of the partitions, whatever comes in first.

    Parameters
    ----------
    found : sequence of Update or Mixture
        What partitions, or groups of them, gave.
    task : Task
        What their pass began with.

    Returns
    -------
    mixture : Mixture
        What :meth:`Mixing.take` and :func:`mix` take.
    """
    mixtures = [each if isinstance(each, Mixture) else _mixture(each, task) for each in found]
    first, *others = mixtures
    if not others:
        return first

    def sums(name: str) -> Any:
        start = getattr(first, name)
        if start is None:
            return None
        total = start + getattr(others[0], name)
        for other in others[1:]:
            total += getattr(other, name)
        return total

    happened = first.happened
    changed = first.changed.copy()
    for other in others:
        happened = happened.plus(other.happened)
        changed |= other.changed
    names = ("share", "weights", "precision", "summed", "visits", "squared_steps", "share_updates")
    return Mixture(
        **{name: sums(name) for name in names},
        changed=changed,
        happened=happened,
        broken_off=any(each.broken_off for each in mixtures),
    )


def _mixture(update: Update, task: Task) -> Mixture:
    """One update as a sum."""
    before, places = task.state, update.places
    happened = update.happened
    share = {"uniform": 1, "rows": happened.visits, "mistakes": happened.updates}[task.mixing]

    def whole(found: np.ndarray, old: np.ndarray | float) -> np.ndarray:
        if places is None:
            return found
        full = np.array(np.broadcast_to(old, before["weights"].shape))
        full[places] = found
        return full

    weights = whole(update.weights, before["weights"])
    changed = _differ(weights, before["weights"])
    summed = precision = None
    if update.correction is not None and update.factor is not None:
        factor = update.factor
        if len(factor) > 1:
            factor = np.tile(factor, len(weights) // len(factor))
        summed = factor * weights + whole(update.correction, 0.0)
    shared = weights if share == 1 else share * weights
    if update.confidence is not None:
        confidence = whole(update.confidence, before["confidence"])
        changed |= _differ(confidence, before["confidence"])
        # A bias that is none has no confidence.
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = share / confidence
            shared = weights * precision
    return Mixture(
        share=float(share),
        weights=shared,
        precision=precision,
        changed=np.packbits(changed),
        summed=summed,
        visits=update.visits,
        happened=happened,
        squared_steps=update.squared_steps,
        share_updates=float(share * happened.updates),
        broken_off=update.broken_off,
        alone=update,
    )


def mixed(mixture: Mixture, task: Task) -> dict[str, Any]:
    """The state that the next pass begins with; weights that nobody changed stay as they are."""
    before = task.state
    size = len(before["weights"])
    changed = np.unpackbits(mixture.changed, count=size).view(bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        if mixture.precision is None:
            mean = {"weights": mixture.weights / mixture.share}
        else:
            mean = {
                "weights": mixture.weights / mixture.precision,
                "confidence": mixture.share / mixture.precision,
            }
    return {
        "unit": before["unit"],
        **{name: np.where(changed, found, before[name]) for name, found in mean.items()},
    }


def sweep(partition: _core.Partition, task: Task) -> Pass:
    """What a look at every row finds with the weights of a task, which stay as they are.

    Parameters
    ----------
    partition : Partition
        Rows.
    task : Task
        The weights.

    Returns
    -------
    found : Pass
        Its ``mistakes`` are the rows that are classified wrongly, its ``updates`` those that call
        for an update.
    """
    return Pass(*partition.sweep(task.options, _aligned_state(task)))
