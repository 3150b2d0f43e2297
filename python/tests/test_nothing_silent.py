"""What once went wrong without a word."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import (
    KernelPerceptron,
    LinearUnit,
    MaxMarginClassifier,
    Perceptron,
    PerceptronNetwork,
    check_separability,
    load,
    save,
)

IRIS, SPECIES = load_iris(return_X_y=True)
SETOSA = (SPECIES == 0).astype(int)


def test_pairs_give_a_score_for_each_class():
    X, y = np.vstack([IRIS, IRIS + 20]), np.r_[SPECIES, SPECIES + 3]
    for clf in (Perceptron(multiclass="ovo"), MaxMarginClassifier(multiclass="ovo")):
        scores = clf.fit(X, y).decision_function(X)
        assert scores.shape == (300, 6)
        # The scores of pairs decide between classes that win as many, and the model does not.
        wins = np.round(scores)
        assert (wins[np.arange(300), clf.predict(X)] == wins.max(axis=1)).all()
        assert (wins.sum(axis=1) == 15).all()
        two = clf.fit(IRIS, SETOSA).decision_function(IRIS)
        assert two.shape == (150,) and ((two > 0) == SETOSA).all()


def test_pairs_can_be_calibrated():
    clf = CalibratedClassifierCV(MaxMarginClassifier(multiclass="ovo"), cv=3)
    assert clf.fit(IRIS, SPECIES).score(IRIS, SPECIES) > 0.9


@pytest.mark.parametrize(
    "clf, advice",
    [
        (Perceptron(max_iter=20), "increasing max_iter"),
        (Perceptron(max_updates=9), "max_updates was reached"),
        (Perceptron(time_limit=1e-9), "time_limit was reached"),
        (KernelPerceptron("linear", max_iter=3), "increasing max_iter"),
        (LinearUnit(max_iter=2), "increasing max_iter"),
        (LinearUnit(eta0=10.0), "diverged, and what the model predicts is worth nothing"),
        (MaxMarginClassifier(max_iter=1), "increasing max_iter"),
        (PerceptronNetwork([2], max_iter=1), "increasing max_iter"),
    ],
)
def test_a_run_that_is_not_done_is_warned_of(clf, advice):
    with pytest.warns(ConvergenceWarning, match=advice):
        clf.fit(IRIS, SPECIES)


def test_a_run_that_is_done_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron().fit(IRIS, SETOSA)
        Perceptron(tol=1e-3).fit(IRIS, SPECIES)
        MaxMarginClassifier().fit(IRIS, SETOSA)
        Perceptron().partial_fit(IRIS, SPECIES, classes=[0, 1, 2])


def test_misspelt_classes_have_no_weight():
    names = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
    clf = Perceptron(max_iter=2, class_weight={"setosa": 2, "versicolour": 3})
    for learn in (clf.fit, lambda X, y: clf.partial_fit(X, y, classes=np.unique(y))):
        with pytest.raises(ValueError, match="'versicolour'.*not.*'versicolor', 'virginica'"):
            learn(IRIS, names)
    # One left out has the weight 1; a fold may miss a class, as scikit-learn has it.
    clf.set_params(class_weight={"setosa": 2}).fit(IRIS, names)
    clf.set_params(class_weight={"setosa": 2, "versicolor": 1, "virginica": 1, "other": 9})
    clf.fit(IRIS, names)


@pytest.mark.parametrize("readout", ["averaged", "last", "random"])
@pytest.mark.parametrize("y", [SETOSA, SPECIES], ids=["two", "three"])
def test_weights_that_are_set_predict(y, readout, tmp_path):
    clf = Perceptron(max_iter=5, readout=readout, shuffle=False).fit(IRIS, y)
    answers = clf.predict(IRIS)
    coef, intercept = -clf.coef_, 1 - clf.intercept_
    clf.coef_ = coef
    clf.intercept_ = intercept
    scores = IRIS @ coef.T + intercept
    found = clf.decision_function(IRIS).reshape(scores.shape)
    assert np.allclose(found, scores, rtol=1e-12)
    assert (clf.predict(IRIS) != answers).any()
    for again in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert (again.coef_ == coef).all() and (again.predict(IRIS) == clf.predict(IRIS)).all()
    save(clf, tmp_path / "m.rbm")
    assert (load(tmp_path / "m.rbm").coef_ == coef).all()
    # A further run begins there.
    other = Perceptron(max_iter=1, readout=readout, shuffle=False)
    other.fit(IRIS, y, coef_init=coef, intercept_init=intercept)
    clf.partial_fit(IRIS, y)
    assert (clf.coef_ == other.coef_).all() and (clf.intercept_ == other.intercept_).all()


def test_weights_that_cannot_be_set_say_so():
    clf = Perceptron().fit(IRIS, SETOSA)
    before = clf.coef_
    for value, message in (([[1.0, 2.0]], "expected 1 × 4 weights"), ([4 * [np.nan]], "finite")):
        with pytest.raises(ValueError, match=message):
            clf.coef_ = value
    for again in (clf, pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        with pytest.raises(ValueError, match="read-only"):
            again.coef_[0, 0] = 3
        with pytest.raises(ValueError, match="read-only"):
            again.intercept_ += 1
    assert clf.coef_ is before
    kernel = KernelPerceptron().fit(IRIS, SETOSA)
    with pytest.raises(AttributeError, match="dual_coef_ of a fitted KernelPerceptron"):
        kernel.dual_coef_ = kernel.dual_coef_
    with pytest.raises(AttributeError, match="not linear"):
        kernel.coef_ = [[1.0, 2.0, 3.0, 4.0]]


@pytest.mark.parametrize(
    "labels",
    [
        [False, True],
        ["False", "True"],
        ["1", "2"],
        [1, 2],
        ["0.5", "2"],
        [1.0, 2.0],
        ["a", "b"],
        np.array(["1", "2"], dtype=object),
    ],
)
def test_labels_come_back_as_they_were(labels, tmp_path):
    y = np.array(labels)[SETOSA]
    clf = Perceptron().fit(IRIS, y)
    for _ in range(2):
        save(clf, tmp_path / "m.rbm")
        clf = load(tmp_path / "m.rbm")
        assert clf.classes_.tolist() == list(labels)
        assert [type(label) for label in clf.classes_.tolist()] == [
            type(label) for label in np.array(labels).tolist()
        ]
    assert (clf.predict(IRIS) == y).all()
    clf.partial_fit(IRIS, y)


@pytest.mark.parametrize(
    "clf, equal",
    [
        (Perceptron(), {"eta0": 1}),
        (Perceptron(), {"eta0": 1.0, "readout": "averaged", "bias": "lifted"}),
        (Perceptron(eta0=1, readout="averaged", bias="lifted"), {"eta0": None, "bias": None}),
        (Perceptron(), {"order": "shuffled", "random_state": None, "margin": 0}),
        (Perceptron(shuffle=False), {"shuffle": True, "order": "given"}),
        (Perceptron(fit_intercept=False), {"fit_intercept": True, "bias": "none"}),
        (Perceptron(class_weight={0: 2, 1: 3}), {"class_weight": {1: 3.0, 0: 2.0, 2: 1}}),
        (LinearUnit(gradient="stochastic", eta0=0.5), {"eta0": 0.5, "decay": 0}),
    ],
)
def test_parts_go_on_with_parameters_that_mean_the_same(clf, equal):
    clf.partial_fit(IRIS, SPECIES, classes=[0, 1, 2])
    clf.set_params(**equal).partial_fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="differs"):
        clf.set_params(eta0=0.25).partial_fit(IRIS, SPECIES)


def test_a_verdict_between_yes_and_no_is_neither():
    found = check_separability(IRIS, SPECIES)
    assert found.verdict == "quasi-separable"
    with pytest.raises(ValueError, match="verdict == 'separable', or verdict != 'overlapping'"):
        bool(found)
    assert check_separability(IRIS, SETOSA) and not check_separability(IRIS, SPECIES == 1)


@pytest.mark.parametrize("label", [0, 1, "yes"])
def test_one_class_is_nothing_to_separate(label):
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        check_separability(IRIS, [label] * 150)
    found = check_separability(IRIS, SETOSA)
    assert not found.holds(IRIS, [label] * 150)
