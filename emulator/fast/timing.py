"""Cycles of each instruction on an engine: the figures of emulator/fast/core/timing.hpp, for a profile.

An instruction counts for as long as it stands in ID/EX, with the bubbles behind it, as the core's test bench counts.
They are those of decision/cores/, with the waits of the profile's memories. Instruction memories that wait and caches
need more than these: emulator/fast/machine.py. Cases without an exact answer are refused: other cores, and a multiplier
of varying duration.
"""

from dataclasses import asdict, dataclass

from decision.artefact.errors import InputError
from decision.cores import timing_of
from emulator import _fast
from emulator.profile import IbexCore, Profile


@dataclass(frozen=True)
class Timing:
    """Cycles, and how much more in a neighbourhood.

    ``data_wait``: by which an access holds back what follows it; ``table_load``: more where a load of two stages reads
    a constant, which may lie in a memory of its own.
    """

    branch_taken: int
    product: int
    high_product: int
    access: int
    data_wait: int
    load_use: int
    early_jump: bool
    table_load: int = 0
    jump: int = 2
    rotation: int = 2
    split_target: int = 1

    def native(self) -> _fast.Timing:
        """The same for the simulator."""
        figures = _fast.Timing()
        for name, value in asdict(self).items():
            setattr(figures, name, value)
        return figures


def timing(profile: Profile) -> Timing:
    """The exact figures of an engine; one for which there are none raises InputError."""
    core = profile.core
    if not isinstance(core, IbexCore):
        raise _refusal(profile, f"the cycles of a {core.kind} are not modelled")
    figures = timing_of(core.kind, core.model_dump())
    if not figures.exact:
        raise _refusal(profile, f"a {core.multiplier} multiplier takes as long as its operands ask for")
    memory, held_back = profile.data_memory, figures.writeback_stage
    waits = memory.wait_states
    tables = (profile.table_memory or memory).wait_states
    return Timing(
        branch_taken=figures.branch_taken,
        product=figures.product or 1,
        high_product=figures.high_product or 1,
        access=figures.access if held_back else figures.access + waits,
        data_wait=waits if held_back else 0,
        load_use=figures.load_use,
        early_jump=figures.early_jump,
        table_load=0 if held_back else tables - waits,
        jump=figures.jump,
        rotation=figures.rotation or 1,
        split_target=figures.split_target or 0,
    )


def _refusal(profile: Profile, why: str) -> InputError:
    return InputError(f"the fast path cannot time profile {profile.name} exactly: {why}; use its RTL")
