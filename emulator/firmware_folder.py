"""A firmware folder, read whole: programs with or without a network, and vectors that agree with the program.

build = built(Path("firmware"), profile="ibex-small")
report, proof = run_vectors(build), certify(build)
"""

from pathlib import Path

from decision.artefact.manifest import Opened
from decision.ir.network_json import network_from_json
from emulator.build import Build, build
from emulator.compile import toolchain
from emulator.firmware import Firmware, firmware_of
from emulator.profile import Profile
from emulator.vectors import vectors_of


def read_firmware(firmware: Path | Opened) -> Firmware:
    """Returns the firmware of a folder, or of what was opened of it. Raises InputError if a file was changed after
    emission, C reaches out of the folder, or vectors contradict the program."""
    read = firmware_of(firmware, network_from_json)
    vectors_of(read)
    return read


def built(
    folder: Path | str | Opened, *, profile: str | Path | Profile, compiler: str = "clang", opt: str = "-O2"
) -> Build:
    """Returns a firmware folder, read and built for the named engine."""
    tools = toolchain(profile, compiler, opt)
    return build(read_firmware(Path(folder) if isinstance(folder, str) else folder), tools)
