"""Networks of any layers: read from PyTorch's files, equal to PyTorch nearly and to the simulator's own to the bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_inference import random_records

import teachers
from decision.artefact.errors import InputError
from decision.ir import exact
from decision.ir.activation import activated
from decision.policy.layers import ACTIVATIONS, NetworkLayer, parse_layer, placed
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from netsim import Simulation
from netsim.network import MS
from netsim.policies import native
from teachers.inference import network_outputs, outputs_of
from teachers.save import policy_toml, save

MODULES: dict[str, Any] = {
    "relu": torch.nn.ReLU(),
    "leaky_relu": torch.nn.LeakyReLU(),
    "elu": torch.nn.ELU(),
    "tanh": torch.nn.Tanh(),
    "sigmoid": torch.nn.Sigmoid(),
    "silu": torch.nn.SiLU(),
    "gelu": torch.nn.GELU(),
    "gelu_tanh": torch.nn.GELU(approximate="tanh"),
}
NETWORKS = {
    "gru": ["linear 12", "relu", "gru 16"],
    "two lstms": ["lstm 12", "lstm 8"],
    "layer norm": ["linear 12", "layer_norm 1e-5", "silu", "linear 12", "layer_norm 1e-3", "gelu"],
    "residual": ["linear 12", "gelu_tanh", "linear 12", "add 2", "elu"],
    "dense": ["linear 12", "tanh", "concat 0", "linear 7", "relu", "concat 0"],
    "clipped": ["clip 0.5", "linear 12", "sigmoid", "clip 0.6"],
    "all": ["layer_norm 1e-5", "gru 12", "concat 0", "lstm 8", "linear 12", "add 2", "leaky_relu"],
}


class Foreign(torch.nn.Module):
    """The layers as PyTorch has them."""

    def __init__(self, layers: list[str], size: int) -> None:
        super().__init__()
        self.steps = placed([parse_layer(text) for text in layers], size)
        self.body = torch.nn.ModuleDict()
        for step in self.steps:
            kind, wide, narrow = step.layer.kind, step.inputs, step.outputs
            if kind == "linear":
                self.body[step.name] = torch.nn.Linear(wide, narrow)
            elif kind == "layer_norm":
                self.body[step.name] = torch.nn.LayerNorm(wide, eps=step.layer.number)
                torch.nn.init.normal_(self.body[step.name].weight)
                torch.nn.init.normal_(self.body[step.name].bias)
            elif kind in ("lstm", "gru"):
                self.body[step.name] = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind](wide, narrow)
        self.head = torch.nn.Linear(self.steps[-1].outputs, 1)

    def forward(self, run: torch.Tensor) -> torch.Tensor:
        """Outputs [T, 1] of one run of rows [T, size]."""
        values = [run]
        for step in self.steps:
            kind, x = step.layer.kind, values[-1]
            if step.name in self.body:
                y = self.body[step.name](x)
                values.append(y[0] if kind in ("lstm", "gru") else y)
            elif kind == "clip":
                values.append(x.clamp(-step.layer.number, step.layer.number))
            elif kind == "add":
                values.append(x + values[step.layer.place])
            elif kind == "concat":
                values.append(torch.cat([x, values[step.layer.place]], -1))
            else:
                values.append(MODULES[kind](x))
        return torch.tanh(self.head(values[-1]))


def foreign(make_policy: Any, layers: list[str]) -> tuple[Policy, Foreign]:
    policy = make_policy(hidden=[], layers=layers, bias=True, window=1)
    torch.manual_seed(2)
    return policy, Foreign(layers, policy.observation.size)


@pytest.mark.parametrize("suffix", ["pt", "safetensors"])
@pytest.mark.parametrize("layers", NETWORKS.values(), ids=NETWORKS)
def test_layers_are_torchs_along_each_run(make_policy: Any, tmp_path: Path, layers: list[str], suffix: str) -> None:
    policy, network = foreign(make_policy, layers)
    path = tmp_path / f"policy.{suffix}"
    if suffix == "pt":
        torch.save(network.state_dict(), path)
    else:
        safetensors.torch.save_file(network.state_dict(), path)
    teacher = teachers.load(path, policy)
    lengths = [40, 1, 200]
    trajectories = Trajectories.of(random_records(lengths, [0, 0, 7]))
    outputs, valid = network_outputs(teacher, trajectories)
    rows, _ = trajectories.float_rows(policy.observation)
    parts = np.split(rows.astype(np.float32), np.cumsum(lengths)[:-1])
    expected = np.concatenate([network(torch.from_numpy(part)).detach().numpy() for part in parts])
    assert np.abs(outputs - expected).max() < 2e-6
    assert np.std(outputs) > 1e-3
    if policy.architecture.recurrent:  # what was before step 7 is not known
        assert np.array_equal(valid, np.repeat([True, True, False], lengths))


@pytest.mark.parametrize("layers", NETWORKS.values(), ids=NETWORKS)
def test_the_simulator_has_the_same_bits(make_policy: Any, tmp_path: Path, layers: list[str]) -> None:
    """Also of a teacher that was saved and read again; short flows come and go as new ones."""
    policy, network = foreign(make_policy, layers)
    torch.save(network.state_dict(), tmp_path / "policy.pt")
    teacher = teachers.load(tmp_path / "policy.pt", policy)
    save(teacher, tmp_path / "saved")
    again = teachers.load(tmp_path / "saved")
    assert (again.hash, again.policy) == (teacher.hash, teacher.policy)
    run = Simulation("long-short:9", native(again.policy, again.weights), seed=4, record=True)
    run.run(8 * MS)
    trajectories = Trajectories.of(run.drain_records())
    outputs, valid = network_outputs(teacher, trajectories)
    assert valid.all()
    assert np.array_equal(outputs[:, 0], trajectories.columns["output"])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_torchs(make_policy: Any, name: str) -> None:
    """In doubles by decision.ir, and in the simulator's float32."""
    x = np.linspace(-12, 12, 4001)
    expected = MODULES[name](torch.from_numpy(x)).numpy()
    assert np.abs(activated(name, x) - expected).max() < 1e-13
    policy = make_policy(hidden=[], layers=["linear 1", name], bias=True, window=1)
    weights = {"layer1.weight": [[1.0, 0.0]], "layer1.bias": [0.0], "out.weight": [[0.05]], "out.bias": [0.0]}
    teacher = teachers.teacher.make_teacher(policy, {k: np.array(v, np.float32) for k, v in weights.items()}, "it")
    rows = np.stack([x, x], axis=1).astype(np.float32)
    given_back = np.arctanh(outputs_of(teacher, rows)[:, 0].astype(np.float64)) / 0.05
    assert np.abs(given_back - MODULES[name](torch.from_numpy(rows[:, 0])).numpy()).max() < 3e-5


def test_the_error_function() -> None:
    x = np.linspace(-9, 9, 3001)
    assert np.abs(exact.erf(x) - torch.erf(torch.from_numpy(x)).numpy()).max() < 1e-14


def test_a_cut_output_and_a_normalised_input(make_policy: Any, tmp_path: Path) -> None:
    """`output_clip` and `input.clip` mean min and max, before tanh and before the first layer."""
    torch.manual_seed(3)
    network = torch.nn.Sequential(torch.nn.Linear(4, 12), torch.nn.ReLU(), torch.nn.Linear(12, 1))
    with torch.no_grad():
        network[2].weight.mul_(3)
    torch.save(network.state_dict(), tmp_path / "policy.pt")
    text = policy_toml(make_policy(hidden=[12], bias=True, output_clip=0.5))
    normalised = 'order = "newest_first"\noffset = [0.2, -0.1]\nscale = [3.0, 0.5]\nclip = 0.7'
    (tmp_path / "policy.toml").write_text(text.replace('order = "newest_first"', normalised))
    teacher = teachers.load(tmp_path / "policy.pt")
    rows = np.random.default_rng(1).normal(size=(500, 4)).astype(np.float32)
    seen = ((rows - np.tile([0.2, -0.1], 2)) * np.tile([3.0, 0.5], 2)).clip(-0.7, 0.7).astype(np.float32)
    mean = network(torch.from_numpy(seen)).clamp(-0.5, 0.5)
    outputs = outputs_of(teacher, rows)
    assert np.abs(outputs - torch.tanh(mean).detach().numpy()).max() < 2e-6
    assert 0.05 < np.mean(np.abs(outputs) > np.tanh(0.4999)) < 0.95
    assert teacher.policy.architecture.layers[:2] == ["linear 4", "clip 0.7"]


def test_a_layout_of_layers_that_see_the_row_twice(make_policy: Any, tmp_path: Path) -> None:
    """A layer before the others turns rlcc's row into the network's own; references move with it."""
    torch.manual_seed(4)
    layers = ["linear 12", "relu", "concat 0", "linear 12", "tanh", "add 2"]
    network = Foreign(layers, 3)
    torch.save(network.state_dict(), tmp_path / "policy.pt")
    policy = make_policy(hidden=[], layers=layers, bias=True, window=1)
    layout = '[input]\ncolumns = ["rl_cc_congestion", 0.3, "previous_action"]\nscale = 2.0\n\n[observation]'
    (tmp_path / "policy.toml").write_text(policy_toml(policy).replace("[observation]", layout, 1))
    teacher = teachers.load(tmp_path / "policy.pt")
    rows = np.random.default_rng(1).normal(size=(100, 2)).astype(np.float32)
    own = np.stack([rows[:, 1], np.full(100, 0.3, np.float32), rows[:, 0]], axis=1) * np.float32(2)
    expected = network(torch.from_numpy(own)).detach().numpy()
    assert np.abs(outputs_of(teacher, rows) - expected).max() < 2e-6
    assert teacher.policy.architecture.layers[3:] == ["concat 1", "linear 12", "tanh", "add 3"]


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        (["linear"], "no layer 'linear'"),
        (["linear 0"], "linear takes"),
        (["gru 2000"], "gru takes"),
        (["linear 1.5"], "no layer"),
        (["linear inf"], "no layer"),
        (["mish"], "no layer 'mish'"),
        (["relu 6"], "no layer"),
        (["layer_norm"], "no layer"),
        (["layer_norm 0"], "no layer"),
        (["clip nan"], "no layer"),
        (["linear 3", "add 0"], "adds 2"),
        (["linear 3", "add 1"], "not before"),
        (["concat 1"], "not before"),
        ([], "layers = "),
        (["linear 12"] * 65, "64"),
    ],
)
def test_layers_that_are_none(make_policy: Any, layers: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_policy(hidden=[], layers=layers, bias=True, window=1)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"hidden": [3], "layers": ["linear 3"]}, "hidden and activation"),
        ({"layers": ["linear 3"], "activation": "relu"}, "hidden and activation"),
        ({"layers": ["gru 3"], "window": 2}, "recurrent layer"),
        ({"output": "clip", "output_clip": 2.0}, "output_clip cuts"),
        ({"output_clip": 0.0}, "output_clip"),
    ],
)
def test_architectures_that_contradict_themselves(make_policy: Any, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_policy(**{"hidden": [], "bias": True} | more)


def test_layers_of_a_file_that_are_others(make_policy: Any, tmp_path: Path) -> None:
    policy, network = foreign(make_policy, NETWORKS["gru"])
    torch.save(network.state_dict(), tmp_path / "policy.pt")
    teachers.load(tmp_path / "policy.pt", policy)
    for layers in (
        ["linear 12", "relu", "lstm 16"],
        ["linear 12", "relu", "gru 15"],
        ["linear 12", "gru 16", "gru 16"],
    ):
        with pytest.raises(InputError, match="architecture in policy"):
            teachers.load(tmp_path / "policy.pt", make_policy(hidden=[], layers=layers, bias=True, window=1))


def test_what_only_a_teacher_has_is_no_firmware_network(make_policy: Any) -> None:
    """No int8 network, no training here, no proof of the deviation: refused by its key."""
    from codegen.networks.quantise import check
    from teachers.networks import PolicyNetwork
    from verify.check.teacher_distance import CheckedTeacher, Refused
    from verify.deviation.network import Network

    for policy in (
        make_policy(hidden=[], layers=["linear 3", "relu"], bias=True),
        make_policy(hidden=[3], bias=True, output_clip=2.0),
        make_policy(hidden=[3], bias=True, activation="silu"),
    ):
        for refuses in (check, lambda policy: Network.of(policy, {})):
            with pytest.raises(InputError):
                refuses(policy)
        with pytest.raises(Refused):
            CheckedTeacher.of(policy, {})
        if policy.architecture.teacher_only is not None:
            with pytest.raises(InputError, match="without"):
                PolicyNetwork(policy)


@given(
    st.one_of(
        st.builds(NetworkLayer, st.sampled_from(["linear", "lstm", "gru"]), st.integers(1, 256).map(float)),
        st.builds(NetworkLayer, st.sampled_from(["layer_norm", "clip"]), st.floats(1e-12, 1e6)),
        st.builds(NetworkLayer, st.sampled_from(ACTIVATIONS)),
    )
)
@settings(deadline=None)
def test_a_layer_is_read_as_it_is_written(layer: NetworkLayer) -> None:
    assert parse_layer(layer.text) == layer
