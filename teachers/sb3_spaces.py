"""Observation and action spaces as a .zip of Stable-Baselines3 says them: a class and its fields, in words.

Stable-Baselines3 cuts or spreads continuous actions to the ends of their Box, which `[output]` of policy.toml must
name. It turns observations that are images or numbers of classes into others: such spaces are refused.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from decision.artefact.errors import InputError
from decision.policy.actions.action import Action
from decision.policy.output_range import OutputRange

FLOATS = ("float32", "float64")
ROUNDING = 1e-6
"""Relative difference between a number of policy.toml and the float32 that NumPy prints of it."""


def check_observations(space: Any, path: Path) -> None:
    """InputError where observations are no plain vector of floats."""
    kind, fields = _space(space, "observation_space", path)
    if kind != "Box" or fields.get("dtype") not in FLOATS:
        raise InputError(
            f"{path} observes a {_description(kind, fields)}, which Stable-Baselines3 converts before the network; "
            f"train on a Box of float32"
        )


def check_actions(space: Any, action: Action, ends: OutputRange, path: Path) -> None:
    """InputError where the action space is not the one that the outputs of policy.toml's action map stand for."""
    kind, fields = _space(space, "action_space", path)
    if action.squashed:
        _check_box(kind, fields, action.outputs, ends, path)
        return
    sizes = list(getattr(action, "sizes", (action.outputs,)))
    declared = {"Discrete": [str(fields.get("n"))], "MultiDiscrete": _numbers(fields.get("nvec"))}.get(kind)
    if declared != [str(size) for size in sizes] or _starts_elsewhere(fields, len(sizes)):
        raise InputError(
            f"{path} has the action space {_description(kind, fields)}; the action map {action.kind} of policy.toml "
            f"chooses among {' x '.join(map(str, sizes))} from 0: train with Discrete or MultiDiscrete of these sizes"
        )


def _check_box(kind: str, fields: dict[str, Any], outputs: int, ends: OutputRange, path: Path) -> None:
    trained = _floats(fields.get("low")), _floats(fields.get("high"))
    if kind != "Box" or fields.get("dtype") != "float32" or any(len(end) != outputs for end in trained):
        raise InputError(
            f"{path} has the action space {_description(kind, fields)}, and the action map of policy.toml {outputs} "
            f"outputs: train with a Box of float32 of as many numbers"
        )
    if not np.isfinite(trained).all():
        raise InputError(
            f"{path} has the action space {_description(kind, fields)} without ends; train with finite ones"
        )
    if not np.allclose(trained, ends.ends(outputs), rtol=ROUNDING, atol=0):
        low, high = (end[0] if len(set(end)) == 1 else end for end in trained)
        raise InputError(
            f"{path} was trained with actions from {low} to {high}, not from {ends.low} to {ends.high}: write low = "
            f"{low} and high = {high} into [output] of policy.toml; -1 and 1 of the action map are these ends"
        )


def _floats(text: Any) -> list[float]:
    """Returns the numbers of a one-dimensional NumPy array as it prints them; none where one is no number."""
    try:
        return [float(number) for number in _numbers(text)]
    except ValueError:
        return []


def _space(space: Any, key: str, path: Path) -> tuple[str, dict[str, Any]]:
    """Returns the class of a space and what is said of it."""
    fields = space if isinstance(space, dict) else {}
    match = re.fullmatch(r"<class 'gym(?:nasium)?\.spaces\.\w+\.(\w+)'>", str(fields.get(":type:")))
    if match is None:
        raise InputError(f"{path} does not say its {key}; save the model again with Stable-Baselines3 2.x")
    return match.group(1), fields


def _numbers(text: Any) -> list[str]:
    """Returns the numbers of a one-dimensional NumPy array as it prints them."""
    match = re.fullmatch(r"\[([^\[\]]*)\]", str(text))
    return match.group(1).split() if match else []


def _starts_elsewhere(fields: dict[str, Any], groups: int) -> bool:
    """Returns whether numbering starts elsewhere than at 0."""
    start = str(fields.get("start"))
    return start != "0" and _numbers(start) != ["0"] * groups


def _description(kind: str, fields: dict[str, Any]) -> str:
    """Returns a space in short: its class and ends or sizes."""
    texts = [f"{key} {fields[key]}" for key in ("low", "high", "dtype", "n", "nvec", "start") if key in fields]
    return f"{kind} ({', '.join(texts)})" if texts else kind
