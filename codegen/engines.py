"""Cycles of instructions on an engine, for choosing between forms. A guess at what a compiler makes, in its cycles:
the proof and the core decide what is true (`rlcc verify`, `rlcc emulate`). The cycles are those of decision/cores.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from decision.artefact.errors import InputError
from decision.artefact.suggest import choices
from decision.cores import timing_of

PRODUCT = 3
"""Cycles of a product, where the core's file leaves them to a multiplier that is not named."""


@dataclass(frozen=True)
class CostModel:
    """Cycles an instruction. ``load`` is of a constant table, the only loads that a form adds. ``constant`` loads what
    12 bits or the upper 20 cannot hold alone: lui and addi."""

    name: str
    alu: int
    load: int
    jump: int
    taken: int
    not_taken: int
    product: int = PRODUCT

    def constant(self, value: int) -> int:
        """Cycles to have ``value`` in a register."""
        signed = value - 2**32 if value >= 2**31 else value
        if signed == 0:
            return 0
        short = -2048 <= signed < 2048 or signed % 4096 == 0
        return self.alu if short else 2 * self.alu

    def multiple(self, factor: int) -> int:
        """Cycles to have ``factor`` times a value in a register: by shifts and a sum where two do."""
        powers = min(factor.bit_count(), 1 + ((factor + (factor & -factor)).bit_count()))
        if powers <= 2:
            return self.alu * (0 if factor == 1 else 2 * powers - 1)
        return self.constant(factor) + self.product

    def division(self, bits: int) -> int:
        """Cycles of a division bit by bit: of each a shift, a comparison, a difference and a sum."""
        return bits * (4 * self.alu + self.taken)

    def look_up(self, columns: int = 1) -> int:
        """Field of a word, address, and for each sum a load and an addition."""
        return 2 * self.alu + self.alu + columns * (self.load + self.alu)


def _engine(name: str, core: str, parameters: Mapping[str, object] | None = None, table_wait: int = 0) -> CostModel:
    """A load's value counts as used at once; constant tables may lie behind ``table_wait`` more cycles."""
    timing = timing_of(core, parameters or {})
    load = timing.access + timing.load_use + table_wait
    product = timing.product or PRODUCT
    return CostModel(name, timing.alu, load, timing.jump, timing.branch_taken, timing.branch, product)


MAXPERF = {"writeback_stage": True, "branch_target_alu": True}
ENGINES = {
    engine.name: engine
    for engine in (
        _engine("ibex-small", "ibex"),
        _engine("ibex-maxperf", "ibex", MAXPERF),
        _engine("connectx6dx-proxy", "ibex", table_wait=54),
        _engine("picorv32", "picorv32"),
        _engine("cv32e40p", "cv32e40p"),
    )
}


def engine_named(name: str) -> CostModel:
    if name not in ENGINES:
        raise InputError(f"there is no cost model of an engine {name!r}; choose one of {choices(name, ENGINES)}")
    return ENGINES[name]
