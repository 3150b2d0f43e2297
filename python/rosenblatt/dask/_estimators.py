"""Estimators whose rows lie in partitions on a cluster."""

from __future__ import annotations

import inspect
import time
import warnings
from typing import Any, Callable

import numpy as np

from .._base import Estimator, Progress
from ..arow import Arow
from ..logistic import Logistic
from ..mixing import ENOUGH_ROWS, Mixing, part_options
from ..passive_aggressive import PassiveAggressive
from ..perceptron import Perceptron
from . import _blocks, _files, _frames, _logistic, _run
from ._run import Rows

#: Parameters that the estimators on one machine have not.
OWN = {
    "client": None,
    "mixing": "uniform",
    "scale": None,
    "columns": None,
    "text": "words",
    "term_weights": None,
    "min_df": 1,
    "max_df": 1.0,
    "vocabulary": 1 << 20,
    "keep_case": False,
    "strip_accents": False,
    "checkpoint": None,
    "checkpoint_passes": None,
    "checkpoint_seconds": 60.0,
}


def with_own(kind: Any) -> Callable[..., None]:
    """The constructor of a kind of estimator with the parameters that Dask adds."""
    parameters = list(inspect.signature(kind.__init__).parameters.values())
    own = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in OWN.items()
    ]
    signature = inspect.Signature(parameters + own)

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        bound = signature.bind(self, *given, **named)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def described(what: str, parent: str) -> str:
    """The documentation of an estimator."""
    return f"""{what} with rows on a cluster.

    Takes the parameters of :class:`~rosenblatt.{parent}`, by whose rule each partition is learned,
    and is such an estimator once it is fitted: it can be saved, exported, and go on with
    ``partial_fit``.

    Parameters
    ----------
    client : dask.distributed.Client, default=None
        Whose workers learn; None is the current client.
    mixing : {{"uniform", "rows", "mistakes"}}, default="uniform"
        What the mean over partitions weighs them by.
    scale : {{"none", "standard", "minmax"}}, default=None
        How columns of dataframes and tables are scaled. None: columns of numbers in a dataframe
        are features as they are; files of tables are standardised.
    columns : dict of str to kind, default=None
        Columns of dataframes and tables whose kind is not to be decided by their cells: numeric,
        numeric-or-missing, decimal-comma, category, text or ignore.
    text : str, default="words"
        Features of texts: words, ranges of words in a row such as words:1-2, or of characters such
        as chars:3-5.
    term_weights : {{"counts", "sublinear", "tf-idf", "sublinear-tf-idf"}}, default=None
        What a term of a text weighs; None: counts, or sublinear tf-idf with scaled columns.
    min_df, max_df : int or float, default=1, 1.0
        Terms in fewer or more rows than this number, or than this share of them, are left out.
    vocabulary : int, default=1048576
        Terms of a text column with a feature of their own; others share features by a hash.
    keep_case : bool, default=False
        Whether capitals differ from small letters in texts.
    strip_accents : bool, default=False
        Whether accents are taken off letters in texts.
    checkpoint : path-like, default=None
        A file in which the client writes how far the run has come, and from which
        ``fit(resume=True)`` goes on.
    checkpoint_passes, checkpoint_seconds : default=None, 60.0
        How often it does.

    Attributes
    ----------
    n_partitions_ : int
        Partitions with rows.
    n_rows_ : int
        Rows that were learned.
    mixed_updates_ : float
        The updates of all partitions, each weighed by its share of the mean: on separable rows the
        perceptron makes no more than ``mistake_bound_``.
    """


class OnCluster(Estimator):
    """Fitting and predicting with rows on a cluster."""

    client: Any
    mixing: str
    scale: str | None
    columns: dict[str, str] | None
    text: str
    term_weights: str | None
    min_df: float
    max_df: float
    vocabulary: int
    keep_case: bool
    strip_accents: bool
    checkpoint: Any
    checkpoint_passes: int | None
    checkpoint_seconds: float | None
    preparation_: _frames.Preparation
    feature_names_in_: np.ndarray

    #: Whether the training rows are classified at the end, and how many then rightly.
    _wants_accuracy = False
    _train_accuracy: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A client belongs to its process.
        state: Any = super().__getstate__()
        return {**state, "client": None}

    def __sklearn_clone__(self) -> OnCluster:
        return type(self)(**self.get_params(deep=False))

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        resume: bool = False,
        read: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Fit the classifier.

        Parameters
        ----------
        X : dask array, dask dataframe, or names of files
            Training rows; each block of rows is a partition. Files, or patterns of them, are
            libsvm (plain or compressed), CSV, TSV or Parquet, and workers read each its part.
        y : dask array, dask series or array-like, default=None
            Labels; None where files hold them.
        sample_weight : dask array, dask series or array-like, default=None
            Multiplies the updates of each row; rows of weight 0 are left out.
        resume : bool, default=False
            Go on from the file ``checkpoint``, perhaps on another cluster, with the same rows.
        read : dict, default=None
            How files are read: ``format``, ``precision`` (of libsvm), ``label`` (of tables, a
            column), and ``partition_bytes``, the text that makes a partition (64 MiB).
        progress : callable, default=None
            Called after each pass with a dictionary, as on one machine.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._all_or_nothing():
            if resume and self.checkpoint is None:
                raise ValueError("resume needs the file to go on from: set checkpoint")
            cluster = _run.Cluster(self.client)
            self.__dict__.pop("preparation_", None)
            scale, label = self.scale, None
            if _files.is_files(X):
                if y is not None or sample_weight is not None:
                    raise ValueError("files hold their labels: y and sample_weight must be None")
                ending = _files.table_format(X, read)
                if ending is not None:
                    X, y, label = _files.table(X, ending, read, self.columns)
                    # As the command line scales tables.
                    scale = "standard" if scale is None else scale
            elif y is None:
                raise ValueError("the rows need labels: give y")
            if y is None:
                parts = _files.parts(X, read)
                blocks = [cluster.submit(_files.block, *part) for part in parts]
            elif _frames.needed(X, scale, self.columns):
                rules = _frames.rules(self, scale or "none")
                label = label or _frames.label_name(X, y)
                found = _frames.blocks(cluster, X, y, sample_weight, rules, label)
                blocks, self.preparation_ = found
            else:
                delayed = _blocks.delayed_blocks(X, y, sample_weight)
                blocks = cluster.client.compute(delayed)
            rows = _run.Rows(cluster, blocks, self)
            del blocks
            self._single = rows.plan.single
            self._run(rows, progress, resume)
            self.__dict__.pop("feature_names_in_", None)
            if hasattr(self, "preparation_"):
                self._model = self._model.with_preparation(self.preparation_.core)
            elif hasattr(X, "columns"):
                self.feature_names_in_ = np.asarray(X.columns, dtype=object)
            self._warn_if_unfinished()
            return self

    def _run(self, rows: Rows, progress: Progress | None, resume: bool) -> None:
        options = self._options()
        each = sum(rows.rows) // len(rows.rows)
        if len(rows.rows) > 1 and each < ENOUGH_ROWS:
            warnings.warn(
                f"{len(rows.rows)} partitions of about {each} rows: below {ENOUGH_ROWS} rows each, "
                "mixing costs accuracy; rechunk the rows into fewer partitions",
                stacklevel=3,
            )
        made = Mixing(
            self,
            rows.survey(part_options(options)),
            self.mixing,
            classes=rows.plan.classes,
            features=rows.plan.features,
            count=len(rows.parts),
        )

        if resume:
            made.restore(self.checkpoint)
        saved = [time.monotonic(), len(made.progress.passes)]

        def after(run: Mixing) -> None:
            passes = run.progress.passes
            if self.checkpoint is not None:
                waited = self.checkpoint_seconds is not None and (
                    time.monotonic() - saved[0] >= self.checkpoint_seconds
                )
                every = self.checkpoint_passes
                if waited or run.stop or (every and len(passes) - saved[1] >= every):
                    run.save(self.checkpoint)
                    saved[:] = time.monotonic(), len(passes)
            if progress is not None and passes:
                progress(passes[-1].record(len(passes)))

        _run.run(made, rows, after)
        made.finish(margin=rows.margin)
        self._describe_rows(rows)

    def _describe_rows(self, rows: Rows) -> None:
        """What is known of the rows at the end."""
        self.n_rows_ = sum(rows.rows)
        self.n_partitions_ = len(rows.parts)
        self._first_index = rows.plan.first
        self._held_out = rows.held_out
        if self._wants_accuracy:
            self._train_accuracy = rows.accuracy(self._model, of=0)

    def _lazily(
        self, X: Any, method: Callable[..., np.ndarray], width: int | None, dtype: Any
    ) -> Any:
        """What a method of the estimator gives for each block."""
        import dask.array as da

        if not hasattr(X, "chunks"):
            shape = (0,) if width is None else (0, width)
            return X.map_partitions(method, meta=np.empty(shape, dtype))
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        if width is None:
            return da.map_blocks(method, X, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))
        chunks = (X.chunks[0], (width,))
        return da.map_blocks(
            method, X, dtype=dtype, chunks=chunks, meta=np.empty((0, width), dtype)
        )

    def _checked(self, X: Any) -> Any:
        preparation = getattr(self, "preparation_", None)
        if preparation is not None and hasattr(X, "columns"):
            X = preparation.rows(X)
        return super()._checked(X)

    def _on_one_machine(self, name: str) -> Callable[..., np.ndarray]:
        """A method for rows in memory, of a copy that knows no client."""
        return _Method(self, name)

    def predict(self, X: Any) -> Any:
        """Labels of rows; lazily where the rows are.

        Parameters
        ----------
        X : dask array, dask dataframe, or rows in memory
            Rows.

        Returns
        -------
        labels : dask array or ndarray of shape (n_samples,)
            A label for each row.
        """
        if not _blocks.is_lazy(X):
            return super().predict(X)
        return self._lazily(X, self._on_one_machine("predict"), None, self.classes_.dtype)

    def decision_function(self, X: Any) -> Any:
        """Scores of rows; lazily where the rows are.

        Parameters
        ----------
        X : dask array, dask dataframe, or rows in memory
            Rows.

        Returns
        -------
        scores : dask array or ndarray of shape (n_samples,) or (n_samples, n_discriminators)
            As on one machine.
        """
        if not _blocks.is_lazy(X):
            return super().decision_function(X)
        k = len(self.classes_)
        width = None if k == 2 else k
        return self._lazily(X, self._on_one_machine("decision_function"), width, np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The share of rows that are classified rightly; lazily where the rows are.

        Parameters
        ----------
        X : dask array, dask dataframe, or rows in memory
            Rows.
        y : dask array, dask series or array-like
            Labels.
        sample_weight : dask array or array-like, default=None
            How much each row counts.

        Returns
        -------
        accuracy : dask array of no dimension, or float
            The share.
        """
        if not _blocks.is_lazy(X):
            return super().score(X, y, sample_weight)
        import dask.array as da

        labels = y.values if hasattr(y, "to_dask_array") else y
        good = self.predict(X) == labels
        if sample_weight is None:
            return good.mean()
        return (good * sample_weight).sum() / da.asarray(sample_weight).sum()


class _Method:
    """A method of an estimator for rows in memory, which can be sent to workers."""

    def __init__(self, estimator: Any, name: str) -> None:
        self.estimator, self.name = estimator, name
        self.__name__ = name

    def __call__(self, X: Any) -> np.ndarray:
        if not hasattr(X, "columns"):
            X = _blocks.array(X)
        return np.asarray(getattr(self.estimator, self.name)(X))


class DaskLogistic(OnCluster, Logistic):
    __doc__ = described("Logistic regression", "Logistic")
    _own = Logistic._own | frozenset(OWN)
    __init__ = with_own(Logistic)

    def _run(self, rows: Rows, progress: Progress | None, resume: bool) -> None:
        if resume or self.checkpoint is not None:
            raise ValueError("a logistic regression needs a few dozen steps, and has no checkpoint")
        _logistic.fit(self, rows, progress)
        self._describe_rows(rows)
        self.mixed_updates_ = None

    def predict_proba(self, X: Any) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Probabilities of the classes; lazily where the rows are.

        Parameters
        ----------
        X : dask array, dask dataframe, or rows in memory
            Rows.

        Returns
        -------
        probabilities : dask array or ndarray of shape (n_samples, n_classes)
            A column for each class, in the order of ``classes_``.
        """
        if not _blocks.is_lazy(X):
            return super().predict_proba(X)
        method = self._on_one_machine("predict_proba")
        return self._lazily(X, method, len(self.classes_), np.float64)


class DaskPerceptron(OnCluster, Perceptron):  # type: ignore[misc]
    __doc__ = described("The perceptron", "Perceptron")
    _own = Perceptron._own | frozenset(OWN)
    __init__ = with_own(Perceptron)


class DaskPassiveAggressive(OnCluster, PassiveAggressive):  # type: ignore[misc]
    __doc__ = described("Passive-aggressive learning", "PassiveAggressive")
    _own = PassiveAggressive._own | frozenset(OWN)
    __init__ = with_own(PassiveAggressive)


class DaskArow(OnCluster, Arow):  # type: ignore[misc]
    __doc__ = described("AROW", "Arow")
    _own = Arow._own | frozenset(OWN)
    __init__ = with_own(Arow)
