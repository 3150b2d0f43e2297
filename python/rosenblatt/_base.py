"""What all estimators share."""

from __future__ import annotations

from contextlib import contextmanager
from numbers import Real
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core, _data, _options

#: What a ``progress`` callable is called with after each pass.
Progress = Callable[[dict[str, Any]], object]


class Margin(NamedTuple):
    """The margin lies between ``lower`` and ``upper``.

    ``kind`` is ``"lifted"`` if the separator's norm counts its bias, else ``"plain"``.
    """

    lower: float
    upper: float
    kind: str


def threads(n_jobs: int | None) -> int:
    """Threads to use: all cores unless told, one inside a worker of joblib's."""
    return effective_n_jobs(-1 if n_jobs is None else n_jobs)


def _told(record: dict[str, Any]) -> None:
    print(f"-- Epoch {record['epoch']}: {record['mistakes']} mistakes, loss {record['loss']:.6f}")


class Estimator(ClassifierMixin, BaseEstimator):
    """A classifier on the core of the library."""

    #: Which learner of the library's.
    _learner: str
    #: Parameters that are not options of the library, or not by themselves.
    _own: frozenset[str] = frozenset({"n_jobs", "verbose"})

    def _options(self) -> dict[str, str]:
        """The options that the parameters stand for."""
        given = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in self._own
        }
        weight = given.get("class_weight")
        if isinstance(weight, dict):
            given["class_weight"] = self._class_weight(weight)
        found = _options.options(type(self).__name__, given)
        return {"learner": self._learner, **found}

    def _class_weight(self, weight: dict[Any, float]) -> dict[Any, float] | None:
        """Weights of classes that are there, which scikit-learn does not insist on."""
        known = {str(label): label for label in self.classes_.tolist()}
        if any("," in name for name in known):
            raise ValueError(
                "class_weight cannot name a class with a comma in it; use sample_weight"
            )
        return {
            name: weight[label] for name, label in known.items() if weight.get(label, 1) != 1
        } or None

    def _session(self) -> dict[str, Any]:
        """What the core is told beside options."""
        return {"threads": threads(self.n_jobs)}

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, progress: Progress | None = None
    ) -> Any:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. float32 and float64 arrays in C order and CSR matrices with 32-bit
            indices are used as they are; anything else is copied.
        y : array-like of shape (n_samples,)
            Labels.
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
        with self._all_or_nothing():
            carry_on = self._model if self._carries_on() else None
            X, y = validate_data(self, X, y, reset=carry_on is None, **_data.ROWS)
            check_classification_targets(y)
            weight = _data.weights(sample_weight, X)
            if carry_on is None:
                counted = _data.counted(weight)
                self.classes_ = np.unique(y if counted is None else y[counted])
            return self._train(X, y, weight, carry_on=carry_on, progress=progress)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leaves the estimator as it was if a fit fails or is interrupted.

        Classes and features of new rows beside the model of old ones would predict nonsense.
        """
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _carries_on(self) -> bool:
        return bool(getattr(self, "warm_start", False)) and hasattr(self, "_model")

    def _known(self, y: np.ndarray) -> np.ndarray:
        """The numbers of classes that are known already."""
        strangers = np.setdiff1d(y, self.classes_)
        if len(strangers):
            raise ValueError(
                f"y contains labels that were not among the classes of the first call: "
                f"{strangers.tolist()}"
            )
        # A loaded model numbers its classes as its file does, which need not be sorted.
        order = np.argsort(self.classes_)
        return order[np.searchsorted(self.classes_, y, sorter=order)]

    def _train(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        *,
        carry_on: _core.Model | None = None,
        progress: Progress | None = None,
        **changes: str,
    ) -> Any:
        if len(self.classes_) < 2:
            raise ValueError(
                "The number of classes has to be greater than one; got "
                f"{len(self.classes_)} class"
            )
        if progress is None and self.verbose:
            progress = _told
        counted = _data.counted(weight)
        if counted is not None:
            y, weight = y[counted], weight[counted]
        labels = self._known(y).astype(np.uint32)
        options, session = {**self._options(), **changes}, self._session()
        if carry_on is not None and not _options.is_fixed(self.random_state):
            # A generator gives another seed each time, but a run goes on with its own.
            options["seed"] = carry_on.options["seed"]
        X = self._rows(X, labels, counted, options, session.get("validate"))
        self._model = _core.fit(
            options,
            _data.rows(X),
            labels,
            # A file may have spelled them otherwise: +1.
            _data.names(self.classes_) if carry_on is None else carry_on.classes,
            weights=weight,
            carry_on=carry_on,
            progress=progress,
            **session,
        )
        self._single = X.dtype == np.float32
        self._describe()
        return self

    def _rows(
        self,
        X: Any,
        labels: np.ndarray,
        counted: np.ndarray | None,
        options: dict[str, str],
        share: float | None,
    ) -> Any:
        """The rows for the core: of X those that count, whose classes are ``labels``.

        ``options`` and the ``share`` that is held out are those of the run.
        """
        return X if counted is None else X[np.flatnonzero(counted)]

    def _describe(self) -> None:
        """Sets the attributes that tell of the fitted model."""
        model = self._model
        self.n_iter_ = model.epochs
        self.n_mistakes_ = model.mistakes
        self.n_updates_ = model.updates
        self.mistakes_per_epoch_ = np.array(model.mistakes_per_epoch, dtype=np.int64)
        self.loss_curve_ = np.array(model.loss_per_epoch)
        self.stop_reason_ = model.stop
        self.radius_ = model.radius
        self.margin_ = None if model.margin is None else Margin(*model.margin)
        self.mistake_bound_ = model.most_updates
        # Those that this model has not may be left over from another one.
        for name in ("coef_", "intercept_", "support_", "dual_coef_"):
            vars(self).pop(name, None)
        if model.weights is not None:
            self.coef_, self.intercept_ = model.weights
        if model.dual is not None:
            self.support_, self.dual_coef_ = model.dual

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "_model")
        return validate_data(self, X, reset=False, **_data.ROWS)

    def _feature_names(self) -> np.ndarray | None:
        """The names of the features that the model takes, where there are some."""
        return getattr(self, "feature_names_in_", None)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_discriminators)
            For two classes the score of the second one, above 0 where it is predicted; else a
            column for each class, or for each pair of classes with ``multiclass="ovo"``.
        """
        scores = self._model_scores(X)
        if len(self.classes_) == 2 and scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores.ravel() if scores.shape[1] == 1 else scores

    def _model_scores(self, X: Any) -> np.ndarray:
        rows = _data.rows(self._checked(X))
        return self._model.scores(rows, threads(self.n_jobs))

    def predict(self, X: Any) -> np.ndarray:
        """Labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            A label for each row.
        """
        rows = _data.rows(self._checked(X))
        return self.classes_[self._model.predict(rows, threads(self.n_jobs))]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _gives_probabilities(estimator: Any) -> bool:
    return estimator._gives_probabilities()


class Probabilities:
    """Probabilities of classes, of learners whose scores are log-odds."""

    def _gives_probabilities(self) -> bool:
        """Whether the learner, as its parameters are, gives probabilities."""
        return True

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            A column for each class, in the order of ``classes_``; each row sums to 1.
        """
        rows = _data.rows(self._checked(X))
        return self._model.probabilities(rows, threads(self.n_jobs))

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            A column for each class, in the order of ``classes_``.
        """
        return np.log(self.predict_proba(X))


class EarlyStopping:
    """Parameters by which a run may end early, with scikit-learn's meaning."""

    def _session(self) -> dict[str, Any]:
        session = super()._session()
        if self.early_stopping:
            share = self.validation_fraction
            if not (isinstance(share, Real) and 0 < share < 1):
                raise ValueError(
                    f"The 'validation_fraction' parameter of {type(self).__name__} must be a "
                    f"float in the range (0.0, 1.0). Got {share!r} instead."
                )
            session["validate"] = share
        elif "tol" in self._own and self.tol is not None:
            session["plateau"] = (self.tol, self.n_iter_no_change)
        return session

    def _options(self) -> dict[str, str]:
        found = super()._options()
        if self.early_stopping:
            found |= _options.options(
                type(self).__name__, {"n_iter_no_change": self.n_iter_no_change}
            )
        return found
