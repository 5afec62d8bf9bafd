"""The pinned clang is asked for its version as of the core's machine: of this one it looks for C headers first."""

from pathlib import Path

import pytest

from emulator import compile as module

ZIG = """#!/bin/sh
case "$*" in
*"-target riscv"*"-freestanding-none --version") echo "clang version 1.2.3" ;;
*) echo "error: failed to find libc installation: LibCStdLibHeaderNotFound" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def without_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """zig as it answers on a machine without the headers of a C library."""
    zig = tmp_path / "zig"
    zig.write_text(ZIG)
    zig.chmod(0o755)
    monkeypatch.setattr(module, "zig_command", lambda: str(zig))


@pytest.mark.parametrize("isa", ["rv32imc", "rv64imac"])
def test_it_is_found_on_a_machine_without_c_headers(isa: str, without_headers: None) -> None:
    assert module.find_compiler("clang", isa).version == "clang version 1.2.3"
