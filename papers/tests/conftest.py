"""Plugins that the lab book's tests share with rlcc's, from tests/plugins; each test runs where the commands do."""

from pathlib import Path

import pytest

pytest_plugins = ("reproducible", "skips")


@pytest.fixture(autouse=True)
def top_of_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes name teachers from there."""
    monkeypatch.chdir(Path(__file__).parents[2])
