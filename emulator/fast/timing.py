"""Cycles of each instruction on an engine: the figures of emulator/fast/core/timing.hpp, for a profile.

An instruction counts for as long as it stands in ID/EX, with the bubbles behind it, as the core's test bench counts.

                                two stages          with a write-back stage
    ALU, lui, auipc             1                   1
    load, store                 2 + data waits      1, and the next instruction waits for the answer
    a loaded value used next    0 more              1 more
    branch not taken, taken     1, 3 (2 with a branch-target ALU)
    jal, jalr                   2
    mul; mulh, mulhsu, mulhu    fast 3; 4           single-cycle 1; 2 (either stage count)
    rol, ror, rori              2
    jump to 32 bits at 4n + 2   1 more: two words hold the instruction

The figures are Ibex' documented ones where there are any, and read from its RTL else. Instruction memories that wait
and caches need more than these: emulator/fast/machine.py. What cannot be told exactly is refused: other cores, and a
multiplier of varying duration.
"""

from dataclasses import asdict, dataclass

from decision.errors import InputError
from emulator import _fast
from emulator.profile import IbexCore, Profile

PRODUCTS = {"none": (1, 1), "fast": (3, 4), "single-cycle": (1, 2)}  # mul; mulh, mulhsu, mulhu


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
    if core.multiplier not in PRODUCTS:
        raise _refusal(profile, f"a {core.multiplier} multiplier takes as long as its operands ask for")
    memory = profile.data_memory
    product, high_product = PRODUCTS[core.multiplier]
    waits = memory.wait_states
    tables = (profile.table_memory or memory).wait_states
    return Timing(
        branch_taken=2 if core.branch_target_alu else 3,
        product=product,
        high_product=high_product,
        access=1 if core.writeback_stage else 2 + waits,
        data_wait=waits if core.writeback_stage else 0,
        load_use=1 if core.writeback_stage else 0,
        early_jump=core.branch_target_alu,
        table_load=0 if core.writeback_stage else tables - waits,
    )


def _refusal(profile: Profile, why: str) -> InputError:
    return InputError(f"the fast path cannot time profile {profile.name} exactly: {why}; use its RTL")
