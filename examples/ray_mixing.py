"""Iterative parameter mixing driven by Ray: the functions of `rosenblatt.mixing` as its tasks."""

import numpy as np
import ray

from rosenblatt import Perceptron
from rosenblatt.mixing import Mixing, Partition, mix, one_pass


def train(X, y, partitions, **parameters):
    """A perceptron learned by Ray from so many partitions of rows."""
    classes, learn = np.unique(y), ray.remote(one_pass)
    cut = zip(np.array_split(X, partitions), np.array_split(y, partitions))
    parts = [Partition(rows, labels, classes) for rows, labels in cut]
    run = Mixing(Perceptron(**parameters), parts)
    held = [ray.put(part) for part in parts]
    while run.stop is None:
        task = ray.put(run.task())
        updates = ray.get([learn.remote(part, task) for part in held])
        run.take(mix(updates, run.task()))
    return run.finish(parts)


if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(20_000, 20))
    print(train(X, X[:, 0] > X[:, 1], 4, max_iter=10).stop_reason_)
