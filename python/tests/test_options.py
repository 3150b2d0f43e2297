"""Parameters are declared once, in the library; what Python repeats must agree with it."""

import inspect
import re

import numpy as np
import pytest

from rosenblatt import _core, _options
from rosenblatt.files import ESTIMATORS

KINDS = list(ESTIMATORS.values())

#: A kernel learner without a kernel is linear, which an estimator for kernels should not be;
#: a hard margin asks for separable data, which an estimator cannot expect.
DIFFERENT = {("KernelPerceptron", "kernel"), ("MaxMarginClassifier", "C")}

#: Options that no estimator has.
WITHOUT_ESTIMATOR = {"keep", "metric", "until"}


def parameter_of(option):
    names = {of: parameter for parameter, of in _options.OPTION_OF.items()}
    return names.get(option, option.replace("-", "_"))


def defaults(kind):
    parameters = inspect.signature(kind).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_defaults_are_the_librarys(kind):
    library = _core.defaults(kind._learner)
    for name, default in defaults(kind).items():
        if name in kind._own or (kind.__name__, name) in DIFFERENT:
            continue
        option = _options.option_of(name)
        assert option in library, name
        if default is None:
            # None leaves the choice to the library, which calls that auto, none or zero.
            assert library[option] in {"auto", "none", "shuffled", "0"}, name
        else:
            # Read by the library, the text is the default itself.
            text = _options.text_of(default)
            assert _core.expected(option, text) is None
            assert text == library[option] or float(text) == float(
                library[option]
            ), name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_defaults_train_as_no_options_do(kind):
    estimator = kind()
    estimator.classes_ = np.array([0, 1])
    told = estimator._options()
    assert told.pop("learner") == kind._learner
    library = _core.defaults(kind._learner)
    for name, text in told.items():
        if (kind.__name__, parameter_of(name)) not in DIFFERENT:
            same = text == library[name]
            assert same or float(text) == float(library[name]), name


def test_every_option_has_an_estimator():
    known = {_options.option_of(name) for kind in KINDS for name in defaults(kind)}
    library = set().union(*(_core.defaults(kind._learner) for kind in KINDS))
    assert library - known == {"learner"} | WITHOUT_ESTIMATOR


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_parameter_is_documented_with_its_default(kind):
    text = inspect.getdoc(kind)
    section = text[text.index("Parameters\n") : text.index("Attributes\n")]
    told = re.findall(r"^(\w+) : ((?:[^\n\\]|\\\n)*)", section, re.MULTILINE)
    assert [name for name, _ in told] == list(defaults(kind))
    for name, line in told:
        default = defaults(kind)[name]
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        assert re.search(rf"default={re.escape(shown)}$", line.strip()), (name, line)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_fitted_attribute_is_documented(kind):
    estimator = kind().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], [0, 1, 1])
    text = inspect.getdoc(kind)
    section = text[text.index("Attributes\n") :]
    for name in vars(estimator):
        if name.endswith("_") and not name.startswith("_"):
            assert re.search(rf"^{name} : ", section, re.MULTILINE), name


def test_values_become_texts():
    assert _options.text_of(True) == "true"
    assert _options.text_of(np.float32(0.5)) == "0.5"
    assert _options.text_of(np.int64(7)) == "7"
    assert _options.text_of([1, -2.5]) == "1.0,-2.5"
    assert _options.text_of({"a": 2, "b": 0.5}) == "a=2,b=0.5"
    assert _options.seed_of(None) == 0
    assert _options.seed_of(np.int64(3)) == 3
    drawn = _options.seed_of(np.random.RandomState(1))
    assert drawn == np.random.RandomState(1).randint(np.iinfo(np.int32).max)
