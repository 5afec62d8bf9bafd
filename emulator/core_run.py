"""A run of the Verilated core, which is built first if it is not in the cache."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from decision.artefact.processors import usable_cores
from emulator.core import Progress, core_executable
from emulator.elf import Image
from emulator.job import State
from emulator.memory_map import Block
from emulator.profile import Profile
from emulator.rtl_run import RtlRun, run_executable


def run_on_core(
    image: Image,
    entry: str,
    profile: Profile,
    blocks: Sequence[tuple[Block, NDArray[np.void]]],
    progress: Progress | None = None,
    *,
    state: State = "hot",
    by_address: bool = False,
    processes: int | None = None,
) -> RtlRun:
    """Calls ``entry`` once for each record, as emulator.rtl_run.run_executable does, on the core of the profile.

    ``processes``: their maximum number; None: the number of processors.
    """
    return run_executable(
        core_executable(profile.core, progress),
        image,
        entry,
        profile,
        blocks,
        state=state,
        by_address=by_address,
        processes=processes or usable_cores(),
    )
