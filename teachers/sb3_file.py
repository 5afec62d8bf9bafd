"""Weights in a .zip of Stable-Baselines3 (its `data` and `policy.pth`), none of it run.

`data` is JSON: beside pickles, which are left alone, it says in words which policy class and activation were trained.
What it tells is held against policy.toml: PPO and A2C have tanh between their layers unless asked for others, and their
continuous actions are cut off at the ends of the action space, where SAC and TD3 have tanh.
"""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from decision.documents import MAX_DOCUMENT_BYTES, read_bytes
from decision.errors import InputError
from decision.policy import Policy
from teachers.layers import Array, Shapes, match_layers
from teachers.torch_file import state_dict

_ON_POLICY = ("ActorCriticPolicy", "RecurrentActorCriticPolicy")
_OFF_POLICY = ("SACPolicy", "TD3Policy", "DQNPolicy")
_ACTIVATIONS = {"ReLU": "relu", "LeakyReLU": "leaky_relu", "ELU": "elu", "Tanh": "tanh", "Sigmoid": "sigmoid"}


def read_sb3(path: Path, policy: Policy, shapes: Shapes) -> dict[str, Array]:
    """Canonically named weights of the policy alone. InputError where policy.toml says something else than the file."""
    data, weights = _opened(path)
    name = _policy_class(data, path)
    _check(
        path, policy, "architecture.activation", set(policy.architecture.activations), {_activation(data, name, path)}
    )
    if policy.action.squashed:
        output = "clip" if name in _ON_POLICY else "tanh"
        _check(path, policy, "architecture.output", {policy.architecture.output}, {output})
    return match_layers(shapes, state_dict(weights, f"{path}: policy.pth"), str(path))


def _opened(path: Path) -> tuple[dict[str, Any], bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(path))) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_DOCUMENT_BYTES:
                raise InputError(f"{path} unpacks to more than {MAX_DOCUMENT_BYTES // 2**20} MiB")
            data = json.loads(archive.read("data"))
            if isinstance(data, dict):
                return data, archive.read("policy.pth")
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError, RecursionError, RuntimeError):
        pass
    raise InputError(f"{path} is no .zip that model.save() of Stable-Baselines3 writes; save it again")


def _policy_class(data: dict[str, Any], path: Path) -> str:
    told = str(_part(data, "policy_class").get("__init__", ""))
    named = re.match(r"<function (\w+)\.__init__", told)
    if named is None or named.group(1) not in _ON_POLICY + _OFF_POLICY:
        raise InputError(
            f"{path} has the policy class {named.group(1) if named else told or 'of no name'}; MlpPolicy's are "
            f"read: {', '.join(_ON_POLICY + _OFF_POLICY)}; save the network with torch.save(net.state_dict(), ...)"
        )
    return named.group(1)


def _activation(data: dict[str, Any], name: str, path: Path) -> str:
    told = _part(data, "policy_kwargs").get("activation_fn")
    if told is None:
        return "tanh" if name in _ON_POLICY else "relu"
    module = re.match(r"<class 'torch\.nn\.modules\.activation\.(\w+)'>", str(told))
    if module is None or module.group(1) not in _ACTIVATIONS:
        raise InputError(f"{path} has the activation {told}; a teacher has {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[module.group(1)]


def _part(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _check(path: Path, policy: Policy, key: str, said: set[str], told: set[str]) -> None:
    if said - told:
        raise InputError(
            f'{path} was trained with {", ".join(told)}: policy.toml of {policy.name} needs {key} = "{min(told)}"'
        )
