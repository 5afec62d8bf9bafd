"""The free parameters of connectx6dx-proxy, fitted to the three decision times of RL-CC's Table 1.

On a two-stage core a decision's cycles are affine in the memories' wait states: so many more for each wait of the data
memory (scratch: context, event, stack), so many for each of the tables' memory. Three runs of a policy give its cycles
for all of them. Given the cycles c of the three policies, the clock f that is nearest to all times t in ratio is the
geometric mean of c / t, and what is left is the spread of ln(c / (f t)).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from emulator.profile import Profile, load_profile
from papers.table1.cycles import mean_cycles

PAPER_US: Mapping[str, float] = {"LSTM": 425.0, "MLP": 17.0, "trees": 0.9}
"""RL-CC, Table 1 and section 5.1: 400 to 450 us, 17 us, 0.9 us."""

MULTIPLIERS = ("single-cycle", "fast", "slow", "none")
MAX_DATA_WAIT, MAX_TABLE_WAIT = 32, 255
VECTORS = 8


@dataclass(frozen=True)
class Engine:
    """One choice of the free parameters but the clock."""

    multiplier: str
    data_wait: int = 0
    table_wait: int | None = None

    def profile(self) -> Profile:
        """Ibex of two stages with these parameters."""
        base: dict[str, Any] = load_profile("ibex-small").model_dump(mode="json", exclude_none=True)
        base["name"] = "candidate"
        base["core"] |= {"multiplier": self.multiplier, "isa": "rv32i" if self.multiplier == "none" else "rv32im"}
        base["data_memory"]["wait_states"] = self.data_wait
        if self.table_wait is not None:
            base["table_memory"] = {"wait_states": self.table_wait, "reason": "a candidate"}
        return Profile.model_validate(base)


@dataclass(frozen=True)
class Affine:
    """Cycles of a policy on a core: without waits, and what a wait of the data or of the tables' memory adds."""

    none: float
    data: float
    table: float

    def at(self, data_wait: int, table_wait: int) -> float:
        return self.none + self.data * data_wait + self.table * table_wait


@dataclass(frozen=True)
class Fit:
    """The best clock (MHz) and waits where ``free`` may be chosen. ``error``: rms of ln(ours / the paper's)."""

    free: str
    engine: Engine
    mhz: float
    cycles: Mapping[str, float]
    error: float

    def microseconds(self, name: str) -> float:
        return self.cycles[name] / self.mhz


def affine(folder: Path, multiplier: str) -> Affine:
    none, data, table = (
        mean_cycles(folder, Engine(multiplier, *waits).profile(), VECTORS) for waits in ((0, 0), (1, 0), (0, 1))
    )
    return Affine(none, data - none, table - none)


def fits(folders: Mapping[str, Path]) -> list[Fit]:
    """For each multiplier the best clock alone, with the tables' waits, and with both memories' waits."""
    made = []
    for multiplier in MULTIPLIERS:
        costs = {name: affine(folders[name], multiplier) for name in PAPER_US}
        for free, data, table in (
            ("clock", 0, 0),
            ("clock, tables", 0, MAX_TABLE_WAIT),
            ("clock, tables, scratch", MAX_DATA_WAIT, MAX_TABLE_WAIT),
        ):
            tried = (
                _fit(free, Engine(multiplier, d, t), {name: cost.at(d, t) for name, cost in costs.items()})
                for d in range(data + 1)
                for t in range(table + 1)
            )
            made.append(min(tried, key=lambda fit: fit.error))
    return made


def _fit(free: str, engine: Engine, cycles: Mapping[str, float]) -> Fit:
    logs = np.array([log(cycles[name] / us) for name, us in PAPER_US.items()])
    return Fit(free, engine, exp(float(logs.mean())), cycles, float(logs.std()))
