"""Load a teacher from an artefact folder or from a weights file with a policy.toml beside it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from decision import manifest
from decision.errors import InputError
from decision.policy import Policy, load_policy
from teachers.layers import Array
from teachers.onnx_file import read_onnx
from teachers.safetensors_file import read_safetensors
from teachers.teacher import Teacher, make_teacher
from teachers.torch_file import read_torch

KIND = "teacher"
WEIGHTS_NAME = "policy.safetensors"
POLICY_NAME = "policy.toml"

_READERS: Mapping[str, Callable[[Path, Policy], dict[str, Array]]] = {
    ".safetensors": read_safetensors,
    ".pt": read_torch,
    ".pth": read_torch,
    ".onnx": read_onnx,
}


def load(path: Path | str, policy: Path | Policy | None = None) -> Teacher:
    """A checked teacher.

    ``path`` is a folder with policy.safetensors and policy.toml (its manifest, where there is one, is verified), or a
    weights file: .safetensors, .pt or .pth (a state_dict or TorchScript), .onnx. ``policy`` is a policy.toml or its
    content where it does not stand beside the weights. No code of a file is ever run. InputError says what is wrong.
    """
    path = Path(path)
    if path.is_dir():
        if (path / manifest.NAME).exists():
            manifest.opened(path, KIND)
        path = path / WEIGHTS_NAME
    elif not path.exists():
        raise InputError(f"there is no teacher {path}; name a folder or a weights file ({', '.join(_READERS)})")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path} is no weights file; a teacher is a folder or one of {', '.join(_READERS)}")
    checked = _policy(path, policy)
    return make_teacher(checked, reader(path, checked), str(path))


def _policy(weights: Path, policy: Path | Policy | None) -> Policy:
    if isinstance(policy, Policy):
        return policy
    if policy is None:
        policy = weights.parent / POLICY_NAME
        if not policy.exists():
            raise InputError(f"there is no {policy}; weights need a {POLICY_NAME} beside them, or one named")
    return load_policy(policy)
