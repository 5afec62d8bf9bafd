"""The steps from a teacher to its firmware give the bytes that are committed: here, and as on other processors.

Slow: this processor as it is, and every kind of recipe; the fast suite makes two kinds as on an older one.
"""

import json
from pathlib import Path

import pytest

from bench.same_bytes import ENVIRONMENTS, hashes

COMMITTED: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "steps.json").read_text())


def chosen(*kinds: str) -> dict[str, dict[str, str]]:
    return {kind: COMMITTED[kind] for kind in kinds}


@pytest.mark.slow
def test_on_this_processor_with_all() -> None:
    assert hashes(["mlp", "trigger"], ENVIRONMENTS["this processor"], None) == chosen("mlp", "trigger")


def test_as_on_an_older_processor_with_one() -> None:
    kinds = ["lstm", "choice"]
    assert hashes(kinds, ENVIRONMENTS["an older one"], 1) == chosen(*kinds)


@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, None], ids=["one", "all"])
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_kind(environment: str, processors: int | None) -> None:
    assert hashes(list(COMMITTED), ENVIRONMENTS[environment], processors) == COMMITTED
