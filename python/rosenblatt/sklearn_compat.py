"""scikit-learn's Perceptron with scikit-learn's defaults, on the core of this library.

What changes by ``from rosenblatt.sklearn_compat import Perceptron`` is the import. Where
:class:`rosenblatt.Perceptron` has other defaults, for better models, these are the old ones: the
last weights of the run, one class against the rest, 1000 passes at most and a tolerance.
"""

from __future__ import annotations

from typing import Any

from . import perceptron

__all__ = ["Perceptron"]


class Perceptron(perceptron.Perceptron):
    """The perceptron with the parameters and defaults of ``sklearn.linear_model.Perceptron``.

    Its weights are those of ``sklearn.linear_model.Perceptron`` where rows are visited in the
    order given (``shuffle=False``); orders that are shuffled are this library's own. A run
    ends early once it separates the rows.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        What shrinks the weights, but not the intercept, at every visit.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of "l1" in "elasticnet".
    fit_intercept : bool, default=True
        Whether planes may stand off the origin.
    max_iter : int, default=1000
        At most so many passes.
    tol : float, default=0.001
        Stop when the mean perceptron loss has been above its best minus ``tol`` for
        ``n_iter_no_change`` passes in a row. None: never.
    shuffle : bool, default=True
        Whether every pass has an order of its own.
    verbose : int, default=0
        Print a line after each pass.
    eta0 : float, default=1.0
        The step size. From zero weights it changes their length alone.
    n_jobs : int, default=None
        Threads; None is as ``joblib.parallel_config`` says, else all cores. Results do not
        depend on it.
    random_state : int, RandomState instance or None, default=0
        The seed of orders; None is 0: the same call gives the same weights.
    early_stopping : bool, default=False
        Hold out a part of the rows, by class, and stop when its accuracy has not risen for
        ``n_iter_no_change`` passes.
    validation_fraction : float, default=0.1
        The part held out.
    n_iter_no_change : int, default=5
        How many passes to wait for something better.
    class_weight : dict, {class_label: weight} or "balanced", default=None
        Multiplies the updates of a class.
    warm_start : bool, default=False
        Whether :meth:`fit` goes on from the weights of the last call.

    Examples
    --------
    >>> from sklearn import linear_model
    >>> from sklearn.datasets import load_digits
    >>> from rosenblatt.sklearn_compat import Perceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> old = linear_model.Perceptron(shuffle=False).fit(X, y)
    >>> new = Perceptron(shuffle=False).fit(X, y)
    >>> bool((old.predict(X) == new.predict(X)).mean() > 0.95)
    True
    """

    readout = "last"
    bias = order = None

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int | None = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float | None = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    def _options(self) -> dict[str, str]:
        found = {**super()._options(), "readout": self.readout}
        if len(self.classes_) > 2:
            found["multiclass"] = "ovr"
        return found
