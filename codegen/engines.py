"""What instructions cost on an engine, for choosing between forms. A guess at what a compiler makes, in its cycles:
the proof and the core decide what is true (`rlcc verify`, `rlcc emulate`).

Sources: the tables of instruction timings in the documentation of Ibex, PicoRV32 (README, "Cycles per Instruction
Performance", dual-port registers) and CV32E40P (user manual, "Pipeline Details"); verify/costs.py holds the model that
is checked.
"""

from dataclasses import dataclass

from decision.errors import InputError


@dataclass(frozen=True)
class Engine:
    """Cycles an instruction. ``load`` is of a constant table, the only loads that a form adds. ``constant`` loads what
    12 bits or the upper 20 cannot hold alone: lui and addi."""

    name: str
    alu: int = 1
    load: int = 2
    jump: int = 2
    taken: int = 3
    not_taken: int = 1

    def constant(self, value: int) -> int:
        """Cycles to have ``value`` in a register."""
        signed = value - 2**32 if value >= 2**31 else value
        if signed == 0:
            return 0
        short = -2048 <= signed < 2048 or signed % 4096 == 0
        return self.alu if short else 2 * self.alu

    def look_up(self, columns: int = 1) -> int:
        """Field of a word, address, and for each sum a load and an addition."""
        return 2 * self.alu + self.alu + columns * (self.load + self.alu)


ENGINES = {
    "ibex-small": Engine("ibex-small"),
    "ibex-maxperf": Engine("ibex-maxperf", load=2, taken=2),
    "connectx6dx-proxy": Engine("connectx6dx-proxy", load=2 + 54),  # its memory for tables waits
    "picorv32": Engine("picorv32", alu=3, load=5, jump=3, taken=5, not_taken=3),
    "cv32e40p": Engine("cv32e40p", load=2, jump=2, taken=3),
}


def engine_named(name: str) -> Engine:
    if name not in ENGINES:
        raise InputError(f"there is no cost model of an engine {name!r}; choose one of {', '.join(ENGINES)}")
    return ENGINES[name]
