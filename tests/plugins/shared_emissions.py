"""Firmware that all tests of a run share: the files of a decider, emitted with the same options, are written once.

Emission follows from the decider and the options, and most tests only need a firmware to judge something else. Not
shared are the tests of emission itself (``tests/codegen``), and what a test with ``monkeypatch`` emits while it runs.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from shared_answers import shares

from bench.forge.memory import key_of

EMITTING = ("codegen.emit", "codegen.differences")
"""Modules that call ``fill``."""
ITSELF = Path(__file__).resolve().parents[1] / "codegen"
shared = True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Share what module fixtures emit, but those of the tests of emission."""
    global shared
    shared = ITSELF not in item.path.parents


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Share nothing while a test runs that may have replaced a part of the emission."""
    global shared
    shared = shared and "monkeypatch" not in getattr(item, "fixturenames", ())


@pytest.fixture(scope="session", autouse=True)
def shared_emissions(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Iterator[None]:
    if not shares():
        yield
        return
    from codegen.emit import fill

    def filled(folder: Path, body: Any, emission: Any, dumps: Path | None = None) -> dict[str, Any]:
        key = key_of(body, emission) if shared and dumps is None else None
        if key is None:
            return fill(folder, body, emission, dumps)

        def make(place: Path) -> None:
            (place / "files").mkdir()
            (place / "details.json").write_text(json.dumps(fill(place / "files", body, emission)))

        place = made_once(f"emission-{key}", make)
        shutil.copytree(place / "files", folder, dirs_exist_ok=True)
        details: dict[str, Any] = json.loads((place / "details.json").read_text())
        return details

    with pytest.MonkeyPatch.context() as patch:
        for module in EMITTING:
            patch.setattr(f"{module}.fill", filled)
        yield
