"""Arrow data of any library, by the PyCapsule interface alone."""

import gc
import warnings

import numpy as np
import pytest

from rosenblatt import Arow, FirthLogistic, LinearUnitRegressor, Perceptron, check_separability
from rosenblatt import _arrow

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")


class Stream:
    """Nothing but a stream."""

    def __init__(self, of):
        self.of = of

    def __arrow_c_stream__(self, requested_schema=None):
        return self.of.__arrow_c_stream__(requested_schema)


class Array:
    """Nothing but an array."""

    def __init__(self, of):
        self.of = of

    def __arrow_c_array__(self, requested_schema=None):
        return self.of.__arrow_c_array__(requested_schema)


def rows(n=200):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3)).round(2)
    X[:, 2] = random.integers(-5, 5, n)
    return X, np.where(X[:, 0] + X[:, 2] > 0, "yes", "no")


def table(X):
    columns = [pa.array(X[:, 0]), pa.array(X[:, 1]), pa.array(X[:, 2].astype(np.int16))]
    return pa.table(columns, names=["a", "b", "c"])


def containers(X, y):
    whole = table(X)
    parts = pa.concat_tables([whole[:70], whole[70:71], whole[71:]])
    labels = pa.chunked_array([y[:50].tolist(), y[50:].tolist()])
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2].astype(np.int64)})
    view = duckdb.connect()
    view.register("whole", whole)
    yield Stream(whole), Stream(labels)
    yield Stream(parts), Stream(labels.cast(pa.large_string()))
    yield Stream(parts[:]), Stream(labels.dictionary_encode())
    yield Stream(frame), Stream(pl.Series(y.tolist()))
    yield Stream(frame), Stream(pl.DataFrame({"y": pl.Series(y.tolist(), dtype=pl.Categorical)}))
    yield Stream(pd.DataFrame(whole.to_pandas())), y
    yield Array(whole.combine_chunks().to_batches()[0]), Array(pa.array(y.tolist()))
    yield view.sql("select * from whole"), y.tolist()


def test_any_container_gives_the_same_weights():
    X, y = rows()
    expected = Perceptron(max_iter=5).fit(X, y)
    verdict = check_separability(X, y)
    numbers = LinearUnitRegressor().fit(X, X[:, 1])
    for given, labels in containers(X, y):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "X (does not have|has feature names)")
            found = Perceptron(max_iter=5).fit(given, labels)
            assert found.coef_.tolist() == expected.coef_.tolist()
            assert found.feature_names_in_.tolist() == ["a", "b", "c"]
            assert (found.predict(given) == expected.predict(X)).all()
            assert found.score(given, y) == expected.score(X, y)
        told = check_separability(given, labels)
        assert told.verdict == verdict.verdict and told.holds(given, labels)
        assert set(told.infinite_coefficients or {}) <= {"(bias)", "a", "b", "c"}
        single = pa.table({"b": X[:, 1]})
        found = LinearUnitRegressor().fit(given, Stream(single))
        assert found.coef_.tolist() == numbers.coef_.tolist()
        assert Arow().fit(given, labels).partial_fit(given, labels).score(given, y) > 0.9
        assert FirthLogistic().fit(given, labels).coefficient_names_[1:] == ["a", "b", "c"]


def test_names_are_compared():
    X, y = rows()
    clf = Perceptron(max_iter=5).fit(Stream(table(X)), y)
    with pytest.raises(ValueError, match="found c, b, a, expected a, b, c"):
        clf.predict(Stream(table(X).select(["c", "b", "a"])))
    assert (clf.predict(pd.DataFrame(X, columns=["a", "b", "c"])) == clf.predict(Stream(table(X)))).all()


def test_types_and_nulls():
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        found = _arrow.columns(Stream(pa.table({"x": pa.array([1, 2, 3], kind)}))).values[0]
        assert found.dtype == kind and found.tolist() == [1, 2, 3]
    for kind in ("float16", "float32", "float64"):
        given = pa.table({"x": pa.array(np.array([0.5, 2], kind))})
        assert _arrow.columns(Stream(given)).values[0].dtype == kind
    bits = [True, False, None] * 7
    cut = pa.table({"x": bits, "y": list(range(21)), "z": pa.nulls(21)})[5:]
    x, y, z = _arrow.columns(Stream(cut)).values
    expected = np.array([np.nan if b is None else float(b) for b in bits[5:]])
    np.testing.assert_array_equal(x, expected)
    assert y.tolist() == list(range(5, 21)) and np.isnan(z).all()
    words = ["", "a", None, "a text of more than twelve bytes", "ä"] * 3
    for array in (
        pa.array(words),
        pa.array(words, pa.large_string()),
        pa.array(words, pa.string_view()),
        pa.array(words).dictionary_encode(),
    ):
        found = _arrow.columns(Stream(pa.table({"x": array})[2:])).values[0]
        assert found.tolist() == words[2:]
    # All of one type: not made wider than it is.
    single = pa.table({"a": np.ones(4, np.float32), "b": np.zeros(4, np.float32)})
    assert Perceptron().fit(Stream(single), [0, 1, 1, 1]).coef_.dtype == np.float32
    assert _arrow.columns(Stream(cut[:0])).values[0].shape == (0,)


def test_what_cannot_be_taken_is_named():
    X, y = rows()
    day = pa.array([0] * 200, pa.date32())
    for extra, told in (
        (pa.array(y.tolist()), "column 'd' holds texts"),
        (day, "column 'd' has the Arrow type 'tdD'"),
        (pa.array([[1]] * 200), "column 'd' has the Arrow type '.l'"),
    ):
        with pytest.raises(ValueError, match=told):
            Perceptron().fit(Stream(table(X).append_column("d", extra)), y)
    with pytest.raises(ValueError, match="NaN"):
        missing = pa.array([None] + [1] * 199)
        Perceptron().fit(Stream(table(X).append_column("d", missing)), y)
    with pytest.raises(ValueError, match=r"y has 3 columns \(a, b, c\), expected one"):
        Perceptron().fit(X, Stream(table(X)))
    with pytest.raises(ValueError, match="not exact as a float64"):
        large = pa.array([2**53 + 1] * 200)
        check_separability(Stream(table(X).append_column("d", large)), y)

    def broken():
        yield table(X).to_batches()[0]
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(table(X).schema, broken())
    with pytest.raises(ValueError, match="the disk is gone"):
        Perceptron().fit(Stream(reader), y)


def test_memory_is_given_back():
    X, _ = rows(100_000)
    given = table(X)
    before = pa.total_allocated_bytes()
    for _ in range(5):
        _arrow.matrix(Stream(given))
        _arrow.matrix(Stream(pa.concat_tables([given, given]).combine_chunks()))
    gc.collect()
    assert pa.total_allocated_bytes() <= before + 1_000_000
