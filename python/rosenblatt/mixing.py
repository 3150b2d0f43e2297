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
from dataclasses import dataclass, field
from typing import Any, Iterable, NamedTuple, Sequence

import numpy as np

from . import _core, _data
from ._mix import (
    Mixture,
    Partition,
    Pass,
    Task,
    Update,
    _margin,
    mix,
    mixed,
    one_pass,
    sweep,
)

__all__ = [
    "Mixing",
    "Mixture",
    "Partition",
    "Pass",
    "Task",
    "Update",
    "mix",
    "one_pass",
    "sweep",
]

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
    #: The pass that was kept where nothing was held out.
    kept: int | None = None
    plateau: _Plateau | None = None
    stop: str | None = None


def _sum(so_far: np.ndarray | None, more: np.ndarray | None) -> np.ndarray | None:
    return more if so_far is None or more is None else so_far + more


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
        if features is None or count is None:
            raise ValueError("of a survey alone, classes, features and count must be given")
        self.features, self.count = features, count
        self.options = estimator._options()
        self.part_options = part_options(self.options)
        _core.mixing_check(self.part_options)
        self._pass_to_keep = _core.mixing_pass_to_keep(self.options)
        if not isinstance(partitions, Survey):
            partitions = survey(partitions, self.part_options)
        self.survey = partitions
        state = _core.mixing_start(self.part_options, self.names, features)
        self.averages = "correction" in state
        if count > 1:
            state = {
                name: state[name] for name in ("unit", "weights", "confidence") if name in state
            }
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

    def take(self, mixture: Mixture, accuracy: Any = None, on_boundary: Any = None) -> None:
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
                if len(progress.passes) < AVERAGE_FROM:
                    progress.summed, progress.visits = None, None
                progress.summed = _sum(progress.summed, mixture.summed)
                progress.visits = _sum(progress.visits, mixture.visits)
        if mixture.share > 0:
            progress.mixed_updates += mixture.share_updates / mixture.share
        progress.squared_steps += mixture.squared_steps
        if mixture.broken_off:
            progress.current, progress.stop = happened, "update_limit"
            return
        if accuracy is not None:
            happened = self._validated(happened, accuracy)
        progress.passes.append(happened)
        if accuracy is None and len(progress.passes) == self._pass_to_keep:
            progress.kept, progress.best_state = self._pass_to_keep, self._read_out_state()
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
            "kept": progress.kept,
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
        progress.kept = facts["kept"]
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
        progress, survey = self.progress, self.survey
        # Of several partitions as if they were not small.
        least = FEWEST_NUMBERS if self.count > 1 else 0
        size = max(survey.non_zeros, least), max(survey.values, least), survey.sparse, survey.rows
        told: list[Any] = [tuple(each) for each in progress.passes]
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
        if progress.summed is not None and progress.visits is not None:
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
            "kept": progress.kept,
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


def part_options(options: dict[str, str]) -> dict[str, str]:
    """What each partition is learned with: balanced weights of classes are weights of rows there."""
    balanced = options.get("class-weight") == "balanced"
    return {name: v for name, v in options.items() if not (balanced and name == "class-weight")}


def _whole_state(update: Update, before: dict[str, Any]) -> dict[str, Any]:
    """The state after the only partition's pass."""
    names = ("weights", "confidence", "correction", "factor", "visits")
    found = {name: getattr(update, name) for name in names}
    return {"unit": before["unit"], **{n: v for n, v in found.items() if v is not None}}
