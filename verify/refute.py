"""The search for an input that the code gets wrong: many inputs, run on both sides, before anything is proved.

The code runs in the emulator's instruction-set simulator, a million calls in a few seconds; what differs there is run
again in the prover's own simulator, and only what is wrong there too is an example. So a mistake of the fast one can
hide a wrong decision from this search, which the proof then has to find, and never make a right one wrong.
"""

import os

import numpy as np

from decision.errors import InputError
from emulator import _fast
from emulator.fast.run import program_of
from emulator.fast.timing import Timing
from emulator.firmware import argument_blocks
from emulator.job import PORTION
from emulator.vectors import Vectors, outputs, packed
from verify.concrete import Example, Outcome, Runner
from verify.explore import Explorer
from verify.lanes import Ints

INPUTS = 30_000
ANY = Timing(branch_taken=2, product=1, high_product=2, access=1, data_wait=0, load_use=0, early_jump=False)
"""Cycles are of no interest here."""
CONFIRMED = 4
"""Differences of a batch that are run again, at most."""


def refute(
    runner: Runner, vectors: Vectors | None = None, *, count: int = INPUTS, seed: int = 0
) -> tuple[Example, Outcome] | None:
    """An input that the code gets wrong and what comes of it; None where none was met.

    ``count``: of the inputs that are combined from cells; those of ``vectors`` are run before.
    """
    try:
        code = program_of(runner.image, runner.entry, runner.profile, argument_blocks(runner.layouts), ANY)
    except InputError:  # an instruction that the fast path does not know: the proof has a word for it
        return None
    explorer = Explorer(runner.program, seed)
    for batch in explorer.inputs(count, _known(explorer, vectors)):
        for column in _different(code, runner, explorer, batch):
            example = dict(zip(explorer.names, batch[:, column].tolist(), strict=True))
            outcome = runner.run(example)
            if not outcome.equal:
                return example, outcome
    return None


def _known(explorer: Explorer, vectors: Vectors | None) -> Ints | None:
    if vectors is None:
        return None
    structs = dict(zip(("event", "params", "context"), vectors.columns(), strict=True))
    return np.stack([structs[name.partition(".")[0]][name.partition(".")[2]] for name in explorer.names])


def _different(code: _fast.Program, runner: Runner, explorer: Explorer, inputs: Ints) -> list[int]:
    """The first inputs for which the code does not do what the program says; the last may be one that it faults at."""
    count, layouts, program = inputs.shape[1], runner.layouts, runner.program
    records = packed(layouts, dict(zip(explorer.names, inputs, strict=True)), count)
    cycles, returned = np.empty(count, np.uint64), np.empty(count, np.uint32)
    raw = [record.view(np.uint8).reshape(count, -1) for record in records.values()]  # what it writes changes in place
    done, _, _, fault = code.run(raw, cycles, returned, len(os.sched_getaffinity(0)), None, PORTION)
    values = explorer.values(inputs)
    left = outputs(program, returned[:done], {name: record[:done] for name, record in records.items()})
    wrong = np.zeros(done, dtype=bool)
    for column, node in zip(left.values(), program.outputs, strict=True):
        wrong |= column != values[node][:done]
    return [*np.flatnonzero(wrong).tolist()[:CONFIRMED], *([done] if fault else [])]
