"""Decisions of two policies in the same recorded states, and on the same test inputs.

In recorded traffic each policy sees the raw signals and the history that the recorded decisions would have left. The
test inputs are the vectors of both programs: plausible and arbitrary ones, each threshold with its two neighbours, an
input for each leaf.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.ir.interpret import evaluate
from decision.ir.program import Program
from decision.policy.records import Trajectories
from decision.policy.tree_decision import seen_names
from distill.log.features import FeatureStates
from distill.rollout import Rollout
from rlcc.diff.side import Side
from rlcc.gate.teacher_match import actions

MIN_SHARE = 0.05
"""Least share of the decisions in an interval: narrower ones are merged with their neighbour above."""
MIN_DIFFERENCES = 0.01
"""Least share of the differing decisions in an interval that is listed."""
INPUT_SEED = 1
ACTION = "action"
"""Name of what a policy decides that scales the rate: its multiplier - 1."""

Row = dict[str, int]


@dataclass(frozen=True)
class ThresholdInterval:
    """Decisions in which ``feature`` lay in ``low < value <= high`` (None: no end). ``share``: of all decisions;
    ``differing``: share of those in the interval that differ; ``mean``, ``worst``: of the absolute difference;
    ``values``: the ends in physical units."""

    feature: str
    low: int | None
    high: int | None
    share: float
    differing: float
    mean: float
    worst: float
    values: str = ""


@dataclass(frozen=True)
class LargestDifference:
    """The largest difference: both decisions of ``knob``, and the input. ``where``: scenario, seed, agent, step."""

    knob: str
    old: float
    new: float
    where: str
    inputs: Mapping[str, int]

    @property
    def difference(self) -> float:
        return self.new - self.old


@dataclass(frozen=True)
class ComparedDecisions:
    """One set of inputs. ``decisions``: number of inputs; ``differing``: number in which a knob differs; ``mean``: of
    the absolute difference, by knob."""

    decisions: int
    differing: int
    mean: Mapping[str, float]
    worst: LargestDifference | None
    intervals: tuple[ThresholdInterval, ...] = ()

    @property
    def share(self) -> float:
        return self.differing / self.decisions if self.decisions else 0.0


@dataclass(frozen=True)
class _ComparedNetwork:
    """One network's decisions that both policies make: ``places`` [N] of its rows, ``old`` and ``new`` [N, knobs],
    ``rows`` feature -> values [N]."""

    rollout: Rollout
    places: Integers
    old: Floats
    new: Floats
    rows: Mapping[str, Integers]


def knob_names(side: Side) -> list[str]:
    """Returns the names of what ``in_traffic`` compares."""
    interface = side.pupil.program().interface
    return [ACTION] if interface.context else list(interface.mapped_names)


def same_interface(old: Side, new: Side) -> bool:
    """Returns whether both are told the same and set the same."""
    return old.pupil.observation.agents == new.pupil.observation.agents


def in_traffic(old: Side, new: Side, runs: Iterable[Rollout]) -> ComparedDecisions:
    """Compares the decisions of recorded traffic that the policies make themselves, with their whole history on record.

    Raises InputError if there is none. ``same_interface`` must hold.
    """
    networks = [network for run in runs if (network := _network(old, new, run)) is not None]
    if not networks:
        raise InputError("no recorded decision has its whole history; give longer rollouts")
    off = np.concatenate([network.new - network.old for network in networks])
    names = knob_names(old)
    rows = {name: np.concatenate([network.rows[name] for network in networks]) for name in networks[0].rows}
    most = np.abs(off).max(axis=1)
    intervals = tuple(one for name in rows for one in _intervals(old, new, name, rows[name], most))
    return _compared(names, off, _worst_recorded(networks, names, off), intervals)


def _compared(
    names: Sequence[str], off: Floats, worst: LargestDifference | None, intervals: tuple[ThresholdInterval, ...] = ()
) -> ComparedDecisions:
    """Returns the figures of differences ``off`` [N, knobs]."""
    mean = {name: float(np.abs(off[:, k]).mean()) for k, name in enumerate(names)}
    return ComparedDecisions(len(off), int((off != 0).any(axis=1).sum()), mean, worst, intervals)


def _largest(off: Floats) -> tuple[int, int] | None:
    """Returns row and knob of the largest difference; None if nothing differs."""
    row, knob = np.unravel_index(int(np.abs(off).argmax()), off.shape)
    return (int(row), int(knob)) if off[row, knob] else None


def _network(old: Side, new: Side, run: Rollout) -> _ComparedNetwork | None:
    states = run.trajectories
    rows: dict[str, Integers] = {}
    valid = states.of_policy()
    for side in (old, new):
        seen, known = _rows(side, states)
        valid = valid & known
        forest = side.student.forest.features if side.student is not None else ()
        rows |= {name: column for name, column in seen.items() if name in forest and name not in rows}
    places = np.flatnonzero(valid)
    if not places.size:
        return None
    was, now = (_decided(side, states)[places] for side in (old, new))
    return _ComparedNetwork(run, places, was, now, {name: column[places] for name, column in rows.items()})


def _decided(side: Side, states: Trajectories) -> Floats:
    pupil = side.pupil
    return actions(pupil.program(), pupil.observation, pupil.params(), states, pupil.trigger)


def _rows(side: Side, states: Trajectories) -> tuple[dict[str, Integers], NDArray[np.bool_]]:
    observation, trigger = side.pupil.observation, side.pupil.trigger
    rows, valid = states.integer_rows(observation, side.pupil.params())
    if trigger is not None:
        rows, valid = states.with_saved(rows, valid, trigger.saved * len(observation.features))
    return {name: rows[:, n] for n, name in enumerate(seen_names(observation, trigger))}, valid


def _worst_recorded(
    networks: Sequence[_ComparedNetwork], names: Sequence[str], off: Floats
) -> LargestDifference | None:
    largest = _largest(off)
    if largest is None:
        return None
    place, knob = largest
    for network in networks:
        if place < len(network.places):
            break
        place -= len(network.places)
    states, row = network.rollout.trajectories, int(network.places[place])
    agent = states.interface.agent
    time_us = int(states.columns["t_ps"][row]) / 1e6
    where = (
        f"{network.rollout.scenario}, seed {network.rollout.seed}, {agent} {int(states.columns[agent][row])}, "
        f"decision {int(states.columns['step'][row])}, {time_us:.3f} us"
    )
    told = () if isinstance(states, FeatureStates) else states.interface.event_names
    inputs = {f"event.{name}": int(states.columns[name][row]) for name in told}
    inputs |= {name: int(column[place]) for name, column in network.rows.items()}
    was, now = (float(decided[place, knob]) for decided in (network.old, network.new))
    return LargestDifference(names[knob], was, now, where, inputs)


def _intervals(old: Side, new: Side, name: str, values: Integers, off: Floats) -> list[ThresholdInterval]:
    """Returns the intervals of one feature, ascending, between the thresholds of both; those with few of the
    differences are left out."""
    borders = sorted({*old.thresholds.get(name, []), *new.thresholds.get(name, [])})
    if not borders:
        return []
    at = np.searchsorted(np.asarray(borders), values, side="left")
    ends: list[int | None] = [None, *borders, None]
    merged: list[tuple[int, int]] = []
    counts = np.bincount(at, minlength=len(borders) + 1)
    first = held = 0
    for place, count in enumerate(counts.tolist()):
        held += count
        if held >= MIN_SHARE * len(values) or place == len(counts) - 1:
            merged.append((first, place))
            first, held = place + 1, 0
    found = []
    for first, last in merged:
        inside = (at >= first) & (at <= last)
        here = off[inside]
        if int((here > 0).sum()) < max(1.0, MIN_DIFFERENCES * int((off > 0).sum())):
            continue
        low, high = ends[first], ends[last + 1]
        share, differing = float(inside.mean()), float((here > 0).mean())
        figures = (share, differing, float(here.mean()), float(here.max()))
        found.append(ThresholdInterval(name, low, high, *figures, _values(old, new, name, low, high)))
    return found


def _values(old: Side, new: Side, name: str, low: int | None, high: int | None) -> str:
    """Returns the ends of an interval in physical units."""
    side = old if name in old.thresholds else new
    ends = [side.value(name, end) for end in (low, high) if end is not None]
    return " to ".join(filter(None, ends))


def on_inputs(old: Side, new: Side) -> ComparedDecisions | None:
    """Compares whole decisions, from the raw event to the knobs, on the test inputs of both programs with the
    parameters of each; None if their contexts have different fields."""
    from codegen.vectors import make

    programs = [side.pupil.program() for side in (old, new)]
    if not same_interface(old, new) or _fields(programs[0]) != _fields(programs[1]):
        return None
    made = [
        make(program, side.pupil.params(), seed=INPUT_SEED)[0]
        for program, side in zip(programs, (old, new), strict=True)
    ]
    keys = [key for key in made[0].columns if not key.startswith("expect.")]
    columns = {key: np.concatenate([vectors.columns[key] for vectors in made]) for key in keys}
    kinds = [kind for vectors in made for kind in vectors.kinds]
    event, params, context = (_group(columns, group) for group in ("event", "params", "context"))
    decided = []
    for program, side in zip(programs, (old, new), strict=True):
        knobs, _ = evaluate(program, event, _tuned(params, old, side), context)
        decided.append(np.stack([np.broadcast_to(knob, (len(kinds),)) for knob in knobs], axis=1).astype(np.float64))
    names = list(programs[0].interface.knob_names)
    off = decided[1] - decided[0]
    worst = None
    if (largest := _largest(off)) is not None:
        at, knob = largest
        inputs = {key: int(columns[key][at]) for key in keys}
        worst = LargestDifference(
            names[knob], float(decided[0][at, knob]), float(decided[1][at, knob]), kinds[at], inputs
        )
    return _compared(names, off, worst)


def _fields(program: Program) -> list[tuple[str, str]]:
    return sorted((field.name, field.storage) for field in program.state)


def _group(columns: Mapping[str, Integers], group: str) -> dict[str, Integers]:
    return {key.removeprefix(f"{group}."): column for key, column in columns.items() if key.startswith(f"{group}.")}


def _tuned(params: Mapping[str, Integers], old: Side, side: Side) -> dict[str, Integers]:
    """Parameters where the vectors leave them at a default: at the default of ``side``."""
    if side is old:
        return dict(params)
    moved = {}
    was, now = old.pupil.params(), side.pupil.params()
    for name, column in params.items():
        moved[name] = np.where(column == was[name], now[name], column)
    return moved
