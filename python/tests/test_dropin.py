"""What people do with scikit-learn's linear classifiers, with the import changed."""

import io

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rosenblatt import KernelPerceptron, MaxMarginClassifier, Perceptron, sklearn_compat

IRIS, SPECIES = load_iris(return_X_y=True)

SUBJECTS = {
    "kitchen": "bread oven butter salt pan onion soup knife dough pepper".split(),
    "harbour": "boat sail anchor wind tide mast rope crew deck wave".split(),
    "orchard": "apple pear bloom bee ladder basket branch frost cider root".split(),
}
COMMON = "the a of and with under near old small again".split()


def texts(n, seed):
    """Short texts on three subjects, half of their words common to all."""
    rng = np.random.default_rng(seed)
    names = list(SUBJECTS)
    labels = rng.integers(0, 3, n)
    lines = [
        " ".join(
            rng.choice(COMMON if rng.random() < 0.5 else SUBJECTS[names[label]])
            for _ in range(14)
        )
        for label in labels
    ]
    return lines, [names[label] for label in labels]


def test_the_docstring_of_scikit_learns_perceptron():
    X, y = load_digits(return_X_y=True)
    clf = Perceptron(tol=1e-3, random_state=0)
    clf.fit(X, y)
    assert clf.score(X, y) > 0.93


def test_text_classification():
    lines, labels = texts(600, 0)
    others, answers = texts(300, 1)
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    X_train = vectorizer.fit_transform(lines)
    X_test = vectorizer.transform(others)
    clf = Perceptron()
    clf.fit(X_train, labels)
    assert accuracy_score(answers, clf.predict(X_test)) > 0.97
    # The words that speak most for each subject are its own.
    words = np.asarray(vectorizer.get_feature_names_out())
    for i, subject in enumerate(clf.classes_):
        top = words[np.argsort(clf.coef_[i])[-5:]]
        assert set(top) <= set(SUBJECTS[subject])


def test_out_of_core():
    vectorizer = HashingVectorizer(n_features=2**12, alternate_sign=False)
    clf = Perceptron()
    seen = []
    for part in range(8):
        lines, labels = texts(50, part)
        X = vectorizer.transform(lines)
        if part:
            seen.append(clf.score(X, labels))
        clf.partial_fit(X, labels, classes=list(SUBJECTS))
    assert np.mean(seen[-3:]) > 0.95


def test_grid_search_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), Perceptron(max_iter=50))
    grid = {"perceptron__margin": [0.0, 1.0], "perceptron__readout": ["last", "averaged"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(IRIS, SPECIES)
    assert search.best_score_ > 0.9
    assert (cross_val_score(pipeline, IRIS, SPECIES, cv=5) > 0.7).all()
    parallel = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(IRIS, SPECIES)
    assert parallel.cv_results_["mean_test_score"].tolist() == (
        search.cv_results_["mean_test_score"].tolist()
    )


def test_calibrated_probabilities():
    X_train, X_test, y_train, y_test = train_test_split(IRIS, SPECIES, random_state=0)
    clf = CalibratedClassifierCV(Perceptron(max_iter=50), cv=3).fit(X_train, y_train)
    shares = clf.predict_proba(X_test)
    assert shares.shape == (38, 3) and np.allclose(shares.sum(axis=1), 1)
    assert clf.score(X_test, y_test) > 0.8


def test_decision_boundaries():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for clf in (Perceptron(max_iter=50), KernelPerceptron("rbf:1", max_iter=50)):
        clf.fit(IRIS[:, :2], SPECIES)
        display = DecisionBoundaryDisplay.from_estimator(
            clf, IRIS[:, :2], response_method="predict", grid_resolution=20
        )
        assert display.response.shape == (20, 20)
        two = clf.fit(IRIS[:, :2], SPECIES == 0)
        display = DecisionBoundaryDisplay.from_estimator(
            two, IRIS[:, :2], response_method="decision_function", grid_resolution=20
        )
        assert (display.response > 0).any() and (display.response < 0).any()


def test_meta_estimators_and_predictions_by_fold():
    rest = OneVsRestClassifier(Perceptron(max_iter=50)).fit(IRIS, SPECIES)
    assert rest.score(IRIS, SPECIES) > 0.6
    predicted = cross_val_predict(Perceptron(max_iter=50), IRIS, SPECIES, cv=3)
    assert accuracy_score(SPECIES, predicted) > 0.7


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_transformers_that_put_out_frames(output):
    frames = pytest.importorskip(output)
    frame = frames.DataFrame({f"feature {j}": IRIS[:, j] for j in range(4)})
    pipeline = make_pipeline(StandardScaler(), Perceptron()).set_output(transform=output)
    pipeline.fit(frame, SPECIES)
    assert pipeline[-1].feature_names_in_.tolist() == list(frame.columns)
    plain = make_pipeline(StandardScaler(), Perceptron()).fit(IRIS, SPECIES)
    assert (pipeline.predict(frame) == plain.predict(IRIS)).all()


def test_representations():
    clf = Perceptron(readout="voted", max_iter=7)
    assert repr(clf) == "Perceptron(max_iter=7, readout='voted')"
    assert "readout" in clf._repr_html_()


def test_progress_bars():
    tqdm = pytest.importorskip("tqdm")
    out = io.StringIO()
    with tqdm.tqdm(total=5, file=out) as bar:
        Perceptron(max_iter=5).fit(IRIS, SPECIES, progress=lambda record: bar.update())
    assert "5/5" in out.getvalue()


@pytest.mark.parametrize(
    "numbers",
    [
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.3},
        {"kernel": "poly", "gamma": "auto", "degree": 2, "coef0": 1},
        {"kernel": "sigmoid", "gamma": 0.01, "coef0": -0.5},
    ],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_kernels_of_support_vector_machines(numbers, container):
    X, y = container(IRIS[50:]), SPECIES[50:]
    theirs = SVC(C=0.5, tol=1e-8, **numbers).fit(X, y)
    ours = MaxMarginClassifier(C=0.5, tol=1e-10, bias="unlifted", **numbers).fit(X, y)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 1e-3
    assert ours.n_support_.sum() == len(ours.support_) and len(ours.n_support_) == 2
    assert abs(ours.n_support_ - theirs.n_support_).max() <= 2
    dense = ours.support_vectors_.toarray() if sparse.issparse(X) else ours.support_vectors_
    assert (dense == IRIS[50:][ours.support_]).all()
    spelt = clone(ours).set_params(kernel=ours._model.options["kernel"]).fit(X, y)
    assert (spelt.decision_function(X) == ours.decision_function(X)).all()
    with pytest.raises(ValueError, match="'gamma' parameter of MaxMarginClassifier"):
        MaxMarginClassifier(kernel="rbf", gamma="wide").fit(X, y)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_a_penalty_gives_scikit_learns_weights(penalty):
    told = dict(
        penalty=penalty,
        alpha=0.01,
        l1_ratio=0.3,
        shuffle=False,
        tol=None,
        max_iter=6,
        eta0=0.5,
    )
    X = StandardScaler().fit_transform(IRIS)
    theirs = linear_model.Perceptron(**told).fit(X, SPECIES)
    ours = sklearn_compat.Perceptron(**told).fit(X, SPECIES)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    assert np.allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)
    parts = sklearn_compat.Perceptron(**told)
    for _ in range(6):
        parts.partial_fit(X, SPECIES, classes=[0, 1, 2])
    assert np.array_equal(parts.coef_, ours.coef_)
