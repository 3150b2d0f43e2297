"""Perceptrons for scikit-learn.

Estimators that follow scikit-learn's conventions on the core of the Rust library: the same
data, options and seed give the same weights as the command line, bit for bit. A run ends
with a reason (``stop_reason_``), and its mistakes stand beside the theorem's bound
(``n_mistakes_``, ``mistake_bound_``).

>>> from rosenblatt import Perceptron
>>> clf = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"])
>>> clf.stop_reason_
'separated'
>>> clf.predict([[1, 1], [0, 1]])
array(['yes', 'no'], dtype='<U3')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._core import __version__

if TYPE_CHECKING:
    from ._trace import trace
    from .arow import Arow
    from .client import Client, ServerError
    from .files import Table, export, load, read_libsvm, read_table, save
    from .firth import FirthLogistic
    from .kernel import KernelPerceptron
    from .linear_unit import LinearUnit, LinearUnitRegressor
    from .logistic import Logistic
    from .max_margin import MaxMarginClassifier
    from .network import PerceptronNetwork
    from .passive_aggressive import PassiveAggressive
    from .perceptron import Perceptron
    from .separability import Verdict, check_separability

#: Where each name is defined. They are imported when they are first asked for, so that the
#: command line need not wait for scikit-learn.
_DEFINED_IN = {
    "Arow": "arow",
    "Client": "client",
    "FirthLogistic": "firth",
    "KernelPerceptron": "kernel",
    "LinearUnit": "linear_unit",
    "LinearUnitRegressor": "linear_unit",
    "Logistic": "logistic",
    "MaxMarginClassifier": "max_margin",
    "PassiveAggressive": "passive_aggressive",
    "Perceptron": "perceptron",
    "PerceptronNetwork": "network",
    "ServerError": "client",
    "Table": "files",
    "Verdict": "separability",
    "check_separability": "separability",
    "export": "files",
    "load": "files",
    "read_libsvm": "files",
    "read_table": "files",
    "save": "files",
    "trace": "_trace",
}

__all__ = [
    "Arow",
    "Client",
    "FirthLogistic",
    "KernelPerceptron",
    "LinearUnit",
    "LinearUnitRegressor",
    "Logistic",
    "MaxMarginClassifier",
    "PassiveAggressive",
    "Perceptron",
    "PerceptronNetwork",
    "Table",
    "Verdict",
    "__version__",
    "check_separability",
    "export",
    "load",
    "read_libsvm",
    "read_table",
    "save",
    "trace",
]


def __getattr__(name: str) -> Any:
    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_DEFINED_IN[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
