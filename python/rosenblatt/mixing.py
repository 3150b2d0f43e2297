"""Iterative parameter mixing as plain functions, for any program that places tasks.

The rows lie in partitions. In each pass every partition is learned once, all from the same
weights (:func:`one_pass`); a weighted mean of what came of them is what the next pass begins
with (:func:`mix`). The functions are pure: the result depends on data, partitions, options and
seed, not on who calls them when. With one partition it is that of the estimator, bit for bit.
:mod:`rosenblatt.dask` places them on a cluster; with anything else the loop is short:

>>> import numpy as np
>>> from rosenblatt import Perceptron
>>> from rosenblatt.mixing import Mixing, Partition, mix, one_pass
>>> X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
>>> y = np.array([0, 0, 0, 1])
>>> parts = [Partition(X[:2], y[:2], [0, 1]), Partition(X[2:], y[2:], [0, 1])]
>>> run = Mixing(Perceptron(), parts)
>>> while run.stop is None:
...     task = run.task()
...     run.take(mix([one_pass(part, task) for part in parts], task))
>>> clf = run.finish(parts)
>>> clf.stop_reason_, clf.predict(X).tolist()
('separated', [0, 0, 0, 1])

References
----------
R. McDonald, K. Hall and G. Mann, "Distributed training strategies for the structured
perceptron", NAACL (2010).
"""

from __future__ import annotations

import json
import os
import time
import zipfile
from dataclasses import dataclass, field, replace
from typing import Any, Iterable, NamedTuple, Sequence

import numpy as np

from . import _core, _data, _options

__all__ = ["Mixing", "Mixture", "Partition", "Pass", "Task", "Update", "mix", "one_pass", "sweep"]

#: How the weights of partitions are mixed: all alike, by their rows, or by their mistakes.
MIXING = ("uniform", "rows", "mistakes")

#: From so many rows a partition on, mixing costs little accuracy.
ENOUGH_ROWS = 2000


#: The average over visits begins anew with this pass of several partitions, counted from 1.
AVERAGE_FROM = 2

#: Stops at limits, which a run that goes on may have raised.
LIMITS = ("epoch_limit", "update_limit", "time_limit")

#: What bounds the work of a run where no number of passes is given takes a pass over several
#: partitions for one over so many numbers at least: even the shortest costs some milliseconds.
FEWEST_NUMBERS = 3_000_000


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
    rows = X if hasattr(X, "tocsr") else np.asarray(X)
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
    return np.require(found, requirements="CA") if isinstance(found, np.ndarray) else found


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
        both = [a + b for a, b in zip(self[:-1], other[:-1])]
        return Pass(*both, None)

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
        weights=taken(update.weights),
        confidence=taken(update.confidence),
        correction=taken(update.correction),
    )


def _differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where bits differ."""
    return one.view(np.uint64) != other.view(np.uint64)


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

    def whole(found: np.ndarray | None, old: np.ndarray | float) -> np.ndarray | None:
        if found is None or places is None:
            return found
        full = np.array(np.broadcast_to(old, before["weights"].shape))
        full[places] = found
        return full

    weights = whole(update.weights, before["weights"])
    confidence = whole(update.confidence, before.get("confidence"))
    changed = _differ(weights, before["weights"])
    summed = precision = None
    if update.correction is not None:
        factor = update.factor
        if len(factor) > 1:
            factor = np.tile(factor, len(weights) // len(factor))
        summed = factor * weights + whole(update.correction, 0.0)
    shared = weights if share == 1 else share * weights
    if confidence is not None:
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


class Survey(NamedTuple):
    """What is known of partitions before the first pass."""

    non_zeros: int
    values: int
    sparse: bool
    rows: int
    squared_radius: float
    plain_squared_radius: float
    largest_weight: float
    fingerprint: int

    @staticmethod
    def of(partition: _core.Partition, options: dict[str, str], first: int) -> Survey:
        """Of one, whose rows begin at row ``first`` of all."""
        hashed, _ = partition.fingerprint(first)
        return Survey(*partition.size(), *partition.measure(options), hashed)

    @staticmethod
    def all(found: Iterable[Survey]) -> Survey:
        """Of all together."""
        found = list(found)
        return Survey(
            sum(s.non_zeros for s in found),
            sum(s.values for s in found),
            any(s.sparse for s in found),
            sum(s.rows for s in found),
            max(s.squared_radius for s in found),
            max(s.plain_squared_radius for s in found),
            max(s.largest_weight for s in found),
            sum(s.fingerprint for s in found) % 2**64,
        )


@dataclass
class _Plateau:
    """Whether the loss was above its best minus a tolerance for so many passes in a row."""

    tolerance: float
    patience: int
    best: float = np.inf
    since: int = 0

    def reached(self, loss: float) -> bool:
        self.since = self.since + 1 if loss > self.best - self.tolerance else 0
        self.best = min(self.best, loss)
        return self.since >= self.patience


@dataclass
class Progress:
    """How far a run has come: all that it needs to go on, beside the partitions."""

    state: dict[str, Any]
    #: Σ of the weights over all visits of all passes, and how many those were.
    summed: np.ndarray | None = None
    visits: np.ndarray | None = None
    passes: list[Pass] = field(default_factory=list)
    current: Pass | None = None
    squared_steps: float = 0.0
    mixed_updates: float = 0.0
    #: The best pass by held-out rows, the first as good, and how good.
    best: tuple[int, int, float] | None = None
    best_state: dict[str, Any] | None = None
    plateau: _Plateau | None = None
    stop: str | None = None


class Mixing:
    """A run of passes over partitions, as whoever mixes them follows it.

    Parameters
    ----------
    estimator : Perceptron, PassiveAggressive or Arow
        Holds the parameters, and becomes the fitted model.
    partitions : sequence of Partition, or Survey
        All of them; or a survey of them, where they are elsewhere.
    mixing : {"uniform", "rows", "mistakes"}, default="uniform"
        What the mean weighs partitions by.
    classes, features, count : default=None
        The classes, and how many features and partitions there are, where only a survey is given.

    Attributes
    ----------
    stop : str or None
        Why the run ended, None while it goes on.
    """

    def __init__(
        self,
        estimator: Any,
        partitions: Any,
        mixing: str = "uniform",
        *,
        classes: np.ndarray | None = None,
        features: int | None = None,
        count: int | None = None,
    ) -> None:
        if mixing not in MIXING:
            raise ValueError(f"mixing must be one of {', '.join(MIXING)}. Got {mixing!r} instead.")
        self.estimator, self.mixing = estimator, mixing
        if classes is None:
            classes = _data.labels(partitions[0].classes)
            features, count = partitions[0].features, len(partitions)
        estimator.classes_ = np.asarray(classes)
        self.names = _data.names(estimator.classes_)
        self.features, self.count = features, count
        self.options = estimator._options()
        #: Of one partition: balanced weights of classes are weights of rows there.
        self.part_options = _part_options(self.options)
        _core.mixing_check(self.part_options)
        if not isinstance(partitions, Survey):
            partitions = survey(partitions, self.part_options)
        self.survey = partitions
        state = _core.mixing_start(self.part_options, self.names, features)
        self.averages = "correction" in state
        if count > 1:
            state = {name: state[name] for name in ("unit", "weights", "confidence") if name in state}
        plateau = estimator._session().get("plateau")
        self.progress = Progress(state, plateau=plateau and _Plateau(*plateau))
        limit = self.options.pop("time-limit", None)
        self.part_options.pop("time-limit", None)
        self._until = None if limit is None else time.monotonic() + float(limit)

    @property
    def stop(self) -> str | None:
        return self.progress.stop

    @property
    def updates(self) -> int:
        """Updates so far."""
        return sum(happened.updates for happened in self.progress.passes)

    def task(self) -> Task:
        """What the next pass begins with."""
        passes = len(self.progress.passes)
        return Task(self.part_options, self.progress.state, passes, self.updates, self.mixing)

    def take(
        self, mixture: Mixture, accuracy: Any = None, on_boundary: int | None = None
    ) -> None:
        """Take what a pass over all partitions gave, and decide whether the run goes on.

        Parameters
        ----------
        mixture : Mixture
            What :func:`mix` made of all partitions.
        accuracy : callable, default=None
            Gives the accuracy of a model on held-out rows.
        on_boundary : callable, default=None
            Gives what a sweep finds, where a pass need not visit all rows.
        """
        progress, task = self.progress, self.task()
        happened = mixture.happened
        if mixture.alone is not None and self.count == 1:
            progress.state = _whole_state(mixture.alone, task.state)
        else:
            progress.state = mixed(mixture, task)
            if mixture.summed is not None:
                # The first pass of every partition begins at nothing, as if each were alone.
                first = len(progress.passes) < AVERAGE_FROM
                progress.summed = mixture.summed if first else progress.summed + mixture.summed
                progress.visits = mixture.visits if first else progress.visits + mixture.visits
        if mixture.share > 0:
            progress.mixed_updates += mixture.share_updates / mixture.share
        progress.squared_steps += mixture.squared_steps
        if mixture.broken_off:
            progress.current, progress.stop = happened, "update_limit"
            return
        if accuracy is not None:
            happened = self._validated(happened, accuracy)
        progress.passes.append(happened)
        if happened.updates == 0:
            if self.options.get("order") == "random":
                happened = on_boundary(self.task())
            if happened.updates == 0:
                progress.stop = "no_mistakes" if happened.on_boundary else "separated"
                return
        plateau = progress.plateau
        loss = happened.perceptron_loss / max(happened.visits, 1)
        if plateau is not None and plateau.reached(loss):
            progress.stop = "no_improvement"
        elif self._until is not None and time.monotonic() >= self._until:
            progress.stop = "time_limit"
        else:
            progress.stop = self._stop_after_passes()

    def save(self, path: Any) -> None:
        """Write how far the run has come; a file that is there is replaced at once."""
        progress = self.progress
        arrays = {f"state.{n}": v for n, v in progress.state.items()}
        arrays |= {f"best.{n}": v for n, v in (progress.best_state or {}).items()}
        for name in ("summed", "visits"):
            if getattr(progress, name) is not None:
                arrays[name] = getattr(progress, name)
        plateau = progress.plateau
        facts = {
            **self._of_run(),
            "passes": progress.passes,
            "current": progress.current,
            "squared_steps": progress.squared_steps.hex(),
            "mixed_updates": progress.mixed_updates.hex(),
            "best": progress.best,
            "plateau": plateau and (plateau.best, plateau.since),
            "stop": progress.stop,
        }
        aside = f"{os.fspath(path)}.part"
        with open(aside, "wb") as file:
            np.savez(file, facts=np.array(json.dumps(facts)), **arrays)
        os.replace(aside, path)

    def restore(self, path: Any) -> None:
        """Go on from where :meth:`save` was called, perhaps on another cluster."""
        path = os.fspath(path)
        try:
            with np.load(path, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
            facts = json.loads(str(arrays.pop("facts")))
        except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path}: this is no checkpoint of a run ({error})") from error
        for name, now in self._of_run().items():
            if facts[name] != now:
                raise ValueError(
                    f"{path}: the {name} of the checkpoint are {facts[name]}, but those of this "
                    f"run {now}; go on with the same rows, partitions and parameters"
                )
        progress = self.progress

        def state(prefix: str) -> dict[str, Any]:
            named = {n.removeprefix(prefix): v for n, v in arrays.items() if n.startswith(prefix)}
            return {n: float(v) if v.ndim == 0 else v for n, v in named.items()}

        progress.state = state("state.")
        progress.best_state = state("best.") or None
        progress.summed, progress.visits = arrays.get("summed"), arrays.get("visits")
        progress.passes = [Pass(*each) for each in facts["passes"]]
        progress.current = facts["current"] and Pass(*facts["current"])
        progress.squared_steps = float.fromhex(facts["squared_steps"])
        progress.mixed_updates = float.fromhex(facts["mixed_updates"])
        progress.best = facts["best"] and tuple(facts["best"])
        if progress.plateau is not None:
            progress.plateau.best, progress.plateau.since = facts["plateau"]
        # A limit may be a higher one now.
        progress.stop = None if facts["stop"] in LIMITS else facts["stop"]
        if progress.stop is None and progress.current is None and progress.passes:
            progress.stop = self._stop_after_passes()

    def _of_run(self) -> dict[str, Any]:
        """What a run keeps from its beginning to its end."""
        limits = ("epochs", "max-updates", "patience", "time-limit")
        options = {n: v for n, v in sorted(self.options.items()) if n not in limits}
        survey = [*map(str, self.survey), self.count, self.features]
        return {"options": options, "classes": self.names, "rows": survey, "mixing": self.mixing}

    def _stop_after_passes(self) -> str | None:
        """Why the run ends after the passes that were made, unless it goes on."""
        progress, size = self.progress, self.survey[:4]
        if self.count > 1:
            size = (max(size[0], FEWEST_NUMBERS), max(size[1], FEWEST_NUMBERS), *size[2:])
        told = [tuple(each) for each in progress.passes]
        return _core.mixing_stop(
            self.options, len(self.names), size, told, self.updates, progress.best
        )

    def _validated(self, happened: Pass, accuracy: Any) -> Pass:
        """The pass with what held-out rows say of it."""
        progress, number = self.progress, len(self.progress.passes) + 1
        state = self._read_out_state()
        score = accuracy(self._model(state))
        best = progress.best
        if best is None or score >= best[2]:
            reached = best[1] if best is not None and score == best[2] else number
            progress.best, progress.best_state = (number, reached, score), state
        return happened._replace(validation_accuracy=score)

    def _read_out_state(self) -> dict[str, Any]:
        """The state with what its read-out needs."""
        progress = self.progress
        state = dict(progress.state)
        if progress.summed is not None:
            state["correction"], state["visits"] = progress.summed, progress.visits
            state["factor"] = np.zeros(len(progress.visits))
        return state

    def _model(self, state: dict[str, Any], **found: Any) -> _core.Model:
        progress, survey = self.progress, self.survey
        run = {
            "state": state,
            "best_state": None,
            "passes": [tuple(each) for each in progress.passes],
            "current": None if progress.current is None else tuple(progress.current),
            "squared_steps": progress.squared_steps,
            "mixed_updates": progress.mixed_updates,
            "stop": progress.stop,
            "best": progress.best,
            "measured": survey[4:7],
            "margin": None,
            "trained_on": (survey.rows, self.features, survey.non_zeros, survey.fingerprint),
            **found,
        }
        return _core.mixed_model(self.options, self.names, run)

    def finish(self, partitions: Any = None, margin: Any = None) -> Any:
        """Make the estimator a fitted one.

        Parameters
        ----------
        partitions : sequence of Partition, default=None
            All of them, which are asked for the margin where the run separated them.
        margin : callable, default=None
            Gives the same, where they are elsewhere.

        Returns
        -------
        estimator : object
            The estimator.
        """
        estimator = self.estimator
        found = None
        if self.stop == "separated":
            task = self.task()
            if partitions is not None:
                parts = [_margin(part, task) for part in partitions]
                found = tuple(min(each) for each in zip(*parts))
            elif margin is not None:
                found = margin(task)
        best = self.progress.best_state
        estimator._model = self._model(self._read_out_state(), margin=found, best_state=best)
        estimator._single = getattr(estimator, "_single", False)
        estimator._visited = 0
        estimator.n_features_in_ = self.features
        estimator._describe()
        estimator.n_partitions_ = self.count
        estimator.mixed_updates_ = self.progress.mixed_updates
        return estimator


def survey(partitions: Sequence[_core.Partition], options: dict[str, str]) -> Survey:
    """What is known of partitions that are all at hand."""
    first, found = 0, []
    for partition in partitions:
        found.append(Survey.of(partition, options, first))
        first += len(partition)
    return Survey.all(found)


def _part_options(options: dict[str, str]) -> dict[str, str]:
    balanced = options.get("class-weight") == "balanced"
    return {name: v for name, v in options.items() if not (balanced and name == "class-weight")}


def _whole_state(update: Update, before: dict[str, Any]) -> dict[str, Any]:
    """The state after the only partition's pass."""
    names = ("weights", "confidence", "correction", "factor", "visits")
    found = {name: getattr(update, name) for name in names}
    return {"unit": before["unit"], **{n: v for n, v in found.items() if v is not None}}
