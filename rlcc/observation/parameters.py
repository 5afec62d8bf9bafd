"""Parameters that the operator of the flows set: as the command line gives them, checked against the firmware's."""

from collections.abc import Sequence

from codegen.emit import emission_of
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from decision.ir.program_json import program_from_json
from emulator.firmware import PROGRAM

DIGITS = len(str(2**32))


def read_params(firmware: Opened, texts: Sequence[str]) -> dict[str, int]:
    """Returns the values of ``NAME=N``. InputError where the firmware has no such parameter, where it was fixed at
    emission or is given twice, or where N is no integer of its range."""
    signals = {signal.name: signal for signal in program_from_json(firmware.json(PROGRAM)).interface.params}
    fixed = emission_of(firmware).fix
    params: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in signals:
            raise InputError(
                f"--param {text}: {firmware.folder} has no such parameter; it has "
                f"{', '.join(name for name in signals if name not in fixed)}"
            )
        if name in fixed:
            raise InputError(f"--param {text}: {name} was fixed when the firmware was emitted")
        if name in params:
            raise InputError(f"--param {text}: {name} is given twice")
        low, high = signals[name].settable or signals[name].range
        if not (value.isascii() and value.isdigit() and len(value) <= DIGITS and low <= int(value) <= high):
            raise InputError(f"--param {text}: write {name}=N, an integer from {low} to {high}")
        params[name] = int(value)
    return params
