"""What learners over kernels share."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core


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
    return np.flatnonzero(asked.weights[0].any(axis=0))


class Dual:
    """A learner whose model is coefficients of training rows."""

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
        self._taken = kept if self.kernel == "precomputed" else None
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
        return self._columns(super()._checked(X))

    def _feature_names(self) -> Any:
        names = super()._feature_names()
        return None if names is None else self._columns(names[None])[0]

    def _describe(self) -> None:
        super()._describe()
        # The core counts the rows that it trains on, users those of their X.
        trained = getattr(self, "_trained", None)
        if trained is not None and hasattr(self, "support_"):
            vars(self)["support_"] = trained[self.support_]
            self._lock()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
