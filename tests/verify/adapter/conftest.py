"""Firmware of the targets' students, with adapters to be proved."""

from collections.abc import Callable
from pathlib import Path

import pytest
from target_firmware import emitted_once

from emulator.firmware import Firmware
from emulator.firmware_folder import read_firmware


@pytest.fixture(scope="session")
def firmware(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Callable[[str, str], Firmware]:
    """The firmware of one of STUDENTS for a target."""

    def read(student: str, target: str) -> Firmware:
        return read_firmware(emitted_once(made_once, student, target))

    return read
