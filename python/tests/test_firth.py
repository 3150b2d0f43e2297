"""Firth's penalty beside the values that R's logistf publishes, and separation beside detectseparation's."""

from pathlib import Path

import numpy as np
import pytest

from rosenblatt import FirthLogistic, check_separability

EXAMPLES = Path(__file__).parents[2] / "examples"


def read(name, label):
    with open(EXAMPLES / f"{name}.csv") as file:
        names = file.readline().strip().split(",")
        values = np.loadtxt(file, delimiter=",")
    at = names.index(label)
    rest = [j for j in range(len(names)) if j != at]
    return values[:, rest], values[:, at], [names[j] for j in rest]


# Estimate, lower and upper end: logistf(case ~ age + oc + vic + vicl + vis + dia, sex2) and
# logistf(HG ~ NV + PI + EH, endometrial).
PUBLISHED = {
    ("sex2", "case"): [
        (0.12025405, -0.8185574, 1.07315110),
        (-1.10598130, -1.9737884, -0.30742658),
        (-0.06881673, -0.9414360, 0.78920202),
        (2.26887464, 1.2730233, 3.43543226),
        (-2.11140816, -3.2608611, -1.11773667),
        (-0.78831694, -1.6080879, 0.01518319),
        (3.09601166, 0.7745686, 8.03029352),
    ],
    ("endometrial", "HG"): [
        (3.77455951, 1.0825371, 7.20928050),
        (2.92927330, 0.6097244, 7.85463171),
        (-0.03475175, -0.1244587, 0.04045547),
        (-2.60416387, -4.3651832, -1.23272106),
    ],
}


@pytest.mark.parametrize("name, label", PUBLISHED)
def test_published_values(name, label):
    X, y, names = read(name, label)
    clf = FirthLogistic().fit(X, y)
    found = np.column_stack([np.r_[clf.intercept_, clf.coef_[0]], clf.intervals_])
    assert np.abs(found - PUBLISHED[name, label]).max() < 1e-4
    # detectseparation's verdicts: one infinite estimate in each.
    infinite = {"sex2": "dia", "endometrial": "NV"}[name]
    verdict = check_separability(X, y, feature_names=names)
    assert verdict.verdict == "quasi-separable"
    assert verdict.infinite_coefficients == {infinite: "+inf"}
    assert clf.separation_ == "quasi-complete"
    assert clf.maximum_likelihood_[f"x{names.index(infinite)}"] == "+inf"
    if name == "sex2":
        errors = [0.4855415, 0.4236601, 0.4437934, 0.5484160, 0.5430824, 0.4173676, 1.6750220]
        assert np.abs(clf.standard_errors_ - errors).max() < 1e-4
        assert clf.p_values_[-1] == pytest.approx(4.951873e-03, rel=1e-3)


def test_probabilities_and_refusals():
    X, y, _ = read("sex2", "case")
    clf = FirthLogistic(interval="wald", n_jobs=1).fit(X, np.where(y == 1, "ill", "well"))
    p = clf.predict_proba(X)
    assert np.allclose(p.sum(axis=1), 1)
    assert (clf.predict(X) == clf.classes_[p.argmax(axis=1)]).all()
    z = (clf.intervals_[:, 1] - clf.intervals_[:, 0]) / clf.standard_errors_ / 2
    assert np.allclose(z, 1.959964)
    with pytest.raises(ValueError, match="collinear columns .*: x0, x6"):
        FirthLogistic().fit(np.column_stack([X, 2 * X[:, 0]]), y)
    with pytest.raises(ValueError, match="binary"):
        FirthLogistic().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="level"):
        FirthLogistic(level=95).fit(X, y)


def test_weights_count_as_copies():
    X, y, _ = read("endometrial", "HG")
    weights = np.arange(len(y)) % 3
    copies = FirthLogistic().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = FirthLogistic().fit(X, y, sample_weight=weights)
    assert np.allclose(copies.coef_, weighted.coef_, rtol=1e-6)
    assert np.allclose(copies.intervals_, weighted.intervals_, rtol=1e-5)


def test_a_time_limit_and_the_verdict_alone():
    X, y, _ = read("sex2", "case")
    late = check_separability(X, y, time_limit=0)
    assert late.verdict == "undecided" and late.radius is None
    with pytest.raises(ValueError, match="undecided"):
        bool(late)
    alone = check_separability(X, y, verdict_only=True)
    assert alone.verdict == "quasi-separable" and alone.infinite_coefficients is None
    assert alone.holds(X, y)
    with pytest.raises(ValueError, match="time_limit"):
        check_separability(X, y, time_limit=-1)
