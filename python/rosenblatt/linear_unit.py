"""The linear unit."""

from __future__ import annotations

from typing import Any

from .perceptron import PartialFit


class LinearUnit(PartialFit):
    r"""The linear unit (Adaline): least squares by gradient descent.

    The output is :math:`o = w \cdot x`, the target 1 for the class and −1 for the others, the
    error :math:`E = \frac{1}{2} \sum_i c_i (y_i - o_i)^2`. Several classes are learned each
    against the rest. Least squares does not minimise mistakes, and may get separable data
    wrong.

    Parameters
    ----------
    gradient : {"batch", "stochastic"}, default="batch"
        Whether a step follows the gradient over all rows or over one.
    fit_intercept : bool, default=True
        Whether planes may stand off the origin.
    max_iter : int, default=None
        At most so many passes. None: about 3e8 visited numbers, at least 5 and at most 10000
        passes.
    tol : float, default=1e-06
        Stop when :math:`\|\nabla E\| \le` tol :math:`(1 + \|X^\top y\|)`.
    eta0 : float, default=None
        The step size; None: derived from the data, half of where descent would diverge.
    decay : float, default=0.0
        :math:`\kappa` in the rate :math:`\eta / (1 + \kappa t)` of stochastic descent.
    shuffle : bool, default=True
        Whether every pass of stochastic descent has an order of its own.
    verbose : int, default=0
        Print a line after each pass.
    n_jobs : int, default=None
        Threads; None is as ``joblib.parallel_config`` says, else all cores. Results do not
        depend on it.
    random_state : int, RandomState instance or None, default=0
        The seed of orders and random starts; None is 0.
    early_stopping : bool, default=False
        Hold out a part of the rows, by class, and stop when its accuracy has not risen for
        ``n_iter_no_change`` passes.
    validation_fraction : float, default=0.1
        The part held out.
    n_iter_no_change : int, default=5
        How many passes to wait for something better.
    class_weight : dict, {class_label: weight} or "balanced", default=None
        Multiplies the error of a class.
    warm_start : bool, default=False
        Whether :meth:`fit` goes on from the weights of the last call. For stochastic descent
        with a given rate only, as :meth:`partial_fit`.
    start : str or array-like, default="zero"
        First weights: "zero", "random:NORM", or numbers with the intercept first.
    embed : str, default=None
        Features made of features: "monomials:DEGREE", "circle", "squares",
        "fourier:N,GAMMA" or "nystrom:N,GAMMA".
    at_zero : {"positive", "negative"}, default="positive"
        What a score of exactly 0 predicts.
    time_limit : float, default=None
        Stop after so many seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; of two the last is the positive one.
    coef_ : ndarray of shape (n_discriminators, n_features)
        Weights, float32 if X was; those that are set predict from then on, and cannot be
        changed in place.
    intercept_ : ndarray of shape (n_discriminators,)
        Biases.
    n_iter_ : int
        Passes begun by the last call.
    t_ : int
        1 and the visits since the last call of :meth:`fit`, those of later parts included.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had some.
    n_mistakes_ : int
        Wrong answers over the run.
    n_updates_ : int
        Steps over the run.
    mistakes_per_epoch_ : ndarray
        Wrong answers in each pass.
    loss_curve_ : ndarray
        Mean squared error in each pass.
    radius_ : float
        The length of the longest row, the constant feature included where there is one.
    margin_ : None
        Least squares proves nothing about the margin.
    mistake_bound_ : None
        Nor is there a bound on its mistakes.
    stop_reason_ : str
        "converged", "epoch_limit", "time_limit", "no_improvement" or "diverged".

    References
    ----------
    B. Widrow and M. E. Hoff, "Adaptive switching circuits", IRE WESCON (1960).

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import LinearUnit
    >>> X, y = np.array([[-1.0], [0.0], [1.0], [2.0]]), [0, 0, 1, 1]
    >>> clf = LinearUnit(tol=1e-12).fit(X, y)
    >>> clf.stop_reason_
    'converged'
    >>> np.allclose([clf.coef_[0, 0], clf.intercept_[0]], [0.8, -0.4])
    True
    """

    _learner = "linear-unit"

    def __init__(
        self,
        *,
        gradient: str = "batch",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float | None = 1e-6,
        eta0: float | None = None,
        decay: float = 0.0,
        shuffle: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        start: Any = "zero",
        embed: str | None = None,
        at_zero: str = "positive",
        time_limit: float | None = None,
    ) -> None:
        self.gradient = gradient
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.eta0 = eta0
        self.decay = decay
        self.shuffle = shuffle
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.start = start
        self.embed = embed
        self.at_zero = at_zero
        self.time_limit = time_limit

    def _takes_parts(self) -> bool:
        # Batch descent, and a rate found from the data, need all rows at once.
        return self.gradient == "stochastic" and self.eta0 is not None
