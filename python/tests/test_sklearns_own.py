"""scikit-learn's own tests of its Perceptron, from the installed package, on ours.

``test_perceptron.py`` tests the perceptron. ``test_sgd.py`` tests the class that
scikit-learn's Perceptron derives from; here the perceptron stands for it, without the
parameters that a perceptron does not take. Tests that scikit-learn's own Perceptron fails when
it stands there are left out (``THEIRS``), those of regressors and of one-class machines too.
"""

import inspect

import pytest
from sklearn.linear_model.tests import test_perceptron, test_sgd

from rosenblatt.sklearn_compat import Perceptron

#: What SGDClassifier takes and no Perceptron does.
DROPPED = ("loss", "learning_rate", "average", "power_t", "epsilon")

#: Tests of what only SGDClassifier has, or at which scikit-learn's Perceptron fails too.
THEIRS = set(
    """
    test_learning_rate_PA_raises test_plain_has_no_average_attr
    test_late_onset_averaging_reached test_adaptive_longer_than_constant
    test_sgd_l1_ratio_not_used test_sgd_failing_penalty_validation test_power_t_limits
    test_average_binary_computed_correctly test_sgd_multiclass_average
    test_sgd_predict_proba_method_access test_sgd_proba test_class_weights
    test_equal_class_weight test_balanced_weight test_sample_weights
    test_underflow_or_overflow test_multi_thread_multi_class_and_early_stopping
    test_multi_core_gridsearch_and_early_stopping
    """.split()
)

#: Tests that ours does not pass, and why.
UNSUPPORTED = {
    "test_validation_set_not_used_for_training": "the rows held out are those of the program",
    "test_validation_mask_correctly_subsets": "it replaces a private class of scikit-learn's",
    "test_sgd_error_on_zero_validation_weight": "weights of 0 are refused in other words",
}


class Substitute(Perceptron):
    """Ours under the name that a pickle finds."""


def _module(source, name):
    """The names of a test module, made from its source."""
    names = {"__name__": __name__, "SUBSTITUTE": Substitute}
    exec(compile(source, name, "exec"), names)
    return names


def _tests():
    source = inspect.getsource(test_sgd).replace("linear_model.SGDClassifier", "SUBSTITUTE")
    dropped = f"def _update_kwargs(kwargs):\n    [kwargs.pop(k, None) for k in {DROPPED}]\n"
    source = source.replace("def _update_kwargs(kwargs):\n", dropped)
    names = _module(source, test_sgd.__file__)
    # What pickles it looks here.
    globals()["_SparseSGDClassifier"] = names["_SparseSGDClassifier"]
    ours = ("SGDClassifier", "SparseSGDClassifier")
    others = [f for name, f in names.items() if "SGD" in name and name not in ours]
    for name, test in names.items():
        if not name.startswith("test_") or name in THEIRS:
            continue
        if "SGDClassifier" in inspect.getsource(getattr(test_sgd, name)):
            yield name, _of_classifiers(test, others)
    source = inspect.getsource(test_perceptron)
    source = source.replace("from sklearn.linear_model import Perceptron", "")
    for name, test in _module(f"Perceptron = SUBSTITUTE\n{source}", "").items():
        if name.startswith("test_"):
            yield name, test


def _of_classifiers(test, others):
    """A test without its cases of other estimators."""
    for mark in getattr(test, "pytestmark", []):
        if mark.name != "parametrize":
            continue
        cases = [
            case
            for case in mark.args[1]
            if not any(value is other for value in _values(case) for other in others)
        ]
        object.__setattr__(mark, "args", (mark.args[0], cases, *mark.args[2:]))
    return test


def _values(case):
    return case if isinstance(case, (tuple, list)) else [case]


@pytest.fixture
def global_random_seed():
    return 42


for _name, _test in _tests():
    if _name in UNSUPPORTED:
        _test = pytest.mark.xfail(reason=UNSUPPORTED[_name], strict=True)(_test)
    globals()[_name] = _test
