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

from ._core import __version__
from ._trace import trace
from .arow import Arow
from .files import Table, export, load, read_libsvm, read_table, save
from .firth import FirthLogistic
from .kernel import KernelPerceptron
from .linear_unit import LinearUnit
from .logistic import Logistic
from .max_margin import MaxMarginClassifier
from .network import PerceptronNetwork
from .passive_aggressive import PassiveAggressive
from .perceptron import Perceptron
from .separability import Verdict, check_separability

__all__ = [
    "Arow",
    "FirthLogistic",
    "KernelPerceptron",
    "LinearUnit",
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
