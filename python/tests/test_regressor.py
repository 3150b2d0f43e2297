"""The linear unit with numbers as targets."""

import inspect
import pickle
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from rosenblatt import LinearUnit, LinearUnitRegressor, _core, export, save


def rows(n=200, d=4, noise=0.1, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, X @ np.arange(1, d + 1) - 7.5 + noise * random.normal(size=n)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_batch_descent_ends_at_least_squares(fit_intercept, weighted):
    X, y = rows()
    weight = np.random.default_rng(1).integers(0, 4, size=len(y)).astype(float) if weighted else None
    found = LinearUnitRegressor(tol=1e-12, fit_intercept=fit_intercept).fit(X, y, weight)
    least = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight)
    assert found.stop_reason_ == "converged"
    np.testing.assert_allclose(found.coef_, least.coef_, rtol=1e-8)
    np.testing.assert_allclose(found.intercept_, [least.intercept_], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.predict(X), least.predict(X), rtol=1e-7)
    assert found.loss_curve_[0] > found.loss_curve_[-1] > 0


def test_targets_of_one_are_the_classifier():
    X, y = rows()
    sides = np.where(y > y.mean(), 1.0, -1.0)
    for given in ({}, {"gradient": "stochastic", "max_iter": 7}, {"embed": "squares"}):
        one = LinearUnit(**given).fit(X, sides)
        other = LinearUnitRegressor(**given).fit(X, sides)
        assert one.coef_.ravel().tolist() == other.coef_.tolist()
        assert one.intercept_.tolist() == other.intercept_.tolist()
        assert one.loss_curve_.tolist() == other.loss_curve_.tolist()


def test_stochastic_descent_is_its_definition():
    X, y = rows(50)
    w, b = np.zeros(4), 0.0
    for i, (x, target) in enumerate(zip(X, y)):
        rate = 0.05 / (1 + 0.1 * i)
        error = target - (b + x @ w)
        w, b = w + rate * error * x, b + rate * error
    given = {"gradient": "stochastic", "eta0": 0.05, "decay": 0.1, "shuffle": False}
    found = LinearUnitRegressor(max_iter=1, **given)
    with pytest.warns(ConvergenceWarning):
        found.fit(X, y)
    np.testing.assert_allclose(found.coef_, w, rtol=1e-12)
    parts = LinearUnitRegressor(**given)
    for part in np.array_split(np.arange(50), 3):
        parts.partial_fit(X[part], y[part])
    assert parts.coef_.tolist() == found.coef_.tolist()
    assert not hasattr(LinearUnitRegressor(), "partial_fit")
    going_on = LinearUnitRegressor(max_iter=1, warm_start=True, **given)
    with pytest.warns(ConvergenceWarning):
        going_on.fit(X, y).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        found.set_params(max_iter=2).fit(X, y)
    assert going_on.coef_.tolist() == found.coef_.tolist() and going_on.n_iter_ == 1


def test_sparse_rows_threads_and_copies_change_nothing():
    X, y = rows()
    X[np.random.default_rng(2).random(X.shape) < 0.5] = 0
    one = LinearUnitRegressor().fit(X, y)
    for other in (
        LinearUnitRegressor(n_jobs=1).fit(sparse.csr_matrix(X), y),
        LinearUnitRegressor(n_jobs=2).fit(np.asfortranarray(X), y.tolist()),
        pickle.loads(pickle.dumps(one)),
    ):
        assert one.coef_.tolist() == other.coef_.tolist()
        assert one.predict(X).tolist() == other.predict(sparse.csr_matrix(X)).tolist()
        with pytest.raises(ValueError, match="read-only"):
            other.coef_[0] = 1.0


def test_weights_that_are_set_predict():
    X, y = rows()
    found = LinearUnitRegressor().fit(X, y)
    found.coef_ = [1, 0, 0, 0]
    found.intercept_ = 2.0
    np.testing.assert_allclose(found.predict(X), X[:, 0] + 2)
    with pytest.raises(ValueError, match="reshape"):
        found.coef_ = [1, 2]
    assert found.fit(X[:, :2], y).coef_.shape == (2,)


def test_it_takes_part_in_searches():
    X, y = rows()
    search = GridSearchCV(LinearUnitRegressor(), {"embed": [None, "squares"]}).fit(X, y)
    assert search.best_params_ == {"embed": None} and search.best_score_ > 0.99
    scores = cross_val_score(LinearUnitRegressor(gradient="stochastic", max_iter=50), X, y)
    assert scores.min() > 0.9


def test_what_is_wrong_is_said(tmp_path, capfd):
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="diverged"):
        assert LinearUnitRegressor(eta0=1e3).fit(X, y).stop_reason_ == "diverged"
    with pytest.raises(ValueError, match="'tol' parameter of LinearUnitRegressor"):
        LinearUnitRegressor(tol=-1).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        LinearUnitRegressor().fit(X, np.where(y > 0, y, np.nan))
    found = LinearUnitRegressor(verbose=1).fit(X, y)
    assert capfd.readouterr().out.startswith("-- Epoch 1: mean squared error")
    for out in (save, export):
        with pytest.raises(TypeError, match="LinearUnitRegressor has no model file"):
            out(found, tmp_path / "m")
    given = {"learner": "perceptron"}
    labels, rows_ = np.zeros(len(y), dtype=np.uint32), np.ascontiguousarray(X)
    with pytest.raises(ValueError, match="the learner perceptron learns classes, not numbers"):
        _core.fit(given, rows_, labels, ["0", "1"], targets=y)
    with pytest.raises(ValueError, match="199 targets for 200 examples"):
        _core.fit({"learner": "linear-unit"}, rows_, labels, ["0", "1"], targets=y[1:])


def test_parameters_are_the_classifiers_and_documented():
    ours = inspect.signature(LinearUnitRegressor).parameters
    theirs = inspect.signature(LinearUnit).parameters
    assert all(theirs[name].default == one.default for name, one in ours.items())
    text = inspect.getdoc(LinearUnitRegressor)
    section = text[text.index("Parameters\n") : text.index("Attributes\n")]
    assert re.findall(r"^(\w+) : ", section, re.MULTILINE) == list(ours)
