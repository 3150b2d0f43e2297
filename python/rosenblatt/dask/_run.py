"""A run on a cluster: what is asked of the workers, and in what order it is put together."""

from __future__ import annotations

import uuid
import warnings
from typing import Any, Callable

from .. import _core, mixing
from ..mixing import Mixing, Mixture, Pass, Survey, Task, Update
from . import _blocks
from ._blocks import Block, Plan

#: How many neighbours one task mixes.
FAN = 8

#: Up to so many numbers in all that travel, it is not worth a task to hold or mix them.
FEW = 1 << 18


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

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A task."""
        self.tasks += 1
        key = f"rosenblatt-{function.__name__.strip('_')}-{self.run}-{self.tasks}"
        with warnings.catch_warnings():
            # Weights go through the scheduler on purpose: it can then give them to any worker,
            # whichever is lost.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(function, *arguments, key=key, pure=False)

    def gather(self, futures: list[Any]) -> list[Any]:
        """What tasks gave."""
        return self.client.gather(futures)

    def hold(self, task: Task, copies: int) -> Any:
        """A task's weights where workers find them."""
        return task if copies * _numbers(task) <= FEW else self.submit(held, task)

    def tree(self, leaves: list[Any], task: Task, held: Any) -> Mixture:
        """The mixture of updates: neighbours first, whichever come in first."""
        if len(leaves) <= FAN and len(leaves) * _numbers(task) <= FEW:
            return mixing.mix(self.gather(leaves), task)
        while True:
            groups = [leaves[i : i + FAN] for i in range(0, len(leaves), FAN)]
            leaves = [self.submit(mixing.mix, group, held) for group in groups]
            if len(leaves) == 1:
                return leaves[0].result()


def _numbers(task: Task) -> int:
    """About how many numbers an update of the task is."""
    return 2 * len(task.state["weights"])


def held(task: Task) -> Task:
    """What a pass begins with, on a worker."""
    return task


def learn(parts: tuple[_core.Partition, Any], task: Task) -> Update:
    """One pass over a partition."""
    return mixing.one_pass(parts[0], task)


def look(parts: tuple[_core.Partition, Any], task: Task) -> Pass:
    """A sweep over a partition."""
    return mixing.sweep(parts[0], task)


def smallest(parts: tuple[_core.Partition, Any], task: Task) -> tuple[float, float]:
    """The margin of a partition."""
    return mixing._margin(parts[0], task)


def right(parts: tuple[_core.Partition, _core.Partition], model: _core.Model) -> tuple[int, int]:
    """How many of the held-out rows a model has right."""
    return parts[1].right(model), len(parts[1])


def size(parts: tuple[_core.Partition, Any]) -> int:
    """Rows to be learned."""
    return len(parts[0])


def survey(parts: tuple[_core.Partition, Any], options: dict[str, str], first: int) -> Survey:
    """What a partition says of itself."""
    return Survey.of(parts[0], options, first)


class Rows:
    """Partitions on a cluster."""

    def __init__(self, cluster: Cluster, blocks: list[Any], estimator: Any) -> None:
        facts = cluster.gather([cluster.submit(_blocks.facts, block) for block in blocks])
        self.plan: Plan = _blocks.plan(facts, estimator)
        self.cluster = cluster
        there = [block for block, found in zip(blocks, facts) if found.rows]
        parts = [cluster.submit(_blocks.partition, block, self.plan) for block in there]
        rows = cluster.gather([cluster.submit(size, part) for part in parts])
        self.parts = [part for part, n in zip(parts, rows) if n]
        self.rows = [n for n in rows if n]

    def survey(self, options: dict[str, str]) -> Survey:
        """What all say of themselves."""
        first, found = 0, []
        for part, n in zip(self.parts, self.rows):
            found.append(self.cluster.submit(survey, part, options, first))
            first += n
        return Survey.all(self.cluster.gather(found))

    def one_pass(self, task: Task) -> Mixture:
        """A pass over all."""
        before = self.cluster.hold(task, len(self.parts))
        updates = [self.cluster.submit(learn, part, before) for part in self.parts]
        return self.cluster.tree(updates, task, before)

    def sweep(self, task: Task) -> Pass:
        """A look at all rows."""
        before = self.cluster.hold(task, len(self.parts))
        found = self.cluster.gather([self.cluster.submit(look, p, before) for p in self.parts])
        first, *others = found
        for other in others:
            first = first.plus(other)
        return first

    def margin(self, task: Task) -> tuple[float, float]:
        """The smallest margin, and the length of the shortest row."""
        before = self.cluster.hold(task, len(self.parts))
        found = self.cluster.gather([self.cluster.submit(smallest, p, before) for p in self.parts])
        least, shortest = zip(*found)
        return min(least), min(shortest)

    def accuracy(self, model: _core.Model) -> float:
        """Of a model on the held-out rows."""
        there = self.cluster.submit(held, model)
        found = self.cluster.gather([self.cluster.submit(right, p, there) for p in self.parts])
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


__all__ = ["Block", "Cluster", "Rows", "run"]
