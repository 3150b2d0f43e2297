"""Logistic regression."""

from __future__ import annotations

from typing import Any

from ._base import Estimator


class Logistic(Estimator):
    r"""Logistic regression.

    Minimises a penalty, :math:`\frac{1}{2}\|w\|^2` or :math:`\|w\|_1`, plus
    :math:`C \sum_i c_i \log(1 + \exp(-y_i (w \cdot x_i + b)))`, to a duality gap that is
    measured. The intercept counts in the penalty, as in LIBLINEAR. Several classes are learned
    each against the rest, pair by pair, or all at once (the multinomial model).

    Parameters
    ----------
    C : float, default=1.0
        What a unit of loss costs.
    penalty : {"l2", "l1"}, default="l2"
        Half the squared length of the weights, or the sum of their absolute values, which leaves
        most of them at 0.
    fit_intercept : bool, default=True
        Whether planes may stand off the origin.
    max_iter : int, default=None
        At most so many steps. None: 1000, of which a dozen are the rule.
    tol : float, default=1e-06
        Stop when the duality gap is at most so large a part of the objective.
    multiclass : {"ovr", "ovo", "argmax"}, default=None
        How several classes are learned; None is "argmax" for
        the L2 penalty, else "ovr". "argmax" is the multinomial model, for the
        penalty "l2".
    class_weight : dict, {class_label: weight} or "balanced", default=None
        Multiplies C for a class.
    embed : str, default=None
        Features made of features: "monomials:DEGREE", "circle", "squares",
        "fourier:N,GAMMA" or "nystrom:N,GAMMA".
    random_state : int, RandomState instance or None, default=0
        The seed of what ``embed`` draws; None is 0.
    at_zero : {"positive", "negative"}, default="positive"
        What a score of exactly 0 predicts.
    time_limit : float, default=None
        Stop after so many seconds.
    verbose : int, default=0
        Print a line after each step.
    n_jobs : int, default=None
        Threads; None is as ``joblib.parallel_config`` says, else all cores. Results do not
        depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; of two the last is the positive one.
    coef_ : ndarray of shape (n_discriminators, n_features)
        Weights. Of made features if there is an ``embed``.
    intercept_ : ndarray of shape (n_discriminators,)
        Biases.
    n_iter_ : int
        Steps begun.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had some.
    n_mistakes_ : int
        Wrong answers, summed over the steps.
    n_updates_ : int
        Steps made.
    mistakes_per_epoch_ : ndarray
        Wrong answers before each step.
    loss_curve_ : ndarray
        Mean perceptron loss before each step.
    radius_ : float
        The length of the longest row, the constant feature included where there is one.
    margin_ : None
        Logistic regression proves nothing about the margin.
    mistake_bound_ : None
        Nor is there a bound on its steps.
    stop_reason_ : str
        "converged", "epoch_limit", "time_limit" or "stalled".

    References
    ----------
    C.-J. Lin, R. C. Weng and S. S. Keerthi, "Trust region Newton method for large-scale logistic
    regression", JMLR 9 (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import Logistic
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = Logistic().fit(X, y)
    >>> clf.stop_reason_, [round(p) for p in clf.predict_proba(X[:1])[0].tolist()]
    ('converged', [1, 0, 0])
    """

    _learner = "logistic"

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float | None = 1e-6,
        multiclass: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        embed: str | None = None,
        random_state: Any = 0,
        at_zero: str = "positive",
        time_limit: float | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.embed = embed
        self.random_state = random_state
        self.at_zero = at_zero
        self.time_limit = time_limit
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _gives_probabilities(self) -> bool:
        return self.multiclass != "ovo" or super()._gives_probabilities()
