"""Progress, interruption, threads and processes."""

import multiprocessing
import signal
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt._base import threads

X, y = load_iris(return_X_y=True)


def test_progress_is_told_after_each_pass():
    told = []
    clf = Perceptron(max_iter=6).fit(X, y, progress=told.append)
    assert [record["epoch"] for record in told] == [1, 2, 3, 4, 5, 6]
    assert [record["mistakes"] for record in told] == clf.mistakes_per_epoch_.tolist()
    assert [record["loss"] for record in told] == clf.loss_curve_.tolist()
    assert all(record["visits"] == 150 for record in told)


def test_verbose_prints(capsys):
    Perceptron(max_iter=2, verbose=1).fit(X, y)
    assert capsys.readouterr().out.count("-- Epoch") == 2


def test_a_callable_may_raise():
    def stop(record):
        if record["epoch"] == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        Perceptron(max_iter=10**9).fit(X, y, progress=stop)


def test_control_c_ends_a_run():
    script = """
        import signal

        import numpy as np
        from rosenblatt import Perceptron

        # Whoever runs the tests in the background may have had the signal ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((2000, 50)), rng.integers(0, 2, 2000)
        print("ready", flush=True)
        try:
            Perceptron(max_iter=10**9).fit(X, y)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert (out, process.returncode) == ("interrupted\n", 0)


def test_the_lock_is_let_go():
    """Another thread counts on while this one trains."""
    rows, labels = make_classification(3000, 200, flip_y=0.3, random_state=0)
    done, counted = threading.Event(), []

    def count():
        n = 0
        while not done.is_set():
            n += 1
            time.sleep(0.001)
        counted.append(n)

    counter = threading.Thread(target=count)
    counter.start()
    began = time.monotonic()
    Perceptron(time_limit=1.0, max_iter=10**6).fit(rows, labels)
    took = time.monotonic() - began
    done.set()
    counter.join()
    assert took > 0.9
    # It could not have counted at all while the lock was held; how far depends on the machine.
    assert counted[0] > 2


def test_threads_train_side_by_side():
    expected = [Perceptron(max_iter=5, random_state=s).fit(X, y).coef_ for s in range(8)]
    found = [None] * 8

    def train(seed):
        found[seed] = Perceptron(max_iter=5, random_state=seed).fit(X, y).coef_

    threads = [threading.Thread(target=train, args=(s,)) for s in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((a == b).all() for a, b in zip(found, expected))


def _scores(seed):
    return KernelPerceptron(max_iter=2, random_state=seed).fit(X, y).decision_function(X)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    here = _scores(1)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for there in pool.map(_scores, [1, 1]):
            assert np.array_equal(here, there)


def test_threads_are_as_joblib_is_configured():
    cores = joblib.effective_n_jobs(-1)
    assert (threads(None), threads(1), threads(-1)) == (cores, 1, cores)
    with joblib.parallel_config(n_jobs=3):
        assert (threads(None), threads(1)) == (3, 1)
