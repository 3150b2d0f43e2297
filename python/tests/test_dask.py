"""Learning on a cluster of processes: one answer, whatever the workers do."""

import dataclasses
import gzip
import hashlib
import json
import multiprocessing
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rosenblatt import (
    Arow,
    Logistic,
    PassiveAggressive,
    Perceptron,
    check_separability,
    load,
    read_table,
    save,
)
from rosenblatt.mixing import Mixing, Partition, mix, one_pass, sweep

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
from rosenblatt.dask import (  # noqa: E402
    DaskArow,
    DaskLogistic,
    DaskPassiveAggressive,
    DaskPerceptron,
)
from rosenblatt.dask import check_separability as dask_check  # noqa: E402

#: The checker of certificates that needs Python's standard library only.
CHECKER = pathlib.Path(__file__).parents[2] / "crates/rosenblatt-verify/python/check_certificate.py"

PAIRS = [
    (DaskPerceptron, Perceptron),
    (DaskArow, Arow),
    (DaskPassiveAggressive, PassiveAggressive),
]


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def threads():
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=3, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def rows(n=600, d=8, classes=2, noise=0.5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    score = X @ random.normal(size=d) + noise * random.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def parts(X, y, *lengths):
    """The rows as dask arrays, cut into blocks of these lengths."""
    return da.from_array(X, chunks=(lengths, X.shape[1])), da.from_array(y, chunks=(lengths,))


def same(one, other):
    assert one.stop_reason_ == other.stop_reason_
    assert one.n_iter_ == other.n_iter_ and one.n_updates_ == other.n_updates_
    assert one.mistakes_per_epoch_.tolist() == other.mistakes_per_epoch_.tolist()
    for name in ("coef_", "intercept_"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), name


@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize("of_dask, of_one", PAIRS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "given, classes, noise",
    [
        ({"max_iter": 4}, 2, 0.5),
        ({"max_iter": 4, "readout": "last"}, 3, 0.5),
        ({"max_iter": 3, "multiclass": "ovr", "class_weight": "balanced"}, 3, 0.5),
        ({"max_iter": 6, "early_stopping": True, "n_iter_no_change": 2}, 2, 0.5),
        ({"max_updates": 30, "random_state": 4}, 2, 0.5),
        ({"max_iter": 50}, 2, 0.0),
    ],
)
def test_one_partition_is_one_machine(client, of_dask, of_one, given, classes, noise):
    X, y = rows(200, classes=classes, noise=noise)
    one = of_one(**given).fit(X, y)
    found = of_dask(client=client, **given).fit(*parts(X, y, 200))
    same(one, found)
    assert one.margin_ == found.margin_ and one.mistake_bound_ == found.mistake_bound_
    assert one.radius_ == found.radius_
    assert one.loss_curve_.tolist() == found.loss_curve_.tolist()


def fetched(dask_worker):
    """The keys that a worker has taken from others."""
    return [key for each in dask_worker.transfer_incoming_log for key in each["keys"]]


@pytest.mark.filterwarnings("ignore:.*")
def test_partitions_stay_where_they_are(client):
    X, y = rows(4000, noise=2.0)
    given = parts(X, y, 1000, 1000, 1000, 1000)
    before = {key for keys in client.run(fetched).values() for key in keys}
    DaskPerceptron(client=client, max_iter=15).fit(*given)
    dask_check(*given, client=client)
    after = {key for keys in client.run(fetched).values() for key in keys} - before
    assert not [key for key in after if "partition" in key or "signed" in key]


def test_small_partitions_are_warned_of(client):
    X, y = rows(600)
    with pytest.warns(UserWarning, match="3 partitions of about 200 rows"):
        DaskPerceptron(client=client, max_iter=1).fit(*parts(X, y, 200, 100, 300))


@pytest.mark.filterwarnings("ignore:.*")
def test_stops_are_those_of_one_machine(client):
    for n, given in (
        (60, {"tol": 1e-3, "max_iter": 100}),
        (60, {"order": "random", "max_iter": 3}),
        (20_000, {}),
    ):
        X, y = rows(n)
        same(
            Perceptron(**given).fit(X, y),
            DaskPerceptron(client=client, **given).fit(*parts(X, y, n)),
        )


@pytest.mark.parametrize("mixing", ["uniform", "rows", "mistakes"])
@pytest.mark.filterwarnings("ignore:.*")
def test_who_does_the_work_changes_nothing(client, threads, mixing):
    X, y = rows(700, classes=3)
    cut = (1, 300, 0, 17, 182, 100, 50, 20, 10, 20)  # More than one task mixes.
    kinds = [kind for kind, _ in PAIRS] if mixing == "uniform" else [DaskPerceptron]
    found = {
        kind: kind(client=client, mixing=mixing, max_iter=4).fit(*parts(X, y, *cut))
        for kind in kinds
    }
    for kind, clf in found.items():
        assert clf.n_partitions_ == len(cut) - 1 and clf.score(X, y) > 0.8
        # On threads of this process, and again.
        same(clf, kind(client=threads, mixing=mixing, max_iter=4).fit(*parts(X, y, *cut)))
        same(clf, kind(client=client, mixing=mixing, max_iter=4).fit(*parts(X, y, *cut)))


@pytest.mark.filterwarnings("ignore:.*")
def test_the_number_of_workers_changes_nothing(cluster, client):
    X, y = rows(700, classes=3)
    cut = (100, 300, 100, 200)
    found = []
    for workers in (1, 4, 2):
        cluster.scale(workers)
        client.wait_for_workers(workers)
        while len(client.scheduler_info(n_workers=-1)["workers"]) != workers:
            time.sleep(0.05)
        found.append(DaskPerceptron(client=client, max_iter=4).fit(*parts(X, y, *cut)))
    same(found[0], found[1])
    same(found[0], found[2])


@pytest.mark.filterwarnings("ignore:.*")
def test_sparse_blocks_are_dense_ones(client):
    X, y = rows(300)
    X[np.random.default_rng(1).random(X.shape) < 0.7] = 0
    dense, labels = parts(X, y, 100, 150, 50)
    cut = dense.map_blocks(sparse.csr_matrix, meta=sparse.csr_matrix((0, 0)))
    given = {"client": client, "max_iter": 5}
    same(DaskPerceptron(**given).fit(dense, labels), DaskPerceptron(**given).fit(cut, labels))


def test_partitions_without_rows_or_with_one_class(client):
    X, y = rows(300, classes=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], np.array(["a", "b", "c"])[y[order]]
    assert set(y[:90]) == {"a"} and set(y[250:]) == {"c"}
    found = DaskPerceptron(client=client, max_iter=20).fit(*parts(X, y, 90, 0, 160, 50))
    assert found.classes_.tolist() == ["a", "b", "c"] and found.n_partitions_ == 3
    assert found.score(X, y) > 0.6
    empty = DaskPerceptron(client=client, max_iter=20).fit(*parts(X, y, 0, 300, 0))
    same(empty, Perceptron(max_iter=20).fit(X, y))
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        DaskPerceptron(client=client).fit(*parts(X[:90], y[:90], 40, 50))
    with pytest.raises(ValueError, match="no rows"):
        DaskPerceptron(client=client).fit(*parts(X[:0], y[:0], 0))


def test_separated_is_said_after_a_sweep_over_all(client):
    X, y = rows(400, noise=0.0)
    X += 0.1 * (2 * y - 1)[:, None] * np.sign(np.linalg.lstsq(X, 2 * y - 1, rcond=None)[0])
    found = DaskPerceptron(client=client).fit(*parts(X, y, 150, 50, 200))
    assert found.stop_reason_ == "separated" and found.score(X, y) == 1.0
    assert found.mistakes_per_epoch_[-1] == 0 and found.mistakes_per_epoch_[:-1].all()
    # The theorem's bound for mixing, and what follows of it for all partitions.
    assert 0 < found.mixed_updates_ <= found.mistake_bound_
    assert found.n_updates_ <= 3 * found.mistake_bound_
    assert found.margin_.lower <= found.margin_.upper
    best = np.linalg.norm(np.hstack([found._model.weights[0][0], found._model.weights[1]]))
    assert best > 0


@pytest.mark.filterwarnings("ignore:.*")
def test_a_worker_that_is_killed_changes_nothing_but_the_time(cluster, client):
    X, y = rows(4000, d=30)
    cut = (1000, 500, 1500, 1000)
    given = {"client": client, "max_iter": 12}
    expected = DaskPerceptron(**given).fit(*parts(X, y, *cut))

    def kill():
        one = sorted(client.run(os.getpid).items())[0][1]
        os.kill(one, signal.SIGKILL)

    def at_pass(record):
        if record["epoch"] == 4:
            kill()

    same(expected, DaskPerceptron(**given).fit(*parts(X, y, *cut), progress=at_pass))
    client.wait_for_workers(2)
    timer = threading.Timer(0.15, kill)
    timer.start()
    same(expected, DaskPerceptron(**given).fit(*parts(X, y, *cut)))
    timer.join()
    client.wait_for_workers(2)


@pytest.mark.filterwarnings("ignore:.*")
def test_prediction_is_lazy_where_the_rows_are(client, tmp_path):
    for classes in (2, 3):
        X, y = rows(200, classes=classes)
        rows_, labels = parts(X, y, 80, 120)
        clf = DaskPerceptron(client=client, max_iter=5).fit(rows_, labels)
        for name in ("predict", "decision_function"):
            lazy = getattr(clf, name)(rows_)
            assert isinstance(lazy, da.Array)
            assert lazy.compute().tobytes() == getattr(clf, name)(X).tobytes()
        assert float(clf.score(rows_, labels).compute()) == clf.score(X, y)
    save(clf, tmp_path / "a.rbm")
    again = load(tmp_path / "a.rbm")
    assert isinstance(again, Perceptron) and again.coef_.tobytes() == clf.coef_.tobytes()
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    before = clf.n_updates_
    clf.partial_fit(X, y)
    assert clf.n_updates_ > before and clf.n_iter_ == 1


@pytest.mark.filterwarnings("ignore:.*")
def test_a_run_goes_on_from_its_checkpoint(client, threads, tmp_path):
    X, y = rows(600)
    cut = (200, 100, 300)
    for given in ({"early_stopping": True}, {"tol": 1e-3}):
        given = {"max_iter": 9, "checkpoint": tmp_path / "run", "checkpoint_passes": 2, **given}

        def fall(record):
            if record["epoch"] == 5:
                raise KeyboardInterrupt

        clf = DaskPerceptron(client=client, **given)
        expected = DaskPerceptron(client=client, **given).fit(*parts(X, y, *cut))
        with pytest.raises(KeyboardInterrupt):
            clf.fit(*parts(X, y, *cut), progress=fall)
        passes = []
        other = DaskPerceptron(client=threads, **given)
        other.fit(*parts(X, y, *cut), resume=True, progress=lambda r: passes.append(r["epoch"]))
        assert passes[0] == 5 and passes[-1] == len(expected.mistakes_per_epoch_)
        same(expected, other)
        with pytest.raises(ValueError, match="the rows of the checkpoint are"):
            clf.fit(*parts(X, y, 300, 300), resume=True)
    (tmp_path / "run").write_text("nonsense")
    with pytest.raises(ValueError, match="this is no checkpoint"):
        clf.fit(*parts(X, y, *cut), resume=True)


def libsvm(path, X, y, first=1):
    with open(path, "w") as file:
        for row, label in zip(X, y):
            numbers = " ".join(f"{j + first}:{float(x)!r}" for j, x in enumerate(row) if x)
            file.write(f"{label:+d} {numbers}\n")


@pytest.mark.filterwarnings("ignore:.*")
def test_files_are_read_in_parts_by_the_workers(client, tmp_path):
    X, y = rows(500, d=5)
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0
    X[:300, 4] = 0  # A feature that only the second file has.
    y = 2 * y - 1
    libsvm(tmp_path / "1.svm", X[:300], y[:300])
    libsvm(tmp_path / "2.svm", X[300:], y[300:])
    libsvm(tmp_path / "all.svm", X, y)
    given = {"client": client, "max_iter": 5}
    from rosenblatt import read_libsvm

    whole = Perceptron(max_iter=5).fit(*read_libsvm(tmp_path / "all.svm"))
    same(whole, DaskPerceptron(**given).fit(str(tmp_path / "all.svm")))
    assert whole.classes_.tolist() == [-1, 1]
    two = DaskPerceptron(**given).fit(str(tmp_path / "[12].svm"))
    assert two.n_partitions_ == 2 and two.n_features_in_ == 5
    Xs, ys = read_libsvm(tmp_path / "all.svm")
    dense = da.from_array(Xs.toarray(), chunks=((300, 200), 5))
    same(two, DaskPerceptron(**given).fit(dense, da.from_array(ys, chunks=((300, 200),))))
    # Ranges of bytes hold every row once, wherever they are cut.
    for size in (7000, 1231):
        found = DaskPerceptron(**given).fit([tmp_path / "all.svm"], read={"partition_bytes": size})
        assert found.n_partitions_ == -(-(tmp_path / "all.svm").stat().st_size // size)
        assert found._model.visits == 500 * found.n_iter_


def test_a_broken_partition_names_file_line_and_column(client, tmp_path):
    X, y = rows(300)
    libsvm(tmp_path / "a.svm", X, y)
    lines = (tmp_path / "a.svm").read_text().splitlines()
    lines[250] = "+1 1:0.5 2:oops"
    (tmp_path / "b.svm").write_text("\n".join(lines))
    for read in ({}, {"partition_bytes": 3000}):
        with pytest.raises(ValueError, match=r"b\.svm:251:\d+: .*oops"):
            DaskPerceptron(client=client).fit(str(tmp_path / "?.svm"), read=read)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        DaskPerceptron(client=client).fit(str(tmp_path / "c*.svm"))


def test_what_is_wrong_is_said(client):
    X, y = rows(100)
    rows_, labels = parts(X, y, 40, 60)
    with pytest.raises(ValueError, match="voted needs all examples"):
        DaskPerceptron(client=client, readout="voted").fit(rows_, labels)
    with pytest.raises(ValueError, match="mixing must be one of"):
        DaskPerceptron(client=client, mixing="median").fit(rows_, labels)
    with pytest.raises(ValueError, match="y has 99 values for 100 rows"):
        DaskPerceptron(client=client).fit(rows_, labels[:99])
    with pytest.raises(TypeError, match="without Dask"):
        DaskPerceptron(client=client).fit(X, y)
    X[70, 3] = np.nan
    with pytest.raises(ValueError, match="partition 1: row 31 has the value NaN at feature 3"):
        DaskPerceptron(client=client).fit(*parts(X, y, 40, 60))


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression_is_that_of_one_machine(client, classes):
    X, y = rows(300, classes=classes)
    given = {"tol": 1e-12, "class_weight": "balanced", "fit_intercept": classes == 2}
    one = Logistic(**given).fit(X, y)
    found = DaskLogistic(client=client, **given).fit(*parts(X, y, 120, 0, 180))
    assert found.stop_reason_ == "converged"
    np.testing.assert_allclose(found.coef_, one.coef_, atol=1e-5)
    np.testing.assert_allclose(found.intercept_, one.intercept_, atol=1e-5)
    lazy = found.predict_proba(parts(X, y, 120, 180)[0])
    assert lazy.compute().tobytes() == found.predict_proba(X).tobytes()
    again = DaskLogistic(client=client, **given).fit(*parts(X, y, 120, 0, 180))
    assert again.coef_.tobytes() == found.coef_.tobytes()
    assert found.coef_.any()


def test_the_program_trains_and_reports(cluster, tmp_path, capfd):
    from rosenblatt.dask._cli import main

    X, y = rows(400)
    libsvm(tmp_path / "a.svm", X[:150], 2 * y[:150] - 1)
    libsvm(tmp_path / "b.svm", X[150:], 2 * y[150:] - 1)
    model = tmp_path / "m.rbm"
    told = ["train", str(tmp_path / "*.svm"), "--scheduler", cluster.scheduler_address]
    assert main([*told, "-o", str(model), "--epochs", "5", "--seed", "3", "--json"]) == 0
    out, err = capfd.readouterr()
    report = json.loads(out)
    assert "dashboard: " in err
    assert (report["examples"], report["partitions"], report["epochs"]) == (400, 2, 5)
    assert report["stop"] == "epoch_limit" and report["seed"] == 3
    clf = load(model)
    assert abs(clf.score(X, 2 * y - 1) - report["train_accuracy"]) < 0.01
    assert main([*told, "--epochs", "5", "--validate", "0.2"]) == 0
    out = capfd.readouterr().out
    assert "320 examples, 8 features, 2 classes, 2 partitions" in out and "held-out" in out
    assert main([*told, "--epochs", "none"]) == 1
    assert "error: " in capfd.readouterr().err
    assert main(["train", str(tmp_path / "c"), *told[2:]]) == 1
    assert "there is no file" in capfd.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        main(["train", "--nonsense"])
    assert stopped.value.code == 2


def random_sets(count):
    """Small sets of whole numbers, of every verdict, cut at random."""
    random = np.random.default_rng(8)
    for _ in range(count):
        n, d = random.integers(4, 40), random.integers(1, 5)
        X = random.integers(-2, 3, size=(n, d)).astype(float)
        y = (X @ random.normal(size=d) + random.normal() * random.integers(0, 2) > 0).astype(int)
        if random.random() < 0.5:
            y[X @ random.normal(size=d).round() == 0] = 1
        if len(set(y)) == 2:
            cut = np.sort(random.integers(0, n + 1, size=random.integers(0, 5)))
            yield X, y, np.diff(np.concatenate([[0], cut, [n]]))


def test_a_distributed_check_is_the_local_one():
    from rosenblatt.dask import _separability as cluster_check

    verdicts = set()
    for X, y, cut in random_sets(250):
        ends = np.cumsum(cut)[:-1]
        pairs = list(zip(np.split(X, ends), np.split(y, ends)))
        for lifted in (True, False):
            parts_ = cluster_check._of_arrays([p for p in pairs if len(p[1])], lifted)

            def ask(function, *arguments):
                return [function(part, *arguments) for part in parts_]

            found = cluster_check.decide(ask, X.shape[1] + lifted, lifted, most=3)
            found["radius"] = max(ask(cluster_check.radius))
            starts = np.cumsum([0] + [len(p.signs) for p in parts_])
            told = cluster_check._verdict(found, lambda p: int(starts[p[0]] + p[1]), len(y), {}, {})
            expected = check_separability(X, y, fit_intercept=lifted)
            assert told.verdict == expected.verdict
            assert told.holds(X, y, fit_intercept=lifted)
            if told.verdict == "separable":
                assert told.margin.lower <= expected.margin.upper * (1 + 1e-9)
                assert told.margin.upper >= expected.margin.lower * (1 - 1e-9)
                assert told.mistake_bound >= expected.mistake_bound * (1 - 1e-9)
            verdicts.add((told.verdict, lifted))
    assert len(verdicts) == 6


def test_a_proof_is_found_on_the_cluster(client, tmp_path):
    X, y = rows(300, d=3, noise=0.0)
    found = dask_check(*parts(X, y, 100, 0, 200), client=client)
    assert found.verdict == "separable" and found.holds(X, y) and found.n_samples == 300
    y[250] = 1 - y[250]
    libsvm(tmp_path / "a.svm", X[:120], 2 * y[:120] - 1)
    libsvm(tmp_path / "b.svm", X[120:], 2 * y[120:] - 1)
    for read in ({}, {"partition_bytes": 2000}):
        found = dask_check(str(tmp_path / "*.svm"), client=client, read=read)
        expected = check_separability(X, y)
        assert found.verdict == expected.verdict == "overlapping"
        assert found.holds(X, y) and found.multipliers.keys() == found.names.keys()
        for row, name in found.names.items():
            file, number = ("a.svm", row + 1) if row < 120 else ("b.svm", row - 119)
            assert name == f"{tmp_path / file}, row {number}"
    data = (tmp_path / "a.svm").read_bytes()
    assert found.files[str(tmp_path / "a.svm")] == hashlib.sha256(data).hexdigest()


def verified(found, place):
    """Whether both checkers of certificates accept one about the verdict's files."""
    proof = place / "proof.json"
    proof.write_text(found.certificate)
    said = []
    for program in ([sys.executable, "-m", "rosenblatt", "verify"], [sys.executable, CHECKER]):
        ran = subprocess.run([*program, proof, *found.files], capture_output=True, text=True)
        assert ran.returncode in (0, 3), ran.stdout + ran.stderr
        said.append(ran.returncode == 0 and found.verdict in ran.stdout)
    return all(said)


def test_certificates_of_files_are_accepted_by_both_checkers(client, tmp_path):
    random = np.random.default_rng(4)
    X = random.integers(-20, 20, size=(90, 2)) / 10
    # Of these decimals the middle one lies between the others, of their binary numbers not.
    line = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]])
    # Rows on the boundary, equal ones of both classes.
    X[:4] = [[0, 1], [0, -1], [0, 1], [0, -1]]
    y = np.where(X[:, 0] > 0, 1, -1)
    y[:2] = 1
    sets = {
        "separable": (X, np.where(X[:, 0] + X[:, 1] > 0.15, 1, -1)),
        "quasi-separable": (X, y),
        "overlapping": (line, np.array([1, -1, 1])),
    }
    for first in (0, 1):
        for verdict, (rows_, labels) in sets.items():
            place = tmp_path / f"{verdict}-{first}"
            place.mkdir()
            third = len(labels) // 3
            libsvm(place / "a.svm", rows_[:third], labels[:third], first)
            libsvm(place / "b.svm", rows_[third:], labels[third:], first)
            packed = gzip.compress((place / "b.svm").read_bytes())
            (place / "b.svm.gz").write_bytes(packed)
            (place / "b.svm").unlink()
            for read in ({}, {"partition_bytes": 200}):
                found = dask_check(str(place / "*"), client=client, read=read)
                assert found.verdict == verdict and found.holds(rows_, labels)
                assert list(json.loads(found.certificate)["data"]["files"][1].values()) == list(
                    list(found.files.items())[1]
                )
                assert verified(found, tmp_path)
    whole = dask_check(str(place / "b.svm.gz"), client=client)
    assert "files" not in json.loads(whole.certificate)["data"] and verified(whole, tmp_path)
    # As read with fewer digits the numbers are others than the files'.
    assert dask_check(str(place / "*"), client=client, read={"precision": "f32"}).certificate is None
    assert dask_check(*parts(X, y, 90), client=client).certificate is None
    # Digits that float64 does not tell count.
    tenth = "0.1000000000000000055"
    (tmp_path / "long.svm").write_text(f"+1 1:{tenth}1\n-1 1:{tenth}2\n-1.0 1:0.3\n")
    found = dask_check(str(tmp_path / "long.svm"), client=client)
    assert found.verdict == "separable" and verified(found, tmp_path)


@pytest.mark.filterwarnings("ignore:.*")
def test_frames_are_prepared_as_the_table_of_one_machine(client, tmp_path):
    random = np.random.default_rng(3)
    n = 400
    frame = pd.DataFrame(
        {
            "size": random.normal(size=n) * 3 + 7,
            "colour": random.choice(["red", "grün", "blue"], size=n),
            "weight": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n)),
            "rare": np.where(np.arange(n) == 390, "seldom", "often"),
        }
    )
    y = (frame["size"] + 4 * (frame["colour"] == "red") > 8).astype(int)
    frame.assign(label=y).to_csv(tmp_path / "a.csv", index=False)
    lazy = dd.from_pandas(frame, npartitions=3)
    labels = dd.from_pandas(y, npartitions=3)
    for scale in ("none", "standard", "minmax"):
        table = read_table(tmp_path / "a.csv", label="label", scale=scale, precision="f64")
        given = {"client": client, "scale": scale, "max_iter": 3}
        found = DaskPerceptron(**given).fit(lazy, labels)
        assert found.preparation_.feature_names() == table.feature_names
        made = found.preparation_.rows(frame).toarray()
        X = table.X.toarray() if sparse.issparse(table.X) else table.X
        assert made.tobytes() == np.ascontiguousarray(X).tobytes()
        one = Perceptron(max_iter=3).fit(table.X, y)
        whole = dd.from_pandas(frame, npartitions=1)
        same(one, DaskPerceptron(**given).fit(whole, dd.from_pandas(y, npartitions=1)))
        told = found.predict(lazy).compute()
        assert told.tolist() == found.predict(frame).tolist()
        assert found.predict(made).tolist() == told.tolist()
    with pytest.raises(ValueError, match="scale must be one of"):
        DaskPerceptron(client=client, scale="log").fit(lazy, labels)


def cut_frame(frame, *lengths):
    """A frame as a dask dataframe with partitions of these lengths, which may be 0."""
    ends = np.cumsum(lengths)
    assert ends[-1] == len(frame)
    parts_ = [dask.delayed(frame[a:b]) for a, b in zip([0, *ends], ends)]
    return dd.from_delayed(parts_, meta=frame[:0], verify_meta=False)


def canonical(X):
    """The parts of rows as sparse ones, without stored zeros."""
    X = sparse.csr_matrix(X)
    X.eliminate_zeros()
    return X.data.tobytes(), X.indices.tolist(), X.indptr.tolist()


def assert_prepared(client, place, frame, y, cuts, **given):
    """That partitions are prepared as the file with all rows is; gives a fitted estimator."""
    frame.assign(label=y).to_csv(place / "texts.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read_table(place / "texts.csv", label="label", precision="f64", **given)
        one = Perceptron(max_iter=3).fit(table.X, table.y)
        labels = pd.Series(y, name="label")
        for cut in [*cuts, (len(frame),)]:
            clf = DaskPerceptron(client=client, max_iter=3, **given)
            found = clf.fit(cut_frame(frame, *cut), cut_frame(labels, *cut))
            assert found.preparation_.feature_names() == table.feature_names
            made = found.preparation_.rows(frame)
            assert made.has_canonical_format and canonical(made) == canonical(table.X)
    same(one, found)
    return found


WORDS = ["alpha", "Beta", "gamma", "Délta", "delta", "epsilon", "zeta", "x1", "2024", "don't"]


def written(n, seed=0, longest=9):
    """Texts of random words, some missing; each word of the first half is rare in the second."""
    random = np.random.default_rng(seed)
    texts = [
        " ".join(random.choice(WORDS[: 6 if i < n // 2 else 10], random.integers(4, longest + 1)))
        for i in range(n)
    ]
    texts[n // 3] += ", only here!"
    for i in random.integers(0, n, n // 10):
        texts[i] = None
    return texts


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"scale": "standard"},
        {"scale": "minmax", "term_weights": "tf-idf", "min_df": 2},
        {"term_weights": "sublinear", "text": "words:1-2", "max_df": 0.4},
        {"text": "chars:3-5", "scale": "standard", "keep_case": True, "strip_accents": True},
        {"vocabulary": 4, "term_weights": "tf-idf"},
        {"vocabulary": 4, "scale": "standard", "max_df": 0.8},
        {"vocabulary": 3, "max_df": 0.8, "min_df": 0.01},
    ],
)
def test_texts_are_prepared_as_those_of_one_machine(client, tmp_path, given):
    n = 120
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=n),
            "review": written(n),
            "kind": random.choice(["new", "used"], n),
            "note": written(n, seed=4, longest=14),
        }
    )
    frame.loc[40:59, "note"] = None  # A partition without any.
    y = np.where(frame["size"] + frame["review"].str.contains("alpha", na=False) > 0.5, "a", "b")
    cuts = [(40, 20, 60), (0, 33, 0, 87), (1, 2, 3, 4, 5, 6, 7, 8, 9, 75)]
    found = assert_prepared(client, tmp_path, frame, y, cuts, **given)
    names = found.preparation_.feature_names()
    kinds = [{name.split(c)[0] for name in names if c in name} for c in ":="]
    assert kinds == [{"review", "note"}, {"kind"}]
    assert any(":#" in name for name in names) == ("vocabulary" in given)


def test_kinds_of_columns_are_those_of_one_machine(client, tmp_path):
    n = 300
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "few": random.choice(["a long value of a category", "another one of many words"], n),
            "codes": [f"C-{i:05}" for i in range(n)],
            "id": [f"{a} {b}" for a, b in zip(written(n, 5), range(n))],
            "amount": [f"{x:,.2f}" for x in 1e4 * random.normal(size=n)],
            "comma": [f"{x:.3f}".replace(".", ",") for x in random.normal(size=n)],
            "strays": [f"{x:.3f}" if x < 2 else "none" for x in random.normal(size=n)],
            "always": "the same text in all rows",
            "never": [None] * n,
            "names": random.permutation([f"no {i} of this shop" for i in range(n)]),
            "review": written(n),
            "on": random.random(n) < 0.5,
            "one": 1.5,
        }
    )
    y = random.choice(["yes", "no"], n)
    cuts = [(100, 0, 150, 50), (299, 1)]
    for scale in ("standard", "none"):
        found = assert_prepared(client, tmp_path, frame, y, cuts, scale=scale)
        used = {re.split("[:=]", name)[0] for name in found.preparation_.feature_names()}
        assert used >= {"few", "amount", "comma", "strays", "review", "on"}
        assert not used & {"codes", "id", "never", "names"}
        assert ("always" in used) == ("one" in used) == (scale == "none")
    with pytest.warns(UserWarning, match="codes is left out: it looks like an identifier; pass col"):
        DaskPerceptron(client=client, max_iter=1, scale="standard").fit(
            cut_frame(frame, 100, 200), cut_frame(pd.Series(y), 100, 200)
        )
    asked = {"few": "text", "codes": "category", "id": "text", "names": "ignore", "one": "numeric"}
    found = assert_prepared(client, tmp_path, frame, y, cuts, scale="standard", columns=asked)
    names = found.preparation_.feature_names()
    assert {"few:long", "codes=C-00299", "id:299", "one"} <= {*names}
    assert not any(name.startswith("names") for name in names)
    asked = {"strays": "numeric-or-missing", "review": "category", "comma": "decimal-comma"}
    assert_prepared(client, tmp_path, frame, y, cuts, columns={**asked, "amount": "text"})


def test_many_levels_and_terms_meet_their_limits(client, tmp_path):
    n = 2600
    random = np.random.default_rng(3)
    y = random.choice(["yes", "no"], n)
    for levels, kind in ((1000, "="), (1001, ":")):
        texts = [f"v{i % levels}" for i in range(n)]
        frame = pd.DataFrame({"many": texts, "other": random.normal(size=n)})
        found = assert_prepared(client, tmp_path, frame, y, [(1300, 0, 1300), (5, n - 5)])
        assert f"many{kind}v7" in found.preparation_.feature_names()


def test_what_columns_cannot_be_is_said(client):
    n = 40
    texts = pd.Series(written(n), name="review")
    frame = pd.DataFrame({"review": texts, "size": [f"{i}.5" for i in range(n)]})
    y = pd.Series(np.arange(n) % 2)

    def fitted(columns=None, frame=frame, **given):
        clf = DaskPerceptron(client=client, max_iter=1, columns=columns, **given)
        return clf.fit(cut_frame(frame, 15, 25), cut_frame(y, 15, 25))

    with pytest.raises(ValueError, match="columns: there is no column 'views', only .'review'"):
        fitted({"views": "text"})
    with pytest.raises(ValueError, match="columns: 'review': there is no column kind \"prose\""):
        fitted({"review": "prose"})
    with pytest.raises(ValueError, match="text: there are no terms \"lines\""):
        fitted(text="lines")
    odd = frame.assign(size=frame["size"].where(frame["size"] != "30.5", "many"))
    with pytest.raises(ValueError, match="expected a number in the column size, found \"many\""):
        fitted({"size": "numeric"}, odd)
    days = frame.assign(day=[f"2024-01-{1 + i % 28:02}" for i in range(n)])
    for day in (days, days.assign(day=pd.to_datetime(days["day"]))):
        with pytest.raises(ValueError, match="the column day holds dates.*'day': 'ignore'"):
            fitted(frame=day)
        assert fitted({"day": "ignore"}, day).n_features_in_ > 5
    with pytest.raises(ValueError, match="scale and columns are for"):
        X, labels = rows(40)
        DaskPerceptron(client=client, columns={"a": "text"}).fit(*parts(X, labels, 40))


@pytest.mark.filterwarnings("ignore:.*")
def test_models_of_tables_take_files(client, cluster, tmp_path, capfd):
    from rosenblatt.dask._cli import main

    n = 200
    random = np.random.default_rng(6)
    frame = pd.DataFrame(
        {"review": written(n), "class": random.choice(["big", "small"], n), "kind": ["a", "b"] * 100}
    )
    frame.loc[frame["class"] == "big", "review"] += " enormous"
    frame["size"] = random.normal(size=n)
    frame[:80].to_csv(tmp_path / "1.csv", index=False)
    frame[80:].to_csv(tmp_path / "2.csv", index=False)
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=90)
    program = [sys.executable, "-m", "rosenblatt"]
    told = ["--scheduler", cluster.scheduler_address, "--epochs", "3", "-o", str(tmp_path / "m.rbm")]
    for data, more in (
        ("all.csv", []),
        ("all.csv", ["--text", "chars:3-4", "--term-weights", "tf-idf", "--ignore", "size"]),
        ("[12].csv", ["--column", "kind=text", "--min-df", "2", "--case", "keep"]),
        ("all.parquet", ["--vocabulary", "5", "--accents", "strip", "--scale", "none"]),
    ):
        assert main(["train", str(tmp_path / data), *told, *more, "--json"]) == 0
        report = json.loads(capfd.readouterr().out)
        clf = load(tmp_path / "m.rbm")
        table = read_table(tmp_path / "all.csv", model=clf)
        assert clf.score(table.X, table.y) == report["train_accuracy"] > 0.9
        assert report["features"] == len(table.feature_names)
        ran = [*program, "test", tmp_path / "m.rbm", tmp_path / "all.csv", "--json"]
        ran = subprocess.run(ran, capture_output=True, text=True)
        assert json.loads(ran.stdout)["accuracy"] == report["train_accuracy"], ran.stderr
        if data == "all.csv":  # One partition: the weights of one machine.
            given = ["train", tmp_path / data, "--label", "class", "--precision", "f64"]
            given += ["--epochs", "3", "--multiclass", "auto", *more, "-o", tmp_path / "one.rbm"]
            subprocess.run([*program, *given], check=True, capture_output=True)
            assert load(tmp_path / "one.rbm").coef_.tobytes() == clf.coef_.tobytes()
    assert main(["train", str(tmp_path / "all.csv"), *told, "--column", "kind"]) == 1
    assert "--column: found 'kind', expected NAME=KIND" in capfd.readouterr().err
    frame["review"] = frame["review"].str.replace(" ", "\n")
    frame.to_csv(tmp_path / "lines.csv", index=False)
    given = {"client": client, "max_iter": 3}
    whole = DaskPerceptron(**given).fit(str(tmp_path / "lines.csv"))
    assert whole.score(frame.drop(columns="class"), frame["class"]) > 0.9
    with pytest.raises(ValueError, match="a cell of several lines lies in two partitions"):
        read = {"partition_bytes": 4000}
        DaskPerceptron(**given).fit(str(tmp_path / "lines.csv"), read=read)
    (tmp_path / "open.csv").write_text('class,review\ngood,"fine\n')
    with pytest.raises(ValueError, match="open.csv: the first lines cannot be read.*--dry-run"):
        DaskPerceptron(**given).fit(str(tmp_path / "open.csv"))


def of_processes(X, y, cut, **parameters):
    """A run whose passes are made by processes of this machine, without Dask."""
    ends = np.cumsum(cut)[:-1]
    classes = np.unique(y)
    made = [
        Partition(rows_, labels, classes)
        for rows_, labels in zip(np.split(X, ends), np.split(y, ends))
    ]
    run = Mixing(Perceptron(**parameters), made)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        while run.stop is None:
            task = run.task()
            updates = list(pool.map(one_pass, made, [task] * len(made)))
            run.take(mix(updates, task))
    found = sum(sweep(part, run.task()).visits for part in made)
    assert found == len(y)
    return run.finish(made)


@pytest.mark.filterwarnings("ignore:.*")
def test_the_plain_functions_need_no_dask(client):
    X, y = rows(500, classes=3)
    found = of_processes(X, y, (200, 100, 200), max_iter=4)
    same(found, DaskPerceptron(client=client, max_iter=4).fit(*parts(X, y, 200, 100, 200)))


@pytest.mark.filterwarnings("ignore:.*")
def test_ray_drives_the_plain_functions(client):
    ray = pytest.importorskip("ray", reason="Ray is not installed: its example is not run")
    path = pathlib.Path(__file__).parents[2] / "examples" / "ray_mixing.py"
    names = {"__name__": "example"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    X, y = rows(400)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        found = names["train"](X, y, 4, max_iter=3)
    finally:
        ray.shutdown()
    same(found, DaskPerceptron(client=client, max_iter=3).fit(*parts(X, y, 100, 100, 100, 100)))


def test_where_few_weights_change_their_new_values_travel():
    X = sparse.csr_matrix(([1.0, 1.0, 1.0], [5, 700, 701], [0, 1, 3]), shape=(2, 1000))
    part = Partition(X, np.array([0, 1]), [0, 1])
    for kind in (Perceptron, Arow):
        run = Mixing(kind(max_iter=2), [part, part])
        task = run.task()
        update = one_pass(part, task)
        assert len(update.places) == 4 and len(update.weights) == 4  # The bias is the fourth.
        full = dataclasses.replace(
            update,
            places=None,
            **{
                name: np.where(
                    np.isin(np.arange(1001), update.places),
                    spread(getattr(update, name), update.places),
                    start,
                )
                for name, start in (
                    ("weights", task.state["weights"]),
                    ("correction", 0.0),
                    ("confidence", task.state.get("confidence")),
                )
                if getattr(update, name) is not None
            },
        )
        one, other = mix([update, full], task), mix([full, full], task)
        for name in ("weights", "summed", "changed"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
        assert len(pickle.dumps(update)) < len(pickle.dumps(full)) / 5


def spread(values, places):
    whole = np.zeros(1001)
    whole[places] = values
    return whole


@pytest.mark.filterwarnings("ignore:.*")
def test_tables_are_read_by_the_workers(client, tmp_path):
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"size": random.normal(size=300), "kind": random.choice(["a", "b"], 300)})
    frame["class"] = np.where(frame["size"] + (frame["kind"] == "a") > 0.4, "big", "small")
    frame[:100].to_csv(tmp_path / "1.csv", index=False)
    frame[100:].to_csv(tmp_path / "2.csv", index=False)
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=150)
    table = read_table(tmp_path / "all.csv", scale="standard", precision="f64")
    one = Perceptron(max_iter=3).fit(table.X, table.y)
    given = {"client": client, "max_iter": 3}
    whole = DaskPerceptron(**given).fit(str(tmp_path / "all.csv"))
    same(one, whole)
    assert whole.classes_.tolist() == ["big", "small"]
    two = DaskPerceptron(**given).fit(str(tmp_path / "[12].csv"))
    assert two.n_partitions_ == 2 and two.preparation_.feature_names() == table.feature_names
    rows_ = frame[["size", "kind"]]
    assert (two.predict(rows_) == frame["class"]).mean() > 0.9
    parquet = DaskPerceptron(**given).fit(str(tmp_path / "all.parquet"))
    assert parquet.n_partitions_ == 2 and (parquet.predict(rows_) == frame["class"]).mean() > 0.9
    with pytest.raises(ValueError, match="no column 'weight'"):
        DaskPerceptron(**given).fit(str(tmp_path / "all.csv"), read={"label": "weight"})
