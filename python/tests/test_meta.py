"""scikit-learn's meta-estimators around ours, with their values worked out another way."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import (
    Arow,
    KernelPerceptron,
    Logistic,
    MaxMarginClassifier,
    PassiveAggressive,
    Perceptron,
    PerceptronNetwork,
)

IRIS, SPECIES = load_iris(return_X_y=True)
FOLDS = StratifiedKFold(3)

#: Three features that tell the classes apart, and five that do not.
FEW, LABELS = make_classification(
    400,
    8,
    n_informative=3,
    n_redundant=0,
    n_clusters_per_class=1,
    class_sep=1.5,
    shuffle=False,
    random_state=1,
)


def by_folds(clf, X, y, method):
    """The answers of a clone that was fitted without a row's fold."""
    found = None
    for train, test in FOLDS.split(X, y):
        answers = getattr(clone(clf).fit(X[train], y[train]), method)(X[test])
        if found is None:
            found = np.empty((len(X), *answers.shape[1:]), answers.dtype)
        found[test] = answers
    return found


@pytest.mark.parametrize(
    "clf",
    [
        Perceptron(max_iter=20),
        KernelPerceptron("rbf", max_iter=20),
        MaxMarginClassifier(),
        PassiveAggressive(max_iter=20),
        Arow(max_iter=2),
        Logistic(),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_predictions_by_fold(clf):
    for method in ("predict", "decision_function"):
        found = cross_val_predict(clf, IRIS, SPECIES, cv=FOLDS, method=method)
        assert (found == by_folds(clf, IRIS, SPECIES, method)).all()
    scores = cross_val_score(clf, IRIS, SPECIES, cv=FOLDS)
    answers = by_folds(clf, IRIS, SPECIES, "predict")
    expected = [accuracy_score(SPECIES[test], answers[test]) for _, test in FOLDS.split(IRIS, SPECIES)]
    assert scores.tolist() == expected


def test_a_grid_search_finds_the_best_of_its_grid():
    grid = {"margin": [0.0, 1.0, 10.0], "readout": ["last", "averaged"]}
    search = GridSearchCV(Perceptron(max_iter=20), grid, cv=FOLDS).fit(IRIS, SPECIES)
    means = []
    for parameters in search.cv_results_["params"]:
        clf = Perceptron(max_iter=20, **parameters)
        means.append(cross_val_score(clf, IRIS, SPECIES, cv=FOLDS).mean())
    assert np.allclose(search.cv_results_["mean_test_score"], means, rtol=1e-12)
    assert search.best_params_ == search.cv_results_["params"][int(np.argmax(means))]
    again = Perceptron(max_iter=20, **search.best_params_).fit(IRIS, SPECIES)
    assert (search.best_estimator_.coef_ == again.coef_).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_by_folds(method):
    clf = Perceptron(max_iter=20)
    one = CalibratedClassifierCV(clf, method=method, cv=FOLDS, ensemble=False)
    shares = one.fit(FEW, LABELS).predict_proba(FEW)
    # One map is fitted to the scores of all folds, and used with a model of all rows.
    by_fold = by_folds(clf, FEW, LABELS, "decision_function")
    calibrator = one.calibrated_classifiers_[0].calibrators[0]
    again = type(calibrator)().fit(by_fold, LABELS)
    scores = clone(clf).fit(FEW, LABELS).decision_function(FEW)
    assert np.allclose(shares[:, 1], again.predict(scores), atol=1e-12)
    assert log_loss(LABELS, shares) < 0.3
    # Folds each with its own model and map: their mean.
    each = CalibratedClassifierCV(clf, method=method, cv=FOLDS).fit(FEW, LABELS)
    mean = np.mean([c.predict_proba(FEW) for c in each.calibrated_classifiers_], axis=0)
    assert np.allclose(each.predict_proba(FEW), mean) and len(each.calibrated_classifiers_) == 3


def test_stacking_learns_from_scores():
    base = [("p", Perceptron(max_iter=20)), ("m", MaxMarginClassifier()), ("l", Logistic())]
    stack = StackingClassifier(base, LogisticRegression(), cv=FOLDS).fit(FEW, LABELS)
    told = np.column_stack(
        [
            by_folds(base[0][1], FEW, LABELS, "decision_function"),
            by_folds(base[1][1], FEW, LABELS, "decision_function"),
            by_folds(base[2][1], FEW, LABELS, "predict_proba")[:, 1],
        ]
    )
    final = LogisticRegression().fit(told, LABELS)
    assert np.allclose(stack.final_estimator_.coef_, final.coef_)
    assert stack.stack_method_ == ["decision_function", "decision_function", "predict_proba"]
    fitted = [clone(clf).fit(FEW, LABELS) for _, clf in base]
    asked = np.column_stack(
        [
            fitted[0].decision_function(FEW),
            fitted[1].decision_function(FEW),
            fitted[2].predict_proba(FEW)[:, 1],
        ]
    )
    assert (stack.predict(FEW) == final.predict(asked)).all()


def test_votes_and_bags_count_what_each_says():
    voters = [("p", Perceptron(max_iter=20)), ("a", Arow()), ("k", KernelPerceptron(max_iter=20))]
    votes = VotingClassifier(voters).fit(IRIS, SPECIES)
    answers = np.array([clone(clf).fit(IRIS, SPECIES).predict(IRIS) for _, clf in voters])
    most = [np.bincount(column).argmax() for column in answers.T]
    assert (votes.predict(IRIS) == most).all()

    # Without probabilities a bag takes votes.
    bag = BaggingClassifier(
        Perceptron(max_iter=20), 7, bootstrap=False, max_samples=0.5, max_features=3, random_state=0
    ).fit(IRIS, SPECIES)
    answers = []
    for clf, rows, columns in zip(
        bag.estimators_, bag.estimators_samples_, bag.estimators_features_
    ):
        used = np.zeros(len(IRIS), dtype=bool)
        used[rows] = True
        again = clone(clf).fit(IRIS[used][:, columns], SPECIES[used])
        answers.append(again.predict(IRIS[:, columns]))
        assert (answers[-1] == clf.predict(IRIS[:, columns])).mean() > 0.9
    found = bag.predict(IRIS)
    most = [np.bincount(column, minlength=3).argmax() for column in np.array(answers).T]
    assert (found == most).mean() > 0.9 and accuracy_score(SPECIES, found) > 0.85


def test_features_are_chosen_by_their_weights():
    clf = Perceptron(max_iter=20)
    chosen = SelectFromModel(clf).fit(FEW, LABELS)
    size = np.abs(clone(clf).fit(FEW, LABELS).coef_[0])
    assert (chosen.get_support() == (size >= size.mean())).all()
    assert (chosen.transform(FEW) == FEW[:, size >= size.mean()]).all()
    several = SelectFromModel(clone(clf), threshold="median").fit(IRIS, SPECIES)
    size = np.abs(clone(clf).fit(IRIS, SPECIES).coef_).sum(axis=0)
    assert (several.get_support() == (size >= np.median(size))).all()

    left = RFECV(MaxMarginClassifier(), cv=FOLDS).fit(FEW, LABELS)
    # The weakest is left out, one after the other.
    kept, order = list(range(8)), []
    while len(kept) > 1:
        size = MaxMarginClassifier().fit(FEW[:, kept], LABELS).coef_[0] ** 2
        order.append(kept.pop(int(np.argmin(size))))
    ranked = [j for j in order if not left.support_[j]]
    assert [int(left.ranking_[j]) for j in ranked] == list(range(len(ranked) + 1, 1, -1))
    assert left.support_[:3].any() and left.n_features_ <= 6


@pytest.mark.parametrize("clf", [Perceptron(max_iter=20), MaxMarginClassifier(), Logistic()])
def test_one_class_against_the_rest_is_a_fit_of_each(clf):
    rest = OneVsRestClassifier(clf).fit(IRIS, SPECIES)
    for c in range(3):
        again = clone(clf).fit(IRIS, (SPECIES == c).astype(int))
        assert (rest.estimators_[c].coef_ == again.coef_).all()
    own = clone(clf).set_params(multiclass="ovr").fit(IRIS, SPECIES)
    if not isinstance(clf, Perceptron):
        stacked = np.vstack([each.coef_ for each in rest.estimators_])
        assert np.allclose(own.coef_, stacked, atol=1e-2)
        assert (own.predict(IRIS) == rest.predict(IRIS)).mean() > 0.97


def test_pairs_of_classes_are_a_fit_of_each():
    clf = Perceptron(max_iter=20, readout="last", shuffle=False)
    pairs = OneVsOneClassifier(clf).fit(IRIS, SPECIES)
    own = clone(clf).set_params(multiclass="ovo").fit(IRIS, SPECIES)
    wins = np.zeros((150, 3), dtype=int)
    for k, (low, high) in enumerate([(0, 1), (0, 2), (1, 2)]):
        among = np.isin(SPECIES, (low, high))
        again = clone(clf).fit(IRIS[among], (SPECIES[among] == high).astype(int))
        assert (pairs.estimators_[k].coef_ == again.coef_).all()
        assert (own.coef_[k] == again.coef_[0]).all()
        right = again.decision_function(IRIS) > 0
        wins[:, high] += right
        wins[:, low] += ~right
    clear = (wins == 2).any(axis=1)
    assert clear.sum() > 100
    assert (pairs.predict(IRIS)[clear] == wins[clear].argmax(axis=1)).all()
    assert (own.predict(IRIS)[clear] == wins[clear].argmax(axis=1)).all()


def test_several_outputs_are_a_fit_of_each():
    targets = np.column_stack([SPECIES, IRIS[:, 0] > 5.8])
    several = MultiOutputClassifier(Perceptron(max_iter=20)).fit(IRIS, targets)
    chain = ClassifierChain(Perceptron(max_iter=20)).fit(IRIS, targets[:, [1, 1]] == 1)
    for j in range(2):
        again = Perceptron(max_iter=20).fit(IRIS, targets[:, j])
        assert (several.estimators_[j].coef_ == again.coef_).all()
        assert (several.predict(IRIS)[:, j] == again.predict(IRIS)).all()
    longer = np.column_stack([IRIS, targets[:, 1]])
    again = Perceptron(max_iter=20).fit(longer, targets[:, 1] == 1)
    assert (chain.estimators_[1].coef_ == again.coef_).all()


def test_importance_is_what_a_permutation_costs():
    clf = make_pipeline(StandardScaler(), PerceptronNetwork([8], max_iter=30)).fit(FEW, LABELS)
    told = permutation_importance(clf, FEW, LABELS, n_repeats=5, random_state=0)
    assert told.importances_mean[:3].max() > 0.05
    assert np.abs(told.importances_mean[3:]).max() < told.importances_mean[:3].max() / 3
    linear = Perceptron(penalty="l1", alpha=0.02, readout="last", max_iter=30).fit(FEW, LABELS)
    unused = np.flatnonzero(linear.coef_[0] == 0)
    told = permutation_importance(linear, FEW, LABELS, n_repeats=3, random_state=0)
    assert len(unused) and (told.importances[unused] == 0).all()
    before = accuracy_score(LABELS, linear.predict(FEW))
    column = int(np.argmax(np.abs(linear.coef_[0])))
    shuffled = FEW.copy()
    random = np.random.RandomState(3)
    losses = []
    for _ in range(50):
        random.shuffle(shuffled[:, column])
        losses.append(before - accuracy_score(LABELS, linear.predict(shuffled)))
    assert abs(np.mean(losses) - told.importances_mean[column]) < 0.05
