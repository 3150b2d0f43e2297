"""Can the classes be separated? With proof."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Callable

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _get_feature_names, check_X_y

from . import _core, _data, _html
from ._base import Margin, threads
from ._design import design

#: The coefficient of the constant feature, in a :class:`Verdict`.
BIAS = "(bias)"

#: Ranks are first tried modulo this, as the checkers of certificate files do.
PRIME = 2**61 - 1

#: Gives a row by its number, signed by its class and lifted where there is a bias.
Signed = Callable[[int], list[Fraction]]


@dataclass(frozen=True)
class Verdict:
    """What :func:`check_separability` found.

    Attributes
    ----------
    verdict : {"separable", "quasi-separable", "overlapping", "undecided"}
        Whether some plane has every row strictly on its own side; or none has, but one has no
        row on the wrong side and some strictly on the right one; or neither. "undecided": the
        time limit ended the search; if there are ``multipliers``, they prove that the rows are
        not separable.
    margin : Margin or None
        Bounds on the margin, the separator's norm counting its bias, if separable.
    plain_margin : Margin or None
        The same with the bias left out of the norm.
    radius : float or None
        R, the length of the longest row, lifted where there is a bias.
    mistake_bound : int or None
        Updates that a perceptron from zero makes at most, if separable.
    infinite_coefficients : dict of str to {"+inf", "-inf", "either"}, or None
        Coefficients of a logistic regression whose estimates are not finite, and where they
        go ("either": no unique limit, finite or infinite). None: coefficients were not
        classified, being more than ``max_coefficients`` or of three or more classes.
    not_identified : list of str or None
        Coefficients that other coefficients can make up for exactly. None: not classified.
    rank : int or None
        The rank of all rows, where coefficients were classified.
    separator : list of int or None
        The certificate, first half: w with :math:`w \\cdot z \\ge 0` for every row z, signed
        by its class and lifted where there is a bias (which then comes first); strictly if
        separable. For several classes, a vector for each but the last, whose scores are 0,
        one after the other.
    multipliers : dict of int to int
        The certificate, second half, for two classes: rows (from 0) and whole numbers
        :math:`\\lambda > 0` with :math:`\\sum \\lambda_i z_i = 0`; empty if separable.
    support : list of int
        The rows that the proof needs.
    separated : list of int or None
        Quasi-separable: the rows that the separator has strictly on their right side.
    n_samples : int
        How many rows it was found for.
    fewest_misclassified : int or None
        Undecided: how many rows the best plane met does not have strictly on their right side.
    outcome : object
        The class whose odds a logistic regression of two classes models, the last of them.
    reference_levels : dict of str to str
        The level of each category of a frame that stands in no column of its own.
    """

    verdict: str
    margin: Margin | None
    plain_margin: Margin | None
    radius: float | None
    mistake_bound: int | None
    infinite_coefficients: dict[str, str] | None
    not_identified: list[str] | None
    rank: int | None
    separator: list[int] | None
    multipliers: dict[int, int]
    support: list[int]
    separated: list[int] | None
    n_samples: int
    fewest_misclassified: int | None = None
    outcome: Any = None
    reference_levels: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether the classes are separable; refused where that is neither yes nor no."""
        if self.verdict == "undecided":
            raise ValueError("undecided: the time limit ended the search without a verdict")
        if self.verdict == "quasi-separable":
            raise ValueError(
                "a quasi-separable verdict is neither true nor false: no plane separates the "
                "classes strictly, and yet a logistic regression has no finite estimates. Ask "
                "verdict == 'separable', or verdict != 'overlapping'"
            )
        return self.verdict == "separable"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        told = {
            "verdict": self.verdict,
            "margin": None if self.margin is None else f"{self.margin.lower:g}",
            "mistake bound": self.mistake_bound,
            "infinite coefficients": ", ".join(
                f"{name} {sign}" for name, sign in (self.infinite_coefficients or {}).items()
            ),
            "not identified": ", ".join(self.not_identified or []),
            "rows of the proof": len(self.support) or None,
            "rows": self.n_samples,
        }
        return _html.facts(told)

    def holds(
        self, X: Any, y: Any = None, *, data: Any = None, fit_intercept: bool = True
    ) -> bool:
        """Check the certificate of two classes in exact arithmetic, row by row.

        It takes nothing but fractions and the definition, and so is slow: it is meant for
        those who would rather not trust the search.

        Parameters
        ----------
        X, y, data
            What the verdict was found for.
        fit_intercept : bool, default=True
            Whether it was found with a bias.

        Returns
        -------
        holds : bool
            Whether the separator separates as claimed and the multipliers balance; if
            overlapping, whether their rows also span all rows. False for data of another
            number of rows.
        """
        found = design(X, y, data, fit_intercept)
        fit_intercept = fit_intercept and not found.complete
        _data.refuse_rounding(found.X)
        X, y = found.X.toarray() if issparse(found.X) else found.X, found.y
        X, y = check_X_y(X, y, accept_sparse=False, dtype=_data.FLOATS)
        classes = np.unique(y)
        if len(classes) > 2:
            raise ValueError("the certificate of several classes is not checked here")
        if len(y) != self.n_samples or len(classes) < 2:
            return False

        def signed(i: int) -> list[Fraction]:
            sign = 1 if y[i] == classes[-1] else -1
            row = [Fraction(1)] if fit_intercept else []
            row += [self._exact(x) for x in X[i]]
            return [sign * x for x in row]

        if self.verdict == "overlapping":
            return self._balances(signed) and self._spans(signed)
        if self.verdict == "quasi-separable":
            return self._separates(signed) and self._balances(signed)
        if self.verdict == "undecided":
            return self._balances(signed)
        return self.verdict == "separable" and self._separates(signed)

    def _exact(self, x: Any) -> Fraction:
        """What a number of X stands for."""
        return Fraction(float(x))

    def _separates(self, signed: Signed) -> bool:
        """Whether the separator has the rows that it should on their right side, none wrong."""
        if self.separator is None:
            return False
        everywhere = self.verdict == "separable"
        strict = set(range(self.n_samples)) if everywhere else set(self.separated or [])
        for i in range(self.n_samples):
            row = signed(i)
            score = _dot(self.separator, row)
            if len(row) != len(self.separator) or score < 0 or (score > 0) != (i in strict):
                return False
        return bool(strict) and strict <= set(range(self.n_samples))

    def _balances(self, signed: Signed) -> bool:
        """Whether the multipliers are positive and their rows cancel."""
        if not self.multipliers or min(self.multipliers.values()) <= 0:
            return False
        if not set(self.multipliers) <= set(range(self.n_samples)):
            return False
        rows = [[m * z for z in signed(i)] for i, m in self.multipliers.items()]
        return all(sum(column) == 0 for column in zip(*rows))

    def _spans(self, signed: Signed) -> bool:
        """Whether the rows of the multipliers span all rows.

        A plane with no row on its wrong side holds the rows of the multipliers, and so all
        that they span; a row outside could still be strictly on its right side.
        """
        rows = [signed(i) for i in self.multipliers]
        if _rank_at_least(rows) == len(rows[0]):
            return True
        free = _null_space(rows)
        return all(
            _dot(vector, signed(i)) == 0 for i in range(self.n_samples) for vector in free
        )


def _dot(v: list[Any], w: list[Any]) -> Any:
    return sum(a * b for a, b in zip(v, w))


def _rank_at_least(rows: list[list[Fraction]]) -> int:
    """The rank of rows modulo a prime, which is quick and at most the true one."""
    echelon: dict[int, list[int]] = {}
    for row in rows:
        scale = math.lcm(*(value.denominator for value in row))
        left = [int(value * scale) % PRIME for value in row]
        for place, pivot in echelon.items():
            left = [value % PRIME for value in _without(left, pivot, place)]
        first = next((j for j, value in enumerate(left) if value), None)
        if first is not None:
            inverse = pow(left[first], -1, PRIME)
            echelon[first] = [value * inverse % PRIME for value in left]
    return len(echelon)


def _null_space(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """A basis of what is orthogonal to all rows."""
    columns = len(rows[0])
    echelon: dict[int, list[Fraction]] = {}
    for row in rows:
        for place, pivot in echelon.items():
            row = _without(row, pivot, place)
        first = next((j for j, value in enumerate(row) if value), None)
        if first is None:
            continue
        row = [value / row[first] for value in row]
        echelon = {j: _without(pivot, row, first) for j, pivot in echelon.items()}
        echelon[first] = row
    free = [j for j in range(columns) if j not in echelon]
    return [
        [-echelon[i][j] if i in echelon else Fraction(i == j) for i in range(columns)]
        for j in free
    ]


def _without(row: list[Any], pivot: list[Any], place: int) -> list[Any]:
    """The row less the multiple of a pivot that makes it 0 in the pivot's place."""
    factor = row[place]
    return [a - factor * b for a, b in zip(row, pivot)] if factor else row


def _refuse_one_name_for_two(names: list[str]) -> None:
    """The verdict finds coefficients by name, and would keep but one of two."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if BIAS in twice:
        raise ValueError(f"{BIAS!r} in feature_names is the name of the intercept")
    if twice:
        raise ValueError(f"feature_names must differ; more than one is {twice[0]!r}")


def check_separability(
    X: Any,
    y: Any = None,
    *,
    data: Any = None,
    fit_intercept: bool = True,
    feature_names: Any = None,
    max_coefficients: int = 200,
    time_limit: float | None = None,
    verdict_only: bool = False,
    n_jobs: int | None = None,
) -> Verdict:
    """Decide whether classes can be separated by planes, and prove it.

    A logistic regression has finite and unique estimates if and only if the classes overlap
    and the columns of X are linearly independent (Albert and Anderson, 1984); where they do
    not, the verdict names the coefficients of two classes. A column of X that is constant while
    ``fit_intercept`` is true, as in a design matrix with its own constant, is then reported
    as not identified.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), str or model
        Rows; the verdict speaks of their numbers as they are, exactly, and so whole numbers
        that float64 cannot hold are refused. Each category of a frame becomes a column for
        each level but the first, as a regression's design matrix has them: column region
        gives ``region[T.north]``. A formula such as ``"y ~ x1 + C(region)"`` speaks of the
        columns of ``data`` and needs formulaic 1.1 or later. A model of statsmodels, fitted
        or not, has its own matrix and labels.
    y : array-like of shape (n_samples,), default=None
        Labels; not with a formula or a model.
    data : frame, default=None
        What a formula speaks of. Rows with missing values are refused, not left out.
    fit_intercept : bool, default=True
        Whether planes may stand off the origin. A formula or a model says that itself.
    feature_names : array-like of str, default=None
        Names for coefficients, each its own; None: the columns of a frame or formula, else
        x0, x1, …
    max_coefficients : int, default=200
        Classify coefficients if there are at most so many, the bias counted, and two classes;
        it costs a solve for each.
    time_limit : float, default=None
        Stop after so many seconds, with the verdict "undecided" where there is none yet, else
        without what is missing behind it.
    verdict_only : bool, default=False
        Leave out margins and coefficients.
    n_jobs : int, default=None
        Threads; None is all cores.

    Returns
    -------
    verdict : Verdict
        What was found, with its certificate.

    References
    ----------
    A. Albert and J. A. Anderson, "On the existence of maximum likelihood estimates in
    logistic regression models", Biometrika 71 (1984).

    Examples
    --------
    >>> from rosenblatt import check_separability
    >>> found = check_separability([[0.0], [1.0], [2.0], [2.0]], [0, 0, 0, 1])
    >>> found.verdict, found.infinite_coefficients
    ('quasi-separable', {'(bias)': '-inf', 'x0': '+inf'})
    >>> found.multipliers
    {2: 1, 3: 1}
    >>> found.holds([[0.0], [1.0], [2.0], [2.0]], [0, 0, 0, 1])
    True
    """
    given = design(X, y, data, fit_intercept)
    X, y = given.X, given.y
    fit_intercept = fit_intercept and not given.complete
    if feature_names is None:
        feature_names = given.names or _get_feature_names(X)
    _data.refuse_rounding(X)
    X, y = check_X_y(X, y, **_data.ROWS)
    check_classification_targets(y)
    if feature_names is None:
        feature_names = [f"x{j}" for j in range(X.shape[1])]
    if len(feature_names) != X.shape[1]:
        raise ValueError(f"{len(feature_names)} feature_names for {X.shape[1]} features")
    names = ([BIAS] if fit_intercept else []) + [str(name) for name in feature_names]
    _refuse_one_name_for_two(names)
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit={time_limit!r}: expected a number of seconds, at least 0")
    classes, labels = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {len(classes)} class"
        )
    found = _core.check(
        _data.rows(X),
        labels.astype(np.uint32),
        _data.names(classes),
        lifted=fit_intercept,
        most_coefficients=max_coefficients,
        time_limit=time_limit,
        verdict_only=verdict_only,
        threads=threads(n_jobs),
    )
    weights = [int(weight) for weight in found["multipliers"]]
    two = len(classes) <= 2
    if found["verdict"] == "undecided":
        return Verdict(
            verdict="undecided",
            margin=None,
            plain_margin=None,
            radius=None,
            mistake_bound=None,
            infinite_coefficients=None,
            not_identified=None,
            rank=None,
            separator=None,
            multipliers=dict(zip(found["support"], weights)) if two else {},
            support=found["support"],
            separated=None,
            n_samples=len(y),
            fewest_misclassified=found["fewest_misclassified"],
            outcome=classes[-1],
            reference_levels=given.reference_levels,
        )
    trends = dict(zip(names, found["trends"]))
    infinite = {n: t for n, t in trends.items() if t in ("+inf", "-inf", "either")}
    not_identified = [n for n, toward in trends.items() if toward == "not_identified"]
    # Nothing found is not the same as nothing looked for.
    classified = found["rank"] is not None

    def margin(kind: str, bounds: tuple[float, float] | None) -> Margin | None:
        return None if bounds is None else Margin(*bounds, kind)

    separator = found["separator"]
    return Verdict(
        verdict=found["verdict"],
        margin=margin("lifted", found["margin"]),
        plain_margin=margin("plain", found["plain_margin"]),
        radius=found["radius"],
        mistake_bound=found["mistake_bound"],
        infinite_coefficients=infinite if classified else None,
        not_identified=not_identified if classified else None,
        rank=found["rank"],
        separator=None if separator is None else [int(w) for w in separator],
        multipliers=dict(zip(found["support"], weights)) if two else {},
        support=found["support"],
        separated=found["separated"] if two else None,
        n_samples=len(y),
        outcome=classes[-1],
        reference_levels=given.reference_levels,
    )
