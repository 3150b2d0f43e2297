"""The same rows from files of every format and every package: the same weights, bit for bit."""

import datetime
import decimal
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from test_files import run, tensors

from rosenblatt import Perceptron, read_table

N = 600


def frame():
    """A table with a column of every kind."""
    rng = np.random.default_rng(0)
    found = pd.DataFrame(
        {
            "whole": rng.integers(-1000, 1000, N),
            "real": rng.normal(size=N),
            "few": rng.choice([0.5, 1.25, -3], N),
            "missing": np.where(rng.random(N) < 0.3, np.nan, rng.normal(size=N)),
            "job": rng.choice(["clerk", "smith, x", 'ä"q'], N),
            "day": pd.to_datetime(rng.integers(0, 2 * 10**9, N), unit="s"),
            "class": rng.choice(["yes", "no"], N),
        }
    )
    found.loc[5:9, "job"] = None
    return found


def written(folder):
    """The table as files of every package, by what they are."""
    table = frame()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    other = pl.from_pandas(table)
    ways = {
        "pandas.csv": lambda f: table.to_csv(f, index=False),
        "pandas.csv.gz": lambda f: table.to_csv(f, index=False),
        "pandas.csv.zip": lambda f: table.to_csv(f, index=False),
        "polars.csv": lambda f: other.write_csv(f, datetime_format="%Y-%m-%d %H:%M:%S"),
        "polars.jsonl": lambda f: other.write_ndjson(f),
        "pyarrow.feather": lambda f: feather.write_feather(arrow, f, compression="uncompressed"),
        "lz4.feather": lambda f: feather.write_feather(arrow, f, "lz4", chunksize=100),
        "zstd.feather": lambda f: feather.write_feather(arrow, f, "zstd"),
        "polars.arrow": lambda f: other.write_ipc(f),
        "polars-zstd.arrow": lambda f: other.write_ipc(f, compression="zstd"),
        "polars.arrows": lambda f: other.write_ipc_stream(f),
        "v2.parquet": lambda f: parquet.write_table(
            arrow, f, data_page_version="2.0", row_group_size=70
        ),
        "small-pages.parquet": lambda f: parquet.write_table(
            arrow, f, data_page_size=100, use_dictionary=False, row_group_size=250
        ),
        "encoded.parquet": lambda f: parquet.write_table(
            arrow,
            f,
            use_dictionary=False,
            column_encoding={
                "whole": "DELTA_BINARY_PACKED",
                "real": "BYTE_STREAM_SPLIT",
                "job": "DELTA_BYTE_ARRAY",
                "class": "DELTA_LENGTH_BYTE_ARRAY",
                "day": "DELTA_BINARY_PACKED",
            },
        ),
        "old-times.parquet": lambda f: parquet.write_table(
            arrow, f, use_deprecated_int96_timestamps=True, version="1.0"
        ),
        "duckdb.parquet": lambda f: duckdb.from_arrow(arrow).write_parquet(str(f)),
    }
    for packed in ("snappy", "gzip", "zstd", "lz4", None):
        ways[f"pandas-{packed}.parquet"] = lambda f, c=packed: table.to_parquet(f, compression=c)
    for packed in ("snappy", "gzip", "zstd", "lz4", "uncompressed"):
        ways[f"polars-{packed}.parquet"] = lambda f, c=packed: other.write_parquet(
            f, compression=c
        )
    categories = arrow.set_column(4, "job", arrow["job"].dictionary_encode())
    ways["dictionary.feather"] = lambda f: feather.write_feather(categories, f, "lz4")
    ways["polars-categories.arrow"] = lambda f: other.with_columns(
        pl.col("job").cast(pl.Categorical)
    ).write_ipc(f)
    for name, write in ways.items():
        write(folder / name)
    return list(ways)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("formats")
    written(made)
    return made


def test_every_file_gives_the_same_rows(folder):
    expected = read_table(folder / "pandas.csv", scale="standard", precision="f64")
    assert expected.X.shape[0] == N
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) > 25
    for name in names:
        found = read_table(folder / name, scale="standard", precision="f64")
        assert list(found.feature_names) == list(expected.feature_names), name
        assert found.y.tolist() == expected.y.tolist(), name
        same = np.array_equal(_dense(found.X).view(np.uint64), _dense(expected.X).view(np.uint64))
        assert same, name


def _dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


def test_the_program_trains_tests_and_predicts_alike_from_every_format(folder):
    weights = {}
    for name in ("pandas.csv", "polars.jsonl", "pandas-snappy.parquet", "lz4.feather"):
        model = folder.parent / f"{name}.rbm"
        run("train", folder / name, "--epochs", 5, "-o", model)
        weights[name] = {k: v for k, v in tensors(model).items() if k != "sha256"}
        labels = run("predict", model, folder / "polars-zstd.arrow")
        assert labels == run("predict", model, folder / "pandas.csv"), name
        tested = run("test", model, folder / name, "--json")
        assert tested == run("test", model, folder / "pandas.csv", "--json"), name
        assert "verdict" in run("check", folder / name, "--json", "--ignore", "day")
    first, *rest = weights.values()
    assert all(other == first for other in rest)


def test_arrays_and_sparse_text_give_the_same_weights(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.5)
    y = rng.integers(0, 3, 300)
    both = np.column_stack([X, y])
    np.save(tmp_path / "c.npy", both)
    np.save(tmp_path / "f.npy", np.asfortranarray(both))
    np.save(tmp_path / "big.npy", both.astype(">f8"))
    np.savez(tmp_path / "a.npz", X=X, y=y)
    np.savez_compressed(tmp_path / "b.npz", data=X, target=y)
    np.savetxt(tmp_path / "a.csv", both, delimiter=",", fmt=["%.17g"] * 5 + ["%d"])
    pairs = ([f"{j + 1}:{float(row[j])!r}" for j in np.flatnonzero(row)] for row in X)
    lines = [f"{label} {' '.join(each)}" for label, each in zip(y, pairs)]
    (tmp_path / "a.svm").write_text("\n".join(lines))
    vw = [line.replace(" ", " 1.0 'tag| ", 1) for line in lines]
    (tmp_path / "a.vw").write_text("\n".join(vw))
    head = "".join(f"@attribute x{j} numeric\n" for j in range(5))
    arff = f"@relation r\n{head}@attribute class {{0,1,2}}\n@data\n"
    rows = (",".join(map(repr, map(float, row))) + f",{label}" for row, label in zip(X, y))
    (tmp_path / "dense.arff").write_text(arff + "\n".join(rows))
    rows = (
        "{" + ", ".join(f"{j} {float(row[j])!r}" for j in np.flatnonzero(row)) + f", 5 {label}}}"
        for row, label in zip(X, y)
    )
    (tmp_path / "sparse.arff").write_text(arff + "\n".join(rows).replace("{, ", "{"))
    weights = {}
    for path in sorted(tmp_path.iterdir()):
        model = tmp_path / "m.rbm"
        run("train", path, "--scale", "none", "--epochs", 4, "--precision", "f64", "-o", model)
        weights[path.name] = tensors(model)["weights"], tensors(model)["bias"]
    first = weights["a.csv"]
    assert {name for name, found in weights.items() if found != first} == set()
    fitted = Perceptron(max_iter=4).fit(X, y)
    assert fitted.coef_.T.tobytes() == first[0]


def test_types_become_what_they_mean(tmp_path):
    table = pa.table(
        {
            "price": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-0.05"), None] * 2),
            "day": pa.array([datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), None] * 2),
            "half": pa.array([1.5, -2, 0] * 2, pa.float16()),
            "byte": pa.array([1, 2, 255] * 2, pa.uint8()),
            "code": pa.array(["7", "8", "9"] * 2).dictionary_encode(),
            "c": ["a", "b", "a"] * 2,
        }
    )
    parquet.write_table(table.drop_columns("code"), tmp_path / "a.parquet")
    feather.write_feather(table.drop_columns("half"), tmp_path / "a.feather")
    found = read_table(tmp_path / "a.parquet", label="c")
    assert found.feature_names[:2] == ["price", "price=?"]
    X = _dense(found.X)
    assert X[:3, 0].tolist() == [1.25, np.float32(-0.05), 0.0]
    assert X[:2, found.feature_names.index("day:days")].tolist() == [19782.0, -1.0]
    assert X[:3, found.feature_names.index("half")].tolist() == [1.5, -2, 0]
    assert X[:3, found.feature_names.index("byte")].tolist() == [1, 2, 255]
    found = read_table(tmp_path / "a.feather", label="c")
    # Codes of a dictionary are categories, though they look like numbers.
    assert [name for name in found.feature_names if "code" in name] == [
        "code=7",
        "code=8",
        "code=9",
    ]


@pytest.mark.parametrize("write", [parquet.write_table, feather.write_feather])
def test_nested_columns_are_refused_or_left_out(tmp_path, write):
    table = pa.table({"x": [[1], [2]], "s": [{"a": 1}, {"a": 2}], "z": [1, 0], "c": ["a", "b"]})
    write(table, tmp_path / "a")
    with pytest.raises(ValueError, match="column x holds lists.*leave it out"):
        read_table(tmp_path / "a")
    found = read_table(tmp_path / "a", columns={"x": "ignore", "s": "ignore"})
    assert found.feature_names == ["z"]


def test_damaged_files_are_refused(folder, tmp_path):
    for name in ("v2.parquet", "lz4.feather", "polars.arrows", "pandas.csv.zip"):
        whole = (folder / name).read_bytes()
        for keep in (10, len(whole) // 2, len(whole) - 3):
            cut = tmp_path / name
            cut.write_bytes(whole[:keep])
            with pytest.raises((ValueError, OSError), match=name):
                read_table(cut)


def test_several_files_are_one_data_set(folder, tmp_path):
    table, parts = frame(), tmp_path / "parts"
    parts.mkdir()
    for i, rows in enumerate(np.array_split(np.arange(N), 3)):
        table.iloc[rows].to_parquet(parts / f"part-{i}.parquet")
    expected = read_table(folder / "pandas.csv", precision="f64")
    for path in (parts, parts / "part-*.parquet"):
        found = read_table(path, precision="f64")
        assert np.array_equal(_dense(found.X), _dense(expected.X))
    model = tmp_path / "several.rbm"
    run("train", *sorted(parts.iterdir()), "--epochs", 3, "-o", model)
    run("train", folder / "pandas.csv", "--epochs", 3, "-o", tmp_path / "one.rbm")
    assert tensors(model)["weights"] == tensors(tmp_path / "one.rbm")["weights"]
    table.drop(columns="few").to_parquet(parts / "part-9.parquet")
    with pytest.raises(ValueError, match=r"part-9.parquet: the columns are not those of"):
        read_table(parts)


def test_folders_that_name_values_are_columns(tmp_path):
    table = frame().drop(columns=["day"]).assign(year=np.repeat([2023, 2024, 2025], N // 3))
    table["job"] = table["job"].fillna("none")
    by = ["year", "job"]
    # The rows as they come, folder by folder.
    table = table.sort_values(by, kind="stable")
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    table[by + [name for name in table if name not in by]].to_csv(tmp_path / "all.csv", index=False)
    expected = read_table(tmp_path / "all.csv", label="class", precision="f64")
    writers = {
        "pyarrow": lambda f: parquet.write_to_dataset(arrow, f, partition_cols=by),
        "pandas": lambda f: table.to_parquet(f, partition_cols=by, index=False),
        "duckdb": lambda f: duckdb.from_arrow(arrow).write_csv(f, partition_by=by),
    }
    for name, write in writers.items():
        write(str(tmp_path / name))
        found = read_table(tmp_path / name, label="class", precision="f64")
        assert found.feature_names == expected.feature_names
        rows, wanted = (np.column_stack([_dense(t.X), t.y == "yes"]) for t in (found, expected))
        # Which folder comes first, and rows within one, are the writer's affair.
        assert np.array_equal(*(each[np.lexsort(each.T)] for each in (rows, wanted)))


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_numpy_reads_the_arrays_that_convert_writes(folder, tmp_path, precision):
    data = folder / "pandas.csv"
    expected = read_table(data, precision=precision)
    run("convert", data, tmp_path / "t.npz", "--precision", precision)
    with np.load(tmp_path / "t.npz") as found:
        assert sorted(found) == ["X", "y"] and found["y"].dtype.kind == "U"
        assert found["X"].dtype == {"f32": np.float32, "f64": np.float64}[precision]
        assert np.array_equal(found["X"], _dense(expected.X))
        assert np.array_equal(found["y"], expected.y)
    table = frame()[["whole", "real", "few"]].assign(label=np.arange(N) % 3 - 1)
    table.to_csv(tmp_path / "n.csv", index=False)
    run("convert", tmp_path / "n.csv", tmp_path / "n.npy")
    assert np.array_equal(np.load(tmp_path / "n.npy"), table.to_numpy(dtype=np.float64))
    run("convert", tmp_path / "n.csv", tmp_path / "n.npz")
    with np.load(tmp_path / "n.npz") as found:
        assert found["y"].dtype == np.int64 and (found["y"] == table["label"]).all()
    for name in ("n.csv", "n.npy", "n.npz"):
        run("train", tmp_path / name, "--epochs", 3, "--precision", "f64", "-o", tmp_path / f"{name}.rbm")
    weights = [tensors(tmp_path / f"n.{end}.rbm")["weights"] for end in ("csv", "npy", "npz")]
    assert weights[0] == weights[1] == weights[2]


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_others_read_the_parquet_that_convert_writes(folder, tmp_path, precision):
    data, made = folder / "pandas.csv", tmp_path / "t.parquet"
    expected = read_table(data, precision=precision)
    run("convert", data, made, "--precision", precision)
    kind = {"f32": np.float32, "f64": np.float64}[precision]
    for found in (pd.read_parquet(made), pl.read_parquet(made), parquet.read_table(made)):
        found = found if isinstance(found, pd.DataFrame) else found.to_pandas()
        assert list(found) == ["label", *expected.feature_names]
        X = found.drop(columns="label").to_numpy()
        assert X.dtype == kind and np.array_equal(X, _dense(expected.X))
        assert found["label"].tolist() == expected.y.tolist()
    assert duckdb.sql(f"select count(*) from '{made}'").limit(1).fetchall() == [(N,)]


def test_the_wheel_carries_the_program(folder):
    program = [sys.executable, "-m", "rosenblatt"]
    done = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("rosenblatt ")
    trained = [*program, "train", str(folder / "v2.parquet"), "--epochs", "2", "--json"]
    done = subprocess.run(trained, capture_output=True, text=True, check=True)
    assert '"examples":600' in done.stdout.replace(" ", "")
    done = subprocess.run([*program, "train", "no-such.csv"], capture_output=True, text=True)
    assert (done.returncode, "there is no such file" in done.stderr) == (1, True)
    done = subprocess.run([*program, "train"], capture_output=True, text=True)
    assert done.returncode == 2
    # It does not wait for scikit-learn.
    seen = "import rosenblatt.__main__, sys; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True)
    assert done.stdout == "False\n"
