"""The program ``rosenblatt-dask``: training on a cluster without writing Python."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import time
import warnings
from typing import Any, Iterator

from .. import __version__, _core, _options, save

#: Names of the command line that are not the parameter's own with underscores.
PARAMETER_OF = {option: parameter for parameter, option in _options.OPTION_OF.items()}


def _kinds() -> dict[str, Any]:
    from . import DaskArow, DaskLogistic, DaskPassiveAggressive, DaskPerceptron

    kinds = (DaskPerceptron, DaskPassiveAggressive, DaskArow, DaskLogistic)
    return {kind._learner: kind for kind in kinds}


def _parameter(option: str) -> str:
    return PARAMETER_OF.get(option, option.replace("-", "_"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rosenblatt-dask", description="Learning where the rows do not fit one machine."
    )
    parser.add_argument("--version", action="version", version=f"rosenblatt {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser(
        "train",
        help="read, train, report, save",
        description="Trains on files that the workers read, libsvm or tables (CSV, TSV, Parquet); "
        "the report goes to stdout.",
        allow_abbrev=False,
    )
    train.add_argument("data", nargs="+", metavar="DATA", help="files, or patterns in quotes")
    train.add_argument("-o", "--output", metavar="MODEL", help="where the model is saved")
    train.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler, tcp://HOST:PORT; without it a cluster on all cores of this machine",
    )
    train.add_argument("--json", action="store_true", help="one JSON object as the report")
    train.add_argument("--quiet", action="store_true", help="no progress, no messages")
    train.add_argument("--precision", choices=["f32", "f64"], help="how many bits values keep")
    train.add_argument(
        "--partition-bytes", type=int, metavar="N", help="the text that makes a partition (64 MiB)"
    )
    train.add_argument(
        "--format", choices=["libsvm", "csv", "tsv", "parquet"], help="guessed from the names"
    )
    _add_columns(train)
    train.add_argument(
        "--mixing",
        choices=["uniform", "rows", "mistakes"],
        default="uniform",
        help="what the mean weighs partitions by",
    )
    train.add_argument("--checkpoint", metavar="FILE", help="saves how far the run has come")
    train.add_argument(
        "--resume", action="store_true", help="go on from the file --checkpoint, if it is there"
    )
    train.add_argument("--validate", type=float, metavar="FRACTION", help="held out, by class")
    names = [*_kinds()]
    train.add_argument("--learner", choices=names, default=names[0])
    known = {name for kind in _kinds().values() for name in kind._get_param_names()}
    for name, text, default in _core.parameters():
        if _parameter(name) in known and name != "learner":
            text = f"{text} (default {default})" if default else text
            train.add_argument(f"--{name}", metavar="VALUE", help=text.replace("%", "%%"))
    return parser


#: How columns of tables become features: the options of ``rosenblatt train``, and what is said.
TEXTS = {
    "scale": "how columns of tables are scaled: none, standard or minmax (default standard)",
    "text": "features of texts: words, words:1-2 or chars:3-5 (default words)",
    "term-weights": "what a term of a text weighs: counts, sublinear, tf-idf or "
    "sublinear-tf-idf (default sublinear-tf-idf, without scaling counts)",
    "min-df": "leave out terms in fewer rows: a number, or a share (default 1)",
    "max-df": "leave out terms in more rows (default 1.0)",
    "vocabulary": "terms of a text column with a feature of their own (default 1048576)",
}


def _add_columns(train: argparse.ArgumentParser) -> None:
    train.add_argument("--label", metavar="COLUMN", help="the labels of tables")
    train.add_argument(
        "--column",
        metavar="NAME=KIND",
        action="append",
        default=[],
        help="treat a column of tables as numeric, numeric-or-missing, decimal-comma, category, "
        "text or ignore; may be repeated",
    )
    train.add_argument(
        "--ignore", metavar="COLUMN", action="append", default=[], help="leave a column out"
    )
    for name, text in TEXTS.items():
        train.add_argument(f"--{name}", metavar="VALUE", help=text)
    train.add_argument("--case", choices=["lower", "keep"], help="letters of texts (default lower)")
    train.add_argument(
        "--accents", choices=["keep", "strip"], help="accents in texts (default keep)"
    )


def _columns(given: argparse.Namespace) -> dict[str, Any]:
    """The parameters of an estimator that say how columns become features."""
    found: dict[str, Any] = {"columns": dict.fromkeys(given.ignore, "ignore")}
    for pair in given.column:
        name, equals, kind = pair.rpartition("=")
        if not equals:
            raise ValueError(f"--column: found {pair!r}, expected NAME=KIND")
        found["columns"][name] = kind
    for name in map(_parameter, TEXTS):
        text = getattr(given, name)
        if text is not None:
            found[name] = text if name in ("scale", "text", "term_weights") else _value(text)
    if given.case is not None:
        found["keep_case"] = given.case == "keep"
    if given.accents is not None:
        found["strip_accents"] = given.accents == "strip"
    return found


def _value(text: str) -> Any:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text, text)


def _estimator(given: argparse.Namespace) -> Any:
    kind = _kinds()[given.learner]
    known = set(kind._get_param_names())
    parameters = {"mixing": given.mixing, "checkpoint": given.checkpoint, **_columns(given)}
    for name, _, _ in _core.parameters():
        text = getattr(given, name.replace("-", "_"), None)
        if text is None or name == "learner":
            continue
        if _parameter(name) not in known:
            raise ValueError(f"the learner {given.learner} has no --{name}")
        parameters[_parameter(name)] = _value(text)
    if given.validate is not None:
        parameters |= {"early_stopping": True, "validation_fraction": given.validate}
        # As on one machine the best pass is kept, and only --patience ends a run.
        if given.patience is None:
            parameters["n_iter_no_change"] = 10**9
    unknown = set(parameters) - known
    if unknown:
        raise ValueError(f"the learner {given.learner} knows no {', '.join(sorted(unknown))}")
    return kind(**parameters)


@contextlib.contextmanager
def _client(scheduler: str | None, quiet: bool) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        if scheduler is None:
            cores = os.cpu_count() or 1
            cluster = stack.enter_context(
                LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=":0")
            )
            client = stack.enter_context(Client(cluster))
        else:
            client = stack.enter_context(Client(scheduler))
        if not quiet:
            print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
        yield client


def _worded(message: object) -> str:
    """What is said of columns, as options of the program."""
    return re.sub(r"columns=\{'(.*?)': '([a-z-]+)'\}", r"--column \1=\2", str(message))


def _progress(given: argparse.Namespace) -> Any:
    if given.quiet or not sys.stderr.isatty():
        return None

    def told(record: dict[str, Any]) -> None:
        text = f"\rpass {record['epoch']}: {record['mistakes']} mistakes, loss {record['loss']:.6f}"
        print(text, end="   ", file=sys.stderr, flush=True)

    return told


def _report(clf: Any, seconds: float) -> dict[str, Any]:
    model = clf._model
    margin = None if clf.margin_ is None else clf.margin_._asdict()
    found = {
        "learner": clf._learner,
        "examples": clf.n_rows_,
        "features": clf.n_features_in_,
        "classes": model.classes,
        "partitions": clf.n_partitions_,
        "mixing": clf.mixing,
        "epochs": model.epochs,
        "mistakes": clf.n_mistakes_,
        "updates": clf.n_updates_,
        "mixed_updates": clf.mixed_updates_,
        "mistakes_per_epoch": clf.mistakes_per_epoch_.tolist(),
        "stop": clf.stop_reason_,
        "readout": model.options["readout"],
        "radius": clf.radius_,
        "margin": margin,
        "updates_at_most": clf.mistake_bound_,
        "train_accuracy": clf._train_accuracy,
        "validation": None,
        "seed": int(model.options["seed"]),
        "seconds": seconds,
    }
    held_out = [a for a in model.validation_accuracy_per_epoch if a is not None]
    if held_out:
        best = max(held_out)
        found["validation"] = {"accuracy": best, "examples": clf._held_out}
    return found


def _print(report: dict[str, Any]) -> None:
    print(
        f"{report['examples']} examples, {report['features']} features, "
        f"{len(report['classes'])} classes, {report['partitions']} partitions"
    )
    print(
        f"{report['learner']}, {report['epochs']} passes, mixed {report['mixing']}: "
        f"{report['mistakes']} mistakes, {report['updates']} updates"
    )
    print(f"stopped: {report['stop']}")
    if report["updates_at_most"] is not None:
        print(
            f"mixed updates {report['mixed_updates']:.6g}, at most {report['updates_at_most']} "
            f"by the theorem"
        )
    if report["train_accuracy"] is not None:
        print(f"accuracy on the training rows: {report['train_accuracy']:.4f}")
    if report["validation"] is not None:
        held_out = report["validation"]
        print(f"accuracy on {held_out['examples']} held-out rows: {held_out['accuracy']:.4f}")


def _train(given: argparse.Namespace) -> None:
    started = time.monotonic()
    clf = _estimator(given)
    clf._wants_accuracy = True
    read = {name: getattr(given, name) for name in ("format", "label", "precision")}
    read["partition_bytes"] = given.partition_bytes
    read = {name: value for name, value in read.items() if value is not None}
    resume = given.resume and given.checkpoint is not None and os.path.exists(given.checkpoint)
    if given.resume and given.checkpoint is None:
        raise ValueError("--resume needs the file to go on from: pass --checkpoint FILE")
    with (
        _client(given.scheduler, given.quiet) as client,
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("ignore")
        # The report says why the run stopped, but not what became of columns.
        warnings.filterwarnings("always", message="(the column|[0-9]+ columns) ")
        clf.client = client
        clf.fit(given.data, read=read, resume=resume, progress=_progress(given))
    if not given.quiet:
        for warning in told:
            print(f"warning: {_worded(warning.message)}", file=sys.stderr)
    if not given.quiet and sys.stderr.isatty():
        print(file=sys.stderr)
    if given.output is not None:
        if clf._first_index == 0 and not hasattr(clf, "preparation_"):
            raise ValueError(
                "the indices of the files begin at 0, which a saved model cannot tell; renumber "
                "them from 1"
            )
        save(clf, given.output)
    report = _report(clf, time.monotonic() - started)
    if given.json:
        print(json.dumps(report))
    else:
        _print(report)


def main(arguments: list[str] | None = None) -> int:
    """Runs the program; gives its exit status."""
    given = _parser().parse_args(arguments)
    try:
        _train(given)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (ValueError, OSError, RuntimeError) as error:
        print(f"error: {_worded(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
