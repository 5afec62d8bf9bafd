"""Firmware folders of small networks."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # drawn_teachers.py

from drawn_teachers import LSTM, MLP, drawn, emission

from codegen.networks.body import emit_network


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The firmware of a small MLP and of a small LSTM."""
    place = tmp_path_factory.mktemp("networks")
    for name, architecture in (("mlp", MLP), ("lstm", LSTM)):
        teacher = drawn(architecture)
        emit_network(teacher.quantised(), "cd" * 32, place / name, emission())
    return {"mlp": place / "mlp", "lstm": place / "lstm"}
