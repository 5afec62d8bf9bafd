"""Write a teacher as an artefact folder: policy.safetensors, policy.toml and a manifest, whole or not at all."""

import json
from pathlib import Path
from typing import Any

import safetensors.numpy

from decision.artefact.output import write_atomically, writing
from decision.policy.policy import Policy
from teachers.load import KIND, POLICY_NAME, WEIGHTS_NAME
from teachers.teacher import Teacher


def save(
    teacher: Teacher,
    folder: Path,
    *,
    seed: int | None = None,
    tools: tuple[str, ...] = ("numpy", "safetensors"),
    details: dict[str, Any] | None = None,
) -> None:
    """The same teacher gives the same bytes; a teacher that stands in ``folder`` is replaced."""
    with writing(folder, KIND, seed=seed, tools=tools, details=details) as work:
        write_atomically(work / WEIGHTS_NAME, safetensors.numpy.save(dict(teacher.weights)))
        write_atomically(work / POLICY_NAME, policy_toml(teacher.policy))


def policy_toml(policy: Policy) -> str:
    """A policy as TOML that reads back to the same policy."""
    said = policy.model_dump(mode="json", exclude_none=True)
    content = {name: said[name] for name in ("format", "name", "architecture", *said)}
    architecture = policy.architecture
    if architecture.hidden:  # what a policy.toml must say
        kind, hidden = content["architecture"].pop("kind"), content["architecture"].pop("hidden")
        told = {"kind": kind, "hidden": hidden, "activation": architecture.activation}
        content["architecture"] = told | content["architecture"]
    if policy.observation.window > 1:
        at = list(content).index("observation")
        content = dict([*list(content.items())[:at], ("input", {"order": "newest_first"}), *list(content.items())[at:]])
    lines: list[str] = []
    _table(content, "", lines)
    return "\n".join(lines).strip() + "\n"


def _table(content: dict[str, Any], path: str, lines: list[str]) -> None:
    """Plain values first, then tables, then lists of tables: TOML's own order."""
    for key, value in content.items():
        if not _is_table(value):
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in content.items():
        inner = f"{path}.{_key(key)}" if path else _key(key)
        if isinstance(value, dict):
            lines += ["", f"[{inner}]"]
            _table(value, inner, lines)
        elif _is_table(value):
            for item in value:
                lines += ["", f"[[{inner}]]"]
                _table(item, inner, lines)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _key(key: str) -> str:
    bare = key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key)
    return key if bare else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
