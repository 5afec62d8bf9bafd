"""Weights in a .zip of Stable-Baselines3 (its `data` and `policy.pth`), none of it run.

`data` is JSON: next to pickles, which are left alone, it says in words which policy class, activation and spaces were
trained (teachers/sb3_spaces.py). All of it is held against policy.toml. PPO and A2C have tanh between their layers
unless another activation is requested. Their continuous actions are cut off at the ends of the action space; with
`squash_output` they have tanh there, spread to these ends, as SAC, TD3 and DDPG have. SAC with gSDE cuts its output off
at `clip_mean` before tanh. RecurrentPPO of sb3-contrib has its LSTM before the other layers. An option that is not
known here is refused. Statistics of VecNormalize are a file of their own (teachers/vec_normalize.py).
"""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from decision.artefact.documents import MAX_DOCUMENT_BYTES, read_bytes
from decision.artefact.errors import InputError
from decision.policy.input_layout import NOT_NORMALIZED, InputLayout
from decision.policy.policy import PolicyFile
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
_ORDER = ("lstm_actor", "mlp_extractor.policy_net", "action_net", "actor.latent_pi", "actor.mu", "q_net.q_net")
"""Beginnings of the tensors' names in the order in which the layers are computed."""
CLIP_MEAN = 2.0
"""Limit of a gSDE mean in SAC, where `policy_kwargs` says no other."""
_SHAPING = ("net_arch", "share_features_extractor", "n_critics", "lstm_hidden_size", "n_lstm_layers", "shared_lstm")
"""Options that the shapes of the weights tell."""
_TRAINING = ("ortho_init", "log_std_init", "full_std", "use_expln", "optimizer_class", "optimizer_kwargs")
"""Options of training or exploration alone."""
_KNOWN = {*_SHAPING, *_TRAINING, "activation_fn", "use_sde", "squash_output", "clip_mean", "normalize_images"}
_KNOWN |= {"enable_critic_lstm"}
_STORED = {":type:", ":serialized:"}
"""What Stable-Baselines3 adds to a table that JSON does not hold."""
_ACTIVATIONS = {"ReLU": "relu", "LeakyReLU": "leaky_relu", "ELU": "elu", "Tanh": "tanh", "Sigmoid": "sigmoid"}
_ACTIVATIONS |= {"SiLU": "silu", "GELU": "gelu"}


def read_sb3(path: Path, file: PolicyFile, shapes: Shapes) -> dict[str, Array]:
    """Canonically named weights of the policy alone. InputError where policy.toml says something else than the file."""
    data, weights = _opened(path)
    name = _policy_class(data, path)
    _check_layers(file, name, _activation(data, name, path), path)
    _check_options(data, path)
    _check_normalized(data, name, file.input, path)
    flags = _flags(data, name, path)
    check_observations(data.get("observation_space"), path)
    check_actions(data.get("action_space"), file.action, file.output, path)
    if file.action.squashed:
        squashed = name in _OFF_POLICY or flags["squash_output"]
        _check(
            path, file, "architecture.output", {file.architecture.output}, {"tanh"} if squashed else {"clip", "none"}
        )
        limit = _clip_mean(data, path) if name == "SACPolicy" and flags["use_sde"] else None
        _check(path, file, "architecture.output_clip", {file.architecture.output_clip}, {limit})
    tensors = state_dict(weights, f"{path}: policy.pth")
    return match_layers(shapes, sorted(tensors, key=lambda named: _place(named[0])), str(path), computed=True)


def _place(key: str) -> int:
    """Returns the place in which the layer of a tensor is computed; behind the others if it is unknown."""
    return next((n for n, begin in enumerate(_ORDER) if key.startswith(f"{begin}.")), len(_ORDER))


def _check_layers(file: PolicyFile, name: str, activation: str, path: Path) -> None:
    """InputError where the layers of policy.toml are not computed in the order of this class."""
    architecture = file.architecture
    _check(path, file, "architecture.activation", set(architecture.activations), {activation})
    recurrent = name == "RecurrentActorCriticPolicy"
    kinds = [layer.kind for layer in architecture.sequence]
    if not kinds:
        kinds = ["linear", activation] * len(architecture.hidden)
        kinds += [] if architecture.lstm is None else ["lstm"]
    lstms = next((n for n, kind in enumerate(kinds) if kind != "lstm"), len(kinds)) if recurrent else 0
    pairs = (len(kinds) - lstms) // 2
    if recurrent != bool(lstms) or kinds[lstms:] != ["linear", activation] * pairs:
        told = f"an LSTM, then linear layers with {activation}" if recurrent else f"linear layers with {activation}"
        raise InputError(
            f"{path} has {told}, and the architecture in policy.toml is {' '.join(kinds) or 'none of them'}"
        )


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


def _check_normalized(data: dict[str, Any], name: str, layout: InputLayout, path: Path) -> None:
    """InputError where observations were, or may have been, normalised before the network, and policy.toml is silent.

    Algorithms with a replay buffer keep the original observation without VecNormalize too."""
    if data.get("_last_original_obs") is None or layout.clip is not None or layout.statistics is not None:
        return
    if name in _OFF_POLICY and layout.vec_normalize == NOT_NORMALIZED:
        return
    was = "may have been trained behind VecNormalize" if name in _OFF_POLICY else "was trained behind VecNormalize"
    or_not = f', or "{NOT_NORMALIZED}" where there was none' if name in _OFF_POLICY else ""
    raise InputError(
        f"{path} {was}, whose statistics are a file of their own, by VecNormalize.save(): write into [input] of "
        f'policy.toml vec_normalize = "vec_normalize.pkl"{or_not}'
    )


def _flags(data: dict[str, Any], name: str, path: Path) -> dict[str, bool]:
    """`use_sde` and `squash_output`. InputError where they are no flags or do not fit each other or the class."""
    kwargs = _part(data, "policy_kwargs")
    flags = {key: kwargs.get(key, data.get(key, False)) for key in ("use_sde", "squash_output")}
    for key, value in flags.items():
        if type(value) is not bool:
            raise InputError(f"{path} has {key} = {value!r}, which is neither true nor false; save the model again")
    if name in _OFF_POLICY:
        if flags["use_sde"] and name != "SACPolicy":
            raise InputError(
                f"{path} has use_sde with {name}, which Stable-Baselines3 has for SAC alone; save it again"
            )
    elif flags["squash_output"] and not flags["use_sde"]:
        raise InputError(f"{path} has squash_output without use_sde, which Stable-Baselines3 refuses; save it again")
    return flags


def _clip_mean(data: dict[str, Any], path: Path) -> float | None:
    """The limit of SAC's output before tanh; 0 means none."""
    limit = _part(data, "policy_kwargs").get("clip_mean", CLIP_MEAN)
    if isinstance(limit, bool) or not isinstance(limit, int | float):
        raise InputError(f"{path} has clip_mean = {limit!r}, which is no number; save the model again")
    return float(limit) if limit > 0 else None


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


def _check(path: Path, file: PolicyFile, key: str, said: set[Any], told: set[Any]) -> None:
    if said - told:
        right = next(iter(sorted(told, key=str)))
        needed = f"needs {key} left out" if right is None else f"needs {key} = {json.dumps(right)}"
        raise InputError(f"{path} was trained otherwise than policy.toml of {file.name} says: it {needed}")
