"""The owner's own forward passes, on rows of the network's own layout."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from decision.artefact.errors import InputError
from teachers.load import load
from teachers.parity import parity
from teachers.save import policy_toml

NAMES = [name for age in (2, 1, 0) for name in (f"rl_cc_congestion_{age}", "one half", f"previous_action_{age}")]
HEADER = ",".join([*NAMES, "y"]) + "\n"
INPUT = """
[input]
order = "oldest_first"
columns = ["rl_cc_congestion", 0.5, "previous_action"]
offset = [0.0, 0.0, 1.0]
scale = [0.1, 1.0, 5.0]
"""


@pytest.fixture
def trained(tmp_path: Path, make_policy: Any) -> tuple[Path, Any]:
    """A tanh network over nine columns, oldest first, that normalises them itself, and its policy.toml."""
    torch.manual_seed(5)
    network = torch.nn.Sequential(torch.nn.Linear(9, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1), torch.nn.Tanh())
    torch.save(network.state_dict(), tmp_path / "mine.pt")
    text = policy_toml(make_policy(hidden=[8], bias=True, window=3, activation="tanh"))
    (tmp_path / "policy.toml").write_text(text.replace('\n[input]\norder = "newest_first"\n', INPUT))

    def forward(rows: Any) -> Any:
        normal = (rows - np.tile([0.0, 0.0, 1.0], 3)) * np.tile([0.1, 1.0, 5.0], 3)
        return network(torch.from_numpy(normal.astype(np.float32))).detach().numpy()[:, 0]

    return tmp_path / "mine.pt", forward


def csv(rows: Any, outputs: Any) -> str:
    lines = [",".join(map(repr, [*map(float, row), float(out)])) for row, out in zip(rows, outputs, strict=True)]
    return "\n".join([",".join([*NAMES, "y"]), *lines]) + "\n"


def rows_of(count: int = 200) -> Any:
    rows = np.random.default_rng(1).normal(size=(count, 9))
    rows[:, [1, 4, 7]] = 0.5
    return rows


def test_the_same_network_is_the_same(tmp_path: Path, trained: Any) -> None:
    path, forward = trained
    rows = rows_of()
    (tmp_path / "own.csv").write_text(csv(rows, forward(rows)))
    same = parity(load(path), tmp_path / "own.csv")
    assert same.passed
    assert same.rows == 200
    assert same.difference < 1e-5


@pytest.mark.parametrize(
    ("said", "wrongly"),
    [
        ('"oldest_first"', '"newest_first"'),
        ('"rl_cc_congestion", 0.5, "previous_action"', '"previous_action", 0.5, "rl_cc_congestion"'),
        ('activation = "tanh"', 'activation = "relu"'),
        ("[0.1, 1.0, 5.0]", "[0.1, 1.0, 4.9]"),
        ("offset = [0.0, 0.0, 1.0]", "offset = 0.0"),
        ('activation = "tanh"', 'activation = "tanh"\noutput = "clip"'),
    ],
)
def test_another_reading_of_it_is_told(tmp_path: Path, trained: Any, said: str, wrongly: str) -> None:
    path, forward = trained
    toml = tmp_path / "policy.toml"
    assert said in toml.read_text()
    toml.write_text(toml.read_text().replace(said, wrongly))
    rows = rows_of()
    (tmp_path / "own.csv").write_text(csv(rows, forward(rows)))
    other = parity(load(path), tmp_path / "own.csv")
    assert not other.passed
    assert abs(forward(rows[other.worst - 1 : other.worst])[0] - other.theirs) < 1e-6


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x\n", "has no rows"),
        ("x,y\n1,2\n", "previous_action_0 .*1 "),
        (HEADER + "1\n", "line 2 .*1 .*10"),
        (HEADER + ",".join(["x"] * 10) + "\n", "else than numbers"),
        (HEADER + ",".join(["nan"] * 10) + "\n", "not finite"),
    ],
)
def test_what_is_no_such_file(tmp_path: Path, trained: Any, content: str, message: str) -> None:
    (tmp_path / "own.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        parity(load(trained[0]), tmp_path / "own.csv")
