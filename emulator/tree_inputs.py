"""The features that a firmware's trees see."""

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.interpret import trace
from decision.ir.program import Op
from emulator.firmware import PROGRAM, Firmware
from emulator.layout import Records
from emulator.vectors import columns_of, vectors_of


def tree_inputs(firmware: Firmware, records: Records | None = None) -> NDArray[np.int64]:
    """Returns the features [N, features] that the trees see in each vector, or in ``records`` (structures by their
    names), as the integer program computes them."""
    trees = next((node for node in firmware.program.nodes if node.op is Op.TREES), None)
    if trees is None:
        raise InputError(f"{firmware.folder / PROGRAM} has no trees; emit the firmware again")
    records = vectors_of(firmware).records if records is None else records
    values = trace(firmware.program, *columns_of(records))
    shape = len(trees.args), len(next(iter(records.values())))  # of constant trees no columns
    return np.array([values[a] for a in trees.args], dtype=np.int64).reshape(shape).T
