"""Cycles of a decision by the state of the caches: hot, cold, after another flow's decision, one right after
another."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from emulator.job import State
from emulator.profile import Profile
from emulator.report import Cycles, StateCost
from emulator.rtl_run import RtlRun
from emulator.verilated import rtl_of

CACHED: tuple[State, ...] = ("cold", "other-flow", "back-to-back")


def has_cache(profile: Profile) -> bool:
    """Whether time may depend on what ran before: a cache of the profile's, or one inside the core."""
    memories = (profile.instruction_memory, profile.data_memory)
    return any(memory.cache is not None for memory in memories) or rtl_of(profile.core).own_cache


def measured_states(
    profile: Profile, hot: RtlRun, run: Callable[[State], RtlRun]
) -> tuple[dict[str, StateCost], float | None]:
    """The cost in each state, given the ``hot`` run; ``run`` does another. Without caches there is no other.

    Beside it what of a back-to-back period is the runner's, a mean in cycles.
    """
    runs = {state: run(state) for state in CACHED} if has_cache(profile) else {"back-to-back": hot}
    costs = {"hot": _cost(profile, hot, hot.cycles)}
    for name, done in runs.items():
        if done.fault is None and len(done.cycles):
            if name == "back-to-back":
                more = done.between.astype(np.uint64)
            else:  # the function's first line came before its first instruction could stand anywhere
                more = (done.entering - hot.entering.min()).astype(np.uint64)
            costs[name] = _cost(profile, done, done.cycles + more)
    runner = runs["back-to-back"].between
    return costs, round(float(runner.mean()), 3) if len(runner) else None


def _cost(profile: Profile, run: RtlRun, cycles: NDArray[np.uint64]) -> StateCost:
    statistics = Cycles.of(cycles)
    micro = {name: round(profile.microseconds(value), 6) for name, value in vars(statistics).items()}
    means = (round(float(misses.mean()), 3) for misses in (run.instruction_misses, run.data_misses))
    return StateCost(statistics, micro, *means)
