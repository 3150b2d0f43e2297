"""The same numbers give the same weights however they are stored, without copies."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris

from rosenblatt import KernelPerceptron, LinearUnit, Perceptron, _data

X, y = load_digits(return_X_y=True)
X = np.ascontiguousarray(X)


def weights(rows, **parameters):
    clf = Perceptron(max_iter=3, **parameters).fit(rows, y)
    assert clf.coef_.dtype == clf.intercept_.dtype == _data.rows(clf._checked(rows))[-1].dtype
    # Those of the model: what users see is rounded where their rows are.
    coef, intercept = clf._model.weights
    return coef.tobytes() + intercept.tobytes()


def csr(bits):
    rows = sparse.csr_matrix(X)
    rows.indices = rows.indices.astype(f"int{bits}")
    rows.indptr = rows.indptr.astype(f"int{bits}")
    return rows


UNSORTED = csr(32)
UNSORTED.indices = UNSORTED.indices.copy()
UNSORTED.data = UNSORTED.data.copy()
for start, end in zip(UNSORTED.indptr, UNSORTED.indptr[1:]):
    UNSORTED.indices[start:end] = UNSORTED.indices[start:end][::-1]
    UNSORTED.data[start:end] = UNSORTED.data[start:end][::-1]
UNSORTED.has_sorted_indices = False
UNSORTED.has_canonical_format = False

ZEROS = sparse.csr_matrix(
    (X.ravel(), np.tile(np.arange(64), len(X)), np.arange(0, X.size + 1, 64)), shape=X.shape
)


@pytest.mark.parametrize(
    "rows",
    [
        X.astype(np.float32),
        np.asfortranarray(X),
        X.astype(np.int64),
        X.tolist(),
        np.repeat(X, 2, axis=0)[::2],
        csr(32),
        csr(64),
        csr(32).astype(np.float32),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        sparse.coo_array(X),
        UNSORTED,
        ZEROS,
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_storage_does_not_matter(rows):
    assert weights(rows) == weights(X)


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_frames_bring_their_names(module):
    frames = pytest.importorskip(module)
    iris, labels = load_iris(return_X_y=True)
    names = ["a", "b", "c", "d"]
    columns = {name: iris[:, j] for j, name in enumerate(names)}
    make = frames.table if module == "pyarrow" else frames.DataFrame
    frame = make(columns)
    clf = Perceptron().fit(frame, labels)
    plain = Perceptron().fit(iris, labels)
    assert clf.coef_.tobytes() == plain.coef_.tobytes()
    assert (clf.predict(frame) == plain.predict(iris)).all()
    assert clf.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(make(dict(reversed(columns.items()))))


@pytest.mark.parametrize("rows", [X, X.astype(np.float32), csr(32), csr(32).astype("f4")])
def test_arrays_are_lent(rows):
    core = _data.rows(rows)
    if sparse.issparse(rows):
        _, _, indices, values = core
        assert np.shares_memory(indices, rows.indices)
        assert np.shares_memory(values, rows.data)
    else:
        assert np.shares_memory(core, rows)


def test_read_only_memory_is_fine():
    rows = X.copy()
    rows.flags.writeable = False
    assert weights(rows) == weights(X)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_training_takes_little_more_than_the_data(kind):
    script = f"""
        import resource
        import numpy as np
        from scipy import sparse
        from rosenblatt import Perceptron

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

        Perceptron(max_iter=1).fit(np.eye(300), np.arange(300) % 2)
        rng = np.random.default_rng(0)
        if {kind!r} == "dense":
            X = np.empty((40_000, 500))
            for part in np.array_split(X, 40):
                part[:] = rng.standard_normal(part.shape)
            size = X.nbytes
        else:
            # 100 of 5000 features in every row.
            n, k = 150_000, 100
            indices = np.empty((n, k), dtype=np.int32)
            for part in np.array_split(indices, 40):
                part[:] = np.arange(k) * 50 + rng.integers(0, 50, part.shape, dtype=np.int32)
            data = np.ones(n * k)
            X = sparse.csr_matrix(
                (data, indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, 5000)
            )
            X.has_canonical_format = True
            size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        y = np.arange(X.shape[0]) % 2
        before = peak()
        clf = Perceptron(max_iter=1).fit(X, y)
        extra = peak() - before
        assert size > 150e6
        assert extra < 0.1 * size, (extra, size)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_precision_is_kept():
    """float32 stays, and means what it says; float64 is not rounded."""
    rows = X / 3
    assert weights(rows) != weights(rows.astype(np.float32))
    assert weights(rows.astype(np.float32)) == weights(rows.astype(np.float32).astype(float))


def test_threads_do_not_matter():
    for kind in (Perceptron(max_iter=3), KernelPerceptron(max_iter=2), LinearUnit(max_iter=3)):
        one = kind.set_params(n_jobs=1).fit(X, y).decision_function(X)
        two = kind.set_params(n_jobs=2).fit(X, y).decision_function(X)
        assert one.tobytes() == two.tobytes()


def test_sample_weights_multiply_updates():
    rows, labels = X[:200], (y[:200] == 3).astype(int)
    double = Perceptron(readout="last", max_iter=2).fit(
        rows, labels, sample_weight=np.full(200, 2.0)
    )
    single = Perceptron(readout="last", max_iter=2).fit(rows, labels)
    assert (double.coef_ == 2 * single.coef_).all()
    weight = np.ones(200)
    weight[50:] = 0
    cut = Perceptron(max_iter=2).fit(rows, labels, sample_weight=weight)
    assert (cut.coef_ == Perceptron(max_iter=2).fit(rows[:50], labels[:50]).coef_).all()


def test_class_weights():
    labels = np.where(y == 3, "yes", "no")
    balanced = Perceptron(class_weight="balanced", max_iter=2).fit(X, labels)
    n, yes = len(y), (y == 3).sum()
    listed = {"yes": n / (2 * yes), "no": n / (2 * (n - yes))}
    assert np.allclose(
        balanced.coef_, Perceptron(class_weight=listed, max_iter=2).fit(X, labels).coef_
    )
    by_row = np.vectorize(listed.get)(labels)
    plain = Perceptron(max_iter=2).fit(X, labels, sample_weight=by_row)
    assert np.allclose(balanced.coef_, plain.coef_)
    with pytest.raises(ValueError, match="comma"):
        Perceptron(class_weight={"a,b": 2}).fit(X[:9], ["a,b", "c", "c"] * 3)


def test_precomputed_kernels():
    rows, labels = X[:300] / 16, y[:300]
    direct = KernelPerceptron("quadratic", max_iter=3).fit(rows, labels)
    gram = (rows @ rows.T + 1) ** 2
    given = KernelPerceptron("precomputed", max_iter=3).fit(gram, labels)
    assert (given.support_ == direct.support_).all()
    assert np.allclose(given.dual_coef_, direct.dual_coef_)
    values = (X[300:400] / 16 @ rows.T + 1) ** 2
    assert (given.predict(values) == direct.predict(X[300:400] / 16)).all()
    by_hand = (rows[direct.support_] @ (X[300:400] / 16).T + 1) ** 2
    assert np.allclose(direct.dual_coef_ @ by_hand, direct.decision_function(X[300:400] / 16).T)
