"""Verilated cores share the runtime that each is linked with."""

from pathlib import Path

import pytest

from decision.artefact.build_cache import HASHES
from emulator import core


def test_verilators_runtime_is_compiled_once_for_its_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiled: list[Path] = []

    def compile_into(command: list[str], *_: object) -> None:
        compiled.append(Path(command[-1]))
        compiled[-1].touch()

    monkeypatch.setattr(core, "_run", compile_into)
    runtimes = {core.built_runtime() for _ in range(2)}
    assert len(compiled) == len(runtimes) == 1
    assert {path.name for path in runtimes.pop().parent.iterdir()} == {core.RUNTIME, HASHES}
    monkeypatch.setattr(core, "CXX_SLOW", ("-O1", "-fPIC"))
    core.built_runtime()
    assert len(compiled) == 2
