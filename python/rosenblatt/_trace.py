"""Runs step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y

from . import _core, _data, _html, _options


#: A notebook shows so many steps of a run.
SHOWN = 200


class Steps(list[dict[str, Any]]):
    """The steps of a run, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        names = list(self[0]) if self else []
        rows = ([_short(step[name]) for name in names] for step in self[:SHOWN])
        more = f"… and {len(self) - SHOWN} more steps" if len(self) > SHOWN else ""
        return _html.table([name.replace("_", " ") for name in names], rows, more)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, threshold=20)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def trace(X: Any, y: Any, **parameters: Any) -> Steps:
    """The steps of a perceptron's run, as a teacher would write them on the board.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels.
    **parameters : dict
        Options of the learner, as :class:`Perceptron` or :class:`KernelPerceptron` names
        them (a ``kernel`` makes it the latter); the order is "given" unless told otherwise.

    Returns
    -------
    steps : Steps
        A list, which a notebook shows as a table, with a dictionary for each visit: ``step``
        and ``epoch`` from 1, ``row`` from 0, its ``label``, the ``weights`` before (bias first
        where there is one; coefficients of all rows for a kernel), the ``score``, whether it
        was ``correct`` (called for no update) and the ``weights_after``.

    Examples
    --------
    >>> from rosenblatt import trace
    >>> steps = trace([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> steps[3]["score"], steps[3]["correct"], steps[3]["weights_after"]
    (-1.0, False, array([0., 1., 1.]))
    >>> steps[-1]["weights_after"], sum(not step["correct"] for step in steps)
    (array([-4.,  3.,  2.]), 18)
    """
    X, y = check_X_y(X, y, **_data.ROWS)
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {len(classes)} class"
        )
    learner = "kernel" if parameters.get("kernel") is not None else "perceptron"
    unknown = [n for n in parameters if _options.option_of(n) not in _options.DEFAULTS]
    if unknown:
        raise TypeError(f"trace() got an unexpected keyword argument {unknown[0]!r}")
    options = {"learner": learner, **_options.options("trace", parameters)}
    found = _core.trace(
        options,
        _data.rows(X),
        labels.astype(np.uint32),
        _data.names(classes),
        None,
    )
    steps = Steps(found)
    for step in steps:
        step["label"] = classes[step["label"]]
    return steps
