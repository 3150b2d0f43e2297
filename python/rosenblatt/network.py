"""A network with hidden layers."""

from __future__ import annotations

from typing import Any

from ._base import EarlyStopping


class PerceptronNetwork(EarlyStopping):
    r"""A network of perceptrons with hidden layers, by back-propagation.

    Hidden units are a function of sums over what is below them, outputs are sums over hidden
    units. Steps over small batches follow Adam's rule. A run whose loss stops falling while
    rows are wrong is begun anew from other weights, as often as ``restarts`` allows.

    Parameters
    ----------
    hidden : array-like of int, default=(128,)
        Units in each hidden layer, from the input on.
    activation : {"relu", "tanh"}, default="relu"
        What hidden units do with their sum.
    loss : {"softmax", "squared"}, default="softmax"
        What is minimised: cross-entropy, or half the squared distance from ±1.
    batch_size : int, default=64
        Rows in each step.
    restarts : int, default=10
        Starts to try when it gets stuck.
    max_iter : int, default=None
        At most so many passes. None: about 3e8 visited numbers, at least 5 and at most 10000
        passes.
    eta0 : float, default=None
        The step size; None is 0.001, or 0.01 for fewer than 1000 rows.
    shuffle : bool, default=True
        Whether every pass has an order of its own.
    verbose : int, default=0
        Print a line after each pass.
    n_jobs : int, default=None
        Threads; None is as ``joblib.parallel_config`` says, else all cores. Results do not
        depend on it.
    random_state : int, RandomState instance or None, default=0
        The seed of orders and first weights; None is 0.
    early_stopping : bool, default=False
        Hold out a part of the rows, by class, and stop when its accuracy has not risen for
        ``n_iter_no_change`` passes.
    validation_fraction : float, default=0.1
        The part held out.
    n_iter_no_change : int, default=5
        How many passes to wait for something better.
    class_weight : dict, {class_label: weight} or "balanced", default=None
        Multiplies the loss of a class.
    embed : str, default=None
        Features made of features: "monomials:DEGREE", "circle", "squares",
        "fourier:N,GAMMA" or "nystrom:N,GAMMA".
    at_zero : {"positive", "negative"}, default="positive"
        What a score of exactly 0 predicts.
    time_limit : float, default=None
        Stop after so many seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; of two the last is the positive one.
    layers_ : list of int
        Units in each layer, the inputs first.
    coefs_ : list of ndarray of shape (n_inputs, n_units)
        The weights of each layer, the first one's for features as they are given.
    intercepts_ : list of ndarray of shape (n_units,)
        The biases of each layer.
    n_iter_ : int
        Passes begun by the last call.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had some.
    n_mistakes_ : int
        Wrong answers over the run.
    n_updates_ : int
        Steps over the run.
    mistakes_per_epoch_ : ndarray
        Wrong answers in each pass.
    loss_curve_ : ndarray
        Mean loss in each pass.
    radius_ : float
        The length of the longest row, a constant feature 1 included.
    margin_ : None
        A network proves nothing about a margin.
    mistake_bound_ : None
        Nor is there a bound on its mistakes.
    stop_reason_ : str
        "separated" (every row right), "stuck", "epoch_limit", "time_limit" or
        "no_improvement".

    References
    ----------
    D. Rumelhart, G. Hinton and R. Williams, "Learning representations by back-propagating
    errors", Nature 323 (1986).

    Examples
    --------
    >>> from rosenblatt import PerceptronNetwork
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = PerceptronNetwork(hidden=[8]).fit(xor, [0, 1, 1, 0])
    >>> clf.predict(xor)
    array([0, 1, 1, 0])
    """

    _learner = "network"

    def __init__(
        self,
        hidden: Any = (128,),
        *,
        activation: str = "relu",
        loss: str = "softmax",
        batch_size: int = 64,
        restarts: int = 10,
        max_iter: int | None = None,
        eta0: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        embed: str | None = None,
        at_zero: str = "positive",
        time_limit: float | None = None,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.loss = loss
        self.batch_size = batch_size
        self.restarts = restarts
        self.max_iter = max_iter
        self.eta0 = eta0
        self.shuffle = shuffle
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.embed = embed
        self.at_zero = at_zero
        self.time_limit = time_limit

    def _gives_probabilities(self) -> bool:
        return self.loss == "softmax" or super()._gives_probabilities()

    def _describe(self) -> None:
        super()._describe()
        self.layers_ = self._model.layers
