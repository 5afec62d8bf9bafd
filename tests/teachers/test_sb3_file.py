"""A .zip of Stable-Baselines3, as its versions 2.x write it: the names of tensors and what `data` says in words."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import teachers
from decision.errors import InputError
from teachers.save import policy_toml

ON_POLICY = {
    "log_std": (1,),
    "mlp_extractor.policy_net.0": (12, 4),
    "mlp_extractor.value_net.0": (12, 4),
    "action_net": (1, 12),
    "value_net": (1, 12),
}
SAC = {
    "actor.latent_pi.0": (12, 4),
    "actor.mu": (1, 12),
    "actor.log_std": (1, 12),
    "critic.qf0.0": (12, 5),
    "critic.qf0.2": (1, 12),
    "critic_target.qf0.0": (12, 5),
    "critic_target.qf0.2": (1, 12),
}
TD3 = {
    "actor.mu.0": (12, 4),
    "actor.mu.2": (1, 12),
    "actor_target.mu.0": (12, 4),
    "actor_target.mu.2": (1, 12),
    "critic.qf0.0": (12, 5),
}


def write(folder: Path, cls: str, layers: dict[str, Any], kwargs: dict[str, Any] | None = None, **files: bytes) -> Path:
    random = torch.Generator().manual_seed(3)
    state = {}
    for name, shape in layers.items():
        if len(shape) == 1:
            state[name] = torch.rand(shape, generator=random)
        else:
            state[f"{name}.weight"] = torch.rand(shape, generator=random)
            state[f"{name}.bias"] = torch.rand(shape[:1], generator=random)
    weights = io.BytesIO()
    torch.save(state, weights)
    data = {
        "policy_class": {
            ":type:": "<class 'abc.ABCMeta'>",
            ":serialized:": "gA==",
            "__init__": f"<function {cls}.__init__ at 0x7>",
        },
        "policy_kwargs": kwargs or {},
    }
    content = {"data": json.dumps(data).encode(), "policy.pth": weights.getvalue()} | files
    path = folder / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, held in content.items():
            archive.writestr(name, held)
    return path


@pytest.mark.parametrize(
    ("cls", "layers", "first", "activation", "output"),
    [
        ("ActorCriticPolicy", ON_POLICY, "mlp_extractor.policy_net.0", "tanh", "clip"),
        ("SACPolicy", SAC, "actor.latent_pi.0", "relu", "tanh"),
        ("TD3Policy", TD3, "actor.mu.0", "relu", "tanh"),
    ],
)
def test_the_policy_alone_is_read(
    tmp_path: Path, make_policy: Any, cls: str, layers: dict[str, Any], first: str, activation: str, output: str
) -> None:
    path = write(tmp_path, cls, layers)
    right = make_policy(hidden=[12], bias=True, activation=activation, output=output)
    (tmp_path / "policy.toml").write_text(policy_toml(right))
    teacher = teachers.load(path)
    with zipfile.ZipFile(path) as archive:
        state = torch.load(io.BytesIO(archive.read("policy.pth")), weights_only=True)
    assert np.array_equal(teacher.weights["fc0.weight"], state[f"{first}.weight"].numpy())
    for key, wrong in (("activation", "elu"), ("output", "clip" if output == "tanh" else "tanh")):
        told = {"activation": activation, "output": output} | {key: wrong}
        with pytest.raises(
            InputError, match=rf'needs architecture\.{key} = "{activation if key == "activation" else output}"'
        ):
            teachers.load(path, make_policy(hidden=[12], bias=True, **told))


def test_an_activation_that_was_asked_for(tmp_path: Path, make_policy: Any) -> None:
    asked = {"activation_fn": "<class 'torch.nn.modules.activation.ReLU'>"}
    path = write(tmp_path, "ActorCriticPolicy", ON_POLICY, asked)
    teachers.load(path, make_policy(hidden=[12], bias=True, output="clip"))
    with pytest.raises(InputError, match="GELU"):
        teachers.load(
            write(
                tmp_path,
                "ActorCriticPolicy",
                ON_POLICY,
                {"activation_fn": "<class 'torch.nn.modules.activation.GELU'>"},
            ),
            make_policy(hidden=[12], bias=True, output="clip"),
        )


def test_what_is_no_such_zip(tmp_path: Path, make_policy: Any) -> None:
    policy = make_policy(hidden=[12], bias=True, activation="tanh", output="clip")
    for broken in (
        write(tmp_path, "CnnPolicy", ON_POLICY),
        write(tmp_path, "ActorCriticPolicy", ON_POLICY, data=b"[1]"),
        write(tmp_path, "ActorCriticPolicy", ON_POLICY, **{"policy.pth": b"no pickle"}),
    ):
        whole = broken.read_bytes()
        for content in (whole, whole[: len(whole) // 2], b""):
            broken.write_bytes(content)
            with pytest.raises(InputError) as error:
                teachers.load(broken, policy)
            assert str(broken) in str(error.value)
            assert "\n" not in str(error.value)
