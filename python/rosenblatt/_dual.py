"""What learners over kernels share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np
from scipy import sparse

from . import _core
from ._base import Estimator

if TYPE_CHECKING:
    from typing_extensions import Self


def trained_on(labels: np.ndarray, share: float, seed: dict[str, str]) -> np.ndarray:
    """The rows that the core keeps to train on when it holds out a share.

    It does not tell, so it is asked: one pass over rows with a feature each, every one of
    which calls for an update, leaves weights where rows were not held out.
    """
    n, classes = len(labels), int(labels.max()) + 1
    every = {"margin-demand": "1e300", "epochs": "1", "bias": "none", "readout": "last"}
    asked = _core.fit(
        {"learner": "perceptron", "order": "given", **every, **seed},
        (
            n,
            np.arange(n + 1, dtype=np.uintp),
            np.arange(n, dtype=np.uint32),
            np.ones(n, dtype=np.float32),
        ),
        labels,
        [str(label) for label in range(classes)],
        validate=share,
    )
    assert asked.weights is not None, "a perceptron is linear"
    return np.flatnonzero(asked.weights[0].any(axis=0))


#: Kernels whose numbers may be parameters of their own, as in scikit-learn.
NUMBERED = {
    "rbf": "rbf:{gamma!r}",
    "laplacian": "laplacian:{gamma!r}",
    "poly": "polynomial:{degree},{gamma!r},{coef0!r}",
    "polynomial": "polynomial:{degree},{gamma!r},{coef0!r}",
    "sigmoid": "sigmoid:{gamma!r},{coef0!r}",
}


class Dual(Estimator):
    """A learner whose model is coefficients of training rows."""

    kernel: str | Callable[[Any, Any], Any] | None
    gamma: float | str
    degree: int
    coef0: float
    memory: int | None
    support_: np.ndarray
    support_vectors_: Any
    n_support_: np.ndarray
    dual_coef_: np.ndarray

    def _train(self, X: Any, y: np.ndarray, weight: np.ndarray | None, **run: Any) -> Self:
        self._gamma = self._gamma_for(X) if self._numbered() else None
        values = self._values(X, X) if callable(self.kernel) else X
        super()._train(values, y, weight, **run)
        if hasattr(self, "support_"):
            held = y[self.support_]
            of_class = np.array([(held == label).sum() for label in self.classes_])
            self.__dict__["n_support_"] = of_class.astype(np.int32)
            if self._takes_rows():
                self.__dict__["support_vectors_"] = X[self.support_]
            self._lock()
        return self

    def _numbered(self) -> str | None:
        """How a kernel that is named without numbers takes them."""
        return NUMBERED.get(self.kernel) if isinstance(self.kernel, str) else None

    def _takes_rows(self) -> bool:
        """Whether X holds rows, and not kernel values."""
        return callable(self.kernel) or self.kernel != "precomputed"

    def _values(self, X: Any, Y: Any) -> np.ndarray:
        """What a callable kernel says of each pair of rows."""
        assert callable(self.kernel)
        found = np.ascontiguousarray(self.kernel(X, Y), dtype=np.float64)
        if found.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"the kernel gave an array of shape {found.shape} for {X.shape[0]} and "
                f"{Y.shape[0]} rows; expected {(X.shape[0], Y.shape[0])}"
            )
        if not np.isfinite(found).all():
            raise ValueError("the kernel gave values that are not finite")
        return found

    def _gamma_for(self, X: Any) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.gamma == "auto":
            return 1.0 / int(X.shape[1])
        if self.gamma != "scale":
            raise ValueError(
                f"The 'gamma' parameter of {type(self).__name__} must be 'scale', 'auto' or a "
                f"number. Got {self.gamma!r} instead."
            )
        mean = X.mean(dtype=np.float64)
        square = X.multiply(X).mean(dtype=np.float64) if sparse.issparse(X) else None
        variance = np.var(X, dtype=np.float64) if square is None else square - mean**2
        return 1.0 / (X.shape[1] * float(variance)) if variance > 0 else 1.0

    def _given(self) -> dict[str, Any]:
        given = super()._given()
        if callable(self.kernel):
            given["kernel"] = "precomputed"
        form = self._numbered()
        if form is not None:
            # Where no rows were seen yet any gamma does: it is the form that is checked.
            gamma = getattr(self, "_gamma", None) or 1.0
            coef0 = float(self.coef0)
            given["kernel"] = form.format(gamma=gamma, degree=self.degree, coef0=coef0)
        return given

    def _session(self) -> dict[str, Any]:
        return {**super()._session(), "memory": self.memory}

    def _rows(
        self,
        X: Any,
        labels: np.ndarray,
        counted: np.ndarray | None,
        options: dict[str, str],
        share: float | None,
    ) -> Any:
        kept = None if counted is None else np.flatnonzero(counted)
        if share is not None:
            seed = {name: options[name] for name in ("seed",) if name in options}
            inner = trained_on(labels, share, seed)
            kept = inner if kept is None else kept[inner]
        self._trained = kept
        is_gram = callable(self.kernel) or self.kernel == "precomputed"
        self._taken = kept if is_gram else None
        if self._taken is not None:
            n = len(labels) if counted is None else len(counted)
            if X.shape[1] != n:
                raise ValueError(
                    f"a Gram matrix is square: X has {n} rows and {X.shape[1]} columns"
                )
        return super()._rows(self._columns(X), labels, counted, options, share)

    def _columns(self, X: Any) -> Any:
        """Kernel values with the rows trained on alone, which are all that the core knows."""
        taken = getattr(self, "_taken", None)
        return X if taken is None else X[:, taken]

    def _checked(self, X: Any) -> Any:
        rows = super()._checked(X)
        if not callable(self.kernel):
            return self._columns(rows)
        # Of the rows trained on only those that were corrected are asked for.
        trained = np.arange(self._model.features) if self._trained is None else self._trained
        values = np.zeros((rows.shape[0], len(trained)))
        if len(self.support_) and len(values):
            places = np.searchsorted(trained, self.support_)
            values[:, places] = self._values(rows, self.support_vectors_)
        return values

    def _feature_names(self) -> Any:
        names = None if callable(self.kernel) else super()._feature_names()
        return None if names is None else self._columns(names[None])[0]

    def _describe(self) -> None:
        super()._describe()
        # The core counts the rows that it trains on, users those of their X.
        trained = getattr(self, "_trained", None)
        if trained is not None and hasattr(self, "support_"):
            self.__dict__["support_"] = trained[self.support_]
            self._lock()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = not self._takes_rows()
        return tags
