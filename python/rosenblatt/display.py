"""Pictures of fitted classifiers, with matplotlib.

They follow scikit-learn's displays: ``from_estimator`` works out what is to be seen and draws it,
``plot`` draws it again, and what was drawn stays at hand in ``ax_`` and ``figure_``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import Estimator

#: Colours that can be told apart by those who see red and green alike (Okabe and Ito, 2008).
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def _axes(ax: Any) -> Any:
    """The axes to draw on, new ones unless some are given."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("displays draw with matplotlib: pip install matplotlib") from error
    return plt.subplots()[1] if ax is None else ax


class BoundaryDisplay:
    """The regions of two features that a classifier gives to each class.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    xx, yy : ndarray of shape (n, n)
        The places where the classifier was asked.
    response : ndarray of shape (n, n)
        The number of the class that it gave each.
    scores : ndarray of shape (n, n) or None
        Of two classes the score of the second.
    rows : ndarray of shape (n_samples, 2)
        The rows to show.
    labels : ndarray of shape (n_samples,)
        The number of the class of each.
    classes : list of str
        The names of the classes.
    support : ndarray or None
        The rows that the model holds.
    names : list of str
        The names of the features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it was drawn on.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.display import BoundaryDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = Perceptron().fit(X[:, :2], y == 0)
    >>> BoundaryDisplay.from_estimator(clf, X[:, :2], y == 0).response.shape  # doctest: +SKIP
    (200, 200)
    """

    def __init__(
        self,
        *,
        xx: np.ndarray,
        yy: np.ndarray,
        response: np.ndarray,
        scores: np.ndarray | None,
        rows: np.ndarray,
        labels: np.ndarray,
        classes: list[str],
        support: np.ndarray | None,
        names: list[str],
    ) -> None:
        self.xx = xx
        self.yy = yy
        self.response = response
        self.scores = scores
        self.rows = rows
        self.labels = labels
        self.classes = classes
        self.support = support
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Any,
        y: Any,
        *,
        grid_resolution: int = 200,
        eps: float = 0.1,
        ax: Any = None,
    ) -> BoundaryDisplay:
        """Ask a fitted classifier of two features about a grid of places, and draw its answers.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of this package that takes two features.
        X : array-like of shape (n_samples, 2)
            Rows to show, which the grid surrounds.
        y : array-like of shape (n_samples,)
            Their labels.
        grid_resolution : int, default=200
            Places along each axis.
        eps : float, default=0.1
            How far the grid goes beyond the rows, as a share of their extent.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        display : BoundaryDisplay
            What was drawn.
        """
        check_is_fitted(estimator, "_model")
        if estimator.n_features_in_ != 2:
            raise ValueError(
                f"a picture has two axes, and the classifier takes {estimator.n_features_in_} "
                "features; fit it on two of them"
            )
        names = list(map(str, getattr(estimator, "feature_names_in_", ("x0", "x1"))))
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        labels = estimator._known(np.asarray(y))
        low, high = rows.min(axis=0), rows.max(axis=0)
        room = eps * np.where(high > low, high - low, 1.0)
        sides = [np.linspace(a, b, grid_resolution) for a, b in zip(low - room, high + room)]
        xx, yy = np.meshgrid(*sides)
        grid: Any = np.column_stack([xx.ravel(), yy.ravel()])
        if hasattr(estimator, "feature_names_in_") and hasattr(X, "iloc"):
            grid = type(X)(grid, columns=X.columns)
        found = estimator._known(estimator.predict(grid)).reshape(xx.shape)
        scores = None
        if len(estimator.classes_) == 2:
            scores = estimator.decision_function(grid).reshape(xx.shape)
        return cls(
            xx=xx,
            yy=yy,
            response=found,
            scores=scores,
            rows=rows,
            labels=labels,
            classes=list(map(str, estimator.classes_.tolist())),
            support=getattr(estimator, "support_vectors_", None),
            names=names,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> BoundaryDisplay:
        """Draw the regions, the rows, where a score is 0, and the rows that the model holds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        self : BoundaryDisplay
            This display.
        """
        ax = _axes(ax)
        k = len(self.classes)
        colours = [COLOURS[c % len(COLOURS)] for c in range(k)]
        levels = np.arange(k + 1) - 0.5
        ax.contourf(self.xx, self.yy, self.response, levels=levels, colors=colours, alpha=0.25)
        crosses = self.scores is not None and self.scores.min() < 0 < self.scores.max()
        if crosses:
            ax.contour(self.xx, self.yy, self.scores, levels=[0.0], colors="black", linewidths=1)
        for number, name in enumerate(self.classes):
            here = self.rows[self.labels == number]
            ax.scatter(here[:, 0], here[:, 1], s=18, color=colours[number], label=name)
        if self.support is not None:
            support: Any = self.support
            held = support.toarray() if hasattr(support, "toarray") else support
            ax.scatter(
                held[:, 0], held[:, 1], s=60, facecolors="none", edgecolors="black", label="support"
            )
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class RunDisplay:
    """What a run found pass by pass: its mistakes, or its loss.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    values : ndarray of shape (n_passes,)
        What is drawn of each pass.
    name : str
        What it is.
    bound : int or None
        The updates that the theorem allows in all.
    stop_reason : str or None
        Why the run ended.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it was drawn on.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.display import RunDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> RunDisplay.from_estimator(Perceptron().fit(X, y == 0)).values  # doctest: +SKIP
    array([3, 0])
    """

    def __init__(
        self, *, values: np.ndarray, name: str, bound: int | None, stop_reason: str | None
    ) -> None:
        self.values = values
        self.name = name
        self.bound = bound
        self.stop_reason = stop_reason

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, *, kind: str = "mistakes", ax: Any = None
    ) -> RunDisplay:
        """Draw the run that fitted an estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of this package.
        kind : {"mistakes", "loss"}, default="mistakes"
            Wrong answers in each pass, or the mean loss.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        display : RunDisplay
            What was drawn.
        """
        check_is_fitted(estimator, "_model")
        if kind not in ("mistakes", "loss"):
            raise ValueError(f"kind must be 'mistakes' or 'loss'. Got {kind!r} instead.")
        mistakes = kind == "mistakes"
        return cls(
            values=estimator.mistakes_per_epoch_ if mistakes else estimator.loss_curve_,
            name="mistakes" if mistakes else "mean loss",
            bound=estimator.mistake_bound_ if mistakes else None,
            stop_reason=estimator.stop_reason_,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> RunDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        self : RunDisplay
            This display.
        """
        ax = _axes(ax)
        passes = np.arange(1, len(self.values) + 1)
        marker = "o" if len(passes) <= 50 else None
        ax.plot(passes, self.values, color=COLOURS[0], marker=marker, markersize=4)
        told = [] if self.stop_reason is None else [f"ended: {self.stop_reason}"]
        if self.bound is not None:
            told.append(f"{self.values.sum()} mistakes, at most {self.bound} updates")
        ax.set(xlabel="pass", ylabel=self.name, title="; ".join(told))
        ax.set_ylim(bottom=0)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class LearningCurveDisplay:
    """How the accuracy on rows that were held out grows with the rows that are learned.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    train_sizes : ndarray of shape (n_sizes,)
        How many rows were learned.
    train_scores, test_scores : ndarray of shape (n_sizes, n_folds)
        The accuracy on them, and on those held out.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    """

    def __init__(
        self, *, train_sizes: np.ndarray, train_scores: np.ndarray, test_scores: np.ndarray
    ) -> None:
        self.train_sizes = train_sizes
        self.train_scores = train_scores
        self.test_scores = test_scores

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        train_sizes: Any = (0.1, 0.2, 0.4, 0.7, 1.0),
        cv: Any = 5,
        ax: Any = None,
    ) -> LearningCurveDisplay:
        """Fit an estimator on more and more rows, and draw how right it is.

        Parameters
        ----------
        estimator : estimator
            A classifier or a pipeline; copies of it are fitted.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        train_sizes : array-like, default=(0.1, 0.2, 0.4, 0.7, 1.0)
            How many rows to learn: numbers, or shares of what a fold leaves.
        cv : int or cross-validation generator, default=5
            The folds.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        display : LearningCurveDisplay
            What was drawn.
        """
        from sklearn.model_selection import learning_curve

        # Rows are often sorted by class, and a part of them would miss some.
        found: Any = learning_curve(
            estimator, X, y, train_sizes=train_sizes, cv=cv, shuffle=True, random_state=0
        )
        sizes, train, test = found
        return cls(train_sizes=sizes, train_scores=train, test_scores=test).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> LearningCurveDisplay:
        """Draw the mean of the folds, and their standard deviation around it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        self : LearningCurveDisplay
            This display.
        """
        ax = _axes(ax)
        shown = (("learned", self.train_scores), ("held out", self.test_scores))
        for colour, (name, scores) in zip(COLOURS, shown):
            mean, deviation = scores.mean(axis=1), scores.std(axis=1)
            ax.plot(self.train_sizes, mean, color=colour, marker="o", markersize=4, label=name)
            ax.fill_between(
                self.train_sizes, mean - deviation, mean + deviation, color=colour, alpha=0.2
            )
        ax.set(xlabel="rows learned", ylabel="accuracy")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


__all__ = ["BoundaryDisplay", "LearningCurveDisplay", "RunDisplay"]
