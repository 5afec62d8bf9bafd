"""Firmware folders of small networks."""

from pathlib import Path

import pytest
from drawn_teachers import LSTM, MLP, choosing, drawn, emission

from codegen.networks.body import emit_network


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The firmware of a small MLP, of a small LSTM, and of an MLP that chooses rows."""
    place = tmp_path_factory.mktemp("networks")
    for name, architecture in (("mlp", MLP), ("lstm", LSTM)):
        teacher = drawn(architecture)
        emit_network(teacher.quantised(), "cd" * 32, place / name, emission())
    emit_network(choosing().quantised(), "cd" * 32, place / "choice", emission(target="bare"))
    return {name: place / name for name in ("mlp", "lstm", "choice")}
