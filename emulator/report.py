"""Results of an emulation: cycles of one decision, equality with the model, and facts about the object code."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError


@dataclass(frozen=True)
class Cycles:
    """Cycles of one call over all vectors. ``p99`` is the nearest-rank percentile, so it is a measured value."""

    min: int
    mean: float
    p99: int
    max: int

    @staticmethod
    def of(cycles: NDArray[np.uint64]) -> "Cycles":
        """Statistics of a non-empty array."""
        p99 = np.percentile(cycles, 99, method="inverted_cdf")
        return Cycles(int(cycles.min()), round(float(cycles.mean()), 3), int(p99), int(cycles.max()))


@dataclass(frozen=True)
class SlowestVector:
    """The (first) vector that took the most cycles."""

    index: int
    kind: str
    cycles: int
    inputs: dict[str, int]


@dataclass(frozen=True)
class StateCost:
    """Cycles of a decision in one state of the caches; its misses in the profile's caches, means over the vectors."""

    cycles: Cycles
    microseconds: dict[str, float]
    instruction_misses: float
    data_misses: float


@dataclass(frozen=True)
class EmulationReport:
    """The result of ``emulate``. ``cycles`` and ``slowest`` are None when no call returned.

    ``states``: ``hot`` (the vectors one after another; the same as ``cycles``), ``cold`` (all caches empty before each
    decision), ``other-flow`` (after another flow's decision: its context is not in the data cache) and
    ``back-to-back`` (from one decision's entry to the next one's). An engine without caches has ``hot`` and
    ``back-to-back`` alone. ``runner_cycles``: the part of the latter that is not the decision's, a mean. ``told``: of a
    knob that says something of the decision itself, the cycles of the decisions that say so, by "knob=value".
    """

    profile: str
    profile_hash: str
    clock_mhz: float
    compiler: str
    compiler_version: str
    opt: str
    vectors: int
    cycles: Cycles | None
    microseconds: dict[str, float] | None
    slowest: SlowestVector | None
    mismatches: int
    first_mismatch: str | None
    fault: str | None
    code_bytes: int | None
    table_bytes: int | None
    stack_bytes: int | None
    stack_bytes_measured: int
    context_bytes: int
    context_limit_bytes: int
    forbidden: tuple[str, ...]
    states: dict[str, StateCost] = field(default_factory=dict)
    runner_cycles: float | None = None
    told: dict[str, Cycles] = field(default_factory=dict)
    oversized: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Every vector ran and was equal, nothing forbidden is in the code, and the engine holds it. Says nothing of a
        cycle budget."""
        return self.cycles is not None and not (self.mismatches or self.fault or self.forbidden or self.oversized)

    def to_json(self) -> dict[str, Any]:
        """Plain data for ``verdict.json``."""
        lists = {"forbidden": list(self.forbidden), "oversized": list(self.oversized)}
        plain = {**asdict(self), **lists, "passed": self.passed}
        return {name: value for name, value in plain.items() if value or name not in ("told", "oversized")}


def from_json(data: dict[str, Any]) -> EmulationReport:
    """Inverse of ``to_json``; InputError where it is none."""
    try:
        rest = {name: value for name, value in data.items() if name != "passed"}
        slowest = rest["slowest"]
        return EmulationReport(
            **rest
            | {
                "cycles": None if rest["cycles"] is None else Cycles(**rest["cycles"]),
                "slowest": None if slowest is None else SlowestVector(**slowest),
                "forbidden": tuple(rest["forbidden"]),
                "states": {
                    name: StateCost(**state | {"cycles": Cycles(**state["cycles"])})
                    for name, state in rest["states"].items()
                },
                "oversized": tuple(rest.get("oversized", ())),
                "told": {name: Cycles(**cycles) for name, cycles in rest.get("told", {}).items()},
            }
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"the report of an emulation is not readable ({error!r}); emulate the firmware again"
        ) from None
