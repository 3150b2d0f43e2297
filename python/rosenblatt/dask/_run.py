"""A run on a cluster: what is asked of the workers, and in what order it is put together."""

from __future__ import annotations

import functools
import itertools
import operator
import uuid
import warnings
from typing import Any, Callable, Iterable

import numpy as np

from .. import _core, _mix, mixing
from ..mixing import Mixing, Mixture, Pass, Survey, Task, Update
from . import _blocks
from ._blocks import Plan

#: How many neighbours one task mixes.
FAN = 8

#: What :func:`_blocks.partition` gives.
Parts = tuple[_core.Partition, Any, Any]

#: Up to so many numbers in all that travel, it is not worth a task to hold or mix them.
FEW = 1 << 20


class Cluster:
    """Tasks on the workers of a client.

    Their keys are new ones in every run, so that nothing of another run is taken for theirs.
    """

    def __init__(self, client: Any) -> None:
        if client is None:
            from distributed import get_client

            try:
                client = get_client()
            except ValueError:
                raise ValueError(
                    "there is no Dask client; make one with dask.distributed.Client, and give it "
                    "as client"
                ) from None
        self.client = client
        self.run = uuid.uuid4().hex[:12]
        self.tasks = 0

    def where(self, futures: list[Any]) -> list[list[str]]:
        """The workers that have what tasks gave, once they are done."""
        from distributed import wait

        wait(futures)
        known = self.client.who_has(futures)
        return [list(known.get(future.key, ())) for future in futures]

    def submit(
        self, function: Callable[..., Any], *arguments: Any, near: list[str] | None = None
    ) -> Any:
        """A task, on one of the workers ``near`` as long as there is one of them.

        Left to itself, Dask takes many tasks of a kind for ones without data to speak of, and
        copies a partition to a worker that happens to be idle for a moment.
        """
        self.tasks += 1
        where: dict[str, Any] = {"workers": near, "allow_other_workers": True} if near else {}
        key = f"rosenblatt-{function.__name__.strip('_')}-{self.run}-{self.tasks}"
        with warnings.catch_warnings():
            # Weights go through the scheduler on purpose: it can then give them to any worker,
            # whichever is lost.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(function, *arguments, key=key, pure=False, **where)

    def gather(self, futures: list[Any]) -> list[Any]:
        """What tasks gave."""
        found: list[Any] = self.client.gather(futures)
        return found

    def hold(self, task: Task, copies: int) -> Any:
        """A task's weights where workers find them."""
        return task if copies * _numbers(task) <= FEW else self.submit(held, task)

    def united(self, leaves: list[Any], function: Callable[[list[Any]], Any]) -> Any:
        """What a function makes of neighbours, and of what it made of these, until it is one."""
        while True:
            groups = [leaves[i : i + FAN] for i in range(0, len(leaves), FAN)]
            leaves = [self.submit(function, group) for group in groups]
            if len(leaves) == 1:
                return leaves[0]

    def tree(self, leaves: list[Any], task: Task, held: Any) -> Mixture:
        """The mixture of updates: neighbours first, whichever come in first."""
        if len(leaves) <= FAN and len(leaves) * _numbers(task) <= FEW:
            return mixing.mix(self.gather(leaves), task)
        while True:
            groups = [leaves[i : i + FAN] for i in range(0, len(leaves), FAN)]
            leaves = [self.submit(mixing.mix, group, held) for group in groups]
            if len(leaves) == 1:
                found: Mixture = leaves[0].result()
                return found


def _numbers(task: Task) -> int:
    """About how many numbers an update of the task is."""
    return 2 * len(task.state["weights"])


def held(task: Task) -> Task:
    """What a pass begins with, on a worker."""
    return task


def learn(parts: Parts, task: Task) -> Update:
    """One pass over a partition."""
    return mixing.one_pass(parts[0], task)


def look(parts: Parts, task: Task) -> Pass:
    """A sweep over a partition."""
    return mixing.sweep(parts[0], task)


def smallest(parts: Parts, task: Task) -> tuple[float, float]:
    """The margin of a partition."""
    return _mix._margin(parts[0], task)


def right(parts: Parts, model: _core.Model, of: int) -> tuple[int, int]:
    """How many of the rows to be learned (0) or held out (1) a model has right."""
    return parts[of].right(model), len(parts[of])


def sizes(parts: Parts) -> tuple[int, int, Survey | None]:
    """Rows to be learned, rows that are held out, and what is known of the former."""
    return len(parts[0]), 0 if parts[1] is None else len(parts[1]), parts[2]


def losses(parts: Parts, options: dict[str, str], weights: Any) -> Any:
    """The losses of a partition, and their slope downhill."""
    found, slope = parts[0].log_losses(options, _mix._aligned(weights))
    return np.array(found), slope


def total(found: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Losses and slopes together, in the order given."""
    return tuple(functools.reduce(operator.add, each) for each in zip(*found))


def survey(parts: Parts, options: dict[str, str], first: int) -> Survey:
    """What a partition says of itself."""
    return Survey.of(parts[0], options, first)


class Rows:
    """Partitions on a cluster."""

    def __init__(self, cluster: Cluster, blocks: list[Any], estimator: Any) -> None:
        facts = cluster.gather([cluster.submit(_blocks.facts, block) for block in blocks])
        self.plan: Plan = _blocks.plan(facts, estimator)
        self.cluster = cluster
        there = [block for block, found in zip(blocks, facts) if found.rows]
        firsts = itertools.accumulate([0, *(found.rows for found in facts if found.rows)])
        parts = [
            cluster.submit(_blocks.partition, block, self.plan, first)
            for block, first in zip(there, firsts)
        ]
        found = cluster.gather([cluster.submit(sizes, part) for part in parts])
        # (Of a part with a single row it may be the one that is held out.)
        self.parts = [part for part, (n, _, _) in zip(parts, found) if n]
        self.rows = [n for n, _, _ in found if n]
        self.held_out = sum(held_out for n, held_out, _ in found if n)
        self._surveyed = [survey for n, _, survey in found if n]
        self.where = cluster.where(self.parts)
        if not self.parts:
            raise ValueError("all rows are held out; use a smaller validation_fraction")

    def survey(self, options: dict[str, str]) -> Survey:
        """What all say of themselves."""
        if None not in self._surveyed:
            return Survey.all(self._surveyed)
        firsts = itertools.accumulate([0, *self.rows[:-1]])
        asked = ((options, first) for first in firsts)
        return Survey.all(self.cluster.gather(self._each(survey, asked)))

    def _each(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]:
        """A task for each partition, with the arguments that come behind it."""
        return [
            self.cluster.submit(function, part, *arguments, near=near)
            for part, near, arguments in zip(self.parts, self.where, asked)
        ]

    def one_pass(self, task: Task) -> Mixture:
        """A pass over all."""
        before = self.cluster.hold(task, len(self.parts))
        updates = self._each(learn, itertools.repeat((before,)))
        return self.cluster.tree(updates, task, before)

    def log_losses(self, options: dict[str, str], weights: Any) -> tuple[Any, Any]:
        """The losses of a logistic regression, and their slope downhill."""
        few = len(self.parts) <= FAN and len(self.parts) * len(weights) <= FEW
        there = weights if few else self.cluster.submit(held, weights)
        leaves = self._each(losses, itertools.repeat((options, there)))
        if few:
            return total(self.cluster.gather(leaves))
        found: tuple[Any, Any] = self.cluster.united(leaves, total).result()
        return found

    def sweep(self, task: Task) -> Pass:
        """A look at all rows."""
        before = self.cluster.hold(task, len(self.parts))
        found = self.cluster.gather(self._each(look, itertools.repeat((before,))))
        all_of_them: Pass = functools.reduce(Pass.plus, found)
        return all_of_them

    def margin(self, task: Task) -> tuple[float, float]:
        """The smallest margin, and the length of the shortest row."""
        before = self.cluster.hold(task, len(self.parts))
        found = self.cluster.gather(self._each(smallest, itertools.repeat((before,))))
        least, shortest = zip(*found)
        return min(least), min(shortest)

    def accuracy(self, model: _core.Model, of: int = 1) -> float:
        """Of a model on the held-out rows, or those that are learned (0)."""
        there = self.cluster.submit(held, model)
        found = self.cluster.gather(self._each(right, itertools.repeat((there, of))))
        good, rows = map(sum, zip(*found))
        if not rows:
            raise ValueError("the validation set is empty; use a larger validation_fraction")
        return good / rows


def run(mixing_run: Mixing, rows: Rows, after: Callable[[Mixing], None]) -> None:
    """Make passes until one is the last."""
    accuracy = None if rows.plan.hold_out is None else rows.accuracy
    while mixing_run.stop is None:
        mixing_run.take(rows.one_pass(mixing_run.task()), accuracy, rows.sweep)
        after(mixing_run)
