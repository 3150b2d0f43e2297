"""The perceptron over a kernel."""

from __future__ import annotations

from typing import Any, Callable

from ._base import EarlyStopping
from ._dual import Dual


class KernelPerceptron(Dual, EarlyStopping):
    r"""The perceptron in its dual form, over a kernel.

    The score of x is :math:`\sum_j \alpha_j K(x_j, x)`, where :math:`\alpha_j` counts how
    often row j was corrected, signed by its class. With the linear kernel it makes the same
    updates in the same order as :class:`Perceptron`.

    Parameters
    ----------
    kernel : str or callable, default="quadratic"
        "linear", "quadratic", "polynomial:DEGREE[,SCALE,CONST]", "geometric:DEGREE",
        "monomial:DEGREE", "rbf:GAMMA", "laplacian:GAMMA", "sigmoid:A,C", or "precomputed",
        with which X holds kernel values: of training rows with each other for :meth:`fit`,
        of rows with training rows for :meth:`predict`. A loaded model takes no columns for
        training rows of weight 0 or held out. A callable is given two sets of rows and returns
        the kernel's value for each pair, ``kernel(X, Y)[i, j]``; a model saved with it is one
        for kernel values.
    gamma : float or {"scale", "auto"}, default="scale"
        For a ``kernel`` that is named without numbers ("rbf", "laplacian", "poly", "sigmoid",
        as in scikit-learn): what multiplies distances or products. "scale" is
        1 / (n_features * X.var()), "auto" 1 / n_features.
    degree : int, default=3
        For "poly".
    coef0 : float, default=0.0
        For "poly" and "sigmoid": what is added to products.
    max_iter : int, default=None
        At most so many passes. None: about 3e12 multiplications, at least 10 passes.
    eta0 : float, default=None
        The step size; None is 1. From zero it changes the length of the weights alone.
    shuffle : bool, default=True
        Whether every pass has an order of its own. False is ``order="given"``.
    verbose : int, default=0
        Print a line after each pass.
    n_jobs : int, default=None
        Threads; None is as ``joblib.parallel_config`` says, else all cores. Results do not
        depend on it.
    random_state : int, RandomState instance or None, default=0
        The seed of orders; None is 0.
    early_stopping : bool, default=False
        Hold out a part of the rows, by class, and stop when its accuracy has not risen for
        ``n_iter_no_change`` passes.
    validation_fraction : float, default=0.1
        The part held out.
    n_iter_no_change : int, default=5
        How many passes to wait for something better.
    class_weight : dict, {class_label: weight} or "balanced", default=None
        Multiplies the updates of a class.
    readout : {"last", "averaged", "averaged-normalised", "voted", "random", "pocket"}, \
            default=None
        Which hypothesis of the run becomes the model; None is "averaged".
    votes : {"visits", "correct"}, default="visits"
        How often each weight vector votes with ``readout="voted"``: as many visits as it
        survived, or only those that it answered without being changed.
    ties : {"mistake", "positive", "correct"}, default="mistake"
        When a score that just fails the demand calls for an update: always, only for the
        negative class, or never.
    order : {"given", "by-class", "shuffled", "random", "mistakes", "worst", "restart"}, \
            default=None
        The order of visits; None is as ``shuffle`` says.
    margin : float, default=0.0
        Update also right answers whose margin is not above this.
    bias : {"lifted", "none", "unlifted", "unlifted:RHO"}, default=None
        What is added to the kernel: 1, nothing, or :math:`\rho^2`. None is "none".
    normalise_weights : bool, default=False
        Divide the weights by their norm after each update.
    start_dual : array-like of shape (n_samples,), default=None
        First coefficients, signed.
    multiclass : {"argmax", "ovr", "ovo"}, default=None
        How several classes are learned; None is one plane for two and "argmax" for more.
    at_zero : {"positive", "negative"}, default="positive"
        What a score of exactly 0 predicts.
    time_limit : float, default=None
        Stop after so many seconds.
    max_updates : int, default=None
        Stop after so many updates.
    memory : int, default=None
        Bytes for kernel values; None is half of what is free. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; of two the last is the positive one.
    support_ : ndarray of shape (n_support,)
        The training rows that were corrected, ascending. In a loaded model they are counted
        among the rows that were trained on, without those of weight 0 or held out.
    dual_coef_ : ndarray of shape (n_discriminators, n_support)
        Their coefficients in the read-out.
    intercept_ : ndarray of shape (n_discriminators,)
        What is added to the sum over ``dual_coef_``; absent from a voted model.
    support_vectors_ : {array, sparse matrix} of shape (n_support, n_features)
        These rows; not in a loaded model, and not for kernel values.
    n_support_ : ndarray of shape (n_classes,)
        How many of them each class has; not in a loaded model.
    n_iter_ : int
        Passes begun by the last call.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had some.
    n_mistakes_ : int
        Wrong answers over the run.
    n_updates_ : int
        Updates over the run.
    mistakes_per_epoch_ : ndarray
        Wrong answers in each pass.
    loss_curve_ : ndarray
        Mean perceptron loss in each pass.
    radius_ : float
        R, the square root of the largest :math:`K(x, x)`.
    margin_ : None
        The run proves nothing about the margin in the kernel's space.
    mistake_bound_ : None
        Nor about the bound.
    stop_reason_ : str
        "separated" (proved by a sweep over all rows), "no_mistakes", "epoch_limit",
        "update_limit", "time_limit" or "no_improvement".

    References
    ----------
    M. Aizerman, E. Braverman and L. Rozonoer, "Theoretical foundations of the potential
    function method in pattern recognition learning", Automation and Remote Control 25 (1964).

    Examples
    --------
    >>> from rosenblatt import KernelPerceptron
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = KernelPerceptron("quadratic").fit(xor, [0, 1, 1, 0])
    >>> clf.stop_reason_
    'separated'
    >>> clf.predict(xor)
    array([0, 1, 1, 0])
    """

    _learner = "kernel"

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "quadratic",
        *,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        max_iter: int | None = None,
        eta0: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        readout: str | None = None,
        votes: str = "visits",
        ties: str = "mistake",
        order: str | None = None,
        margin: float = 0.0,
        bias: str | None = None,
        normalise_weights: bool = False,
        start_dual: Any = None,
        multiclass: str | None = None,
        at_zero: str = "positive",
        time_limit: float | None = None,
        max_updates: int | None = None,
        memory: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.eta0 = eta0
        self.shuffle = shuffle
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.readout = readout
        self.votes = votes
        self.ties = ties
        self.order = order
        self.margin = margin
        self.bias = bias
        self.normalise_weights = normalise_weights
        self.start_dual = start_dual
        self.multiclass = multiclass
        self.at_zero = at_zero
        self.time_limit = time_limit
        self.max_updates = max_updates
        self.memory = memory
