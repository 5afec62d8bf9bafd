"""Timing of a single C function on the core, for instance the naive if-else of the trees beside the whole decision.

The function is ``int32_t f(const int32_t *features)``: one row of features a call.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decision.artefact import temporary
from decision.artefact.errors import InputError
from emulator.compile import Toolchain, compile_policy, compile_sources, link_program, missing_calls
from emulator.core import Progress
from emulator.core_run import run_on_core
from emulator.elf import read_image
from emulator.memory_map import Block
from emulator.objects import CodeFacts, check_code
from emulator.report import Cycles
from emulator.sources import Sources


@dataclass(frozen=True)
class FunctionTiming:
    """Cycles and results, one a row, of a function timed on the core."""

    symbol: str
    profile: str
    compiler_version: str
    cycles: Cycles
    cycles_each: NDArray[np.uint64]
    returned: NDArray[np.int32]
    code: CodeFacts


def time_function(
    source: Path | Sources,
    symbol: str,
    rows: ArrayLike,
    tools: Toolchain,
    *,
    progress: Progress | None = None,
) -> FunctionTiming:
    """Call ``int32_t symbol(const int32_t *features)`` of ``source`` once for each of ``rows`` [N, features].

    Unlike ``emulate`` it forbids nothing (its rules are in ``code.forbidden``), but a function that faults or needs a
    library raises InputError: there is nothing to time.
    """
    features = np.ascontiguousarray(rows)
    if features.ndim != 2 or features.size == 0 or not np.issubdtype(features.dtype, np.integer):
        raise InputError(f"rows of {symbol} must be a non-empty table of integers, one row a call")
    if features.min() < -(2**31) or features.max() >= 2**31:
        raise InputError(f"rows of {symbol} hold a value outside int32")
    engine = tools.profile
    block = Block("features", 4 * features.shape[1], writable=False)
    records = features.astype("<i4").view([("row", "<i4", (features.shape[1],))]).reshape(-1)
    with temporary.folder() as folder:
        compile_it = partial(compile_policy, source) if isinstance(source, Path) else partial(compile_sources, source)
        policy = compile_it(tools, folder=folder)
        if calls := missing_calls(policy):
            raise InputError(f"{policy.source} needs what the engine has not: {', '.join(calls)}")
        elf = link_program(policy, symbol, engine, folder)
        facts = check_code(elf, symbol)
        run = run_on_core(read_image(elf), symbol, engine, [(block, records)], progress)
    if run.fault is not None:
        raise InputError(f"{policy.source}: {symbol} failed on row {run.fault.index}: {run.fault.text}")
    return FunctionTiming(
        symbol=symbol,
        profile=engine.name,
        compiler_version=policy.compiler.version,
        cycles=Cycles.of(run.cycles),
        cycles_each=run.cycles,
        returned=run.returned.view(np.int32),
        code=facts,
    )
