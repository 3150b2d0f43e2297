"""Planes of largest margin."""

from __future__ import annotations

from typing import Any, Callable

from ._dual import Dual


class MaxMarginClassifier(Dual):
    r"""The plane of largest margin: hard where the classes can be separated, else soft.

    Minimises :math:`\frac{1}{2}\|w\|^2 + C \sum_i c_i \max(0, 1 - y_i (w \cdot x_i + b))`,
    to a duality gap that is measured; ``C=float("inf")`` allows no violation. Several classes
    are learned each against the rest, or pair by pair.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of margin violation costs; infinity for a hard margin.
    kernel : str or callable, default=None
        As :class:`KernelPerceptron` has them; None is a plane in the features themselves.
    gamma : float or {"scale", "auto"}, default="scale"
        For a ``kernel`` that is named without numbers ("rbf", "laplacian", "poly", "sigmoid",
        as in scikit-learn): what multiplies distances or products. "scale" is
        1 / (n_features * X.var()), "auto" 1 / n_features.
    degree : int, default=3
        For "poly".
    coef0 : float, default=0.0
        For "poly" and "sigmoid": what is added to products.
    fit_intercept : bool, default=True
        Whether planes may stand off the origin. False is ``bias="none"``.
    bias : {"lifted", "none", "unlifted"}, default=None
        Whether the intercept counts in :math:`\|w\|` (as in LIBLINEAR), is absent, or does
        not count (as in LIBSVM). None: "lifted", but "none" over a kernel.
    max_iter : int, default=None
        At most so many passes. None: about 3e9 visited numbers.
    tol : float, default=1e-06
        Stop when the duality gap is at most so large a part of the objective.
    multiclass : {"ovr", "ovo"}, default=None
        How several classes are learned; None is "ovr".
    class_weight : dict, {class_label: weight} or "balanced", default=None
        Multiplies C for a class.
    embed : str, default=None
        Features made of features: "monomials:DEGREE", "circle", "squares",
        "fourier:N,GAMMA" or "nystrom:N,GAMMA".
    random_state : int, RandomState instance or None, default=0
        The seed of the order in which rows are looked at; None is 0.
    at_zero : {"positive", "negative"}, default="positive"
        What a score of exactly 0 predicts.
    time_limit : float, default=None
        Stop after so many seconds.
    max_updates : int, default=None
        Stop after so many steps.
    memory : int, default=None
        Bytes for kernel values; None is half of what is free. Results do not depend on it.
    verbose : int, default=0
        Print a line after each pass.
    n_jobs : int, default=None
        Threads; None is as ``joblib.parallel_config`` says, else all cores. Results do not
        depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; of two the last is the positive one.
    coef_ : ndarray of shape (n_discriminators, n_features)
        Weights, without a kernel.
    intercept_ : ndarray of shape (n_discriminators,)
        Biases; with a kernel what is added to the sum over ``dual_coef_`` and cannot be set.
    support_ : ndarray of shape (n_support,)
        With a kernel: the training rows that hold the margin; in a loaded model counted
        without those of weight 0.
    dual_coef_ : ndarray of shape (n_discriminators, n_support)
        With a kernel: their coefficients.
    support_vectors_ : {array, sparse matrix} of shape (n_support, n_features)
        With a kernel: these rows; not in a loaded model, and not for kernel values.
    n_support_ : ndarray of shape (n_classes,)
        With a kernel: how many of them each class has; not in a loaded model.
    n_iter_ : int
        Passes begun by the last call.
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
        Mean perceptron loss in each pass.
    radius_ : float
        The length of the longest row, the constant feature included where there is one.
    margin_ : Margin or None
        Bounds on the margin, where the plane separates the rows.
    mistake_bound_ : None
        No theorem bounds its steps by the margin.
    stop_reason_ : str
        "converged", or the limit that was met.

    References
    ----------
    C. Cortes and V. Vapnik, "Support-vector networks", Machine Learning 20 (1995).

    Examples
    --------
    >>> from rosenblatt import MaxMarginClassifier
    >>> clf = MaxMarginClassifier(C=float("inf"), bias="unlifted")
    >>> clf = clf.fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> [round(float(x), 4) for x in (clf.coef_[0, 0], clf.intercept_[0])]
    [1.0, -2.0]
    """

    _learner = "max-margin"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        bias: str | None = None,
        max_iter: int | None = None,
        tol: float | None = 1e-6,
        multiclass: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        embed: str | None = None,
        random_state: Any = 0,
        at_zero: str = "positive",
        time_limit: float | None = None,
        max_updates: int | None = None,
        memory: int | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.bias = bias
        self.max_iter = max_iter
        self.tol = tol
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.embed = embed
        self.random_state = random_state
        self.at_zero = at_zero
        self.time_limit = time_limit
        self.max_updates = max_updates
        self.memory = memory
        self.verbose = verbose
        self.n_jobs = n_jobs
