"""Logistic regression with Firth's penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _core, _data
from ._base import threads
from .separability import BIAS


class FirthLogistic(ClassifierMixin, BaseEstimator):
    r"""Logistic regression of two classes with Firth's penalty.

    Maximises the log likelihood plus :math:`\frac{1}{2} \log \det I(\beta)`, which keeps every
    estimate finite where classes can be separated and maximum likelihood estimates do not
    exist, and takes off most of their bias elsewhere. Coefficients are in the units of X.
    Intervals come from the profile of the penalised likelihood.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept.
    level : float, default=0.95
        What share of intervals is to hold the truth.
    interval : {"profile", "wald"}, default="profile"
        Intervals and p-values by the profile of the penalised likelihood, or by the estimate and
        its standard error, which is quicker and worse.
    n_jobs : int, default=None
        Threads; None is all cores. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted; the last is the outcome whose probability is modelled.
    coef_ : ndarray of shape (1, n_features)
        The estimates.
    intercept_ : ndarray of shape (1,)
        The intercept's.
    coefficient_names_ : list of str
        What the next four speak of: "(bias)", if there is an intercept, and the features.
    standard_errors_ : ndarray of shape (n_coefficients,)
        Roots of the diagonal of the inverse information matrix.
    intervals_ : ndarray of shape (n_coefficients, 2)
        Lower and upper ends.
    p_values_ : ndarray of shape (n_coefficients,)
        Of the hypotheses that a coefficient is 0.
    maximum_likelihood_ : dict of str to {"finite", "+inf", "-inf", "either"}
        Where each maximum likelihood estimate goes, decided in exact arithmetic.
    separation_ : {"none", "quasi-complete", "complete"}
        Whether classes are separated: maximum likelihood estimates exist only with "none".
    log_likelihood_ : float
        The penalised log likelihood.
    n_iter_ : int
        Steps of Fisher scoring.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had some.

    References
    ----------
    G. Heinze and M. Schemper, "A solution to the problem of separation in logistic regression",
    Statistics in Medicine 21 (2002).

    Examples
    --------
    >>> from rosenblatt import FirthLogistic
    >>> clf = FirthLogistic().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> clf.separation_, clf.maximum_likelihood_["x0"], clf.coef_.round(2).tolist()
    ('complete', '+inf', [[1.31]])
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        level: float = 0.95,
        interval: str = "profile",
        n_jobs: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.level = level
        self.interval = interval
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FirthLogistic:
        """Estimate the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self : FirthLogistic
            Itself. Columns of X that others make up for are an error that names them, for the
            penalty is not defined there.
        """
        if self.interval not in ("profile", "wald"):
            raise ValueError(f"interval={self.interval!r}: expected 'profile' or 'wald'")
        if not 0 < self.level < 1:
            raise ValueError(f"level={self.level!r}: expected a number between 0 and 1")
        X, y = _data.checked(self, X, y)
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
            if (sample_weight < 0).any():
                raise ValueError("sample_weight has a negative weight")
            counts = sample_weight > 0
            X, y, sample_weight = X[counts], y[counts], sample_weight[counts]
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            # scikit-learn's own words.
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{'multiclass' if len(self.classes_) > 2 else 'one class'}."
                + ("" if len(self.classes_) > 1 else " Classifier can't train when only one class is present.")
            )
        found = _core.firth(
            _data.rows(X),
            labels.astype(np.uint32),
            _data.names(self.classes_),
            sample_weight,
            lifted=self.fit_intercept,
            level=float(self.level),
            profile=self.interval == "profile",
            threads=threads(self.n_jobs),
        )
        features = getattr(self, "feature_names_in_", None)
        if features is None:
            features = [f"x{j}" for j in range(X.shape[1])]
        names = ([BIAS] if self.fit_intercept else []) + [str(name) for name in features]
        if "estimate" not in found:
            collinear = [n for n, t in zip(names, found["trends"]) if t == "not_identified"]
            raise ValueError(
                f"collinear columns have no estimates of their own: {', '.join(collinear)}; "
                "leave out columns that others make up for"
            )
        lift = int(self.fit_intercept)
        estimates = found["estimate"]
        self.coef_ = estimates[lift:].reshape(1, -1)
        self.intercept_ = estimates[:1] if lift else np.zeros(1)
        self.coefficient_names_ = names
        self.standard_errors_ = found["standard_error"]
        self.intervals_ = np.column_stack([found["lower"], found["upper"]])
        self.p_values_ = found["p_value"]
        self.maximum_likelihood_ = dict(zip(names, found["trends"]))
        self.separation_ = {
            "separable": "complete",
            "quasi-separable": "quasi-complete",
            "overlapping": "none",
        }[found["verdict"]]
        self.log_likelihood_ = found["log_likelihood"]
        self.n_iter_ = max(1, found["steps"])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The log odds of the last class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Log odds.
        """
        check_is_fitted(self)
        X = _data.checked(self, X, reset=False)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0], dtype=np.float64)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            In the order of ``classes_``.
        """
        scores = self.decision_function(X)
        return np.column_stack([expit(-scores), expit(scores)])

    def predict(self, X: Any) -> np.ndarray:
        """The more probable class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        return np.asarray(self.classes_[(self.decision_function(X) >= 0).astype(int)])
