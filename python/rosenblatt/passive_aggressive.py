"""Passive-aggressive learning."""

from __future__ import annotations

from typing import Any

from .perceptron import PartialFit


class PassiveAggressive(PartialFit):
    r"""Passive-aggressive learning.

    Where the margin of a row is below 1, the weights take the smallest change that gives it a
    margin of 1, as far as C allows. With several classes the margin is over the strongest wrong
    class. There is no ``penalty``: ``C`` is the regularisation, and weights that shrink between
    updates would void the bounds.

    Parameters
    ----------
    C : float, default=1.0
        The longest step of "pa-1", or what damps those of "pa-2"; multiplied by the weight of a
        row.
    pa : {"pa", "pa-1", "pa-2"}, default="pa-1"
        Whether an update removes the whole loss, at most a step of C, or a part damped by
        :math:`1/(2C)`.
    fit_intercept : bool, default=True
        Whether planes may stand off the origin. False is ``bias="none"``.
    max_iter : int, default=None
        At most so many passes. None: about 3e8 visited numbers, at least 5 and at most 10000
        passes.
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
        Multiplies C for a class.
    warm_start : bool, default=False
        Whether :meth:`fit` goes on from the weights of the last call.
    readout : {"last", "averaged", "averaged-normalised", "voted", "random", "pocket"}, \
            default=None
        Which weights of the run become the model; None is "averaged".
    votes : {"visits", "correct"}, default="visits"
        How often each weight vector votes with ``readout="voted"``: as many visits as it
        survived, or only those that it answered without being changed.
    ties : {"mistake", "positive", "correct"}, default="mistake"
        Whether a margin of exactly 1 calls for an update, which changes nothing here.
    order : {"given", "by-class", "shuffled", "random", "mistakes", "worst", "restart"}, \
            default=None
        The order of visits; None is as ``shuffle`` says.
    bias : {"lifted", "none", "unlifted", "unlifted:RHO"}, default=None
        Where the intercept comes from: a constant feature 1, nowhere, or a term of its own.
        None is as ``fit_intercept`` says.
    embed : str, default=None
        Features made of features: "monomials:DEGREE", "circle", "squares",
        "fourier:N,GAMMA" or "nystrom:N,GAMMA".
    multiclass : {"argmax", "ovr", "ovo"}, default=None
        How several classes are learned; None is one plane for two and "argmax" for more.
    at_zero : {"positive", "negative"}, default="positive"
        What a score of exactly 0 predicts.
    time_limit : float, default=None
        Stop after so many seconds.
    max_updates : int, default=None
        Stop after so many updates.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; of two the last is the positive one.
    coef_ : ndarray of shape (n_discriminators, n_features)
        Weights; absent from a voted model. Of made features if there is an ``embed``.
    intercept_ : ndarray of shape (n_discriminators,)
        Biases.
    n_iter_ : int
        Passes begun.
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
        R, the length of the longest row, the constant feature included where there is one.
    margin_ : Margin or None
        Bounds on the margin, where the running weights separate the rows.
    mistake_bound_ : None
        No theorem bounds its updates by the margin.
    stop_reason_ : str
        "separated", "no_mistakes", "epoch_limit", "update_limit", "time_limit" or
        "no_improvement".

    References
    ----------
    K. Crammer et al., "Online passive-aggressive algorithms", JMLR 7 (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import PassiveAggressive
    >>> X, y = load_iris(return_X_y=True)
    >>> PassiveAggressive(C=0.1).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    _learner = "passive-aggressive"

    def __init__(
        self,
        C: float = 1.0,
        *,
        pa: str = "pa-1",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        readout: str | None = None,
        votes: str = "visits",
        ties: str = "mistake",
        order: str | None = None,
        bias: str | None = None,
        embed: str | None = None,
        multiclass: str | None = None,
        at_zero: str = "positive",
        time_limit: float | None = None,
        max_updates: int | None = None,
    ) -> None:
        self.C = C
        self.pa = pa
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.readout = readout
        self.votes = votes
        self.ties = ties
        self.order = order
        self.bias = bias
        self.embed = embed
        self.multiclass = multiclass
        self.at_zero = at_zero
        self.time_limit = time_limit
        self.max_updates = max_updates
