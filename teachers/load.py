"""Load a teacher from an artefact folder or from a weights file with a policy.toml beside it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from decision.artefact import manifest
from decision.artefact.errors import InputError
from decision.policy.input_layout import InputLayout
from decision.policy.policy import Policy, PolicyFile, load_policy, read_policy
from teachers.folding import folded, trained_shapes
from teachers.layers import Array, Shapes
from teachers.onnx_file import read_onnx
from teachers.safetensors_file import read_safetensors, tensors_of
from teachers.sb3_file import read_sb3
from teachers.teacher import Teacher, checked_weights, make_teacher
from teachers.torch_file import read_torch
from teachers.vec_normalize import with_statistics

KIND = "teacher"
WEIGHTS_NAME = "policy.safetensors"
POLICY_NAME = "policy.toml"

_READERS: Mapping[str, Callable[[Path, PolicyFile, Shapes], dict[str, Array]]] = {
    ".safetensors": read_safetensors,
    ".pt": read_torch,
    ".pth": read_torch,
    ".onnx": read_onnx,
    ".zip": read_sb3,
}


def load(path: Path | str, policy: Path | Policy | None = None) -> Teacher:
    """A checked teacher, over rlcc's own rows whatever layout it was trained with.

    ``path`` is a folder with policy.safetensors and policy.toml (its manifest, where there is one, is verified), or a
    weights file: .safetensors, .pt or .pth (a state_dict or TorchScript), .onnx, .zip of Stable-Baselines3. ``policy``
    is a policy.toml, or the policy itself (the newest decision first), if there is none next to the weights. No code of
    a file is ever run. InputError says what is wrong.
    """
    return load_with_layout(path, policy)[0]


def load_with_layout(path: Path | str, policy: Path | Policy | None = None) -> tuple[Teacher, InputLayout]:
    """The teacher, and how the rows were laid out that its network was trained with."""
    path = Path(path)
    if path.is_dir():
        if policy is None and (path / manifest.NAME).exists():
            return _of_artefact(manifest.opened(path, KIND))
        path = path / WEIGHTS_NAME
    elif not path.exists():
        raise InputError(f"there is no teacher {path}; name a folder or a weights file ({', '.join(_READERS)})")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path} is no weights file; a teacher is a folder or one of {', '.join(_READERS)}")
    file = _policy(path, policy)
    shapes = trained_shapes(file.policy, file.input)
    weights = checked_weights(shapes, reader(path, file, shapes), str(path))
    return make_teacher(*folded(file.policy, file.input, weights, file.output), str(path)), file.input


def _of_artefact(artefact: manifest.Opened) -> tuple[Teacher, InputLayout]:
    """From the bytes that the manifest was held to."""
    where = str(artefact.folder / WEIGHTS_NAME)
    file = read_policy(artefact.content(POLICY_NAME), str(artefact.folder / POLICY_NAME))
    shapes = trained_shapes(file.policy, file.input)
    weights = checked_weights(shapes, tensors_of(artefact.content(WEIGHTS_NAME), where, shapes), where)
    return make_teacher(*folded(file.policy, file.input, weights, file.output), where), file.input


def _policy(weights: Path, policy: Path | Policy | None) -> PolicyFile:
    if isinstance(policy, Policy):
        return PolicyFile.of(policy)
    if policy is None:
        policy = weights.parent / POLICY_NAME
        if not policy.exists():
            raise InputError(f"there is no {policy}; weights need a {POLICY_NAME} beside them, or one named")
    file = load_policy(policy)
    if file.input.statistics is None:
        return file
    layout = with_statistics(file.input, policy.parent / file.input.statistics)
    try:
        layout.check(file.observation.labels, file.observation.window)
    except ValueError as error:
        raise InputError(f"{policy}: the statistics of {file.input.statistics} do not fit: {error}") from None
    return file.model_copy(update={"input": layout})
