"""What all estimators share."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _html, _options

if TYPE_CHECKING:
    from typing_extensions import Self

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
    """Threads to use: unless told, as ``joblib.parallel_config`` says, else all cores."""
    if n_jobs is None:
        told: Any = get_active_backend()[1]
        n_jobs = int(told or -1)
    return int(effective_n_jobs(n_jobs))


def _told(record: dict[str, Any]) -> None:
    print(f"-- Epoch {record['epoch']}: {record['mistakes']} mistakes, loss {record['loss']:.6f}")


#: What to say of a run that ended before it was done, by its stop reason. The first is what
#: scikit-learn says, so that a filter for its warning is one for this.
UNFINISHED = {
    "epoch_limit": "Maximum number of iteration reached before convergence. Consider "
    "increasing max_iter to improve the fit.",
    "update_limit": "max_updates was reached before convergence.",
    "time_limit": "time_limit was reached before convergence.",
    "stuck": "Training got stuck; use more restarts or hidden units.",
    "diverged": "Training diverged, and what the model predicts is worth nothing; use a "
    "smaller eta0, or scale the features.",
}

#: Weights that can be set, and coefficients that cannot.
WEIGHTS = ("coef_", "intercept_")
COEFFICIENTS = ("support_", "dual_coef_", "support_vectors_", "n_support_")
LAYERS = ("coefs_", "intercepts_")

#: Weights to start from: coef_init and intercept_init.
Start = tuple[Any, Any]


class Estimator(ClassifierMixin, BaseEstimator):
    """A classifier on the core of the library."""

    #: Which learner of the library's.
    _learner: str
    n_jobs: int | None
    verbose: int
    random_state: Any

    _model: _core.Model
    _single: bool
    _visited: int
    classes_: np.ndarray
    coef_: Any
    intercept_: np.ndarray
    n_features_in_: int
    n_iter_: int
    n_mistakes_: int
    n_updates_: int
    mistakes_per_epoch_: np.ndarray
    loss_curve_: np.ndarray
    radius_: float | None
    margin_: Margin | None
    mistake_bound_: int | None
    stop_reason_: str | None
    #: Parameters that are not options of the library, or not by themselves.
    _own: frozenset[str] = frozenset(
        {
            "fit_intercept",
            "shuffle",
            "verbose",
            "n_jobs",
            "early_stopping",
            "validation_fraction",
            "n_iter_no_change",
            "warm_start",
            "memory",
            "gamma",
            "degree",
            "coef0",
        }
    )

    def _options(self) -> dict[str, str]:
        """The options that the parameters stand for."""
        given = self._given()
        weight = given.get("class_weight")
        if isinstance(weight, dict):
            given["class_weight"] = self._class_weight(weight)
        found = _options.options(type(self).__name__, given)
        # scikit-learn's names for one choice each of these options.
        if getattr(self, "bias", None) is None and not getattr(self, "fit_intercept", True):
            found["bias"] = "none"
        if getattr(self, "order", None) is None and not getattr(self, "shuffle", True):
            found["order"] = "given"
        return {"learner": self._learner, **found}

    def _given(self) -> dict[str, Any]:
        """The parameters that are options."""
        given = self.get_params(deep=False).items()
        return {name: value for name, value in given if name not in self._own}

    def _class_weight(self, weight: dict[Any, float]) -> dict[Any, float] | None:
        """Weights of classes that are there.

        As in scikit-learn, a weight may be of a class that y has not (a fold may miss one),
        but not where a class that it has is without: that is a label misspelt.
        """
        known = {str(label): label for label in self.classes_.tolist()}
        without = [label for label in known.values() if label not in weight]
        strange = [label for label in weight if label not in known.values()]
        if without and strange:
            raise ValueError(
                f"class_weight has {strange}, which y has not, and not {without}, which it has"
            )
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
    ) -> Self:
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
        return self._fit(X, y, sample_weight, progress)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        progress: Progress | None,
        start: Start | None = None,
    ) -> Self:
        with self._all_or_nothing():
            carry_on = self._model if self._carries_on() and start is None else None
            X, y = _data.checked(self, X, y, reset=carry_on is None)
            check_classification_targets(y)
            weight = _data.weights(sample_weight, X)
            if carry_on is None:
                self.classes_ = np.unique(y)
            self._visited = 0 if carry_on is None else carry_on.visits
            self._train(X, y, weight, carry_on=carry_on, start=start, progress=progress)
            self._warn_if_unfinished()
            return self

    def _warn_if_unfinished(self) -> None:
        advice = UNFINISHED.get(self.stop_reason_ or "")
        if advice is not None:
            warnings.warn(advice, ConvergenceWarning, stacklevel=4)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leaves the estimator as it was if a fit fails or is interrupted.

        Classes and features of new rows beside the model of old ones would predict nonsense.
        """
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
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
        start: Start | None = None,
        progress: Progress | None = None,
        **changes: str,
    ) -> Self:
        counted = _data.counted(weight)
        # The classes of rows of weight 0 are kept, but do not make two.
        there = self.classes_ if counted is None or carry_on else np.unique(y[counted])
        if len(there) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(there)} class"
            )
        if progress is None and self.verbose:
            progress = _told
        if counted is not None:
            y, weight = y[counted], None if weight is None else weight[counted]
        labels = self._known(y).astype(np.uint32)
        options, session = {**self._options(), **changes}, self._session()
        kept = len(y) * (1 - session.get("validate", 0))
        if kept < len(there):
            raise ValueError(
                f"early_stopping leaves {kept:.1f} of {len(y)} rows to train on, fewer than the "
                f"{len(there)} classes; use a smaller validation_fraction"
            )
        if carry_on is not None:
            if not _options.is_fixed(self.random_state):
                # A generator gives another seed each time, but a run goes on with its own.
                options["seed"] = carry_on.options["seed"]
            options = _options.as_before(options, carry_on.options)
        elif start is not None:
            carry_on = self._started(options, X.shape[1], *start)
        passed = 0 if carry_on is None else carry_on.epochs
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
        self.n_iter_ = self._model.epochs - passed
        return self

    def _started(
        self, options: dict[str, str], features: int, coef: Any, intercept: Any
    ) -> _core.Model:
        """A model with the weights that a run is to start from."""
        if options.get("embed", "none") != "none":
            raise ValueError("coef_init and intercept_init are weights of features, not of an embed")
        k = len(self.classes_)
        # One pass over rows without any numbers makes a model of the right shape.
        blank = _core.fit(
            {**{n: v for n, v in options.items() if n != "patience"}, "epochs": "1"},
            (
                features,
                np.zeros(k + 1, dtype=np.uintp),
                np.zeros(0, dtype=np.uint32),
                np.zeros(0),
            ),
            np.arange(k, dtype=np.uint32),
            _data.names(self.classes_),
        )
        if blank.weights is None:
            raise ValueError("coef_init and intercept_init need a linear model")
        found = []
        for name, given, like in zip(("coef", "intercept"), (coef, intercept), blank.weights):
            given = np.zeros_like(like) if given is None else np.asarray(given, np.float64)
            if given.shape != like.shape and (len(like) > 1 or given.size != like.size):
                raise ValueError(
                    f"Provided {name}_init does not match dataset: its shape is {given.shape}, "
                    f"expected {like.shape}"
                )
            found.append(np.ascontiguousarray(given.reshape(like.shape)))
        return blank.with_weights(*found)

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
        for name in WEIGHTS + COEFFICIENTS + LAYERS:
            self.__dict__.pop(name, None)
        if model.weights is not None:
            dtype = np.float32 if self._single else np.float64
            found = (part.astype(dtype, copy=False) for part in model.weights)
            self.__dict__.update(zip(WEIGHTS, found))
        if model.dual is not None:
            rows, coefficients, biases = model.dual
            self.__dict__.update(support_=rows, dual_coef_=coefficients)
            # The score of votes is no sum over rows.
            if model.options["readout"] != "voted":
                self.__dict__["intercept_"] = biases
        if model.layer_weights is not None:
            self.__dict__.update(zip(LAYERS, model.layer_weights))
        self._lock()

    def _lock(self) -> None:
        """Makes an attempt to change weights in place fail, which predictions would not see."""
        for name in WEIGHTS + COEFFICIENTS + LAYERS:
            found = self.__dict__.get(name)
            for array in found if isinstance(found, list) else [found]:
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute; weights that are set are those that predict from then on."""
        model = self.__dict__.get("_model")
        fixed = COEFFICIENTS + LAYERS
        if model is not None and (
            name in fixed or name == "intercept_" and model.dual is not None
        ):
            raise AttributeError(f"{name} of a fitted {type(self).__name__} cannot be set")
        if model is not None and name in WEIGHTS:
            if model.weights is None:
                raise AttributeError(f"the model is not linear: it has no {name}")
            weights = list(model.weights)
            dense = value.toarray() if sparse.issparse(value) else value
            weights[WEIGHTS.index(name)] = np.array(dense, dtype=np.float64, order="C")
            changed = model.with_weights(*weights)
            super().__setattr__("_model", changed)
            super().__setattr__("_visited", 0)
            value = value if sparse.issparse(value) else np.array(value)
        super().__setattr__(name, value)
        if name in WEIGHTS:
            self._lock()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._lock()

    def _told_of_run(self) -> str:
        """A table of what the run found, for notebooks; nothing before it."""
        if not hasattr(self, "_model"):
            return ""
        margin, support = self.margin_, getattr(self, "support_", None)
        told = {
            "classes": ", ".join(map(str, self.classes_.tolist())),
            "stop reason": self.stop_reason_,
            "passes": self._model.epochs,
            "mistakes": self.n_mistakes_,
            "updates": self.n_updates_,
            "updates at most": self.mistake_bound_,
            "margin": None if margin is None else f"{margin.lower:.4g} to {margin.upper:.4g}",
            "radius": None if self.radius_ is None else f"{self.radius_:.4g}",
            "rows of the model": None if support is None else len(support),
        }
        return _html.facts(told)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._told_of_run()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._told_of_run()
        return bundle

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "_model")
        return _data.checked(self, X, reset=False)

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
            column for each class. With ``multiclass="ovo"`` that is the number of pairs that
            the class wins, plus its scores in them, shrunk to decide between equals only.
        """
        scores = self._model_scores(X)
        if self._model.scheme == "ovo" and len(self.classes_) > 2:
            return self._wins(scores)
        if len(self.classes_) == 2 and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores.ravel() if scores.shape[1] == 1 else scores

    def _wins(self, scores: np.ndarray) -> np.ndarray:
        """What each class wins of its pairs (low, high), whose scores are above 0 for high."""
        k = len(self.classes_)
        wins, sums = np.zeros((len(scores), k)), np.zeros((len(scores), k))
        positive_at_zero = self._model.options["at-zero"] == "positive"
        low, high = np.triu_indices(k, 1)
        for pair, score in enumerate(scores.T):
            to_high = score >= 0 if positive_at_zero else score > 0
            wins[:, high[pair]] += to_high
            wins[:, low[pair]] += ~to_high
            sums[:, high[pair]] += score
            sums[:, low[pair]] -= score
        return np.asarray(wins + sums / (3 * (np.abs(sums) + 1)))

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
        return np.asarray(self.classes_[self._model.predict(rows, threads(self.n_jobs))])

    def _gives_probabilities(self) -> bool:
        """Whether the estimator, as its parameters are, gives probabilities."""
        model = self.__dict__.get("_model")
        if model is None or not model.has_probabilities:
            raise AttributeError(
                "scores are no probabilities before they are calibrated: by calibrate with rows "
                "that were held out, or by sklearn.calibration.CalibratedClassifierCV"
            )
        return True

    @available_if(lambda self: self._gives_probabilities())
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, where the estimator gives them.

        Logistic regressions and networks do, and any estimator after :meth:`calibrate`.

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

    @available_if(lambda self: self._gives_probabilities())
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
        return np.asarray(np.log(self.predict_proba(X)))

    def calibrate(self, X: Any, y: Any, method: str | None = None) -> Self:
        """Fit a map from scores to probabilities, which becomes part of the model.

        Until the next fit there are :meth:`predict_proba` and :meth:`predict_log_proba`, in a
        saved model, too. Labels are predicted as before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that the model was not trained on; each counts once.
        y : array-like of shape (n_samples,)
            Their labels.
        method : {"sigmoid", "isotonic", "temperature"}, default=None
            The map; None is "sigmoid" for two classes and "temperature" for more.

        Returns
        -------
        self : object
            The estimator.
        """
        rows = self._checked(X)
        y = column_or_1d(y)
        check_consistent_length(rows, y)
        self._model = self._model.calibrated(
            _data.rows(rows),
            self._known(y).astype(np.uint32),
            method,
            threads(self.n_jobs),
        )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class EarlyStopping(Estimator):
    """Parameters by which a run may end early, with scikit-learn's meaning."""

    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float | None

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
