"""What users write, for type checkers to read: it is checked, and run, by test_types.py."""

from __future__ import annotations

import pathlib
import tempfile

import numpy as np
from numpy.typing import NDArray

from rosenblatt import (
    Arow,
    FirthLogistic,
    KernelPerceptron,
    LinearUnit,
    LinearUnitRegressor,
    Logistic,
    MaxMarginClassifier,
    PassiveAggressive,
    Perceptron,
    PerceptronNetwork,
    Verdict,
    check_separability,
    load,
    save,
    trace,
)
from rosenblatt.mixing import Mixing, Partition, mix, one_pass
from rosenblatt.sklearn_compat import Perceptron as OldPerceptron


def similarity(X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(X @ Y.T + 1.0)


def told(record: dict[str, object]) -> None:
    assert "mistakes" in record


def main() -> float:
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)

    clf = Perceptron(max_iter=5, eta0=0.5, class_weight={0: 1.0, 1: 2.0}).fit(X, y, progress=told)
    mistakes: int = clf.n_mistakes_
    if clf.margin_ is not None:
        assert clf.margin_.lower <= clf.margin_.upper and mistakes >= 0
    labels: NDArray[np.int64] = clf.predict(X)
    again: Perceptron = clf.partial_fit(X, y).sparsify().densify()
    shares = again.calibrate(X, y, method="sigmoid").predict_proba(X)

    OldPerceptron(penalty="l1", alpha=0.01).fit(X, y)
    KernelPerceptron(similarity, max_iter=3).fit(X, y)
    KernelPerceptron("rbf", gamma=0.5).fit(X, y)
    MaxMarginClassifier(C=float("inf")).fit(X, y)
    PassiveAggressive(0.1).fit(X, y)
    Arow(r=2.0, max_iter=1).fit(X, y)
    Logistic(penalty="l2").fit(X, y)
    LinearUnit(gradient="stochastic", eta0=0.01).fit(X, y)
    told_numbers = LinearUnitRegressor(fit_intercept=False).fit(X, X[:, 0], progress=told)
    slopes: NDArray[np.float64] = told_numbers.coef_
    assert abs(float(slopes[0]) - 1) < 1e-3 and told_numbers.score(X, X[:, 0]) > 0.9
    PerceptronNetwork([4], max_iter=3).fit(X, y)
    FirthLogistic(level=0.9, interval="wald").fit(X, y)

    verdict: Verdict = check_separability(X, y)
    if verdict.separator is not None:
        assert all(isinstance(weight, int) for weight in verdict.separator)
    assert trace(X, y, max_iter=1)[0]["step"] == 1

    parts = [Partition(X[:30], y[:30], classes=[0, 1]), Partition(X[30:], y[30:], classes=[0, 1])]
    run = Mixing(Perceptron(max_iter=2), parts)
    while run.stop is None:
        task = run.task()
        run.take(mix([one_pass(part, task) for part in parts], task))
    run.finish()

    with tempfile.TemporaryDirectory() as folder:
        save(clf, pathlib.Path(folder) / "m.rbm")
        loaded = load(pathlib.Path(folder) / "m.rbm")
    assert (loaded.predict(X) == labels).all()
    return float(shares.sum())


if __name__ == "__main__":
    print(main())
