"""Cycles of instructions on the known cores: data, one file per core.

    access = 2                        cycles on the core's plainest variant
    [when.writeback_stage.true]       what one of its parameters (emulator/profile.py) changes
    access = 1

The prover, the fast path and the compiler's cost model read the same figures, so a core of a simple pipeline (what an
instruction costs depends on itself and on the one before it) is timed, proved and compiled for by its file alone. That
the figures hold is tested on the RTL (``verify.trusted.calibrate``).
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from decision.artefact.documents import read_text, validate
from decision.artefact.errors import InputError
from decision.artefact.strict import Strict

FOLDER = Path(__file__).resolve().parent
Cycles = Annotated[int, Field(ge=1, le=255)]


class CoreTiming(Strict):
    """Cycles for which an instruction stands in the core's execution stage, with the bubbles behind it; memories answer
    at once. None where the core has no such instruction, or nobody has held the figure to its RTL."""

    model_config = ConfigDict(strict=True)

    alu: Cycles
    jump: Cycles
    branch: Cycles
    branch_taken: Cycles
    access: Cycles
    load_use: Annotated[int, Field(ge=0, le=255)] = 0
    """More where the next instruction uses a loaded value."""
    writeback_stage: bool = False
    """What follows an access waits for its answer, not the access itself."""
    early_jump: bool = False
    """A jump that waits for an answer fetches its target meanwhile."""
    product: Cycles | None = None
    high_product: Cycles | None = None
    rotation: Cycles | None = None
    split_target: Cycles | None = None
    """More of a jump to 32 bits that stand in two words."""
    exact: bool = True
    """No instruction takes as long as its operands ask for; else the figures are the most it can take."""


def timing_of(kind: str, parameters: Mapping[str, Any]) -> CoreTiming:
    """The figures of a core; InputError where its file is not there or says what is none."""
    path = FOLDER / f"{kind}.toml"
    if not path.is_file():
        raise InputError(f"the cycles of a {kind} are not known; there is no {path.name} in decision/cores")
    figures = dict(_read(path))
    for name, values in figures.pop("when", {}).items():
        figures |= values.get(str(parameters.get(name)).lower(), {})
    return validate(CoreTiming, figures, str(path))


@cache
def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except ValueError as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
