"""A client of ``rosenblatt serve``."""

from __future__ import annotations

import json
import math
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["Client", "ServerError"]


class ServerError(RuntimeError):
    """What a server refused, with its problem document.

    Attributes
    ----------
    status : int
        The status of the answer.
    problem : dict
        The problem document (RFC 9457).
    """

    def __init__(self, status: int, problem: dict[str, Any]):
        super().__init__(problem.get("detail") or f"the server answered {status}")
        self.status = status
        self.problem = problem


class Client:
    """A model that ``rosenblatt serve`` serves.

    Parameters
    ----------
    url : str
        Where the server listens, such as ``"http://127.0.0.1:8080"``.
    model : str, default=None
        The name of the model; None is the only one.
    token : str, default=None
        The token, where the server asks for one.
    timeout : float, default=30.0
        Seconds to wait for an answer.
    retries : int, default=3
        How often a request is sent again when the connection fails. What is to be learned bears a
        key, so that it is learned once.

    Attributes
    ----------
    classes_ : ndarray
        The classes; whole numbers where all are.

    Examples
    --------
    >>> from rosenblatt import Client
    >>> client = Client("http://127.0.0.1:8080")  # doctest: +SKIP
    >>> client.predict([{"length": 1.5, "colour": "green"}])  # doctest: +SKIP
    array(['apple'], dtype='<U6')
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 3,
    ):
        self.url = url.rstrip("/")
        self.token = token
        self.timeout = timeout
        self.retries = retries
        if model is None:
            models = self._ask("/v2")["models"]
            if len(models) != 1:
                raise ValueError(
                    f"the server has the models {', '.join(models)}: name one of them"
                )
            model = models[0]
        self.model = model

    def metadata(self) -> dict[str, Any]:
        """What the server says of the model."""
        return dict(self._ask(f"/v2/models/{self.model}"))

    @property
    def classes_(self) -> np.ndarray:
        return _labels(self.metadata()["parameters"]["classes"])

    def predict(self, X: Any, *, id: str | None = None) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : DataFrame, list of dicts, array-like or sparse matrix
            Rows: by the names of their columns, or as arrays in the order of the columns.
        id : str, default=None
            Keeps the rows of X until :meth:`label` says their classes.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        query = f"?id={id}" if id is not None else ""
        return _labels(self._post(f"predict{query}", _rows(X))["labels"])

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of each row: one for two classes, else one a discriminator."""
        scores = np.array(self._post("predict?scores=true", _rows(X))["scores"])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, of calibrated models."""
        answer = self._post("predict?probabilities=true", _rows(X))
        return np.array(answer["probabilities"])

    def score(self, X: Any, y: Any) -> float:
        """The share of rows that are predicted right."""
        predicted = self.predict(X)
        return float(np.mean(predicted.astype(str) == np.asarray(y).astype(str)))

    def learn(self, X: Any, y: Any = None, *, key: str | None = None) -> dict[str, Any]:
        """Learn labelled rows, in order.

        Parameters
        ----------
        X : DataFrame, list of dicts, array-like or sparse matrix
            Rows.
        y : array-like of shape (n_samples,), default=None
            Their classes; None where X has a column of them.
        key : str, default=None
            A key under which this is learned once, however often it is sent; made up if None.

        Returns
        -------
        answer : dict
            ``sequence``, ``learned``, ``mistakes``, ``predicted`` (before each row was learned),
            ``mistake``, ``sync``, ``durable`` and ``repeated``.
        """
        rows = _rows(X)
        if y is not None:
            label = self._label_name()
            y = [_plain(value) for value in np.asarray(y, dtype=object)]
            if len(y) != len(rows):
                raise ValueError(f"{len(rows)} rows and {len(y)} labels")
            names = self._names(rows)
            rows = [
                {**(row if names is None else dict(zip(names, row))), label: value}
                for row, value in zip(rows, y)
            ]
        return dict(self._post("learn", rows, key or uuid.uuid4().hex))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Client:
        """Learn labelled rows; ``classes`` is ignored: the server knows its own."""
        self.learn(X, y)
        return self

    def label(self, id: str, label: Any) -> dict[str, Any]:
        """Learn the rows that were predicted with this id, now that their classes are known."""
        labels = [_plain(one) for one in np.atleast_1d(np.asarray(label, dtype=object))]
        return dict(self._post("label", {"id": id, "label": labels}))

    def snapshot(self) -> dict[str, Any]:
        """Have the server save the model as it is."""
        return dict(self._post("snapshot", None))

    def _label_name(self) -> str:
        return str(self._parameters()["label"])

    def _names(self, rows: list[Any]) -> list[str] | None:
        if not rows or isinstance(rows[0], dict):
            return None
        known = self._parameters()
        first = known["first_index"]
        if first is None:
            columns: list[str] = known["columns"]
            return columns
        return [str(first + i) for i in range(len(rows[0]))]

    def _parameters(self) -> dict[str, Any]:
        if "_known" not in self.__dict__:
            self._known: dict[str, Any] = self.metadata()["parameters"]
        return self._known

    def _post(self, place: str, body: Any, key: str | None = None) -> Any:
        return self._ask(f"/v2/models/{self.model}/{place}", body, key, post=True)

    def _ask(
        self, place: str, body: Any = None, key: str | None = None, post: bool = False
    ) -> Any:
        headers = {"Accept": "application/json"}
        data = None
        if post:
            data = b"" if body is None else json.dumps(body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.url + place, data, headers)
        for attempt in range(self.retries + 1):
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                text = error.read()
                try:
                    problem = json.loads(text)
                except ValueError:
                    problem = {"detail": text.decode(errors="replace")}
                raise ServerError(error.code, problem) from None
            except (urllib.error.URLError, ConnectionError):
                if attempt == self.retries:
                    raise
                time.sleep(0.1 * 2**attempt)


def _plain(value: Any) -> Any:
    """A value as JSON has it; what is missing is None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, (bool, int, float, str)):
        return value
    # What a frame calls a missing value is not equal to itself, or has no truth.
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)


def _rows(X: Any) -> list[Any]:
    """Rows as lists of values, or as dictionaries where they have names."""
    if hasattr(X, "to_dicts"):  # polars
        X = X.to_dicts()
    elif hasattr(X, "columns") and hasattr(X, "to_dict"):  # pandas
        X = X.to_dict("records")
    elif sparse.issparse(X):
        X = X.toarray()
    if isinstance(X, dict):
        X = [X]
    if len(X) and isinstance(X[0], dict):
        return [{name: _plain(value) for name, value in row.items()} for row in X]
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"expected rows of values, got an array of shape {array.shape}")
    if array.dtype.kind in "fiub" and not (
        array.dtype.kind == "f" and np.isnan(array).any()
    ):
        plain: list[Any] = array.tolist()
        return plain
    return [[_plain(value) for value in row] for row in array.astype(object)]


def _labels(labels: list[str]) -> np.ndarray:
    """Labels, as whole numbers where all are."""
    try:
        return np.array([int(label) for label in labels])
    except ValueError:
        return np.array(labels)
