"""Parameters of estimators as options of the library.

The library declares every option once; here stands only how scikit-learn's names differ.
"""

from __future__ import annotations

import re
from numbers import Integral, Real
from typing import Any, Mapping

import numpy as np
from sklearn.utils import check_random_state

from . import _core

#: The library's name of a parameter, where it is not the parameter's own with dashes.
OPTION_OF: dict[str, str] = dict(_core.sklearn_names())

#: The library's default of every option, as text.
DEFAULTS = {name: default for name, _, default in _core.parameters()}


def option_of(parameter: str) -> str:
    """The library's name of a parameter."""
    return OPTION_OF.get(parameter, parameter.replace("_", "-"))


def _is_seed(parameter: str) -> bool:
    return option_of(parameter) == "seed"


def text_of(value: Any) -> str:
    """A value in the library's spelling."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        return ",".join(f"{label}={text_of(weight)}" for label, weight in value.items())
    return ",".join(text_of(item) for item in np.asarray(value).ravel().tolist())


def is_fixed(random_state: Any) -> bool:
    """Whether a ``random_state`` stands for the same seed each time."""
    return random_state is None or isinstance(random_state, Integral)


def seed_of(random_state: Any) -> int:
    """The seed that a ``random_state`` stands for; None is the library's own."""
    if random_state is None:
        return int(DEFAULTS["seed"])
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def options(owner: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Parameters as options, those that are None left to the library.

    Parameters
    ----------
    owner : str
        Who has the parameters, for messages.
    parameters : mapping
        Parameters by name.

    Raises
    ------
    ValueError
        If the library cannot take a value.
    """
    found = {}
    for name, value in parameters.items():
        if value is None:
            continue
        text = text_of(seed_of(value) if _is_seed(name) else value)
        expected = _core.expected(option_of(name), text)
        if expected is not None:
            # What the library calls auto or none is None here.
            expected = re.sub(r", or (auto|none)$", ", or None", expected)
            raise ValueError(
                f"The {name!r} parameter of {owner} must be "
                f"{expected.removeprefix('expected ')}. Got {value!r} instead."
            )
        found[option_of(name)] = text
    return found


#: What the library does where an option is left to it, for learners that can go on.
LEFT_OPEN = {
    "perceptron": {"readout": "averaged", "learning-rate": "1", "bias": "lifted"},
    "linear-unit": {"readout": "last", "bias": "lifted"},
    "passive-aggressive": {"readout": "averaged", "bias": "lifted"},
    "arow": {"readout": "averaged", "bias": "lifted"},
}


def as_before(now: dict[str, str], before: dict[str, str]) -> dict[str, str]:
    """Options of a run that goes on, those that mean the same spelled as they were.

    Parameters
    ----------
    now : dict
        Options, those that are left to the library missing.
    before : dict
        All options of the run before, as the library spells them.
    """
    open_to = LEFT_OPEN.get(before["learner"], {})

    def meaning(name: str, text: str) -> Any:
        text = open_to.get(name, text) if text == "auto" else text
        try:
            return float(text)
        except ValueError:
            return text

    full = {**_core.defaults(before["learner"]), **now}
    same = {n for n, text in full.items() if meaning(n, text) == meaning(n, before[n])}
    return {**now, **{name: before[name] for name in same}}
