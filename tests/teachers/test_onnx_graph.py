"""Graphs as PyTorch's exporter writes them: other operators for the same layers, other outputs beside the action."""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_layers import NETWORKS, foreign

import teachers
from decision.artefact.errors import InputError
from teachers.inference import outputs_of
from teachers.save import policy_toml


def export(network: torch.nn.Module, path: Path, size: int, opset: int = 17) -> None:
    file = io.BytesIO()
    shape = (5, 1, size) if any(isinstance(each, torch.nn.RNNBase) for each in network.modules()) else (5, size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, (torch.zeros(shape),), file, opset_version=opset, dynamo=False)
    path.write_bytes(file.getvalue())


@pytest.mark.parametrize("layers", NETWORKS.values(), ids=NETWORKS)
def test_an_exported_graph_is_the_network(make_policy: Any, tmp_path: Path, layers: list[str]) -> None:
    policy, network = foreign(make_policy, layers)
    export(network, tmp_path / "policy.onnx", 2)
    torch.save(network.state_dict(), tmp_path / "policy.pt")
    assert teachers.load(tmp_path / "policy.onnx", policy).hash == teachers.load(tmp_path / "policy.pt", policy).hash


def test_an_exported_graph_is_no_other_network(make_policy: Any, tmp_path: Path) -> None:
    """Of equal weights: another place of the skip, another epsilon, another activation, another end."""
    layers = ["linear 12", "layer_norm 1e-5", "silu", "linear 12", "add 1", "gelu"]
    _, network = foreign(make_policy, layers)
    path = tmp_path / "policy.onnx"
    export(network, path, 2)

    def policy(*changed: tuple[int, str], **more: Any) -> Any:
        other = list(layers)
        for place, text in changed:
            other[place] = text
        return make_policy(hidden=[], layers=other, bias=True, window=1, **more)

    teachers.load(path, policy())
    for wrong in (
        policy((4, "add 3")),
        policy((1, "layer_norm 1e-3")),
        policy((2, "sigmoid")),
        policy((5, "gelu_tanh")),
        policy(output="clip"),
        policy(output="none"),
        policy(output_clip=2.0),
    ):
        with pytest.raises(InputError, match="computes"):
            teachers.load(path, wrong)


class Actor(torch.nn.Module):
    """A mean without its clip, and a critic."""

    def __init__(self) -> None:
        super().__init__()
        self.critic = torch.nn.Linear(4, 1)
        self.hidden, self.mean = torch.nn.Linear(4, 12), torch.nn.Linear(12, 1)

    def forward(self, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.mean(torch.tanh(self.hidden(row))) * 1, self.critic(row)


class ClippedActor(Actor):
    def forward(self, row: torch.Tensor) -> Any:
        return self.mean(torch.tanh(self.hidden(row))).clamp(-0.1, 0.3)


@pytest.mark.parametrize("inside", [False, True])
def test_a_clip_inside_and_outside_of_the_graph(make_policy: Any, tmp_path: Path, inside: bool) -> None:
    torch.manual_seed(1)
    network = ClippedActor() if inside else Actor()
    network.forward = network.forward if inside else lambda row: (network.mean(torch.tanh(network.hidden(row))), row)
    export(network, tmp_path / "policy.onnx", 4)
    rows = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
    mean = network.mean(torch.tanh(network.hidden(torch.from_numpy(rows)))).clamp(-0.1, 0.3).detach().numpy()
    assert 0.1 < np.mean((mean == -np.float32(0.1)) | (mean == np.float32(0.3))) < 0.9
    ends = "[output]\nlow = -0.1\nhigh = 0.3\n\n[observation]"
    for output, high in (("none", 0.3), ("clip", 0.3), ("clip", 0.4), ("tanh", 0.3)):
        text = policy_toml(make_policy(hidden=[12], bias=True, activation="tanh", output=output))
        text = text.replace("[observation]", ends.replace("0.3", str(high)), 1)
        (tmp_path / "policy.toml").write_text(text)
        if (output, high) != ("clip" if inside else "none", 0.3):
            with pytest.raises(InputError, match="computes"):
                teachers.load(tmp_path / "policy.onnx")
            continue
        outputs = outputs_of(teachers.load(tmp_path / "policy.onnx"), rows).astype(np.float64)
        assert np.abs(-0.1 + 0.4 * (outputs + 1) / 2 - mean).max() < 1e-6


class Wrapped(torch.nn.Module):
    def __init__(self, of: Any) -> None:
        super().__init__()
        self.of, self.layer, self.last = of, torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)

    def forward(self, row: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.last(self.of(self.layer(row), row)))


@pytest.mark.parametrize(
    "of",
    [
        lambda x, row: x * torch.sigmoid(1.702 * x),  # the quick GELU
        lambda x, row: torch.nn.functional.mish(x),
        lambda x, row: torch.cat([row, x], -1)[:, :4],
        lambda x, row: x * row,
        lambda x, row: x * 3,
        lambda x, row: x + torch.arange(4.0).exp(),
        lambda x, row: x.softmax(-1),
        lambda x, row: x.clamp(min=0.1),
        lambda x, row: row.relu(),
        lambda x, row: torch.where(x > 0, x, 0.3 * x),
    ],
)
def test_what_is_no_layer_is_refused(make_policy: Any, tmp_path: Path, of: Any) -> None:
    export(Wrapped(of), tmp_path / "policy.onnx", 4)
    with pytest.raises(InputError) as error:
        teachers.load(tmp_path / "policy.onnx", make_policy(hidden=[4], bias=True))
    assert "policy.onnx" in str(error.value)
    assert "\n" not in str(error.value)
