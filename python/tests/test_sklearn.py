"""scikit-learn's own checks of every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import (
    Arow,
    KernelPerceptron,
    LinearUnit,
    Logistic,
    MaxMarginClassifier,
    PassiveAggressive,
    Perceptron,
    PerceptronNetwork,
)

#: Learners that visit rows one after the other see a repeated row twice, at different
#: weights; a row that counts double they see once.
ORDER = {
    "check_sample_weight_equivalence_on_dense_data": "a repeated row is visited twice",
    "check_sample_weight_equivalence_on_sparse_data": "a repeated row is visited twice",
}

EXPECTED = {
    Perceptron: ORDER,
    KernelPerceptron: ORDER,
    # Batch descent sums over rows, so repeating one is the same as doubling its weight.
    LinearUnit: {},
    # The plane does not depend on it either, but it is found to a tolerance; see below.
    MaxMarginClassifier: ORDER,
    PerceptronNetwork: ORDER,
    PassiveAggressive: ORDER,
    Arow: ORDER,
    # As of the plane of largest margin.
    Logistic: ORDER,
}


@parametrize_with_checks(
    [
        Perceptron(),
        KernelPerceptron(),
        LinearUnit(),
        MaxMarginClassifier(),
        # A kernel learner has no bias unless asked; one check wants far points to fall to one class.
        MaxMarginClassifier(kernel="rbf:0.5", bias="unlifted"),
        PerceptronNetwork(hidden=(16,), max_iter=50),
        PassiveAggressive(),
        Arow(),
        Logistic(),
        Logistic(penalty="l1"),
    ],
    expected_failed_checks=lambda estimator: EXPECTED[type(estimator)],
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", [None, "rbf:0.5"])
def test_largest_margins_take_weights_as_repetitions(kernel):
    from sklearn.utils import estimator_checks

    for storage in ("dense", "sparse"):
        check = getattr(
            estimator_checks, f"check_sample_weight_equivalence_on_{storage}_data"
        )
        check("MaxMarginClassifier", MaxMarginClassifier(kernel=kernel, tol=1e-10))


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_logistic_regression_takes_weights_as_repetitions(storage):
    from sklearn.utils import estimator_checks

    check = getattr(estimator_checks, f"check_sample_weight_equivalence_on_{storage}_data")
    check("Logistic", Logistic(tol=1e-12))


def test_only_the_two_checks_of_order_may_fail():
    assert all(set(failed) <= set(ORDER) for failed in EXPECTED.values())


@pytest.mark.parametrize("readout", ["last", "averaged-normalised", "voted", "random", "pocket"])
@pytest.mark.parametrize("multiclass", ["argmax", "ovr"])
def test_other_read_outs_and_schemes(readout, multiclass):
    from sklearn.utils.estimator_checks import check_classifiers_train

    check_classifiers_train("Perceptron", Perceptron(readout=readout, multiclass=multiclass, max_iter=20))
