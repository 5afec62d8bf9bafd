"""Savings by a trigger: how often it fires, and the time of a decision if it does, if it does not, and on average.

The share is that of the networks in which the student's actions are set beside its teacher's, each network alike; the
program drives in its own, the teacher in its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from decision.ir.interface import TRIGGERED
from decision.policy.records import Trajectories
from emulator.firmware import SOURCE
from emulator.report import Cycles, EmulationReport
from rlcc.gate.checks import US_PS
from rlcc.gate.names import named
from rlcc.gate.verdict import Check
from rlcc.recipe import GateOptions


@dataclass(frozen=True)
class Shares:
    """Shares of the decisions, 0 to 1, in which the program's trigger and the teacher's fired."""

    program: float
    teacher: float


def share(runs: Iterable[Trajectories]) -> float:
    """Mean over the networks; NaN where nobody decided."""
    each = [float(states.triggered().mean()) for states in runs if len(states)]
    return float(np.mean(each)) if each else float("nan")


def budget_by_trigger(report: EmulationReport, options: GateOptions) -> list[Check]:
    """Returns the checks of decisions of both kinds against the budget."""
    mhz, budget, checks = report.clock_mhz, options.budget, []
    for value, key in enumerate(("trigger_idle", "trigger_fired")):
        check, cycles = named(f"budget.{key}"), _cycles(report, value)
        if cycles is None:
            checks.append(check(value="no vector", limit="one", passed=False, file=SOURCE))
            continue
        most = cycles.max * (1 + options.margin) * US_PS / mhz
        checks.append(
            check(
                value=f"{cycles.max} cycles + {options.margin:.0%} = {most / US_PS:.3f} us",
                limit=f"{budget / US_PS:.3f} us",
                passed=most <= budget,
                file=SOURCE,
            )
        )
    return checks


def mean_not_judged() -> Check:
    """Returns the check of the mean decision where nothing was simulated that says how often triggers fire."""
    return named("budget.mean", share="an unknown share")(value="not judged: --quick", limit="not judged", passed=True)


def mean_by_trigger(report: EmulationReport, options: GateOptions, shares: Shares) -> list[Check]:
    """Returns the checks of the mean decision, and of how often the triggers fire."""
    both = _cycles(report, 0), _cycles(report, 1)
    parts = (1 - shares.program, shares.program)
    mean = sum(part * cycles.mean for part, cycles in zip(parts, both, strict=True) if cycles is not None)
    limit = options.budget if options.mean_budget is None else options.mean_budget
    taken, off = mean * US_PS / report.clock_mhz, shares.program - shares.teacher
    return [
        named("budget.mean", share=f"{shares.program:.1%}")(
            value=f"{mean:.0f} cycles = {taken / US_PS:.3f} us",
            limit=f"{limit / US_PS:.3f} us",
            passed=len(report.told) == 2 and taken <= limit,
            file=SOURCE,
        ),
        named("teacher.trigger_share")(
            value=f"{shares.program:.1%}, the teacher's {shares.teacher:.1%}",
            limit=f"±{options.match.trigger_difference:.1%}",
            passed=abs(off) <= options.match.trigger_difference,
        ),
    ]


def _cycles(report: EmulationReport, fired: int) -> Cycles | None:
    return report.told.get(f"{TRIGGERED.name}={fired}")
