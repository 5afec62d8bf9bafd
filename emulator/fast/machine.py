"""Engines whose memories wait or are cached: what the simulator's slower machine (core/machine.hpp) has to know.

On such an engine the cycles of an instruction depend on how far the prefetch buffer had come and on what the caches
hold. The machine follows both, cycle by cycle, through the runner as well as through the function.
"""

from emulator import _fast, memory_map
from emulator.elf import Image
from emulator.fast.timing import Timing
from emulator.job import State
from emulator.profile import EngineMemory, IbexCore, Profile

STATES: tuple[State, ...] = ("hot", "cold", "other-flow")


def machine(image: Image, profile: Profile, figures: Timing, state: State) -> _fast.Machine | None:
    """The machine that an engine needs; None where every access takes as long as the figures say."""
    core, fetch, data = profile.core, profile.instruction_memory, profile.data_memory
    assert isinstance(core, IbexCore)
    tables = (profile.table_memory or data).wait_states
    held_back = core.writeback_stage and tables != data.wait_states
    if not (fetch.wait_states or fetch.cache or data.cache or held_back):
        return None
    return _fast.Machine(
        timing=figures.native(),
        writeback=core.writeback_stage,
        branch_target_alu=core.branch_target_alu,
        instruction_wait=fetch.wait_states,
        data_wait=data.wait_states,
        table_wait=tables,
        instruction_cache=_shape(fetch),
        data_cache=_shape(data),
        state=STATES.index(state),
        runner=next(s.data for s in image.sections if s.address == memory_map.INSTRUCTION_BASE),
        arguments=memory_map.DATA_BASE,
        mailbox=memory_map.MAILBOX,
    )


def _shape(memory: EngineMemory) -> tuple[int, int, int, int]:
    cache = memory.cache
    return (cache.bytes, cache.line_bytes, cache.ways, cache.miss_cycles) if cache else (0, 0, 0, 0)
