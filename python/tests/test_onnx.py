"""Exported graphs predict as the models do."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from rosenblatt import (
    KernelPerceptron,
    LinearUnit,
    Perceptron,
    PerceptronNetwork,
    export,
    load,
    read_table,
)
from test_files import PENGUINS, run

onnxruntime = pytest.importorskip("onnxruntime")

IRIS, SPECIES = load_iris(return_X_y=True)
CANCER, BENIGN = load_breast_cancer(return_X_y=True)
DIGITS, NUMBERS = load_digits(return_X_y=True)


def outputs(graph, inputs):
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], inputs)


def columns(clf, X):
    """Our scores, a column a class."""
    scores = clf._model_scores(X)
    one_plane = clf._model.scheme == "binary"
    return np.hstack([-scores, scores]) if one_plane else scores


def check(clf, X):
    label, scores = outputs(export(clf), {"X": X.astype(np.float64)})
    ours = columns(clf, X)
    assert scores.shape == ours.shape
    largest = np.abs(ours).max(axis=1, keepdims=True)
    # A vote may be cast the other way where a score of the run is 0 but for rounding.
    within = 0.02 if getattr(clf, "readout", None) == "voted" else 1e-9
    assert (np.abs(scores - ours) <= within * largest + 1e-300).all()
    # Labels may differ only where the two best scores are equal to single precision.
    tied = np.zeros(len(X), dtype=bool)
    if hasattr(clf, "coef_"):
        best = np.sort(ours, axis=1)[:, -2:]
        sizes = np.abs(clf.coef_).max() * np.abs(X).sum(axis=1)
        tied = best[:, 1] - best[:, 0] <= 1e-6 * sizes
    assert tied.mean() < 0.02
    assert ((label == clf.predict(X)) | tied).all()


@pytest.mark.parametrize(
    "clf",
    [
        Perceptron(),
        Perceptron(readout="last", multiclass="ovr", max_iter=30),
        Perceptron(fit_intercept=False, max_iter=30),
        LinearUnit(max_iter=200),
    ],
    ids=repr,
)
@pytest.mark.parametrize("data", ["iris", "cancer", "digits"])
def test_linear(clf, data):
    X, y = {"iris": (IRIS, SPECIES), "cancer": (CANCER, BENIGN), "digits": (DIGITS, NUMBERS)}[
        data
    ]
    graph = export(clf.fit(X, y))
    assert b"LinearClassifier" in graph
    check(clf, X)


KERNELS = [
    "linear",
    "quadratic",
    "polynomial:4,0.01,1",
    "geometric:3",
    "monomial:3",
    "rbf:0.3",
    "laplacian:0.2",
    "sigmoid:0.01,-0.5",
]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("readout", ["averaged", "voted"])
@pytest.mark.parametrize("labels", [SPECIES, SPECIES // 2], ids=["three", "two"])
def test_kernels(kernel, readout, labels):
    clf = KernelPerceptron(kernel, readout=readout, max_iter=5, bias="lifted")
    check(clf.fit(IRIS, labels), IRIS)


@pytest.mark.parametrize("multiclass", ["argmax", "ovr", "ovo"])
@pytest.mark.parametrize("at_zero", ["positive", "negative"])
@pytest.mark.parametrize("kind", ["voted", "kernel", "network"])
def test_every_way_to_decide(multiclass, at_zero, kind):
    if kind == "network":
        clf = PerceptronNetwork([6], max_iter=20, at_zero=at_zero, activation="tanh")
    elif kind == "kernel":
        clf = KernelPerceptron("quadratic", max_iter=5, multiclass=multiclass, at_zero=at_zero)
    else:
        clf = Perceptron(readout="voted", votes="correct", max_iter=5)
        clf.set_params(multiclass=multiclass, at_zero=at_zero)
    for labels in (SPECIES, SPECIES // 2):
        check(clf.fit(IRIS, labels), IRIS)


def test_pairs_of_linear_planes():
    clf = Perceptron(multiclass="ovo", max_iter=30).fit(IRIS, SPECIES)
    check(clf, IRIS)


@pytest.mark.parametrize("embed", ["monomials:3", "circle", "squares"])
def test_embeddings(embed):
    clf = Perceptron(embed=embed, max_iter=30).fit(IRIS, SPECIES)
    label, scores = outputs(export(clf), {"X": IRIS})
    ours = clf.decision_function(IRIS)
    largest = np.abs(ours).max(axis=1, keepdims=True)
    assert (np.abs(scores - ours) <= 1e-9 * largest).all()
    assert (label == clf.predict(IRIS)).mean() > 0.98


def test_texts_as_labels():
    names = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
    for clf in (Perceptron(), KernelPerceptron("rbf:1")):
        label, _ = outputs(export(clf.fit(IRIS, names)), {"X": IRIS})
        assert label.tolist() == clf.predict(IRIS).tolist()


def test_texts_that_look_like_numbers_stay_texts():
    clf = Perceptron().fit([[-1.0], [1.0]], ["01", "1"])
    session = onnxruntime.InferenceSession(export(clf))
    found = session.run(["label"], {"X": np.array([[-1.0], [1.0]])})[0]
    assert list(found) == ["01", "1"]


def test_precomputed():
    gram = IRIS @ IRIS.T
    check(KernelPerceptron("precomputed", max_iter=5).fit(gram, SPECIES), gram)


def test_a_model_of_a_table_takes_its_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    path, graph = tmp_path / "penguins.rbm", tmp_path / "penguins.onnx"
    run("train", PENGUINS, "--label", "species", "-o", path, "--epochs", 20)
    run("export", path, graph)
    clf = load(path)
    table = read_table(PENGUINS, model=clf)
    frame = pandas.read_csv(PENGUINS)
    inputs = {}
    for name in frame.columns.drop("species"):
        column = frame[[name]]
        if name in ("island", "sex"):
            inputs[name] = column.fillna("").to_numpy(dtype=object)
        else:
            inputs[name] = column.to_numpy(dtype=np.float64)
    label, scores = outputs(graph.read_bytes(), inputs)
    ours = clf.decision_function(table.X)
    assert np.abs(scores - ours).max() <= 1e-5 * np.abs(ours).max()
    assert (label == clf.predict(table.X)).all()
    assert export(clf) == graph.read_bytes()


def test_what_has_no_graph_is_refused():
    clf = Perceptron(readout="voted", normalise_weights=True, max_iter=3).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="cannot be exported to ONNX.*renormalised"):
        export(clf)
    clf = Perceptron(embed="fourier:20,1", max_iter=3).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="cannot be exported to ONNX.*fourier"):
        export(clf)


def test_the_graph_is_written(tmp_path):
    clf = Perceptron().fit(IRIS, SPECIES)
    graph = export(clf, tmp_path / "iris.onnx")
    assert (tmp_path / "iris.onnx").read_bytes() == graph
    onnx = pytest.importorskip("onnx")
    onnx.checker.check_model(onnx.load_from_string(graph), full_check=True)
