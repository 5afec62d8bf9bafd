"""The Linux bed is a guest of one kind of machine, made of its packages; elsewhere it says so before it asks apt."""

import pytest

from decision.artefact.errors import InputError
from emulator.linux import parts


@pytest.mark.parametrize("machine", ["aarch64", "riscv64", ""])
def test_on_another_machine_the_bed_is_refused_before_anything_is_fetched(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "built_once", lambda *_: pytest.fail("it was built"))
    monkeypatch.setattr("platform.machine", lambda: machine)
    with pytest.raises(InputError, match=f"run it on {parts.MACHINE}"):
        parts.machine_parts()


def test_on_its_own_machine_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def built(*_: object) -> None:
        raise InputError("apt was asked")

    monkeypatch.setattr(parts, "built_once", built)
    monkeypatch.setattr("platform.machine", lambda: parts.MACHINE)
    with pytest.raises(InputError, match="apt was asked"):
        parts.machine_parts()
