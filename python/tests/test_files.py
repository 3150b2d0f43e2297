"""Models and data go between Python and the command line."""

import json
import os
import pathlib
import shutil
import struct
import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import (
    dump_svmlight_file,
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
)

from rosenblatt import (
    Arow,
    KernelPerceptron,
    LinearUnit,
    Logistic,
    MaxMarginClassifier,
    PassiveAggressive,
    Perceptron,
    PerceptronNetwork,
    load,
    read_libsvm,
    read_table,
    save,
)

ROOT = pathlib.Path(__file__).parents[2]
PENGUINS = ROOT / "examples" / "penguins.csv"


def program():
    """The command line, as the Rust tests have built it."""
    built = ROOT / "target" / "debug" / "rosenblatt"
    found = os.environ.get("ROSENBLATT") or (str(built) if built.exists() else None)
    found = found or shutil.which("rosenblatt")
    if not found:
        pytest.skip("the command line is not built; cargo build -p rosenblatt-cli")
    return found


def run(*arguments):
    done = subprocess.run(
        [program(), *map(str, arguments)], check=True, capture_output=True, text=True
    )
    return done.stdout


def tensors(path):
    """The tensors of a model file, as bytes."""
    content = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    body = content[8 + length :]
    return {
        name: body[slice(*entry["data_offsets"])]
        for name, entry in header.items()
        if name != "__metadata__"
    }


SETS = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "digits": load_digits(return_X_y=True),
    "sparse": (
        sparse.random_array(
            (500, 300), density=0.05, format="csr", rng=np.random.default_rng(1)
        ),
        np.arange(500) * 7 % 3,
    ),
}

ESTIMATORS = {
    "perceptron": (Perceptron(max_iter=7, random_state=3), ["--epochs", 7, "--seed", 3]),
    "last": (
        Perceptron(max_iter=5, readout="last", order="random", margin=0.5, bias="unlifted"),
        "--epochs 5 --readout last --order random --margin-demand 0.5 --bias unlifted".split(),
    ),
    "early": (
        Perceptron(early_stopping=True, validation_fraction=0.2, n_iter_no_change=2),
        "--validate 0.2 --patience 2".split(),
    ),
    "kernel": (
        KernelPerceptron("geometric:3", max_iter=2, multiclass="ovr"),
        "--kernel geometric:3 --epochs 2 --multiclass ovr".split(),
    ),
    "linear unit": (
        LinearUnit(gradient="stochastic", max_iter=3, fit_intercept=False),
        "--learner linear-unit --gradient stochastic --epochs 3 --bias none".split(),
    ),
    "passive-aggressive": (
        PassiveAggressive(0.5, pa="pa-2", max_iter=3),
        "--learner passive-aggressive --c 0.5 --pa pa-2 --epochs 3".split(),
    ),
    "arow": (Arow(2.0, max_iter=2), "--learner arow --r 2 --epochs 2".split()),
    "logistic": (Logistic(0.5, penalty="l1"), "--penalty l1 --c 0.5".split()),
    "network": (
        PerceptronNetwork([5], max_iter=2, activation="tanh"),
        "--learner network --hidden 5 --epochs 2 --activation tanh".split(),
    ),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("name", SETS)
def test_weights_are_those_of_the_command_line(name, kind, tmp_path):
    X, y = SETS[name]
    data, theirs, ours = (str(tmp_path / f) for f in ("data.svm", "theirs.rbm", "ours.rbm"))
    if sparse.issparse(X):
        dump_svmlight_file(X, y, data, zero_based=False)
        X, _ = read_libsvm(data, precision="f64")
    else:
        lines = (
            f"{label} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row.tolist(), 1))
            for row, label in zip(X, y)
        )
        pathlib.Path(data).write_text("\n".join(lines) + "\n")
        if kind == "kernel":
            # The model holds rows, as they were stored.
            X, _ = read_libsvm(data, precision="f64")
    estimator, arguments = ESTIMATORS[kind]
    run("train", data, "--scale", "none", "--precision", "f64", "-o", theirs, *arguments)
    estimator.fit(X, y)
    save(estimator, ours)
    theirs, ours = tensors(theirs), tensors(ours)
    ignored = {"sha256"} | {n for n in theirs | ours if n.startswith("preparation")}
    assert {n: t for n, t in theirs.items() if n not in ignored} == {
        n: t for n, t in ours.items() if n not in ignored
    }
    assert "passes" in ours and len(ours) > 3


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_saved_model_loads_here_and_there(kind, tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = ESTIMATORS[kind][0].fit(X, y)
    path = tmp_path / "wine.rbm"
    save(clf, path, label="target")
    again = load(path)
    assert type(again) is type(clf)
    assert again.decision_function(X).tobytes() == clf.decision_function(X).tobytes()
    assert again.feature_names_in_.tolist() == X.columns.tolist()
    for name, value in clf.get_params().items():
        if name not in clf._own - {"fit_intercept"} and name != "class_weight":
            assert again.get_params()[name] == value, name
    # The command line takes a CSV file with these columns, in any order.
    frame = X.assign(target=y)[["target", *reversed(X.columns)]]
    frame.to_csv(tmp_path / "wine.csv", index=False)
    printed = run("predict", path, tmp_path / "wine.csv").split()
    assert [int(label) for label in printed] == clf.predict(X).tolist()
    report = json.loads(run("test", path, tmp_path / "wine.csv", "--json"))
    assert report["accuracy"] == pytest.approx(clf.score(X, y))


def test_a_model_without_names_takes_libsvm(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = Perceptron().fit(X.astype(np.float32), np.array(["a", "b", "c"])[y])
    save(clf, tmp_path / "iris.rbm")
    dump_svmlight_file(X, y, str(tmp_path / "iris.svm"), zero_based=False)
    printed = run("predict", tmp_path / "iris.rbm", tmp_path / "iris.svm").split()
    assert printed == clf.predict(X.astype(np.float32)).tolist()
    assert load(tmp_path / "iris.rbm").predict(X.astype(np.float32)).tolist() == printed


def test_a_model_of_the_command_line_loads(tmp_path):
    path = tmp_path / "penguins.rbm"
    report = json.loads(run("train", PENGUINS, "--label", "species", "-o", path, "--json"))
    clf = load(path)
    table = read_table(PENGUINS, model=clf)
    assert clf.classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    assert clf.score(table.X, table.y) == report["train_accuracy"]
    assert clf.n_mistakes_ == report["mistakes"]
    assert clf.stop_reason_ == report["stop"]
    assert clf.feature_names_in_.tolist() == table.feature_names
    assert table.feature_names[0] == "island=Biscoe"
    assert clf.radius_ is None


def test_tables_are_read():
    table = read_table(PENGUINS, label="species", columns={"year": "ignore"})
    assert table.X.shape == (344, len(table.feature_names)) and table.sample_weight is None
    mass = table.X[:, table.feature_names.index("body_mass_g")]
    assert mass.max() == 6300
    assert "year" not in table.feature_names
    scaled = read_table(PENGUINS, label="species", scale="minmax")
    assert scaled.X[:, scaled.feature_names.index("year")].max() == 1
    with pytest.raises(ValueError, match="expected one of none, standard"):
        read_table(PENGUINS, scale="sideways")


def test_libsvm_files_are_read(tmp_path):
    (tmp_path / "a.svm").write_text("+1 1:0.1 3:2\n-1 2:1.5\n")
    X, y = read_libsvm(tmp_path / "a.svm")
    assert X.dtype == np.float32 and X.indices.dtype == np.int32
    assert X.toarray().tolist() == [[np.float32(0.1), 0, 2], [0, 1.5, 0]]
    assert y.tolist() == [1, -1]
    assert read_libsvm(tmp_path / "a.svm", precision="f64")[0][0, 0] == 0.1


def test_a_large_index_costs_no_memory(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("1 1:1 3000000000:2\n-1 2:1\n")
    X, y = read_libsvm(path)
    assert X.shape == (2, 3_000_000_000)
    assert X.indices.tolist() == [0, 2_999_999_999, 1]
    assert list(y) == [1, -1]


def save_as_the_program_does(clf, path):
    """It knows labels as texts, and so says nothing of their type."""
    clf._model.save(path, None, "label", False, None)


def test_a_loaded_model_learns_the_classes_it_is_told(tmp_path):
    """Its classes have the order of its file: texts there, whole numbers now."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    texts = np.array(["2", "10", "1"])[np.arange(60) % 3]
    path = tmp_path / "m.rbm"
    clf = Perceptron(max_iter=2, shuffle=False).fit(X, texts)
    save_as_the_program_does(clf, path)
    loaded = load(path)
    assert loaded.classes_.tolist() == [1, 10, 2]
    kept = texts != "10"
    for part in (kept, ~kept):
        clf.partial_fit(X[part], texts[part])
        loaded.partial_fit(X[part], texts[part].astype(int), classes=[1, 2, 10])
        assert (loaded.coef_ == clf.coef_).all()
    assert (loaded.predict(X) == clf.predict(X).astype(int)).all()
    with pytest.raises(ValueError, match="not the same as on last call"):
        loaded.partial_fit(X, texts.astype(int), classes=[1, 2, 11])


def test_a_loaded_model_of_one_class_against_the_rest(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.arange(60) % 3
    data, path = tmp_path / "d.svm", tmp_path / "m.rbm"
    dump_svmlight_file(X, y, str(data), zero_based=False)
    options = "--positive 1 --epochs 1 --order given --scale none --precision f64".split()
    run("train", data, *options, "-o", path)
    loaded = load(path)
    assert loaded.classes_.tolist() == ["rest", "1"]
    loaded.partial_fit(X, np.where(y == 1, "1", "rest"))
    twice = Perceptron(max_iter=2, shuffle=False).fit(X, y == 1)
    assert np.allclose(loaded.coef_, twice.coef_, rtol=1e-9)


GIVEN = [
    MaxMarginClassifier(),
    MaxMarginClassifier(C=float("inf"), bias="unlifted", max_iter=7, tol=1e-3),
    MaxMarginClassifier(C=2.5, kernel="rbf:0.5", multiclass="ovo", at_zero="negative"),
    MaxMarginClassifier(C=1, class_weight={0: 2.0}, embed="squares", time_limit=5.5),
    Perceptron(),
    Perceptron(max_iter=4, eta0=0.5, random_state=3, readout="voted", ties="positive"),
    Perceptron(order="random", margin=0.25, normalise_weights=True, max_updates=50),
    Perceptron(start=[0.5, 1.0, -1.0, 2.0], bias="unlifted:2", max_iter=2),
    Perceptron(start="random:2", class_weight="balanced", multiclass="ovr", max_iter=2),
    KernelPerceptron(max_iter=2),
    KernelPerceptron("polynomial:3", bias="lifted", start_dual=[1.0] + 59 * [0.0]),
    LinearUnit(max_iter=3),
    LinearUnit(gradient="stochastic", eta0=0.01, decay=0.5, tol=1e-9, max_iter=2),
    PassiveAggressive(),
    PassiveAggressive(0.25, pa="pa-2", max_iter=3, readout="last", multiclass="ovr"),
    Arow(),
    Arow(0.5, max_iter=1, order="given", bias="none"),
    Logistic(),
    Logistic(3.0, penalty="l1", tol=1e-8, fit_intercept=False, class_weight={1: 2.0}),
    PerceptronNetwork(max_iter=2),
    PerceptronNetwork([3, 2], activation="tanh", loss="squared", batch_size=8, restarts=1),
]


@pytest.mark.parametrize("clf", GIVEN)
def test_parameters_come_back_from_a_file(clf, tmp_path):
    """Or a refit of a loaded model would be another one."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    save(clf.fit(X, y), tmp_path / "m.rbm")
    loaded = load(tmp_path / "m.rbm")
    for name, value in clf.get_params().items():
        again = getattr(loaded, name)
        assert np.array_equal(again, value), (name, again, value)
    assert (loaded.fit(X, y).predict(X) == clf.predict(X)).all()


@pytest.mark.parametrize(
    "names, loaded",
    [
        (["0", "1"], [0, 1]),
        (["-1", "+1"], [1, -1]),
        (["-9223372036854775808", "9223372036854775807"], [-(2**63), 2**63 - 1]),
        (["1.0", "2.0"], [1.0, 2.0]),
        (["0", "99999999999999999999"], None),
        (["0.5", "99999999999999999999"], None),
        (["1", "1_0"], None),
        (["1", "007"], None),
        (["0.5", "00.7"], None),
        (["0", "-0"], None),
        (["1", " 2"], None),
        (["1", "a"], None),
        (["1", "inf"], None),
        (["1", "\u0662"], None),
    ],
)
def test_labels_that_are_not_plainly_numbers_stay_texts(names, loaded, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.array(names)[(X[:, 0] > 0).astype(int)]
    weight = {names[0]: 2.5}
    clf = Perceptron(max_iter=2, shuffle=False, class_weight=weight).fit(X, y)
    save_as_the_program_does(clf, tmp_path / "m.rbm")
    again = load(tmp_path / "m.rbm")
    wanted = sorted(names) if loaded is None else loaded
    assert again.classes_.tolist() == wanted
    assert again.classes_.dtype.kind == np.array(wanted).dtype.kind
    assert again.class_weight == {wanted[sorted(names).index(names[0])]: 2.5}
    # Its classes are still those of the model, with their weights.
    labels = again.classes_[np.searchsorted(clf.classes_, y)]
    again.partial_fit(X, labels)
    assert (again.coef_ == clf.partial_fit(X, y).coef_).all()
    assert (again.predict(X) == again.classes_[clf._model.predict(X, 1)]).all()
    once = Perceptron(max_iter=2, shuffle=False, class_weight=weight).fit(X, y)
    assert again.set_params(max_iter=2).fit(X, labels).n_updates_ == once.n_updates_


def test_numbers_of_a_file_are_numbers(tmp_path):
    data = tmp_path / "d.svm"
    data.write_text("0.5 1:2\n-1e-07 1:3\n2 2:1\n")
    assert read_libsvm(data)[1].tolist() == [0.5, -1e-7, 2.0]


def test_a_class_weight_in_the_words_of_the_command_line(tmp_path):
    data, path = tmp_path / "d.svm", tmp_path / "m.rbm"
    data.write_text("+1 1:2\n-1 1:3\n+1 2:1\n")
    run("train", data, "--class-weight", "1=2", "--epochs", "2", "-o", path)
    loaded = load(path)
    assert loaded.classes_.tolist() == [-1, 1] and loaded.class_weight == {1: 2.0}
    loaded.partial_fit(np.eye(2), [1, -1])
    assert read_libsvm(data)[1].tolist() == [1, -1, 1]
