"""Can classes be separated whose rows lie in partitions? Decided by constraint generation.

The client holds a few rows and decides them exactly. Every partition then looks, exactly, for
rows that the witness of those few does not cover; they join the few, until there are none. A
plane that separates the few and has no row on its wrong side separates all; multipliers of the
few that cancel prove that none does; and overlapping is said once all rows lie in the span of the
rows that cancel.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Callable, Iterable, NamedTuple

import numpy as np
from scipy import sparse

from .. import _core
from .._base import Margin
from ..separability import Verdict, _null_space
from . import _blocks, _files, _run
from ._blocks import Block


@dataclass(frozen=True, kw_only=True)
class ClusterVerdict(Verdict):
    """What :func:`check_separability` found of rows in partitions.

    It has what the verdict on one machine has. Rows are numbered through all partitions, in their
    order; coefficients are not classified.

    Attributes
    ----------
    names : dict of int to str
        The rows of the proof by partition, or file, and number there from 1.
    files : dict of str to str
        The SHA-256 of each file, decompressed, where rows lie in files.
    certificate : str or None
        Where rows lie in files: the text of a certificate, for ``rosenblatt verify`` with the
        files in the order of ``files``.
    rounds : int
        How often all rows were looked at.
    """

    names: dict[int, str]
    files: dict[str, str]
    certificate: str | None
    rounds: int

    def _exact(self, x: Any) -> Fraction:
        return Fraction(repr(float(x))) if self.certificate else super()._exact(x)


class Signed(NamedTuple):
    """Rows of a partition, each signed by its class, lifted where there is a bias."""

    rows: Any
    signs: np.ndarray
    lifted: bool
    #: Whether numbers are the shortest decimals of their binary ones, as in files of text, and
    #: where float64 does not tell them, the text by row and column.
    decimal: bool = False
    long: dict[int, dict[int, str]] = {}

    def exactly(self, i: int) -> list[Fraction]:
        """A row without rounding."""
        row = self.rows[i]
        row = row.toarray().ravel() if sparse.issparse(row) else row
        return _exact(row, self.signs[i], self.lifted, self.decimal, self.long.get(i, {}))

    def scores(self, w: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a vector: the sign of each row's score, which is exact; the score in units of the
        largest weight, which is not; and how far off that may be.
        """
        largest = max(map(abs, w)) or 1
        unit = np.array([float(Fraction(x, largest)) for x in w])
        bias, of_features = (unit[0], unit[1:]) if self.lifted else (0.0, unit)
        found = self.signs * (self.rows @ of_features + bias)
        size = abs(self.rows) @ abs(of_features) + abs(bias)
        doubt = 2 * (len(w) + 5) * np.finfo(np.float64).eps * size + 2 * len(w) * 5e-324
        signs = np.sign(found).astype(np.int8)
        for i in np.flatnonzero(~(abs(found) > doubt)).tolist():
            score = sum((a * b for a, b in zip(w, self.exactly(i)) if a and b), Fraction(0))
            signs[i] = (score > 0) - (score < 0)
        return signs, found, doubt

    def lengths(self) -> np.ndarray:
        """The length of each row."""
        rows: Any = self.rows
        squares = rows.multiply(rows) if sparse.issparse(rows) else rows**2
        sums: np.ndarray = np.asarray(squares.sum(axis=1)).ravel() + float(self.lifted)
        return np.asarray(np.sqrt(sums))


def signed(
    block: Block, positive: Any, features: int, first: int, lifted: bool, decimal: bool = False
) -> Signed:
    """The rows of a block; of labels that are texts ``positive`` is a set of them."""
    long: dict[int, dict[int, str]] = {}
    for i, j, text in block.long:
        long.setdefault(i, {})[j + block.first - first] = text
    rows: Any = block.rows.astype(np.float64)
    if sparse.issparse(rows):
        parts = (rows.data, rows.indices + (block.first - first), rows.indptr)
        rows = sparse.csr_matrix(parts, shape=(rows.shape[0], features))
    if block.texts is None:
        is_positive = block.labels == positive
    else:
        is_positive = np.array([t in positive for t in block.texts], dtype=bool)[block.labels]
    finite = rows.data if sparse.issparse(rows) else rows
    if not np.isfinite(finite).all():
        raise ValueError(f"{block.name}: the rows must be finite numbers")
    return Signed(rows, np.where(is_positive, 1.0, -1.0), lifted, decimal, long)


class Found(NamedTuple):
    """Rows of a partition that a witness does not cover, worst first."""

    places: list[int]
    rows: np.ndarray
    signs: np.ndarray
    #: Numbers of each that float64 does not tell, by column.
    long: list[dict[int, str]]
    worst: list[float]
    #: How many there are in all.
    found: int
    #: The rows with a score above 0, where none has one below.
    above: np.ndarray
    #: At least this is the smallest score, in units of the largest weight.
    least: float


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows)


def _taken(part: Signed, places: np.ndarray, worst: np.ndarray, most: int, **told: Any) -> Found:
    order = np.argsort(worst, kind="stable")[:most]
    chosen = places[order]
    return Found(
        places=chosen.tolist(),
        rows=_dense(part.rows[chosen]),
        signs=part.signs[chosen],
        long=[part.long.get(i, {}) for i in chosen.tolist()],
        worst=worst[order].tolist(),
        found=len(places),
        above=told.get("above", np.empty(0, dtype=np.int64)),
        least=told.get("least", np.inf),
    )


def first_rows(part: Signed, sign: float, most: int) -> Found:
    """A few rows of a class to begin with."""
    places = np.flatnonzero(part.signs == sign)
    return _taken(part, places, np.zeros(len(places)), most)


def uncovered(part: Signed, w: list[int], strictly: bool, most: int) -> Found:
    """Rows with a score below 0, or where it is to be above, not above 0."""
    signs, scores, doubt = part.scores(w)
    bad = np.flatnonzero(signs <= 0 if strictly else signs < 0)
    lengths = part.lengths()
    distance = scores / np.where(lengths > 0, lengths, 1.0)
    above = np.flatnonzero(signs > 0) if not len(bad) and not strictly else np.empty(0, np.int64)
    least = float((scores - doubt).min()) if len(scores) else np.inf
    return _taken(part, bad, distance[bad], most, above=above, least=least)


def outside(part: Signed, free: list[list[int]], most: int) -> Found:
    """Rows that do not lie in the span whose orthogonal complement ``free`` spans."""
    beyond = np.zeros(len(part.signs), dtype=bool)
    for vector in free:
        beyond |= part.scores(vector)[0] != 0
    places = np.flatnonzero(beyond)
    return _taken(part, places, np.zeros(len(places)), most)


def radius(part: Signed) -> float:
    """The length of the longest row."""
    return float(part.lengths().max(initial=0.0))


def _whole(vector: list[Fraction]) -> list[int]:
    scale = math.lcm(*(value.denominator for value in vector))
    return [int(value * scale) for value in vector]


#: Asks all partitions, given a function of one and its arguments.
Ask = Callable[..., list[Any]]


def decide(
    ask: Ask, dimension: int, lifted: bool, most: int | None = None, decimal: bool = False
) -> dict[str, Any]:
    """The verdict of all partitions, with rows as (partition, place)."""
    most = most or max(32, 2 * dimension)
    where: list[tuple[int, int]] = []
    rows: list[np.ndarray] = []
    signs: list[float] = []
    long: list[dict[int, str]] = []
    there: set[tuple[int, int]] = set()

    def join(found: list[Found]) -> None:
        worst = sorted(
            (value, k, place, i)
            for k, part in enumerate(found)
            for i, (value, place) in enumerate(zip(part.worst, part.places))
        )
        for _, k, place, i in worst[:most]:
            if (k, place) not in there:
                there.add((k, place))
                where.append((k, place))
                rows.append(found[k].rows[i])
                signs.append(found[k].signs[i])
                long.append(found[k].long[i])

    for side in (1.0, -1.0):
        join(ask(first_rows, side, most))
    rounds = 0
    while True:
        rounds += 1
        X, sign = np.array(rows), np.array(signs)
        texts = [(i, j, text) for i, row in enumerate(long) for j, text in row.items()]
        decided = _core.check(
            X,
            (sign > 0).astype(np.uint32),
            ["0", "1"],
            lifted=lifted,
            most_coefficients=0,
            time_limit=None,
            verdict_only=False,
            threads=1,
            decimals=texts if decimal else None,
        )
        verdict = decided["verdict"]
        support = [where[i] for i in decided["support"]]
        multipliers = [int(m) for m in decided["multipliers"]]
        told = {
            "verdict": verdict,
            "support": support,
            "multipliers": multipliers,
            "rounds": rounds,
            "margin": decided["margin"],
        }
        if verdict == "overlapping":
            cancelling = [
                _exact(X[i], signs[i], lifted, decimal, long[i]) for i in decided["support"]
            ]
            free = [_whole(vector) for vector in _null_space(cancelling)]
            found = ask(outside, free, most) if free else []
            if not any(part.found for part in found):
                return {**told, "separator": None, "separated": None, "least": None, "free": free}
        else:
            w = [int(x) for x in decided["separator"]]
            found = ask(uncovered, w, verdict == "separable", most)
            if not any(part.found for part in found):
                above = [(k, i) for k, part in enumerate(found) for i in part.above.tolist()]
                return {
                    **told,
                    "separator": w,
                    "separated": above if verdict == "quasi-separable" else None,
                    "least": min(part.least for part in found),
                    "free": None,
                }
        join(found)


def _exact(
    row: np.ndarray, sign: float, lifted: bool, decimal: bool, long: dict[int, str]
) -> list[Fraction]:
    numbers = row.tolist()
    found = [Fraction(repr(x)) if decimal else Fraction(x) for x in numbers]
    for j, text in long.items():
        found[j] = Fraction(text)
    return [int(sign) * x for x in ([Fraction(1)] if lifted else []) + found]


def sha256(path: str) -> str:
    """The hash of a file's bytes, decompressed."""
    return _core.sha256(path)


def check_separability(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    client: Any = None,
    read: dict[str, Any] | None = None,
) -> ClusterVerdict:
    """Decide whether two classes can be separated whose rows lie in partitions, and prove it.

    Parameters
    ----------
    X : dask array, dask dataframe, or names of libsvm files
        Rows; the verdict speaks of their numbers exactly, those of files as they are written.
    y : dask array, dask series or array-like, default=None
        Labels of two classes; None where files hold them.
    fit_intercept : bool, default=True
        Whether planes may stand off the origin.
    client : dask.distributed.Client, default=None
        Where the partitions are looked at; None is the current client.
    read : dict, default=None
        How files are read. With ``precision="f32"`` the verdict speaks of the numbers as they
        are read, and there is no certificate for ``rosenblatt verify``.

    Returns
    -------
    verdict : ClusterVerdict
        What was found, with the certificate that :meth:`~rosenblatt.Verdict.holds` checks.
    """
    cluster = _run.Cluster(client)
    paths: list[str] = []
    decimal = False
    if _files.is_files(X):
        paths = _files.names(X)
        parts = _files.parts(X, {"precision": "f64", **(read or {})})
        decimal = parts[0][3]["precision"] == "f64"
        blocks = [
            cluster.submit(_files.block, *part, {**how, "keep_long_decimals": decimal})
            for *part, how in parts
        ]
    else:
        blocks = cluster.client.compute(_blocks.delayed_blocks(X, y, None))
    facts = cluster.gather([cluster.submit(_blocks.facts, block) for block in blocks])
    plan = _blocks.plan(facts)
    if len(plan.classes) != 2:
        raise ValueError(
            f"two classes are decided on a cluster, and these are {len(plan.classes)}; use "
            "rosenblatt.check_separability on one machine"
        )
    positive: Any = plan.classes[1]
    if plan.spelled is not None:
        positive = {text for text, number in plan.spelled.items() if number == 1}
    # Rows are numbered through all blocks, those without rows included.
    starts = np.cumsum([0] + [found.rows for found in facts])
    there = [k for k, found in enumerate(facts) if found.rows]
    ready = [
        cluster.submit(
            signed, blocks[k], positive, plan.features, plan.first, fit_intercept, decimal
        )
        for k in there
    ]

    where = list(zip(ready, cluster.where(ready)))

    def ask(function: Callable[..., Any], *arguments: Any) -> list[Any]:
        tasks = (cluster.submit(function, part, *arguments, near=near) for part, near in where)
        return cluster.gather(list(tasks))

    dimension = plan.features + fit_intercept
    found = decide(ask, dimension, fit_intercept, decimal=decimal)
    found["radius"] = max(ask(radius))
    hashes = cluster.gather([cluster.submit(sha256, path) for path in paths])

    def number(place: tuple[int, int]) -> int:
        return int(starts[there[place[0]]] + place[1])

    named = _named(facts, _files.parts(paths, read) if paths else None)
    names = {number((k, i)): named(there[k], i) for k, i in found["support"]}
    certificate = None
    if decimal:
        data = {"rows": int(starts[-1]), **_layout(paths, hashes, plan)}
        certificate = _certificate(found, number, data, _labels(plan), fit_intercept)
    return _verdict(
        found, number, int(starts[-1]), names, dict(zip(paths, hashes)), certificate
    )


#: How certificates take labels for numbers.
DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def _layout(paths: list[str], hashes: list[str], plan: _blocks.Plan) -> dict[str, Any]:
    """What a certificate says of libsvm files."""
    listed = [{"name": path, "sha256": found} for path, found in zip(paths, hashes)]
    files = {"sha256": hashes[0]} if len(hashes) == 1 else {"files": listed}
    return {"format": "libsvm", "first_index": plan.first, "features": plan.features, **files}


def _labels(plan: _blocks.Plan) -> dict[str, list[str]]:
    """The labels of both classes, one spelling of each where all are numbers."""
    spelled = plan.spelled or {}
    if all(DECIMAL.fullmatch(text) for text in spelled):
        spelled = dict({Decimal(text): (text, k) for text, k in spelled.items()}.values())
    return {
        name: [text for text, k in spelled.items() if k == number]
        for name, number in (("positive", 1), ("negative", 0))
    }


def _certificate(
    found: dict[str, Any],
    number: Callable[[tuple[int, int]], int],
    data: dict[str, Any],
    labels: dict[str, list[str]],
    lifted: bool,
) -> str:
    """The document that ``rosenblatt verify`` takes."""

    def vector(w: list[int]) -> dict[str, str]:
        return {str(j): str(x) for j, x in enumerate(w, 0 if lifted else 1) if x}

    witness: dict[str, Any] = {}
    if found["separator"] is not None:
        witness["w"] = vector(found["separator"])
    if found["verdict"] != "separable":
        pairs = zip(map(number, found["support"]), found["multipliers"])
        witness["lambda"] = [[row + 1, str(m)] for row, m in sorted(pairs)]
    if found["free"] is not None:
        witness["null_space"] = [vector(w) for w in found["free"]]
    document = {
        "rosenblatt-certificate": 1,
        "data": data,
        "labels": labels,
        "bias": "lifted" if lifted else "none",
        "verdict": found["verdict"],
        "witness": witness,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _named(facts: list[Any], parts: list[Any] | None) -> Callable[[int, int], str]:
    """What a row of a block is called: its file or partition, and its number there from 1."""
    if parts is None:
        return lambda k, i: f"partition {k}, row {i + 1}"
    before: dict[str, int] = {}
    first = []
    for (name, *_), found in zip(parts, facts):
        first.append(before.get(name, 0))
        before[name] = first[-1] + found.rows
    return lambda k, i: f"{parts[k][0]}, row {first[k] + i + 1}"


def _verdict(
    found: dict[str, Any],
    number: Callable[[tuple[int, int]], int],
    rows: int,
    names: dict[int, str],
    files: dict[str, str],
    certificate: str | None = None,
) -> ClusterVerdict:
    separable = found["verdict"] == "separable"
    margin = bound = None
    w = found["separator"]
    if separable:
        largest = max(map(abs, w)) or 1
        norm = math.sqrt(sum((x / largest) ** 2 for x in w)) * (1 + 1e-12)
        lower = max(found["least"], 0.0) / norm * (1 - 1e-15)
        margin = Margin(lower, max(found["margin"][1], lower), "lifted")
        if lower > 0:
            bound = math.floor((found["radius"] * (1 + 1e-12) / lower) ** 2 * (1 + 1e-12))
    return ClusterVerdict(
        verdict=found["verdict"],
        margin=margin,
        plain_margin=None,
        radius=found["radius"],
        mistake_bound=bound,
        infinite_coefficients=None,
        not_identified=None,
        rank=None,
        separator=w,
        multipliers=dict(zip(map(number, found["support"]), found["multipliers"])),
        support=[number(place) for place in found["support"]],
        separated=None if found["separated"] is None else [number(p) for p in found["separated"]],
        n_samples=rows,
        names=names,
        files=files,
        certificate=certificate,
        rounds=found["rounds"],
    )


__all__ = ["ClusterVerdict", "check_separability"]


def _of_arrays(parts: Iterable[tuple[np.ndarray, np.ndarray]], lifted: bool) -> list[Signed]:
    """Partitions in memory, whose labels are 0 and 1."""
    return [
        Signed(np.asarray(X, np.float64), np.where(y == 1, 1.0, -1.0), lifted) for X, y in parts
    ]
