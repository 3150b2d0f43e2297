"""Training, in one go and in parts, and what is said about it."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification

from rosenblatt import (
    KernelPerceptron,
    LinearUnit,
    MaxMarginClassifier,
    Perceptron,
    PerceptronNetwork,
    load,
    save,
    trace,
)

IRIS, SPECIES = load_iris(return_X_y=True)
AND = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
IS_AND = np.array([0, 0, 0, 1])


def test_boolean_and_as_in_the_textbook():
    clf = Perceptron(readout="last", shuffle=False).fit(AND, IS_AND)
    assert (clf.intercept_[0], *clf.coef_[0]) == (-4, 3, 2)
    assert (clf.n_mistakes_, clf.n_iter_, clf.stop_reason_) == (18, 9, "separated")
    assert clf.n_updates_ <= clf.mistake_bound_
    assert 0 < clf.margin_.lower <= clf.margin_.upper
    assert clf.radius_ == np.sqrt(3)
    assert clf.mistakes_per_epoch_.sum() == 18 and clf.mistakes_per_epoch_[-1] == 0
    for eta0 in (0.1, 7.0):
        other = Perceptron(readout="last", shuffle=False, eta0=eta0).fit(AND, IS_AND)
        assert other.n_mistakes_ == 18
        assert np.allclose(other.coef_, eta0 * clf.coef_)


def test_traces_tell_the_run():
    steps = trace(AND, IS_AND, ties="positive")
    assert steps[-1]["weights_after"].tolist() == [-3, 2, 1]
    assert sum(not step["correct"] for step in steps) == 11
    assert [step["row"] for step in steps[:4]] == [0, 1, 2, 3]
    dual = trace(AND, IS_AND, kernel="linear", bias="lifted")
    primal = trace(AND, IS_AND)
    assert [s["correct"] for s in dual] == [s["correct"] for s in primal]
    several = trace(IRIS, SPECIES, max_iter=1)
    assert several[0]["score"].shape == (3,) and several[0]["weights"].shape == (15,)
    with pytest.raises(TypeError, match="max_itr"):
        trace(AND, IS_AND, max_itr=3)


@pytest.mark.parametrize("readout", ["last", "averaged", "random"])
@pytest.mark.parametrize("labels", [SPECIES, SPECIES == 1], ids=["three", "two"])
def test_parts_make_the_visits_of_the_whole(readout, labels):
    whole = Perceptron(readout=readout, shuffle=False, max_iter=1).fit(IRIS, labels)
    parts = Perceptron(readout=readout, shuffle=False)
    for rows in np.array_split(np.arange(150), 7):
        parts.partial_fit(IRIS[rows], labels[rows], classes=np.unique(labels))
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert parts.intercept_.tobytes() == whole.intercept_.tobytes()
    assert parts.n_mistakes_ == whole.n_mistakes_


@pytest.mark.parametrize("order", ["given", "shuffled", "random", "by-class"])
def test_repeated_parts_are_passes(order):
    parts = Perceptron(order=order, random_state=5)
    for _ in range(6):
        parts.partial_fit(IRIS, SPECIES, classes=[0, 1, 2])
    whole = Perceptron(order=order, random_state=5, max_iter=6).fit(IRIS, SPECIES)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert parts.n_iter_ == 1 and parts.t_ == whole.t_ == 901 and whole.n_iter_ == 6
    warm = Perceptron(order=order, random_state=5, max_iter=3, warm_start=True)
    warm.fit(IRIS, SPECIES).fit(IRIS, SPECIES)
    assert warm.coef_.tobytes() == whole.coef_.tobytes()


def test_parts_of_stochastic_descent():
    parts = LinearUnit(gradient="stochastic", eta0=0.001, decay=0.01, shuffle=False)
    for rows in np.array_split(np.arange(150), 4):
        parts.partial_fit(IRIS[rows], SPECIES[rows], classes=[0, 1, 2])
    whole = clone(parts).set_params(max_iter=1).fit(IRIS, SPECIES)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert not hasattr(LinearUnit(), "partial_fit")
    assert not hasattr(KernelPerceptron(), "partial_fit")


def test_what_parts_cannot_do_is_said():
    clf = Perceptron()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        clf.partial_fit(IRIS, SPECIES)
    clf.partial_fit(IRIS, SPECIES, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"not among the classes.*\[7\]"):
        clf.partial_fit(IRIS[:2], [0, 7])
    with pytest.raises(ValueError, match="not the same as on last call"):
        clf.partial_fit(IRIS, SPECIES, classes=[0, 1])
    voted = Perceptron(readout="voted").partial_fit(IRIS, SPECIES, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="all examples at once"):
        voted.partial_fit(IRIS, SPECIES)


FITTED = [
    Perceptron().fit(IRIS, SPECIES),
    Perceptron(readout="voted", max_iter=3).fit(IRIS, SPECIES),
    KernelPerceptron(max_iter=3).fit(IRIS, SPECIES),
    LinearUnit(max_iter=3).fit(IRIS, SPECIES),
    PerceptronNetwork([4], max_iter=3).fit(IRIS, SPECIES),
]


@pytest.mark.parametrize("clf", FITTED, ids=lambda clf: type(clf).__name__)
@pytest.mark.parametrize("how", ["pickle", "copy", "deepcopy", "joblib"])
def test_copies_predict_the_same(clf, how, tmp_path):
    if how == "joblib":
        joblib.dump(clf, tmp_path / "clf.joblib")
        again = joblib.load(tmp_path / "clf.joblib")
    elif how == "pickle":
        again = pickle.loads(pickle.dumps(clf))
    else:
        again = getattr(copy, how)(clf)
    scores = clf.decision_function(IRIS)
    assert again.decision_function(IRIS).tobytes() == scores.tobytes()
    assert again.stop_reason_ == clf.stop_reason_
    assert again.margin_ == clf.margin_ and again.radius_ == clf.radius_


def test_a_copy_goes_on_where_the_original_was():
    clf = Perceptron().partial_fit(IRIS, SPECIES, classes=[0, 1, 2])
    again = pickle.loads(pickle.dumps(clf))
    clf.partial_fit(IRIS, SPECIES)
    again.partial_fit(IRIS, SPECIES)
    assert again.coef_.tobytes() == clf.coef_.tobytes()


def test_stopping_has_a_reason():
    X, y = make_classification(400, flip_y=0.2, random_state=0)
    assert Perceptron(max_iter=4).fit(X, y).stop_reason_ == "epoch_limit"
    assert Perceptron(max_updates=9).fit(X, y).stop_reason_ == "update_limit"
    assert Perceptron(time_limit=1e-9).fit(X, y).stop_reason_ == "time_limit"
    flat = Perceptron(tol=1e-3, n_iter_no_change=3).fit(X, y)
    assert flat.stop_reason_ == "no_improvement"
    # By scikit-learn's rule, applied to the losses of a run without it.
    losses = Perceptron(max_iter=flat.n_iter_).fit(X, y).loss_curve_
    assert losses.tolist() == flat.loss_curve_.tolist()
    best, since = np.inf, 0
    for epoch, loss in enumerate(losses, 1):
        since = since + 1 if loss > best - 1e-3 else 0
        best = min(best, loss)
        assert (since >= 3) == (epoch == flat.n_iter_)
    early = Perceptron(early_stopping=True, n_iter_no_change=4).fit(X, y)
    assert early.stop_reason_ == "no_improvement"
    accuracies = early._model.validation_accuracy_per_epoch
    assert max(accuracies[-4:]) <= max(accuracies[:-4])
    assert LinearUnit(eta0=10.0).fit(X, y).stop_reason_ == "diverged"


def test_no_bias_no_intercept():
    clf = Perceptron(fit_intercept=False).fit(IRIS, SPECIES)
    assert (clf.intercept_ == 0).all()
    assert (clf.coef_ == Perceptron(bias="none").fit(IRIS, SPECIES).coef_).all()


def test_pairs_of_classes():
    clf = Perceptron(multiclass="ovo", max_iter=50).fit(IRIS, SPECIES)
    assert clf.decision_function(IRIS).shape == (150, 3)
    assert clf.score(IRIS, SPECIES) > 0.9
    two = Perceptron(multiclass="argmax").fit(AND, IS_AND)
    assert two.coef_.shape == (2, 2)
    assert two.decision_function(AND).shape == (4,)
    assert ((two.decision_function(AND) > 0) == IS_AND).all()


def test_several_labels_of_every_sort():
    for labels in (["x", "y", "z"], [1.0, 2.0, 5.0], [-3, 0, 9], [False, True, True]):
        named = np.array(labels)[SPECIES]
        clf = Perceptron().fit(IRIS, named)
        assert clf.classes_.tolist() == sorted(set(labels))
        assert clf.predict(IRIS).dtype == named.dtype
        assert clf.score(IRIS, named) > 0.6


def test_digits_are_learned():
    X, y = load_digits(return_X_y=True)
    train, test = slice(0, 1200), slice(1200, None)
    assert Perceptron().fit(X[train], y[train]).score(X[test], y[test]) > 0.88
    kernel = KernelPerceptron("polynomial:4").fit(X[train], y[train])
    assert kernel.score(X[test], y[test]) > 0.94
    network = PerceptronNetwork([32], max_iter=30).fit(X[train], y[train])
    assert network.score(X[test], y[test]) > 0.88
    assert network.layers_ == [64, 32, 10]


def test_least_squares_is_reached():
    y = SPECIES == 2
    X = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)
    clf = LinearUnit(tol=1e-9).fit(X, y)
    lifted = np.column_stack([np.ones(len(X)), X])
    best, *_ = np.linalg.lstsq(lifted, 2.0 * y - 1, rcond=None)
    assert clf.stop_reason_ == "converged"
    assert np.abs(clf.decision_function(X) - lifted @ best).max() < 1e-6


DUALS = [
    KernelPerceptron("linear", max_iter=5),
    KernelPerceptron("linear", max_iter=5, early_stopping=True),
    KernelPerceptron(
        "linear",
        max_iter=5,
        early_stopping=True,
        validation_fraction=0.3,
        random_state=np.random.RandomState(7),
    ),
    MaxMarginClassifier(kernel="linear", C=0.5),
]


@pytest.mark.parametrize("clf", DUALS)
@pytest.mark.parametrize("left_out", [0, 20])
@pytest.mark.parametrize("classes", [2, 3])
def test_support_numbers_the_rows_of_X(clf, left_out, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1) * (classes == 3)
    weight = np.ones(60)
    weight[:left_out] = 0
    clf = clone(clf).fit(X, y, weight)
    scores = (X @ X.T)[:, clf.support_] @ clf.dual_coef_.T
    found = clf.decision_function(X).reshape(60, -1)
    assert np.abs(found - scores).max() < 1e-9
    assert clf.support_.min() >= left_out


def test_a_refit_leaves_no_attributes_of_another_model():
    clf = Perceptron(max_iter=3).fit(IRIS, SPECIES)
    clf.set_params(readout="voted").fit(IRIS, SPECIES)
    assert not hasattr(clf, "coef_") and not hasattr(clf, "intercept_")
    planes = MaxMarginClassifier().fit(IRIS, SPECIES)
    planes.set_params(kernel="linear").fit(IRIS, SPECIES)
    assert not hasattr(planes, "coef_") and hasattr(planes, "support_")
    planes.set_params(kernel=None).fit(IRIS, SPECIES)
    assert hasattr(planes, "coef_")
    assert not hasattr(planes, "support_") and not hasattr(planes, "dual_coef_")


def test_a_generator_gives_a_run_one_seed():
    clf = Perceptron(random_state=np.random.RandomState(3), max_iter=1, warm_start=True)
    clf.partial_fit(IRIS, SPECIES, classes=[0, 1, 2]).partial_fit(IRIS, SPECIES)
    clf.fit(IRIS, SPECIES)
    seed = int(clf._model.options["seed"])
    other = Perceptron(random_state=seed, max_iter=1, warm_start=True)
    for _ in range(3):
        other.fit(IRIS, SPECIES)
    assert (clf.coef_ == other.coef_).all()
    assert int(clf.set_params(warm_start=False).fit(IRIS, SPECIES)._model.options["seed"]) != seed
    fixed = Perceptron(random_state=1).partial_fit(IRIS, SPECIES, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="random_state"):
        fixed.set_params(random_state=2).partial_fit(IRIS, SPECIES)


@pytest.mark.parametrize("clf", DUALS)
@pytest.mark.parametrize("left_out", [0, 20])
@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_kernel_values_of_rows_that_are_left_out(clf, left_out, kind, tmp_path):
    make = {"array": np.asarray, "sparse": sparse.csr_matrix}.get(kind)
    if kind == "frame":
        frame = pytest.importorskip("pandas").DataFrame
        make = lambda rows: frame(rows, columns=[f"row {i}" for i in range(rows.shape[1])])
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    weight = np.ones(60)
    weight[10 : 10 + left_out] = 0
    seeded = clone(clf).set_params(random_state=5)
    plain = clone(seeded).fit(X, y, weight)
    gram = make(X @ X.T)
    given = clone(seeded).set_params(kernel="precomputed").fit(gram, y, weight)
    assert given.n_features_in_ == 60
    assert np.allclose(given.decision_function(gram), plain.decision_function(X))
    assert (given.predict(gram) == plain.predict(X)).all()
    assert (given.support_ == plain.support_).all()
    copied = pickle.loads(pickle.dumps(given))
    assert (copied.predict(gram) == given.predict(gram)).all()
    save(given, tmp_path / "m.rbm")
    loaded = load(tmp_path / "m.rbm")
    trained = np.arange(60) if given._trained is None else given._trained
    assert loaded.n_features_in_ == len(trained)
    few = gram.iloc[:, trained] if kind == "frame" else gram[:, trained]
    assert (loaded.predict(few) == given.predict(gram)).all()
    with pytest.raises(ValueError, match="square"):
        given.fit(make((X @ X.T)[:, :50]), y, weight)
    # A refit with all rows takes all columns again.
    if hasattr(given, "early_stopping"):
        given.set_params(early_stopping=False)
        plain.set_params(early_stopping=False)
    assert (given.fit(gram, y).predict(gram) == plain.fit(X, y).predict(X)).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_a_network_are_what_its_loss_takes_them_for(classes):
    labels = np.minimum(SPECIES, classes - 1)
    clf = PerceptronNetwork([4], max_iter=20).fit(IRIS, labels)
    shares = clf.predict_proba(IRIS)
    assert shares.shape == (150, classes) and np.allclose(shares.sum(axis=1), 1)
    assert (clf.classes_[shares.argmax(axis=1)] == clf.predict(IRIS)).all()
    assert np.allclose(np.exp(clf.predict_log_proba(IRIS)), shares)
    odds = clf.decision_function(IRIS)
    if classes == 2:
        assert np.allclose(np.log(shares[:, 1] / shares[:, 0]), odds)
    else:
        ratios = np.log(shares / shares[:, :1])
        assert np.allclose(ratios, odds - odds[:, :1])
    assert not hasattr(PerceptronNetwork(loss="squared"), "predict_proba")
