"""Cycles of each instruction on an engine, as the test bench of the core counts them.

An instruction counts for as long as it stands in ID/EX, with the bubbles behind it. On a core of two stages that
depends on the instruction alone and on whether a branch is taken. If the core has a write-back stage, it depends on the
instruction before as well: a load's value arrives one cycle late, and a slow data memory holds back what follows.

The figures are those of the core's file in decision/cores. That they hold is tested
(``verify.trusted.calibrate``), with a difference of 0 cycles on the profiles that come with rlcc, and proved of
ibex-small (``verify.core_timing``). A model that is not exact is an upper bound of each step.
"""

from dataclasses import dataclass
from typing import Literal

from decision.artefact.errors import InputError
from decision.cores import timing_of
from emulator.profile import Profile
from verify.trusted.machine import BRANCHES, LOADS, STORES, Instruction

ISA = "rv32im"
"""What the decoder and the walks know."""
HIGH_PRODUCTS = ("mulh", "mulhsu", "mulhu")
JUMPS = ("jal", "jalr")


@dataclass(frozen=True)
class CycleModel:
    """Cycles of each instruction on one engine. ``overhead`` is the constant of the measuring window, ``table_wait``
    what a load from the constants takes more than ``step`` says.

    ``exact``: equal to the RTL, as far as tested; otherwise each step is an upper bound, and so is their sum.
    """

    profile: str
    alu: int
    jump: int
    branch: int
    branch_taken: int
    access: int
    load_use: int
    product: int
    high_product: int
    writeback_stage: bool
    early_jump: bool
    instruction_wait: int
    data_wait: int
    exact: bool
    overhead: int = 0
    table_wait: int = 0

    @property
    def kind(self) -> Literal["exact", "bounded"]:
        return "exact" if self.exact else "bounded"

    def step(self, instruction: Instruction, taken: bool, before: Instruction | None) -> int:
        """Cycles of an instruction; ``taken`` matters for branches only, ``before`` is the one executed just before."""
        cycles = self._alone(instruction, taken)
        if self.writeback_stage and before is not None:
            cycles = self._held_back(instruction, taken, before, cycles)
        return cycles + self._fetch(instruction, taken)

    def _alone(self, instruction: Instruction, taken: bool) -> int:
        name = instruction.name
        if name in LOADS or name in STORES:
            return self.access if self.writeback_stage else self.access + self.data_wait
        if name in BRANCHES:
            return self.branch_taken if taken else self.branch
        if name in JUMPS:
            return self.jump
        if name in HIGH_PRODUCTS:
            return self.high_product
        return self.product if name == "mul" else self.alu

    def _held_back(self, instruction: Instruction, taken: bool, before: Instruction, cycles: int) -> int:
        """If the core has a write-back stage, nothing follows an access before its answer; a loaded value comes a cycle
        later."""
        if before.name not in LOADS and before.name not in STORES:
            return cycles
        loaded = before.rd if before.name in LOADS else 0
        if loaded and loaded in (instruction.rs1, instruction.rs2):
            return cycles + self.data_wait + self.load_use
        if self._jumps(instruction, taken) and self.early_jump:  # a waiting jump already fetches its target
            return max(cycles, 1 + self.data_wait)
        return cycles + self.data_wait

    def _fetch(self, instruction: Instruction, taken: bool) -> int:
        """Waits for the instruction memory, at most: for its own word; behind a jump for two more fetched in vain."""
        vain = 2 * self.instruction_wait + 1 if self.instruction_wait and self._jumps(instruction, taken) else 0
        return self.instruction_wait + vain

    @staticmethod
    def _jumps(instruction: Instruction, taken: bool) -> bool:
        return instruction.name in JUMPS or (taken and instruction.name in BRANCHES)


def cycle_model(profile: Profile) -> CycleModel:
    """The model of an engine; one for which there is none (compressed instructions) raises InputError."""
    core = profile.core
    if core.isa != ISA:
        raise InputError(
            f"profile {profile.name} is a {core.kind} of {core.isa}, for which there is no model of its cycles; "
            f'the proofs know isa = "{ISA}"'
        )
    figures = timing_of(core.kind, core.model_dump())
    if figures.product is None or figures.high_product is None:
        raise InputError(
            f"profile {profile.name} is a {core.kind}, for which there is no model of its cycles: not all that "
            f"decision/cores/{core.kind}.toml says was held to its RTL"
        )
    caches = [m.cache for m in (profile.instruction_memory, profile.data_memory) if m.cache is not None]
    if caches:
        raise InputError(
            f"profile {profile.name} has a cache, which the proofs' model of cycles has not; "
            "prove on a profile of the same core without one"
        )
    fetch, data = profile.instruction_memory.wait_states, profile.data_memory.wait_states
    tables = data if profile.table_memory is None else profile.table_memory.wait_states
    if tables != data and figures.writeback_stage:
        raise InputError(
            f"profile {profile.name} has a memory for tables behind a write-back stage, for which there is no model "
            "of its cycles; prove on a profile without that memory"
        )
    return CycleModel(
        profile=profile.name,
        alu=figures.alu,
        jump=figures.jump,
        branch=figures.branch,
        branch_taken=figures.branch_taken,
        access=figures.access,
        load_use=figures.load_use,
        product=figures.product,
        high_product=figures.high_product,
        writeback_stage=figures.writeback_stage,
        early_jump=figures.early_jump,
        instruction_wait=fetch,
        data_wait=data,
        table_wait=tables - data,
        exact=figures.exact and fetch == 0,
    )
