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
from decision.artefact.errors import InputError
from decision.policy.output_range import OutputRange
from teachers.save import policy_toml
from teachers.sb3_spaces import check_actions

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


MODULES = {
    "ActorCriticPolicy": "stable_baselines3.common.policies",
    "SACPolicy": "stable_baselines3.sac.policies",
    "TD3Policy": "stable_baselines3.td3.policies",
    "DQNPolicy": "stable_baselines3.dqn.policies",
    "CnnPolicy": "stable_baselines3.common.policies",
}


def box(low: str, high: str, dtype: str = "float32", size: int = 1) -> dict[str, Any]:
    return {
        ":type:": "<class 'gymnasium.spaces.box.Box'>",
        ":serialized:": "gA==",
        "dtype": dtype,
        "_shape": [size],
        "low": f"[{' '.join([low] * size)}]",
        "high": f"[{' '.join([high] * size)}]",
    }


def discrete(n: int, start: int = 0) -> dict[str, Any]:
    return {":type:": "<class 'gymnasium.spaces.discrete.Discrete'>", "n": str(n), "start": str(start)}


UNIT, OBSERVATIONS = box("-1.", "1."), box("-10.", "10.", size=4)


def write(
    folder: Path,
    cls: str,
    layers: dict[str, Any],
    kwargs: dict[str, Any] | None = None,
    said: dict[str, Any] | None = None,
    **files: bytes,
) -> Path:
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
            "__module__": MODULES[cls],
            "__init__": f"<function {cls}.__init__ at 0x7>",
        },
        "policy_kwargs": kwargs or {},
        "use_sde": False,
        "observation_space": OBSERVATIONS,
        "action_space": UNIT,
    } | (said or {})
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
    with pytest.raises(InputError, match="Mish"):
        teachers.load(
            write(
                tmp_path,
                "ActorCriticPolicy",
                ON_POLICY,
                {"activation_fn": "<class 'torch.nn.modules.activation.Mish'>"},
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


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"action_space": box("-0.2", "0.2")}, r"low = -0\.2 and"),
        ({"action_space": box("0.", "1.")}, r"from 0\.0 to 1\.0"),
        ({"action_space": box("-inf", "inf")}, r"without ends"),
        ({"action_space": box("-a", "1.")}, r"low \[-a\]"),
        ({"_last_original_obs": {}}, r"trained behind VecNormalize"),
        ({"action_space": box("-1.", "1.", "float64")}, "float64"),
        ({"action_space": box("-1.", "1.", size=2)}, r"toml 1 outputs"),
        ({"action_space": box("-0.99", "1.")}, r"-0\.99"),
        ({"action_space": discrete(1)}, r"Discrete \(n 1, start 0\)"),
        ({"action_space": None}, "its action_space"),
        ({"observation_space": None}, "its observation_space"),
        ({"observation_space": discrete(4)}, "observes a Discrete"),
        ({"observation_space": box("0", "255", "uint8", 4)}, "Box .*uint8"),
        ({"use_sde": "yes"}, "use_sde = 'yes'"),
        ({"policy_kwargs": {"features_extractor_class": "<class 'mine.Net'>"}}, "'features_extractor_class'"),
        ({"policy_kwargs": {"squash_output": True}}, "squash_output without use_sde"),
        ({"policy_class": {"__module__": "mine", "__init__": "<function ActorCriticPolicy.__init__"}}, "of mine"),
        ({"policy_class": {"__init__": "<function ActorCriticPolicy.__init__"}}, "an unknown module"),
    ],
)
def test_what_changes_the_action_and_is_not_read_is_refused(
    tmp_path: Path, make_policy: Any, said: dict[str, Any], sentence: str
) -> None:
    policy = make_policy(hidden=[12], bias=True, activation="tanh", output="clip")
    teachers.load(write(tmp_path, "ActorCriticPolicy", ON_POLICY), policy)
    with pytest.raises(InputError, match=sentence):
        teachers.load(write(tmp_path, "ActorCriticPolicy", ON_POLICY, said=said), policy)


@pytest.mark.parametrize("place", ["policy_kwargs", "said"])
def test_a_squashed_output_ends_in_tanh(tmp_path: Path, make_policy: Any, place: str) -> None:
    """`squash_output` is of gSDE, which `use_sde` says at the top or among the policy's own options."""
    sde = {"use_sde": True}
    kwargs, said = ({"squash_output": True} | sde, {}) if place == "policy_kwargs" else ({"squash_output": True}, sde)
    path = write(tmp_path, "ActorCriticPolicy", ON_POLICY, kwargs, said)
    teachers.load(path, make_policy(hidden=[12], bias=True, activation="tanh", output="tanh"))
    with pytest.raises(InputError, match=r'needs architecture\.output = "tanh"'):
        teachers.load(path, make_policy(hidden=[12], bias=True, activation="tanh", output="clip"))


def test_exploration_that_depends_on_the_state(tmp_path: Path, make_policy: Any) -> None:
    """PPO's mean is the network's; SAC bounds it within `clip_mean`, 2 unless it is said, before tanh."""
    teachers.load(
        write(tmp_path, "ActorCriticPolicy", ON_POLICY, said={"use_sde": True}),
        make_policy(hidden=[12], bias=True, activation="tanh", output="clip"),
    )
    for kwargs, said, limit in (
        ({"use_sde": True}, {}, 2.0),
        ({}, {"use_sde": True}, 2.0),
        ({"clip_mean": 1}, {"use_sde": True}, 1.0),
        ({"clip_mean": 0}, {"use_sde": True}, None),
        ({"clip_mean": 1}, {}, None),
    ):
        path = write(tmp_path, "SACPolicy", SAC, kwargs, said)
        for told in (limit, 3.0, *([] if limit is None else [None])):
            policy = make_policy(hidden=[12], bias=True, output_clip=told)
            if told == limit:
                teachers.load(path, policy)
                continue
            with pytest.raises(InputError, match="output_clip"):
                teachers.load(path, policy)
    for cls, layers, kwargs in (("SACPolicy", SAC, {"clip_mean": "2"}), ("TD3Policy", TD3, {})):
        with pytest.raises(InputError, match=r"clip_mean|use_sde"):
            teachers.load(write(tmp_path, cls, layers, kwargs, {"use_sde": True}), make_policy(hidden=[12], bias=True))


def test_spaces_of_choices() -> None:
    """Sizes of a choice's groups, from 0."""

    class Chosen:
        kind, squashed, outputs, sizes = "choice", False, 5, (2, 3)

    pair = {":type:": "<class 'gymnasium.spaces.multi_discrete.MultiDiscrete'>", "nvec": "[2 3]", "start": "[0 0]"}
    check_actions(pair, Chosen(), OutputRange(), Path("model.zip"))
    for wrong in (pair | {"nvec": "[3 2]"}, pair | {"start": "[0 1]"}, discrete(5), UNIT):
        with pytest.raises(InputError, match="2 x 3 from 0"):
            check_actions(wrong, Chosen(), OutputRange(), Path("model.zip"))
    Chosen.sizes = (5,)
    check_actions(discrete(5), Chosen(), OutputRange(), Path("model.zip"))
    for wrong in (discrete(6), discrete(5, start=-2), pair):
        with pytest.raises(InputError, match="chooses among 5 from 0"):
            check_actions(wrong, Chosen(), OutputRange(), Path("model.zip"))
