"""Samples that a device took of its own decisions: of every n-th what it was called with, as the compiler lays it out,
one behind another (rlcc_monitor.h). The states in which the trees decided are computed from that here, by the
firmware's own program: the card counts nothing, and its decision stays the one that was proved."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.ir.ranks import RANK
from decision.policy.visits import Visits, counted
from emulator.firmware import Firmware
from emulator.tree_inputs import tree_inputs

PLACES = ("context", "event", "params")
"""Of a sample, in this order; those that the firmware has."""


def sample_type(firmware: Firmware) -> np.dtype[np.void]:
    """A sample's bytes."""
    return np.dtype([(name, firmware.layouts[name].dtype) for name in PLACES if name in firmware.layouts])


def visits_of(student: str, firmware: Firmware, path: Path) -> Visits:
    """Returns the visits of the samples in a file; ``student``: the hash of the firmware's. Features that the context
    keeps as ranks have no intervals of their own. InputError where the file holds no whole number of samples."""
    forest = firmware.program.forest
    if forest is None:
        raise InputError(f"{firmware.folder} holds a network, which has no thresholds; visits are of trees")
    data, sample = read_bytes(path), sample_type(firmware)
    if not data or len(data) % sample.itemsize:
        size = f"{len(data)} bytes, no whole number of samples of {sample.itemsize}"
        raise InputError(f"{path} has {size}; is it of this firmware?")
    records = np.frombuffer(data, sample)
    rows = tree_inputs(firmware, {name: records[name] for name in sample.names or ()})
    visits = counted(student, forest, rows)
    plain = {name: one for name, one in visits.features.items() if not name.endswith(RANK)}
    return replace(visits, features=plain)
