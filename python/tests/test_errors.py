"""Bad input is refused in the words that users of scikit-learn know."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from rosenblatt import (
    KernelPerceptron,
    LinearUnit,
    MaxMarginClassifier,
    Perceptron,
    PerceptronNetwork,
    check_separability,
    load,
    read_libsvm,
    save,
)

X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
y = [0, 1, 1, 0]

KINDS = [Perceptron, KernelPerceptron, LinearUnit, PerceptronNetwork]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "rows, labels, message",
    [
        ([[np.nan, 1.0], [1.0, 0.0]], [0, 1], "contains NaN"),
        ([[np.inf, 1.0], [1.0, 0.0]], [0, 1], "contains infinity"),
        (sparse.csr_matrix([[np.nan, 1.0], [1.0, 0.0]]), [0, 1], "contains NaN"),
        ([1.0, 2.0], [0, 1], "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 2, 2)), [0, 1], r"Found array with dim 3"),
        (X, [0, 1], "inconsistent numbers of samples"),
        (X, [1, 1, 1, 1], "number of classes has to be greater than one; got 1 class"),
        (X, [0.1, 0.2, 0.3, 0.4], "Unknown label type"),
        (X, None, "requires y to be passed"),
        ([["a", "b"], ["c", "d"]], [0, 1], "could not convert string to float|dtype='numeric'"),
        (np.zeros((0, 2)), [], r"0 sample\(s\)"),
        (np.zeros((2, 0)), [0, 1], r"0 feature\(s\)"),
        (X * 1j, y, "Complex data not supported"),
    ],
)
def test_rows_and_labels(kind, rows, labels, message):
    with pytest.raises(ValueError, match=message):
        kind().fit(rows, labels)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"max_iter": 0}, "'max_iter' parameter of Perceptron must be a whole number"),
        ({"max_iter": 2.5}, "'max_iter' parameter of Perceptron.*Got 2.5 instead"),
        ({"eta0": -1}, "'eta0' parameter of Perceptron must be a number above 0"),
        ({"eta0": "fast"}, "'eta0' parameter of Perceptron.*Got 'fast' instead"),
        ({"readout": "best"}, "'readout' parameter.*one of last, averaged.*or None"),
        ({"order": "sorted"}, "'order' parameter.*Got 'sorted' instead"),
        ({"penalty": "l3"}, "'penalty' parameter of Perceptron must be one of none, l2"),
        ({"penalty": "l2", "alpha": -1}, "'alpha' parameter of Perceptron"),
        ({"penalty": "l2", "readout": "voted"}, "use readout='averaged', last"),
        ({"ties": "correct"}, "never updates from zero weights.*margin"),
        ({"start": [1, 2]}, "start: found 2 numbers, expected 3"),
        ({"random_state": -1}, "'random_state' parameter"),
        ({"early_stopping": True, "validation_fraction": 1.5}, "'validation_fraction'"),
        ({"embed": "cube"}, "'embed' parameter"),
        ({"class_weight": {0: -1}}, "'class_weight' parameter"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Perceptron(**parameters).fit(X, y)


@pytest.mark.parametrize(
    "estimator, message",
    [
        (Perceptron(ties="correct"), "use ties='mistake', a margin above 0, or another start$"),
        (Perceptron(eta0=1e308), "use a smaller eta0, or scale the data$"),
        (MaxMarginClassifier(C=1e300), "^C=1e300: .*; leave C out for a hard margin"),
    ],
    ids=["ties", "eta0", "C"],
)
def test_messages_name_parameters_as_estimators_do(estimator, message):
    with pytest.raises(ValueError, match=message) as caught:
        estimator.fit(1e3 * X, y)
    assert not any(mark in str(caught.value) for mark in ("--", "\u27e8", "\u27e9"))


@pytest.mark.parametrize("name, now", [("random_state", 2), ("eta0", 0.5), ("margin", 0.25)])
def test_a_changed_parameter_is_named_as_estimators_do(name, now):
    estimator = Perceptron(random_state=1, warm_start=True).fit(X, y)
    estimator.set_params(**{name: now})
    with pytest.raises(ValueError, match=f"^{name}={now} differs from the model's"):
        estimator.fit(X, y)


def test_unknown_parameters():
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_itr'"):
        Perceptron(max_itr=5)
    with pytest.raises(ValueError, match="Invalid parameter 'max_itr'"):
        Perceptron().set_params(max_itr=5)


def test_weights_of_rows():
    with pytest.raises(ValueError, match="[Nn]egative"):
        Perceptron().fit(X, y, sample_weight=[1, 1, 1, -1])
    with pytest.raises(ValueError, match="at least one non-zero"):
        Perceptron().fit(X, y, sample_weight=[0, 0, 0, 0])
    with pytest.raises(ValueError, match="sample_weight.shape"):
        Perceptron().fit(X, y, sample_weight=[1, 1])


def test_prediction():
    with pytest.raises(NotFittedError):
        Perceptron().predict(X)
    clf = Perceptron().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but Perceptron is expecting 2"):
        clf.predict(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="contains NaN"):
        clf.predict([[np.nan, 0]])


def test_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.rbm"):
        load(tmp_path / "nowhere.rbm")
    with pytest.raises(FileNotFoundError):
        read_libsvm(tmp_path / "nowhere.svm")
    (tmp_path / "bad.rbm").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="bad.rbm"):
        load(tmp_path / "bad.rbm")
    (tmp_path / "bad.svm").write_text("1 1:0.5\n2 x:3\n")
    with pytest.raises(ValueError, match="bad.svm:2:3"):
        read_libsvm(tmp_path / "bad.svm")
    with pytest.raises(NotFittedError):
        save(Perceptron(), tmp_path / "new.rbm")
    with pytest.raises(OSError):
        save(Perceptron().fit(X, y), tmp_path / "no" / "such" / "folder.rbm")


def test_separability():
    with pytest.raises(ValueError, match="contains NaN"):
        check_separability([[np.nan], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="3 feature_names for 2 features"):
        check_separability(X, y, feature_names=["a", "b", "c"])


def test_a_fit_that_fails_changes_nothing():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y, three = (X[:, 0] > 0).astype(int), np.arange(60) % 3
    clf = Perceptron(max_iter=3).fit(X, y)
    answers, before = clf.predict(X), dict(vars(clf))

    def interrupt(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clf.fit(np.c_[X, X], three, progress=interrupt)
    assert vars(clf) == before
    clf.set_params(max_iter=-1)
    for warm_start in (False, True):
        clf.set_params(warm_start=warm_start)
        for rows, labels in ((np.c_[X, X], three), (X, y), (X, y + 5)):
            with pytest.raises(ValueError):
                clf.fit(rows, labels)
            assert clf.n_features_in_ == 3 and clf.classes_.tolist() == [0, 1]
            assert (clf.predict(X) == answers).all()
    with pytest.raises(ValueError, match="6 features"):
        clf.predict(np.c_[X, X])
    # Going on takes the features it knows.
    clf.set_params(max_iter=3)
    with pytest.raises(ValueError, match="6 features"):
        clf.fit(np.c_[X, X], y)
    assert (clf.predict(X) == answers).all()


def test_a_first_part_that_fails_is_no_first_part():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    bad = X.copy()
    bad[0, 0] = np.nan
    clf = Perceptron(shuffle=False)
    with pytest.raises(ValueError, match="NaN"):
        clf.partial_fit(bad, y, classes=[0, 1])
    assert not hasattr(clf, "classes_")
    with pytest.raises(ValueError, match="classes must be passed"):
        clf.partial_fit(X, y)
    clf.partial_fit(X, y, classes=[0, 1])
    weights = clf.coef_
    with pytest.raises(ValueError, match="NaN"):
        clf.partial_fit(bad, y)
    assert clf.coef_ is weights
    assert (weights == Perceptron(shuffle=False, max_iter=1).fit(X, y).coef_).all()


def test_parts_cannot_have_what_needs_all_rows():
    """Each part would lose a tenth of its rows, or have weights of its own."""
    stochastic = LinearUnit(gradient="stochastic", eta0=0.01)
    for clf in (Perceptron(), stochastic):
        clf.set_params(early_stopping=True)
        with pytest.raises(ValueError, match="early_stopping should be False"):
            clf.partial_fit(X, y, classes=[0, 1])
        clf.set_params(early_stopping=False, class_weight="balanced")
        with pytest.raises(ValueError, match="'balanced' is not supported for partial_fit"):
            clf.partial_fit(X, y, classes=[0, 1])
        assert not hasattr(clf, "classes_")
        clf.set_params(class_weight={0: 2.0}).partial_fit(X, y, classes=[0, 1])
