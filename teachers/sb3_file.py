"""Weights in a .zip of Stable-Baselines3 (its `data` and `policy.pth`), none of it run.

`data` is JSON: next to pickles, which are left alone, it says in words which policy class, activation and spaces were
trained (teachers/sb3_spaces.py). All of it is held against policy.toml. PPO and A2C have tanh between their layers
unless another activation is requested. Their continuous actions are cut off at the ends of the action space; with
`squash_output` they have tanh there, as SAC and TD3 do. An option that is not known here is refused.
"""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from decision.artefact.documents import MAX_DOCUMENT_BYTES, read_bytes
from decision.artefact.errors import InputError
from decision.policy.policy import Policy
from teachers.layers import Array, Shapes, match_layers
from teachers.sb3_spaces import check_actions, check_observations
from teachers.torch_file import state_dict

_ON_POLICY = ("ActorCriticPolicy", "RecurrentActorCriticPolicy")
_OFF_POLICY = ("SACPolicy", "TD3Policy", "DQNPolicy")
_MODULES = (
    "stable_baselines3.common.policies",
    "stable_baselines3.dqn.policies",
    "stable_baselines3.sac.policies",
    "stable_baselines3.td3.policies",
    "sb3_contrib.common.recurrent.policies",
)
_SHAPING = ("net_arch", "share_features_extractor", "n_critics", "lstm_hidden_size", "n_lstm_layers", "shared_lstm")
"""Options that the shapes of the weights tell."""
_TRAINING = ("ortho_init", "log_std_init", "full_std", "use_expln", "optimizer_class", "optimizer_kwargs", "clip_mean")
"""Options of training or exploration alone; `clip_mean` is of gSDE, which SAC is refused with."""
_KNOWN = {*_SHAPING, *_TRAINING, "activation_fn", "use_sde", "squash_output", "normalize_images", "enable_critic_lstm"}
_STORED = {":type:", ":serialized:"}
"""What Stable-Baselines3 adds to a table that JSON does not hold."""
_ACTIVATIONS = {"ReLU": "relu", "LeakyReLU": "leaky_relu", "ELU": "elu", "Tanh": "tanh", "Sigmoid": "sigmoid"}


def read_sb3(path: Path, policy: Policy, shapes: Shapes) -> dict[str, Array]:
    """Canonically named weights of the policy alone. InputError where policy.toml says something else than the file."""
    data, weights = _opened(path)
    name = _policy_class(data, path)
    _check(
        path, policy, "architecture.activation", set(policy.architecture.activations), {_activation(data, name, path)}
    )
    _check_options(data, path)
    squashed = _squashed(data, name, path)
    check_observations(data.get("observation_space"), path)
    check_actions(data.get("action_space"), policy.action, path)
    if policy.action.squashed:
        output = "tanh" if squashed else "clip"
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
    module = _part(data, "policy_class").get("__module__")
    if named is not None and module not in _MODULES:
        raise InputError(
            f"{path} has a policy class of {module or 'an unknown module'}, whose forward pass is not known here; "
            f"save the network with torch.save(net.state_dict(), ...)"
        )
    if named is None or named.group(1) not in _ON_POLICY + _OFF_POLICY:
        raise InputError(
            f"{path} has the policy class {named.group(1) if named else told or 'of no name'}; MlpPolicy's are "
            f"read: {', '.join(_ON_POLICY + _OFF_POLICY)}; save the network with torch.save(net.state_dict(), ...)"
        )
    return named.group(1)


def _check_options(data: dict[str, Any], path: Path) -> None:
    """InputError where the policy was built with an option whose effect is not known here."""
    for key in _part(data, "policy_kwargs"):
        if key not in _KNOWN | _STORED:
            raise InputError(
                f"{path} was built with policy_kwargs {key!r}, which is not read; leave it out, or save the network "
                f"with torch.save(net.state_dict(), ...)"
            )


def _squashed(data: dict[str, Any], name: str, path: Path) -> bool:
    """Returns whether continuous actions end in tanh. InputError for SAC with gSDE, which bounds the mean before it."""
    kwargs = _part(data, "policy_kwargs")
    flags = {key: kwargs.get(key, data.get(key, False)) for key in ("use_sde", "squash_output")}
    for key, value in flags.items():
        if type(value) is not bool:
            raise InputError(f"{path} has {key} = {value!r}, which is neither true nor false; save the model again")
    if name in _OFF_POLICY:
        if flags["use_sde"]:
            raise InputError(f"{path} was trained with use_sde, which bounds the mean before tanh; train without it")
        return True
    if flags["squash_output"] and not flags["use_sde"]:
        raise InputError(f"{path} has squash_output without use_sde, which Stable-Baselines3 refuses; save it again")
    return bool(flags["squash_output"])


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
