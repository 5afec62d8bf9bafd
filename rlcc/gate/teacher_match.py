"""How far the integer program's actions are off its teacher's, on rollouts that no training saw.

Both look at the same recorded states: the teacher at the real-valued features, the program at the raw integers and at
the context that the decisions before have left. Compared is the action, the multiplier of the rate - 1, or each knob.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.ir.formats import ACTION_BITS
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30
from decision.ir.interpret import trace
from decision.ir.program import Op, Program, StateField
from decision.policy.actions import Action, Choice, Level
from decision.policy.policy import Header, Observation
from decision.policy.rate import multiplied
from decision.policy.records import Trajectories, in_step
from decision.policy.tree_decision import seen_names
from decision.policy.trigger import ROW, Trigger
from distill import rollout
from distill.log.features import FeatureStates
from distill.log.record import LabelledRun, decided_in
from distill.options import RolloutOptions
from netsim.deployment import Deployment
from netsim.policies import PolicySpec
from rlcc.recipe import Match
from teachers.inference import decide
from teachers.teacher import Teacher

MAX_ROWS = 4_000_000
"""About 0.8 KB of memory each while they are compared."""
Columns = dict[str, Integers]


@dataclass(frozen=True)
class Errors:
    """Errors of the actions, in multipliers of the rate, or for knobs in parts of their range. Each is that of the
    network in which it is largest, so that an easy one hides nothing. ``rollouts`` says which decisions were compared,
    ``decisions`` how many; ``networks``: in which network each is largest."""

    rollouts: str
    decisions: int
    rmse: float
    p99: float
    maximum: float
    networks: Mapping[str, str] = field(default_factory=dict, compare=False)

    @staticmethod
    def of(networks: Sequence[Floats], rollouts: str, names: Sequence[str] = ()) -> "Errors":
        """From the errors in each network; ``names``: of the networks. InputError where nothing can be compared."""
        told = names or [""] * len(networks)
        kept = [(np.abs(errors), name) for errors, name in zip(networks, told, strict=True) if errors.size]
        distances = [off for off, _ in kept]
        if not distances:
            raise InputError(f"no decision of the {rollouts} has its whole history; give longer rollouts")
        figures = {
            "rmse": [float(np.sqrt(np.mean(off**2))) for off in distances],
            "p99": [float(np.percentile(off, 99, method="inverted_cdf")) for off in distances],
            "maximum": [float(off.max()) for off in distances],
        }
        where = {name: kept[values.index(max(values))][1] for name, values in figures.items()}
        rmse, p99, maximum = (max(values) for values in figures.values())
        return Errors(rollouts, sum(off.size for off in distances), rmse, p99, maximum, where)


def own_rollouts(
    teacher: Teacher, scenarios: list[str], match: Match, deployment: Deployment | None = None
) -> list[Trajectories]:
    """The teacher in each scenario with a seed of its own."""
    return driven_by(rollout.teacher_policy(teacher), scenarios, match, deployment)


def driven_by(
    policy: PolicySpec, scenarios: list[str], match: Match, deployment: Deployment | None = None
) -> list[Trajectories]:
    """The same of any policy."""
    options = RolloutOptions(scenarios=scenarios, seeds=[match.seed], duration=f"{match.duration} ps")  # type: ignore[arg-type]
    return [run.trajectories for run in rollout.collect(policy, options, deployment)]


def given_rollouts(path: Path, teacher: Teacher, deployment: Deployment | None = None) -> Iterator[Trajectories]:
    """Those that `rlcc rollout` wrote: the folder, or the Parquet file in it."""
    folder = path.parent if path.name == rollout.FILE else path
    for run in rollout.read(folder, teacher, deployment, most_rows=MAX_ROWS):
        yield run.trajectories


def actions(
    program: Program,
    observation: Observation,
    params: dict[str, int],
    states: Trajectories,
    trigger: Trigger | None = None,
) -> Floats:
    """The program's action in each recorded state [N, 1], or its knobs [N, knobs]. Its history is what the recorded
    decisions would have left; what else a context holds (an LSTM's state) its own decisions leave from one to the
    next."""
    rows, valid = states.integer_rows(observation, params)
    if trigger is not None:
        rows, _ = states.with_saved(rows, valid, trigger.saved * len(observation.features))
    columns = {name: rows[:, n] for n, name in enumerate(seen_names(observation, trigger))}
    if not program.interface.context:
        return _knobs(program, columns, params, {} if trigger is None else {ROW: _chosen_row(program, states)})
    product = multiplied(program)
    assert product is not None
    if isinstance(states, FeatureStates):
        decided = _forced(program, columns, params, {})[product.multiplier]
    else:
        decided = _from_signals(program, columns, params, states, product.multiplier)
    multiplier: Floats = np.asarray(decided, dtype=np.float64) / 2**ACTION_BITS
    return multiplier[:, None] - 1.0


def _from_signals(
    program: Program, columns: Columns, params: dict[str, int], states: Trajectories, node: int
) -> Integers:
    """The node's values [N]: the program reads the signals, and its context holds what ``columns`` has of it."""
    kept = program.interface.context[0].name
    context = {f.name: columns[f.name] for f in program.state if f.name in columns}
    # Records have line rate as 2^30, a context as the greatest rate below: the program cuts what is above off.
    context[kept] = np.minimum(states.columns[kept].astype(np.int64), LINE_RATE_Q30)
    event = {name: states.columns[name].astype(np.int64) for name in program.interface.event_names}
    own = [f for f in program.state if f.name not in context]
    if own:
        return _played(program, event, params, context, own, node, states)
    return trace(program, event, params, context)[node]


def _played(
    program: Program,
    event: Columns,
    params: dict[str, int],
    recorded: Columns,
    own: Sequence[StateField],
    node: int,
    states: Trajectories,
) -> Integers:
    """The node's values [N], decision by decision: the fields ``own`` of the context begin at 0 with each run, and are
    then what the decision before has left there."""
    decided = np.zeros(len(states), dtype=np.int64)
    left = {f.name: np.zeros(len(states), dtype=np.int64) for f in own}
    for now, before in in_step(len(states), states.starts()):
        context = {name: column[now] for name, column in recorded.items()}
        context |= {name: column[before] if len(before) else np.zeros_like(now) for name, column in left.items()}
        values = trace(program, {name: column[now] for name, column in event.items()}, params, context)
        decided[now] = values[node]
        for f in own:
            left[f.name][now] = values[f.node]
    return decided


def _chosen_row(program: Program, states: Trajectories) -> Integers:
    """Returns what the context stores of the row in force [N]: 1 more than its place in the table, 0 of a new agent.
    InputError where the decision before set no row of it."""
    tables = [program.tables[program.nodes[n].imm] for n in program.results if program.nodes[n].op is Op.TABLE]
    rows = (states.knobs_before()[:, None, :] == np.array(tables, dtype=np.float64).T[None, :, :]).all(axis=2)
    new = (states.position == 0) | states.new()
    if not (rows.any(axis=1) | new).all():
        raise InputError("a recorded decision is no row of the action's table; make the rollouts again")
    return np.where(rows.any(axis=1), rows.argmax(axis=1) + 1, 0).astype(np.int64)


def _knobs(program: Program, columns: Columns, params: dict[str, int], kept: Columns) -> Floats:
    """The knobs [N, knobs] that the program sets where its trees see these features [N]; ``kept``: what else it reads
    of the context. Without what it says of the decision itself."""
    values = _forced(program, columns, params, kept)
    results = program.results[: len(program.interface.mapped_names)]
    return np.stack([values[n] for n in results], axis=1).astype(np.float64)


def _forced(program: Program, columns: Columns, params: dict[str, int], kept: Columns) -> list[Integers]:
    """The value of every node [N] where the trees see these features [N], whatever the signals were."""
    sums = program.forest.evaluate(np.stack([columns[name] for name in program.forest.features], axis=1))
    zeros = np.zeros(len(sums), dtype=np.int64)
    event = dict.fromkeys(program.interface.event_names, zeros)
    context = dict.fromkeys([field.name for field in program.state], zeros) | kept
    forced = {n: sums[:, node.imm] for n, node in enumerate(program.nodes) if node.op is Op.TREES}
    values = trace(program, event, params, context, forced=forced)
    return [np.broadcast_to(value, zeros.shape) for value in values]


def spans(action: Action) -> Floats:
    """Returns the unit of an error [values]: for a multiplier 1, for a knob the range over which the map sets it."""
    if isinstance(action, Level):
        return np.array([ends.high - ends.low for ends in action.knobs.values()], dtype=np.float64)
    if isinstance(action, Choice):
        return action.spans()
    return np.ones(1)


def errors_in(
    program: Program, observation: Observation, params: dict[str, int], teacher: Teacher, states: Trajectories
) -> Floats:
    """The greatest error of each decision [N] of one network whose whole history is on record, for both."""
    decided, known = decide(teacher, states)
    own = actions(program, observation, params, states, teacher.policy.trigger)
    return _greatest(own, decided, known, teacher.policy.action, observation, params, states)


def errors_of_labels(
    program: Program, observation: Observation, params: dict[str, int], header: Header, run: LabelledRun
) -> Floats:
    """The same beside decisions that were recorded."""
    own = actions(program, observation, params, run.trajectories)
    decided = decided_in(run, header)
    return _greatest(own, decided, run.known, header.action, observation, params, run.trajectories)


def _greatest(
    own: Floats,
    decided: Floats,
    known: NDArray[np.bool_],
    action: Action,
    observation: Observation,
    params: dict[str, int],
    states: Trajectories,
) -> Floats:
    """Errors [N] of the decisions whose whole history is on record."""
    _, seen = states.integer_rows(observation, params)
    told = decided - 1.0 if observation.agents.context else decided
    off = np.abs(own - told) / spans(action)
    greatest: Floats = off.max(axis=1)[known & seen & states.of_policy()]
    return greatest


def compare(
    program: Program,
    observation: Observation,
    params: dict[str, int],
    teacher: Teacher,
    runs: Iterable[Trajectories],
    rollouts: str,
) -> Errors:
    """The errors of all decisions; ``runs``: one a network."""
    networks, names = [], []
    for states in runs:
        networks.append(errors_in(program, observation, params, teacher, states))
        names.append(states.network)
    return Errors.of(networks, rollouts, names)
