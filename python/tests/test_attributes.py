"""What fitted estimators show of their models: enough to work out their scores by hand."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from rosenblatt import (
    Arow,
    KernelPerceptron,
    MaxMarginClassifier,
    PassiveAggressive,
    Perceptron,
    PerceptronNetwork,
    load,
    save,
)

IRIS, SPECIES = load_iris(return_X_y=True)
SETOSA = SPECIES == 0


def similarity(X, Y):
    """A kernel of the user's own, for dense and sparse rows."""
    return pairwise_kernels(X, Y, metric="rbf", gamma=0.4)


def by_hand(clf, X):
    return similarity(X, clf.support_vectors_) @ clf.dual_coef_.T + clf.intercept_


@pytest.mark.parametrize("y", [SPECIES > 1, SPECIES], ids=["two", "three"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    "clf",
    [
        KernelPerceptron("rbf:0.4", max_iter=10),
        KernelPerceptron("rbf:0.4", bias="lifted", max_iter=10),
        KernelPerceptron("rbf:0.4", bias="unlifted:2", readout="last", max_iter=10),
        MaxMarginClassifier(kernel="rbf:0.4", tol=1e-10),
        MaxMarginClassifier(kernel="rbf:0.4", bias="unlifted", tol=1e-10),
    ],
)
def test_scores_are_sums_over_support_vectors(clf, container, y):
    X = container(IRIS)
    clf = clone(clf).fit(X, y)
    assert np.allclose(clf.decision_function(X).reshape(150, -1), by_hand(clf, X), atol=1e-9)
    # A callable kernel of the same values gives the same model.
    own = clone(clf).set_params(kernel=similarity).fit(X, y)
    assert np.allclose(own.decision_function(X), clf.decision_function(X), atol=1e-6)
    assert (own.support_ == clf.support_).mean() > 0.9
    assert np.allclose(own.decision_function(X).reshape(150, -1), by_hand(own, X), atol=1e-9)
    with pytest.raises(ValueError, match="read-only"):
        clf.intercept_[0] = 1
    with pytest.raises(AttributeError, match="intercept_ of a fitted .* cannot be set"):
        clf.intercept_ = clf.intercept_


def test_the_intercept_is_that_of_a_support_vector_machine():
    # Of rows that are there twice only the sum of their coefficients is determined.
    X, first = np.unique(IRIS, axis=0, return_index=True)
    X, y = X[SPECIES[first] > 0], SPECIES[first][SPECIES[first] > 0]
    theirs = SVC(C=0.5, gamma=0.4, tol=1e-8).fit(X, y)
    ours = MaxMarginClassifier(C=0.5, kernel="rbf", gamma=0.4, bias="unlifted", tol=1e-10)
    ours.fit(X, y)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert np.allclose(ours.support_vectors_, theirs.support_vectors_[np.argsort(theirs.support_)])
    coefficients = theirs.dual_coef_[:, np.argsort(theirs.support_)]
    assert np.allclose(ours.dual_coef_, coefficients, atol=1e-4)
    voted = KernelPerceptron(readout="voted").fit(X, y)
    assert not hasattr(voted, "intercept_")


@pytest.mark.parametrize("early_stopping", [False, True])
def test_callable_kernels_go_where_others_go(early_stopping, tmp_path):
    weight = np.ones(150)
    weight[20:40] = 0
    clf = KernelPerceptron(similarity, max_iter=10, early_stopping=early_stopping)
    clf.fit(IRIS, SPECIES, weight)
    named = clone(clf).set_params(kernel="rbf:0.4").fit(IRIS, SPECIES, weight)
    scores = clf.decision_function(IRIS)
    assert np.allclose(scores, named.decision_function(IRIS), atol=1e-9)
    assert clf.n_features_in_ == 4 and not set(clf.support_) & set(range(20, 40))
    for again in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert (again.decision_function(IRIS) == scores).all()
    # Saved it is a model for kernel values.
    save(clf, tmp_path / "m.rbm")
    loaded = load(tmp_path / "m.rbm")
    assert loaded.kernel == "precomputed"
    trained = IRIS if clf._trained is None else IRIS[clf._trained]
    assert np.allclose(loaded.decision_function(similarity(IRIS, trained)), scores)


def test_what_a_callable_kernel_must_give():
    with pytest.raises(ValueError, match=r"shape \(150,\) for 150 and 150 rows"):
        KernelPerceptron(lambda X, Y: X[:, 0]).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="not finite"):
        KernelPerceptron(lambda X, Y: np.full((len(X), len(Y)), np.nan)).fit(IRIS, SPECIES)


@pytest.mark.parametrize("y", [SETOSA, SPECIES], ids=["two", "three"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_weights_of_a_network_give_its_scores(activation, y):
    clf = PerceptronNetwork([5, 3], activation=activation, max_iter=20).fit(IRIS, y)
    function = np.tanh if activation == "tanh" else lambda x: np.maximum(x, 0)
    shapes = [weights.shape for weights in clf.coefs_]
    assert shapes == [(4, 5), (5, 3), (3, 1 if y is SETOSA else 3)]
    found = IRIS
    for weights, biases in zip(clf.coefs_, clf.intercepts_):
        found = found @ weights + biases
        if weights is not clf.coefs_[-1]:
            found = function(found)
    assert np.allclose(found, clf.decision_function(IRIS).reshape(150, -1), rtol=1e-9)
    with pytest.raises(ValueError, match="read-only"):
        clf.coefs_[0][0, 0] = 1
    with pytest.raises(AttributeError, match="coefs_ of a fitted PerceptronNetwork"):
        clf.coefs_ = []


@pytest.mark.parametrize("method", [None, "sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("y", [SPECIES > 1, SPECIES], ids=["two", "three"])
def test_a_calibrated_model_gives_probabilities(method, y, tmp_path):
    train, held_out = slice(0, None, 2), slice(1, None, 2)
    for clf in (
        Perceptron(max_iter=20),
        PassiveAggressive(max_iter=20),
        Arow(),
        KernelPerceptron("rbf", max_iter=20),
        MaxMarginClassifier(),
        PerceptronNetwork([8], loss="squared", max_iter=200),
    ):
        clf.fit(IRIS[train], y[train])
        assert not hasattr(clf, "predict_proba")
        labels, scores = clf.predict(IRIS), clf.decision_function(IRIS)
        assert clf.calibrate(IRIS[held_out], y[held_out], method) is clf
        shares = clf.predict_proba(IRIS)
        assert np.allclose(shares.sum(axis=1), 1) and (shares >= 0).all()
        assert log_loss(y, shares) < 0.6
        assert (clf.predict(IRIS) == labels).all()
        assert (clf.decision_function(IRIS) == scores).all()
        save(clf, tmp_path / "m.rbm")
        for again in (load(tmp_path / "m.rbm"), pickle.loads(pickle.dumps(clf))):
            assert (again.predict_proba(IRIS) == shares).all()
            assert np.allclose(again.predict_log_proba(IRIS), np.log(shares))
        # What a map was fitted to is gone with the next fit.
        clf.fit(IRIS[train], y[train])
        assert not hasattr(clf, "predict_proba")


def test_the_sigmoid_is_the_one_that_is_most_likely():
    clf = Perceptron(max_iter=20).fit(IRIS[::2], SPECIES[::2] > 1)
    clf.calibrate(IRIS[1::2], SPECIES[1::2] > 1, "sigmoid")
    odds = np.log(clf.predict_proba(IRIS)[:, 1] / clf.predict_proba(IRIS)[:, 0])
    slope, shift = np.polyfit(clf.decision_function(IRIS), odds, 1)
    assert np.allclose(odds, slope * clf.decision_function(IRIS) + shift, atol=1e-6) and slope > 0


def test_what_cannot_be_calibrated():
    clf = Perceptron(max_iter=20)
    with pytest.raises(Exception, match="not fitted"):
        clf.calibrate(IRIS, SETOSA)
    clf.fit(IRIS, SETOSA)
    with pytest.raises(AttributeError, match="predict_proba") as raised:
        clf.predict_proba(IRIS)
    assert "calibrate with rows that were held out" in str(raised.value.__cause__)
    with pytest.raises(ValueError, match="expected one of sigmoid, isotonic, temperature"):
        clf.calibrate(IRIS, SETOSA, "platt")
    with pytest.raises(ValueError, match="not of both classes"):
        clf.calibrate(IRIS[:50], SETOSA[:50])
    with pytest.raises(ValueError, match=r"not among the classes.*\[7\]"):
        clf.calibrate(IRIS[:2], [True, 7])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clf.calibrate(IRIS, SETOSA[:9])
    clf.calibrate(IRIS, SETOSA)
    # Other weights give other scores.
    clf.coef_ = -clf.coef_
    assert not hasattr(clf, "predict_proba")
