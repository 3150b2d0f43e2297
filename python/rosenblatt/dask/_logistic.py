"""Logistic regression whose every step is one reduction over the partitions.

Minimises ½‖w‖² + C Σ loss by L-BFGS, of which only the loss and its slope need the rows. Half
the squared gradient is the duality gap, and the run ends when that is the tolerance's part of the
objective, as on one machine: the answers agree to the tolerance, not to the bit.

J. Nocedal, "Updating quasi-Newton matrices with limited storage", Mathematics of Computation 35
(1980).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .. import _core, _data
from ..mixing import Pass, part_options
from . import _run

#: Steps that L-BFGS remembers.
MEMORY = 30


def _dot(one: np.ndarray, other: np.ndarray) -> float:
    # Not by BLAS, whose sums depend on the number of threads.
    return float((one * other).sum())


def _direction(gradient: np.ndarray, steps: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Downhill, by the curvature that the last steps met; the first step has length 1."""
    if not steps:
        return np.asarray(-gradient / np.sqrt(_dot(gradient, gradient)))
    found, shares = -gradient, []
    for s, y in reversed(steps):
        share = _dot(s, found) / _dot(s, y)
        shares.append(share)
        found = found - share * y
    s, y = steps[-1]
    found = found * (_dot(s, y) / _dot(y, y))
    for (s, y), share in zip(steps, reversed(shares)):
        found = found + (share - _dot(y, found) / _dot(s, y)) * s
    return found


def fit(estimator: Any, rows: _run.Rows, progress: Any) -> None:
    """Fit a logistic regression to partitions."""
    options = estimator._options()
    if options.get("penalty", "l2") != "l2":
        raise ValueError("DaskLogistic has the penalty 'l2' only; use Logistic on one machine")
    if options.get("embed", "none") != "none":
        raise ValueError("embed needs all rows in one place")
    asked = part_options(options)
    limit, until = asked.pop("time-limit", None), None
    if limit is not None:
        until = time.monotonic() + float(limit)
    names, features = _data.names(rows.plan.classes), rows.plan.features
    survey = rows.survey(asked)
    w = np.zeros((features + 1) * _discriminators(len(names), options.get("multiclass")))
    most = int(options.get("epochs", 1000))
    tolerance = float(options.get("tolerance", 1e-6))

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        losses, slope = rows.log_losses(asked, w)
        free = slope if options.get("bias") != "none" else _without_biases(slope, w, features)
        return 0.5 * _dot(w, w) + float(losses.sum()), w - free

    steps: list[tuple[np.ndarray, np.ndarray]] = []
    passes, stop = [], None
    objective, gradient = value(w)
    while stop is None:
        passes.append(Pass(visits=survey.rows, updates=1, squared_error=objective))
        if progress is not None:
            progress({**passes[-1].record(len(passes)), "objective": objective})
        if 0.5 * _dot(gradient, gradient) <= tolerance * objective:
            stop = "converged"
        elif len(passes) >= most:
            stop = "epoch_limit"
        elif until is not None and time.monotonic() >= until:
            stop = "time_limit"
        else:
            found = _step(value, w, objective, gradient, _direction(gradient, steps))
            if found is None and steps:
                steps = []
                continue
            if found is None:
                raise RuntimeError("no step lowers the loss; scale the features")
            to, objective, slope = found
            if _dot(to - w, slope - gradient) > 0:
                steps = [*steps, (to - w, slope - gradient)][-MEMORY:]
            w, gradient = to, slope
    run = {
        "state": {"unit": 1.0, "weights": w},
        "best_state": None,
        "passes": [tuple(each) for each in passes],
        "current": None,
        "squared_steps": 0.0,
        "mixed_updates": 0.0,
        "stop": stop,
        "best": None,
        "kept": None,
        "measured": survey[4:7],
        "margin": None,
        "trained_on": (survey.rows, features, survey.non_zeros, survey.fingerprint),
    }
    estimator._model = _core.mixed_model(options, names, run)
    estimator.n_features_in_ = features
    estimator._visited = 0
    estimator._describe()


def _discriminators(classes: int, multiclass: str | None) -> int:
    if multiclass == "ovo":
        return classes * (classes - 1) // 2
    return 1 if classes == 2 and multiclass in (None, "auto") else classes


def _without_biases(slope: np.ndarray, w: np.ndarray, features: int) -> np.ndarray:
    """The slope where biases stay 0."""
    k = len(w) // (features + 1)
    return np.concatenate([slope[: len(w) - k], np.zeros(k)])


def _step(
    value: Any, w: np.ndarray, objective: float, gradient: np.ndarray, direction: np.ndarray
) -> Any:
    """The first of ever shorter steps that lowers the objective enough."""
    promised = _dot(direction, gradient)
    length = 1.0 if promised < 0 else 0.0
    while length > 1e-12:
        to = w + length * direction
        found, slope = value(to)
        if found <= objective + 1e-4 * length * promised:
            return to, found, slope
        length *= 0.5
    return None
