"""The perceptron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, unique_labels
from sklearn.utils.validation import check_is_fitted

from . import _data, _options
from ._base import EarlyStopping, Estimator, Progress

if TYPE_CHECKING:
    from typing_extensions import Self


def _goes_on(estimator: PartialFit) -> bool:
    return estimator._takes_parts()


class PartialFit(EarlyStopping):
    """Learning from rows that arrive in parts."""

    class_weight: dict[Any, float] | str | None

    def fit(  # type: ignore[override]  # In scikit-learn's order.
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. float32 and float64 arrays in C order and CSR matrices with 32-bit
            indices are used as they are; anything else is copied.
        y : array-like of shape (n_samples,)
            Labels.
        coef_init : array-like of shape (n_discriminators, n_features), default=None
            Weights to start from.
        intercept_init : array-like of shape (n_discriminators,), default=None
            Biases to start from.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the updates of each row; rows of weight 0 are left out.
        progress : callable, default=None
            Called after each pass with a dictionary: ``epoch``, ``visits``, ``mistakes``,
            ``updates``, ``loss``, ``hinge_loss``, ``squared_error`` and
            ``validation_accuracy``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        start = (coef_init, intercept_init)
        none = coef_init is None and intercept_init is None
        return self._fit(X, y, sample_weight, progress, None if none else start)

    @property
    def t_(self) -> int:
        """1 and the visits since the last call of :meth:`fit`, those of later parts included."""
        check_is_fitted(self, "_model")
        return 1 + self._model.visits - getattr(self, "_visited", 0)

    def sparsify(self) -> Self:
        """Make ``coef_`` a sparse matrix. Predictions and what they cost stay as they are."""
        check_is_fitted(self, "coef_")
        self.__dict__["coef_"] = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Make ``coef_`` an array again."""
        check_is_fitted(self, "coef_")
        if sparse.issparse(self.coef_):
            self.__dict__["coef_"] = self.coef_.toarray()
            self._lock()
        return self

    def _takes_parts(self) -> bool:
        """Whether the learner, as its parameters are, can go on with other rows."""
        return True

    def _refuse_what_needs_all_rows(self) -> None:
        """Refuses parameters that a part of the rows cannot serve."""
        if self.early_stopping:
            raise ValueError(
                "early_stopping should be False with partial_fit: it would hold out rows of "
                "every part. Score rows of your own between calls, or use fit"
            )
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use "
                "'balanced' weights, use compute_class_weight('balanced', classes=classes, "
                "y=y). In place of y you can use a large enough sample of the full training "
                "set target to properly estimate the class frequency distributions. Pass the "
                "resulting weights as the class_weight parameter."
            )

    def _is_first(self, classes: Any) -> bool:
        """Whether nothing was learned yet; sets ``classes_`` then, else checks them."""
        known = getattr(self, "classes_", None)
        if known is not None and classes is not None:
            # scikit-learn compares with sorted classes, which those of a file need not be.
            if np.array_equal(np.sort(known), unique_labels(classes)):
                return False
        return bool(_check_partial_fit_first_call(self, classes))

    @available_if(_goes_on)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Make one pass over some rows, going on from the weights of earlier calls.

        Calls over the parts of a data set visit what one pass of :meth:`fit` over the whole
        visits with ``shuffle=False``, and repeated calls with the same rows visit what that
        many passes of :meth:`fit` do: the weights are the same. What needs all rows,
        ``early_stopping`` and ``class_weight="balanced"``, is refused.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever occur; needed at the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the updates of each row; rows of weight 0 are left out.

        Returns
        -------
        self : object
            The estimator.
        """
        self._refuse_what_needs_all_rows()
        with self._all_or_nothing():
            first = self._is_first(classes)
            X, y = _data.checked(self, X, y, reset=first)
            weight = _data.weights(sample_weight, X)
            before = None if first else self._model
            if first:
                self._visited = 0
            return self._train(X, y, weight, carry_on=before, epochs="1")


class Perceptron(PartialFit):
    r"""Rosenblatt's perceptron.

    Rows are visited one after the other; where row i calls for an update,
    :math:`w \leftarrow w + \eta c_i y_i x_i`. With several classes the discriminator of the
    right class is raised and that of its strongest rival lowered. On separable data, from
    zero, the perceptron makes at most :math:`(R/\gamma)^2` updates, R the length of the
    longest row and :math:`\gamma` the margin (Novikoff, 1962).

    Unlike scikit-learn's, it says why it stopped, averages by default, learns several classes
    jointly, and gives the same weights as the command line. Rows are never scaled.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        What shrinks the weights, but not the intercept, at every visit.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of "l1" in "elasticnet".
    fit_intercept : bool, default=True
        Whether planes may stand off the origin. False is ``bias="none"``.
    max_iter : int, default=None
        At most so many passes. None: until further passes gain nothing, at most about 3e8
        visited numbers.
    tol : float, default=None
        Stop when the mean perceptron loss has been above its best minus ``tol`` for
        ``n_iter_no_change`` passes in a row. None: never.
    shuffle : bool, default=True
        Whether every pass has an order of its own. False is ``order="given"``.
    verbose : int, default=0
        Print a line after each pass.
    eta0 : float, default=None
        The step size; None is 1. From zero weights it changes their length alone.
    n_jobs : int, default=None
        Threads; None is as ``joblib.parallel_config`` says, else all cores. Results do not
        depend on it.
    random_state : int, RandomState instance or None, default=0
        The seed of orders and random starts; None is 0.
    early_stopping : bool, default=False
        Hold out a part of the rows, by class, and stop when its accuracy has not risen for
        ``n_iter_no_change`` passes; the best pass becomes the model.
    validation_fraction : float, default=0.1
        The part held out.
    n_iter_no_change : int, default=5
        How many passes to wait for something better.
    class_weight : dict, {class_label: weight} or "balanced", default=None
        Multiplies the updates of a class.
    warm_start : bool, default=False
        Whether :meth:`fit` goes on from the weights of the last call.
    readout : {"last", "averaged", "averaged-normalised", "voted", "random", "pocket"}, \
            default=None
        Which weights of the run become the model; None is "averaged".
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
        Where the intercept comes from: a constant feature 1, nowhere, or a term of its own
        with the rate :math:`\eta\rho^2`. None is as ``fit_intercept`` says.
    normalise_weights : bool, default=False
        Divide the weights by their norm after each update.
    start : str or array-like, default="zero"
        First weights: "zero", "random:NORM", or numbers with the intercept first.
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
        Weights, float32 if X was; those that are set predict from then on, and cannot be
        changed in place; absent from a voted model. Of made features if there is an ``embed``.
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
        Updates over the run.
    mistakes_per_epoch_ : ndarray
        Wrong answers in each pass.
    loss_curve_ : ndarray
        Mean perceptron loss in each pass.
    radius_ : float
        R, the length of the longest row, the constant feature included where there is one.
    margin_ : Margin or None
        Bounds on the margin, where the running weights separate the rows.
    mistake_bound_ : int or None
        Updates that the theorem allows at that margin.
    stop_reason_ : str
        "separated" (proved by a sweep over all rows), "no_mistakes" (some rows lie exactly on
        the boundary), "epoch_limit", "update_limit", "time_limit", "no_improvement"
        or "no_gain".

    See Also
    --------
    KernelPerceptron : The same over a kernel.
    check_separability : Decides whether a perceptron can succeed, with proof.

    References
    ----------
    F. Rosenblatt, "The perceptron: a probabilistic model for information storage and
    organization in the brain", Psychological Review 65 (1958).

    Y. Freund and R. E. Schapire, "Large margin classification using the perceptron
    algorithm", Machine Learning 37 (1999).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = Perceptron().fit(X, y == 0)
    >>> clf.stop_reason_, clf.n_mistakes_ <= clf.mistake_bound_
    ('separated', True)
    >>> clf.score(X, y == 0)
    1.0
    """

    _learner = "perceptron"
    _own = Estimator._own | {"tol"}

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float | None = None,
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
        margin: float = 0.0,
        bias: str | None = None,
        normalise_weights: bool = False,
        start: Any = "zero",
        embed: str | None = None,
        multiclass: str | None = None,
        at_zero: str = "positive",
        time_limit: float | None = None,
        max_updates: int | None = None,
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
        self.readout = readout
        self.votes = votes
        self.ties = ties
        self.order = order
        self.margin = margin
        self.bias = bias
        self.normalise_weights = normalise_weights
        self.start = start
        self.embed = embed
        self.multiclass = multiclass
        self.at_zero = at_zero
        self.time_limit = time_limit
        self.max_updates = max_updates

    def _given(self) -> dict[str, Any]:
        given = super()._given()
        # As in scikit-learn, what has no meaning is checked and then passed over.
        checked = {name: given[name] for name in ("alpha", "l1_ratio")}
        _options.options(type(self).__name__, checked)
        if self.penalty in (None, "none"):
            del given["alpha"]
        if self.penalty != "elasticnet":
            del given["l1_ratio"]
        return given
