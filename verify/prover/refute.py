"""The search for an input that the code gets wrong: many inputs, run on both sides, before anything is proved.

The code runs in the emulator's instruction-set simulator, a million calls in a few seconds; what differs there is run
again in the prover's own simulator, and only what is wrong there too is an example. A mistake of the fast one can
therefore hide a wrong decision from this search, which the proof then has to find. It can never make a right one wrong.
"""

import os
from dataclasses import dataclass

import numpy as np

from decision.artefact.errors import InputError
from emulator import _fast
from emulator.fast.run import program_of
from emulator.fast.timing import Timing, timing
from emulator.firmware import argument_blocks
from emulator.job import PORTION
from emulator.layout import outputs, packed
from emulator.profile import Profile
from emulator.vectors import Vectors
from verify.prover.concrete import Example, Outcome, Runner
from verify.prover.explore import Explorer
from verify.prover.lanes import Ints

INPUTS = 30_000
ANY = Timing(branch_taken=2, product=1, high_product=2, access=1, data_wait=0, load_use=0, early_jump=False)
"""Of an engine whose cycles the fast path does not know: then they are a guess."""
CONFIRMED = 4
"""Differences of a batch that are run again, at most."""


@dataclass(frozen=True)
class Searched:
    """``wrong``: an input that the code gets wrong and what comes of it, if one was met; ``slowest``: that which took
    most of the fast path's cycles, empty where none was run."""

    wrong: tuple[Example, Outcome] | None
    slowest: Example


def refute(runner: Runner, vectors: Vectors | None = None, *, count: int = INPUTS, seed: int = 0) -> Searched:
    """Returns what many inputs showed. ``count``: the number of those that are combined from cells; those of
    ``vectors`` are run before."""
    try:
        code = program_of(
            runner.image, runner.entry, runner.profile, argument_blocks(runner.layouts), _timing(runner.profile)
        )
    except InputError:  # an instruction that the fast path does not know: the proof has a word for it
        return Searched(None, {})
    explorer, slowest, most = Explorer(runner.program, seed), Example(), 0
    for batch in explorer.inputs(count, _known(explorer, vectors)):
        different, cycles = _run(code, runner, explorer, batch)
        for column in different:
            example = explorer.named(batch[:, column])
            outcome = runner.run(example)
            if not outcome.equal:
                return Searched((example, outcome), slowest)
        if cycles.max(initial=0) > most:
            slowest, most = explorer.named(batch[:, int(cycles.argmax())]), int(cycles.max())
    return Searched(None, slowest)


def _timing(profile: Profile) -> Timing:
    try:
        return timing(profile)
    except InputError:
        return ANY


def _known(explorer: Explorer, vectors: Vectors | None) -> Ints | None:
    if vectors is None:
        return None
    structs = dict(zip(("event", "params", "context"), vectors.columns(), strict=True))
    return np.stack([structs[name.partition(".")[0]][name.partition(".")[2]] for name in explorer.names])


def _run(code: _fast.Program, runner: Runner, explorer: Explorer, inputs: Ints) -> tuple[list[int], Ints]:
    """The first inputs for which the code does not do what the program says, the last may be one that it faults at; and
    the cycles of those before."""
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
    different = [*np.flatnonzero(wrong).tolist()[:CONFIRMED], *([done] if fault else [])]
    return different, cycles[:done].astype(np.int64)
