"""The linear unit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _options
from ._base import UNFINISHED, WEIGHTS, Progress, threads
from .perceptron import PartialFit

if TYPE_CHECKING:
    from typing_extensions import Self


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


def _error_told(record: dict[str, Any]) -> None:
    print(f"-- Epoch {record['epoch']}: mean squared error {record['squared_error']:.6g}")


class LinearUnitRegressor(RegressorMixin, BaseEstimator):
    r"""The linear unit with numbers as targets: linear regression by gradient descent.

    The output is :math:`o = w \cdot x`, the error :math:`E = \frac{1}{2} \sum_i c_i (y_i -
    o_i)^2`. It is the descent of :class:`LinearUnit`, whose targets are 1 and −1. A regressor
    has no model file; it can be pickled.

    Parameters
    ----------
    gradient : {"batch", "stochastic"}, default="batch"
        Whether a step follows the gradient over all rows or over one.
    fit_intercept : bool, default=True
        Whether there is an intercept.
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
    warm_start : bool, default=False
        Whether :meth:`fit` goes on from the weights of the last call. For stochastic descent
        with a given rate only, as :meth:`partial_fit`.
    start : str or array-like, default="zero"
        First weights: "zero", "random:NORM", or numbers with the intercept first.
    embed : str, default=None
        Features made of features: "monomials:DEGREE", "circle", "squares",
        "fourier:N,GAMMA" or "nystrom:N,GAMMA".
    time_limit : float, default=None
        Stop after so many seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; those that are set predict from then on, and cannot be changed in place. Of
        made features if there is an ``embed``.
    intercept_ : ndarray of shape (1,)
        The intercept.
    n_iter_ : int
        Passes begun by the last call.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had some.
    loss_curve_ : ndarray
        Mean squared error in each pass.
    stop_reason_ : str
        "converged", "epoch_limit", "time_limit" or "diverged".

    See Also
    --------
    LinearUnit : The same for classes.

    Examples
    --------
    >>> from rosenblatt import LinearUnitRegressor
    >>> reg = LinearUnitRegressor(tol=1e-12).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> reg.stop_reason_, reg.predict([[10.0]]).round(6)
    ('converged', array([21.]))
    """

    _model: _core.Model
    coef_: np.ndarray
    intercept_: np.ndarray
    n_features_in_: int
    n_iter_: int
    loss_curve_: np.ndarray
    stop_reason_: str | None

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
        warm_start: bool = False,
        start: Any = "zero",
        embed: str | None = None,
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
        self.warm_start = warm_start
        self.start = start
        self.embed = embed
        self.time_limit = time_limit

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, progress: Progress | None = None
    ) -> Self:
        """Fit the regressor.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Numbers to learn.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the error of each row; rows of weight 0 are left out.
        progress : callable, default=None
            Called after each pass with a dictionary, whose ``squared_error`` is the mean.

        Returns
        -------
        self : object
            The fitted regressor.
        """
        before = self._model if self.warm_start and hasattr(self, "_model") else None
        self._learn(X, y, sample_weight, before, progress)
        advice = UNFINISHED.get(self.stop_reason_ or "")
        if advice is not None:
            warnings.warn(advice, ConvergenceWarning, stacklevel=2)
        return self

    @available_if(lambda self: self.gradient == "stochastic" and self.eta0 is not None)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make one pass over some rows, going on from the weights of earlier calls.

        For stochastic descent with a given ``eta0``: all else needs all rows at once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Numbers to learn.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the error of each row; rows of weight 0 are left out.

        Returns
        -------
        self : object
            The regressor.
        """
        return self._learn(X, y, sample_weight, getattr(self, "_model", None), None, epochs="1")

    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        before: _core.Model | None,
        progress: Progress | None,
        **changes: str,
    ) -> Self:
        X, y = _data.checked(self, X, y, reset=before is None, y_numeric=True)
        weight = _data.weights(sample_weight, X)
        counted = _data.counted(weight)
        if weight is not None and counted is not None:
            X, y, weight = X[np.flatnonzero(counted)], y[counted], weight[counted]
        given = self.get_params(deep=False)
        for own in ("fit_intercept", "shuffle", "verbose", "n_jobs", "warm_start"):
            del given[own]
        options = {"learner": "linear-unit", **_options.options(type(self).__name__, given)}
        if not self.fit_intercept:
            options["bias"] = "none"
        if not self.shuffle:
            options["order"] = "given"
        options |= changes
        if before is not None:
            if not _options.is_fixed(self.random_state):
                options["seed"] = before.options["seed"]
            options = _options.as_before(options, before.options)
        passed = 0 if before is None else before.epochs
        model = _core.fit(
            options,
            _data.rows(X),
            np.zeros(len(y), dtype=np.uint32),
            ["0", "1"],
            weights=weight,
            threads=threads(self.n_jobs),
            carry_on=before,
            progress=_error_told if progress is None and self.verbose else progress,
            targets=np.ascontiguousarray(y, dtype=np.float64),
        )
        weights: Any = model.weights
        self.__dict__.update(_model=model, coef_=weights[0].ravel(), intercept_=weights[1])
        self._lock()
        self.n_iter_ = model.epochs - passed
        self.loss_curve_ = np.array(model.loss_per_epoch)
        self.stop_reason_ = model.stop
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Numbers for rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        numbers : ndarray of shape (n_samples,)
            The output for each row.
        """
        check_is_fitted(self, "_model")
        X = _data.checked(self, X, reset=False)
        return np.asarray(self._model.scores(_data.rows(X), threads(self.n_jobs)).ravel())

    def _lock(self) -> None:
        """Makes an attempt to change weights in place fail, which predictions would not see."""
        for name in WEIGHTS:
            if name in self.__dict__:
                self.__dict__[name].flags.writeable = False

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute; weights that are set are those that predict from then on."""
        if name in WEIGHTS and "_model" in self.__dict__:
            weights: Any = list(self._model.weights or ())
            value = np.array(value, dtype=np.float64)
            shape = weights[WEIGHTS.index(name)].shape
            weights[WEIGHTS.index(name)] = value.reshape(shape)
            self.__dict__.update({"_model": self._model.with_weights(*weights), name: value})
            self._lock()
        else:
            super().__setattr__(name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._lock()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
