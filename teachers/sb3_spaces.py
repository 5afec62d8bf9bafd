"""Observation and action spaces as a .zip of Stable-Baselines3 says them: a class and its fields, in words.

Stable-Baselines3 cuts or maps continuous actions to the ends of their Box, and turns observations that are images or
numbers of classes into others. A teacher's outputs lie in [-1, 1] and its inputs are floats: other spaces are refused.
"""

import re
from pathlib import Path
from typing import Any

from decision.artefact.errors import InputError
from decision.policy.actions.action import Action

FLOATS = ("float32", "float64")


def check_observations(space: Any, path: Path) -> None:
    """InputError where observations are no plain vector of floats."""
    kind, fields = _space(space, "observation_space", path)
    if kind != "Box" or fields.get("dtype") not in FLOATS:
        raise InputError(
            f"{path} observes a {kind} of {fields.get('dtype')}, which Stable-Baselines3 converts before the network; "
            f"train on a Box of float32"
        )


def check_actions(space: Any, action: Action, path: Path) -> None:
    """InputError where the action space is not the one that the outputs of policy.toml's action map stand for."""
    kind, fields = _space(space, "action_space", path)
    if action.squashed:
        _check_box(kind, fields, action.outputs, path)
        return
    sizes = list(getattr(action, "sizes", (action.outputs,)))
    declared = {"Discrete": [str(fields.get("n"))], "MultiDiscrete": _numbers(fields.get("nvec"))}.get(kind)
    if declared != [str(size) for size in sizes] or _starts_elsewhere(fields, len(sizes)):
        raise InputError(
            f"{path} has the action space {_description(kind, fields)}; the action map {action.kind} of policy.toml "
            f"chooses among {' x '.join(map(str, sizes))} from 0: train with Discrete or MultiDiscrete of these sizes"
        )


def _check_box(kind: str, fields: dict[str, Any], outputs: int, path: Path) -> None:
    ends = _numbers(fields.get("low")), _numbers(fields.get("high"))
    if kind != "Box" or fields.get("dtype") != "float32" or ends != (["-1."] * outputs, ["1."] * outputs):
        raise InputError(
            f"{path} has the action space {_description(kind, fields)}; a teacher's {outputs} outputs lie in -1..1: "
            f"train with Box(-1, 1) of float32 and scale the action in the environment"
        )


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
    return f"{kind} ({', '.join(texts)})"
