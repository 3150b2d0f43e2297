"""Models and data in files, as the command line writes and reads them."""

from __future__ import annotations

import os
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _options
from ._base import Estimator, threads
from .arow import Arow
from .kernel import KernelPerceptron
from .linear_unit import LinearUnit
from .logistic import Logistic
from .max_margin import MaxMarginClassifier
from .network import PerceptronNetwork
from .passive_aggressive import PassiveAggressive
from .perceptron import Perceptron

ESTIMATORS = {
    kind._learner: kind
    for kind in (
        Perceptron,
        KernelPerceptron,
        LinearUnit,
        MaxMarginClassifier,
        PerceptronNetwork,
        PassiveAggressive,
        Arow,
        Logistic,
    )
}


class Table(NamedTuple):
    """Rows of a file as arrays."""

    X: Any
    y: np.ndarray
    feature_names: list[str]
    sample_weight: np.ndarray | None


def _path(path: Any) -> str:
    found: str = os.fspath(path)
    is_pattern = any(letter in os.path.basename(found) for letter in "*?")
    if not is_pattern and not os.path.exists(found):
        raise FileNotFoundError(f"there is no file {found!r}")
    return found


def load(path: Any) -> Estimator:
    """Load a model that :func:`save` or the command line has written.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    estimator : estimator
        A fitted estimator of the learner's kind. What only a run knows (``radius_``,
        ``margin_``, ``mistake_bound_``) is None. ``classes_`` have the order of the file,
        which need not be sorted. A model that was trained on a table takes rows as
        :func:`read_table` makes them with ``model=``.

    Examples
    --------
    >>> import os, tempfile
    >>> from rosenblatt import Perceptron, load, save
    >>> clf = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(clf, os.path.join(folder, "and.rbm"))
    ...     again = load(os.path.join(folder, "and.rbm"))
    >>> again.predict([[1, 1]])
    array([1])
    """
    model = _core.Model.load(_path(path))
    options = model.options
    kind = ESTIMATORS.get(options["learner"])
    if kind is None:
        raise ValueError(f"there is no estimator for the learner {options['learner']!r}")
    known = kind._get_param_names()
    told = _told(kind, options)
    if "bias" not in known and options["bias"] == "none" and "fit_intercept" in known:
        told["fit_intercept"] = False
    if "order" not in known and options["order"] == "given":
        told["shuffle"] = False
    classes = _data.labels(model.classes, model.label_type)
    if isinstance(told.get("class_weight"), dict):
        told["class_weight"] = _by_class(told["class_weight"], model.classes, classes)
    estimator = kind(**told)
    estimator._model = model
    estimator._single = False
    estimator.classes_ = classes
    estimator.n_features_in_ = model.features
    names = model.feature_names
    if names is not None and not all(name.isdigit() for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator._describe()
    return estimator


def _told(kind: type[Estimator], options: dict[str, str]) -> dict[str, Any]:
    """The parameters that a model's options set apart from an estimator made of defaults.

    The defaults of the library and of the estimators differ: a hard margin is the library's.
    """
    told = {}
    library = _core.defaults(options["learner"])
    for name, default in kind().get_params(deep=False).items():
        option = _options.option_of(name)
        if name in kind._own:
            continue
        if default is None and options[option] == library[option]:
            continue
        value = _value(options[option], name)
        if default is None or not np.array_equal(value, default):
            told[name] = value
    return told


def _by_class(
    weight: dict[str, float], names: list[str], classes: np.ndarray
) -> dict[Any, float]:
    """Weights by class as ``classes_`` have them, not as the options spell them."""
    known = dict(zip(names, classes.tolist()))
    known |= {str(label): label for label in classes.tolist()}
    return {known.get(name, name): value for name, value in weight.items()}


def _value(text: str, name: str) -> Any:
    """An option's text as the value of a parameter."""
    if name == "C" and text == "none":
        return float("inf")
    if name in ("hidden", "start_dual") or (name == "start" and text[0] in "-.0123456789"):
        return [_value(item, "") for item in text.split(",")]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    if name == "class_weight" and "=" in text:
        pairs = (pair.rsplit("=", 1) for pair in text.split(","))
        return {label: float(weight) for label, weight in pairs}
    return {"true": True, "false": False}.get(text, text)


def _require_classifier(estimator: Any) -> None:
    """Refuses what model files and graphs do not hold."""
    if not isinstance(estimator, Estimator):
        name = type(estimator).__name__
        raise TypeError(f"{name} has no model file and no graph, only pickles")
    check_is_fitted(estimator, "_model")


def save(estimator: Estimator, path: Any, *, label: str = "label") -> None:
    """Save a fitted estimator as a model file, which the command line reads too.

    There it takes CSV files with the columns of ``feature_names_in_``, or libsvm files if
    the features have no names.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator.
    path : path-like
        The file; it is written aside and renamed, so that it is never half there.
    label : str, default="label"
        The name of the label's column in files that the command line tests the model on.
    """
    _require_classifier(estimator)
    names = estimator._feature_names()
    estimator._model.save(
        os.fspath(path),
        None if names is None else [str(name) for name in names],
        label,
        bool(estimator._single),
        _data.label_type(estimator.classes_, estimator._model.classes),
    )


def export(estimator: Estimator, path: Any = None) -> bytes:
    """Export a fitted estimator to ONNX.

    The graph takes rows as doubles in ``X`` (or, for a loaded model that was trained on a
    table, its columns, each by its name) and gives ``label`` and ``scores``, a column a
    class. Linear models become a LinearClassifier, whose labels are found in single
    precision; scores, and the labels of all other models, are in double precision.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator.
    path : path-like, default=None
        Where to write the graph, if anywhere.

    Returns
    -------
    graph : bytes
        The ONNX file.

    Examples
    --------
    >>> from rosenblatt import Perceptron, export
    >>> clf = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> b"LinearClassifier" in export(clf)
    True
    """
    _require_classifier(estimator)
    graph = estimator._model.to_onnx()
    if path is not None:
        with open(path, "wb") as file:
            file.write(graph)
    return graph


def _read(path: Any, given: dict[str, Any], model: Estimator | None) -> Table:
    given = {name: value for name, value in given.items() if value is not None}
    found = _core.read_file(
        _path(path),
        {"threads": threads(None), **given},
        None if model is None else model._model,
    )
    for warning in found["warnings"]:
        warnings.warn(warning, UserWarning, stacklevel=3)
    X = found["rows"]
    if isinstance(X, tuple):
        columns, offsets, indices, values = X
        # scipy wants signed numbers; larger ones need more bits.
        indices = indices.view(np.int32) if columns <= 2**31 else indices.astype(np.int64)
        shape = (len(offsets) - 1, columns)
        X = sparse.csr_matrix((values, indices, offsets), shape=shape, copy=False)
    classes = _data.labels(found["classes"])
    return Table(X, classes[found["labels"]], found["names"], found["weights"])


def read_libsvm(path: Any, *, precision: str = "f32") -> tuple[Any, np.ndarray]:
    """Read a libsvm file, compressed or not.

    Parameters
    ----------
    path : path-like
        The file.
    precision : {"f32", "f64"}, default="f32"
        How many bits values keep; "f32" is the command line's default.

    Returns
    -------
    X : csr_matrix of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Labels: whole numbers, numbers or texts.
    """
    found = _read(path, {"format": "libsvm", "precision": precision}, None)
    return found.X, found.y


def read_table(
    path: Any,
    *,
    label: str | None = None,
    format: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    positive: str | None = None,
    label_map: dict[str, str] | None = None,
    columns: dict[str, str] | None = None,
    text: str = "words",
    term_weights: str | None = None,
    min_df: float = 1,
    max_df: float = 1.0,
    vocabulary: int = 1 << 20,
    keep_case: bool = False,
    strip_accents: bool = False,
    on_error: str = "fail",
    weight_column: str | None = None,
    labels: Any = None,
    scale: str = "none",
    precision: str = "f32",
    model: Estimator | None = None,
) -> Table:
    """Read a labelled file as the command line does.

    CSV, TSV, libsvm, IDX, JSON lines, Parquet, Arrow and Feather, NumPy arrays, ARFF and
    Vowpal Wabbit text, compressed or not; a folder or a pattern such as ``"part-*.csv"`` stands
    for several files of one data set.


    Categories become a feature for each level, texts one for each word, missing values get a
    feature of their own.

    Parameters
    ----------
    path : path-like
        The file, a folder, or a pattern.
    label : str, default=None
        The column of labels: a name, or a number from 0. None: one called label, class,
        target or y, else the last.
    format : {"csv", "tsv", "libsvm", "idx", "jsonl", "parquet", "arrow", "npy", "arff", \
            "vw"}, default=None
        The format; None: guessed from name and content.
    header : bool, default=None
        Whether the first record names the columns; None: found out.
    comment : str, default=None
        Lines that start with this are skipped.
    positive : str, default=None
        The class that stands against all others.
    label_map : dict of str to str, default=None
        Labels to be replaced, and by what.
    columns : dict of str to kind, default=None
        Columns whose kind is not to be decided by their cells: numeric, numeric-or-missing,
        decimal-comma, date, date-day-first, date-month-first, category, text or ignore.
    text : str, default="words"
        Features of texts: words, ranges of words in a row such as words:1-2, or of characters such
        as chars:3-5.
    term_weights : {"counts", "sublinear", "tf-idf", "sublinear-tf-idf"}, default=None
        What a term of a text weighs; None: counts, or sublinear tf-idf with scaled columns.
    min_df, max_df : int or float, default=1, 1.0
        Terms in fewer or more rows than this number, or than this share of them, are left out.
    vocabulary : int, default=1048576
        Terms of a text column with a feature of their own; others share features by a hash.
    keep_case : bool, default=False
        Whether capitals differ from small letters in texts.
    strip_accents : bool, default=False
        Whether accents are taken off letters in texts.
    on_error : {"fail", "skip"}, default="fail"
        What to do with rows that cannot be read.
    weight_column : str, default=None
        The column with the weights of rows.
    labels : path-like, default=None
        The file with the labels of IDX images or of a NumPy array.
    scale : {"none", "standard", "minmax", "unit-rows", "radius"}, default="none"
        How features are scaled; unlike the command line, not at all unless told.
    precision : {"f32", "f64"}, default="f32"
        How many bits values keep.
    model : estimator, default=None
        A loaded model: its features are made of the file as its training file's were, and
        all other choices are its own.

    Returns
    -------
    table : Table
        ``X``, ``y``, ``feature_names`` and ``sample_weight``.
    """
    given = {
        "label": label,
        "format": format,
        "header": header,
        "comment": comment,
        "positive": positive,
        "label_map": None if label_map is None else list(label_map.items()),
        "columns": None if columns is None else list(columns.items()),
        "text": text,
        "term_weights": term_weights,
        "min_df": min_df,
        "max_df": max_df,
        "vocabulary": vocabulary,
        "keep_case": keep_case,
        "strip_accents": strip_accents,
        "on_error": on_error,
        "weight_column": weight_column,
        "labels": None if labels is None else _path(labels),
        "scale": scale,
        "precision": precision,
    }
    found = _read(path, given, model)
    # Those of libsvm files are numbers.
    return found._replace(feature_names=[str(name) for name in found.feature_names])
