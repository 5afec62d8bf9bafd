"""The whole decision as an integer program: raw event, parameters and context in, knobs and the new context out.

Rule two of the design: what is emitted, timed and proved starts at the raw signals and ends at the knobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from decision.artefact.errors import InputError
from decision.ir.argmax import argmax
from decision.ir.context_expressions import Carried
from decision.ir.expression import COUNTED, Count, Expression, Nodes, Past
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30
from decision.ir.program import Op, Program, ProgramBuilder
from decision.policy.actions import Action, Choice, Scale, clamp
from decision.policy.features import AnyFeature, PreviousAction
from decision.policy.in_flight import in_flight
from decision.policy.once_per_rtt import hold, late_answer
from decision.policy.policy import Observation
from decision.policy.rate import knob, rate_in_force, scaled_rate, within_limits
from decision.policy.start import Start, Step, finish_start, step
from decision.policy.trigger import SAVED, Trigger, chosen


def feature_name(feature: AnyFeature, lag: int) -> str:
    """Name of a feature ``lag`` decisions back. A decided value at lag 0 is that of the decision before."""
    back = lag if feature.decided is None else lag + 1
    return feature.name if back == 0 else f"{feature.name}_{back}"


def feature_names(observation: Observation) -> tuple[str, ...]:
    """Names of a feature row, newest decision first."""
    return tuple(feature_name(f, lag) for lag in range(observation.window) for f in observation.features)


def seen_names(observation: Observation, trigger: Trigger | None) -> tuple[str, ...]:
    """Returns the names that a student's trees may use: the feature row and, with a trigger, the saved part of it."""
    names = feature_names(observation)
    return names if trigger is None else (*names, *trigger.saved_names(names, observation.window))


def build(
    observation: Observation,
    action: Action,
    forest: Forest,
    start: Start | None = None,
    trigger: Trigger | None = None,
    once_per_rtt: bool = False,
) -> Program:
    """The decision program of a student; its last sum is the trigger's, where there is one. Features that no tree looks
    at are neither computed nor remembered."""
    names = seen_names(observation, trigger)
    if forest.features != names:
        seen, offered = ", ".join(forest.features), ", ".join(names)
        raise InputError(f"the student looks at {seen}, but the observation offers {offered}")
    count = forest.outputs - (trigger is not None)
    if count not in (action.sums, action.outputs):
        takes = action.sums + (trigger is not None)
        raise InputError(
            f"the forest has {forest.outputs} outputs, the action map takes {takes}; distil the student again"
        )
    if forest.leaf_bits != action.leaf_bits and count == action.sums:
        raise InputError(f"the leaves have {forest.leaf_bits} fraction bits, the action map needs {action.leaf_bits}")
    compact = forest.only_used()
    b = ProgramBuilder(compact, observation.agents)

    history = history_of(b, observation, start, once_per_rtt)
    values = _observe(history, observation, action, {name.removeprefix(SAVED) for name in compact.features})
    kept = _saved(history, observation, action, [name for name in compact.features if name.startswith(SAVED)])
    values |= kept
    args = tuple(values[name] for name in compact.features)
    single = count == 1
    fire = -1 if trigger is None else b.add(Op.TREES, args, count, "trigger", "sum of the trigger's trees")
    sums = [
        b.add(Op.TREES, args, k, "trees" if single else f"sum_{k}", "sum of the trees" if single else "")
        for k in range(count)
    ]
    if trigger is None:
        return finish(history, action, sums)
    assert isinstance(action, Choice)
    fired, row = chosen(b, action, fire, argmax(b, sums, "row"))
    for name, held in kept.items():
        b.state_out(name, b.add(Op.SELECT, (fired, values[name.removeprefix(SAVED)], held), name=f"{name}_new"))
    return set_anew(history, action, action.knobs(b, [row]), fired)


def history_of(
    b: ProgramBuilder, observation: Observation, start: Start | None, once_per_rtt: bool = False
) -> "History":
    """Returns the history of an agent: the knob in force, the step of its phase, and whether an answer is late.

    Each is included only where the agent has one."""
    if start is not None:
        nodes = step(b, start, observation.place, once_per_rtt)
        return History(b, nodes.held, nodes.held_q32, nodes, nodes.late)
    if not b.interface.context:
        return History(b)
    in_force = rate_in_force(b)
    return History(b, *in_force, late=late_answer(b) if once_per_rtt else None)


def finish(history: "History", action: Action, sums: Sequence[int]) -> Program:
    """From the sums to the knobs and the new context."""
    b, decided = history.b, action.integer(history.b, sums)
    if isinstance(action, Scale):
        shown, start = decided[0], history.step
        rate = within_limits(b, scaled_rate(b, history.in_force_q32, shown))
        if start is None:
            b.state_out("rate_q30", rate)
            if history.late is not None:
                rate = b.add(Op.SELECT, (history.late, history.in_force, rate), name="rate_after_q30")
        else:
            rate = finish_start(b, start, rate)
            shown = b.add(Op.SELECT, (start.made, b.const(0), shown), 0, "action_q16", "none of the phase's")
        history.write({"action": shown})
        if history.late is not None:
            hold(b, history.late, None if start is None else start.made)
        return b.finish(knob(b, rate), *([in_flight(b, rate)] if len(b.interface.knobs) > 1 else []))
    return set_anew(history, action, decided)


def set_anew(history: "History", action: Action, decided: Sequence[int], *told: int) -> Program:
    """From the knobs to the program; ``told``: what is said of the decision itself."""
    b = history.b
    history.write(dict(zip(b.interface.mapped_names, decided, strict=True)))
    program = b.finish(*decided, *told)
    action.check_shown(program)
    return program


def _saved(history: "History", observation: Observation, action: Action, names: Sequence[str]) -> dict[str, int]:
    """Nodes of what was saved of these features, by name."""
    stored = {
        SAVED + feature_name(f, lag): storage(f, action)
        for lag in range(observation.window)
        for f in observation.features
    }
    return {name: history.b.state_in(name, stored[name], f"{name}, when the trigger fired last") for name in names}


@dataclass
class History:
    """The fields of a context that hold earlier decisions.

    - ``in_force``, ``in_force_q32``: the knob where the action map decides, and as Q0.32, if agents keep one
    - ``step``: step of the agent's phase, if it has one
    - ``late``: 1 where the answer is not decided on; None where every answer is
    - ``writes``: new value of each field: a node, or an expression over values that are not decided yet
    """

    b: ProgramBuilder
    in_force: int = -1
    in_force_q32: int = -1
    step: Step | None = None
    late: int | None = None
    writes: dict[str, int | Expression] = field(default_factory=dict)

    def nodes(self) -> Nodes:
        return self._nodes(self.in_force, self.in_force_q32)

    def seen(self, expression: Expression, newest: int) -> int:
        """Returns the node to remember for an expression whose value is ``newest`` when the action map decides: a new
        flow's rate in force is not in its context yet."""
        if self.step is None:
            return newest
        now = expression.integers(self._nodes(self.step.rate))
        return now if now == newest else self.b.add(Op.SELECT, (self.step.made, now, newest))

    def field(self, name: str, storage: str, note: str, newest: int | Expression) -> int:
        """Read a field that will hold ``newest``."""
        self.writes[name] = newest
        return self.b.state_in(name, storage, note)

    def write(self, decided: dict[str, int]) -> None:
        """Write all fields, now that it is decided."""
        nodes = Nodes(self.b, decided=decided)
        for name, newest in self.writes.items():
            self.b.state_out(name, newest if isinstance(newest, int) else newest.integers(nodes))

    def _nodes(self, in_force: int, in_force_q32: int = -1) -> Nodes:
        return Nodes(self.b, in_force, in_force_q32, past=self._past, count=self._count, carry=self._carry)

    def _past(self, past: Past) -> int:
        in_force = self.in_force if self.step is None else self.step.rate
        newest = node = past.x.integers(self._nodes(in_force))
        for back in range(1, past.back + 1):
            node = self.field(f"{past.x.name}_{back}", past.x.storage, _ago(past.x.name, back), node)
        return _no_wider(self.b, node, newest)

    def _carry(self, carried: Carried, after: int) -> None:
        self.writes[carried.field] = after

    def _count(self, count: Count) -> int:
        held = count.held(self.b)
        self.writes[COUNTED] = self.b.add(Op.ADD, (held, self.b.const(1)))
        return held


class Observer(NamedTuple):
    """A program that only computes the newest features. Its context is the knob in force as it is, what the decision
    before gave (by name), past values (``past`` says of each field of which node, how many decisions ago), COUNTED: how
    many decisions came before, and what is ``carried``: of each field the node that it holds from then on."""

    program: Program
    nodes: tuple[int, ...]
    past: dict[str, tuple[int, int]]
    carried: dict[str, int]


def build_observer(observation: Observation) -> Observer:
    """Returns the observer of the features in their order."""
    b = ProgramBuilder(Forest((), (), (0,), 0), observation.agents)
    force = -1
    if b.interface.context:
        force = b.add(Op.MIN, (b.state_in("rate_q30", "uint32"), b.const(LINE_RATE_Q30)))
    past: dict[str, tuple[int, int]] = {}
    carried: dict[str, int] = {}

    def kept(p: Past) -> int:
        newest = p.x.integers(nodes)
        past[f"{p.x.name}_{p.back}"] = newest, p.back
        return _no_wider(b, b.state_in(f"{p.x.name}_{p.back}", p.x.storage), newest)

    def carry(each: Carried, after: int) -> None:
        carried[each.field] = after

    nodes = Nodes(b, force, past=kept, count=lambda count: count.held(b), carry=carry)
    observed = []
    for feature in observation.features:
        expression = feature.expression(observation.place)
        if feature.decided is not None:
            stored = b.state_in(feature.decided, "int32" if isinstance(feature, PreviousAction) else "uint32")
            observed.append(expression.integers(Nodes(b, decided={feature.decided: stored})))
        else:
            observed.append(expression.integers(nodes))
    for known in list(b.state):
        held = force if known.name == "rate_q30" else b.state_in(known.name, known.storage)
        b.state_out(known.name, carried.get(known.name, held))
    program = b.finish(*[force if force >= 0 else b.const(0)] * len(b.interface.knobs))
    return Observer(program, tuple(observed), past, carried)


def _observe(history: History, observation: Observation, action: Action, used: set[str]) -> dict[str, int]:
    """Nodes of the used features by name."""
    values: dict[str, int] = {}
    for feature in observation.features:
        lags = [lag for lag in range(observation.window) if feature_name(feature, lag) in used]
        if not lags:
            continue
        expression = feature.expression(observation.place)
        newest: int | Expression = expression
        first_stored = 0
        if feature.decided is None:
            newest = expression.integers(history.nodes())
            values[feature_name(feature, 0)] = newest
            newest = history.seen(expression, newest) if len(lags) > 1 or lags[-1] > 0 else newest
            first_stored = 1
        for lag in range(first_stored, max(lags) + 1):
            name = feature_name(feature, lag)
            values[name] = newest = history.field(name, storage(feature, action), history_note(feature, lag), newest)
    return values


def storage(feature: AnyFeature, action: Action) -> str:
    """The type that a context keeps a past value of the feature in."""
    return action.storage if isinstance(feature, PreviousAction) and isinstance(action, Scale) else feature.storage


def history_note(feature: AnyFeature, lag: int) -> str:
    if isinstance(feature, PreviousAction):
        return _ago("multiplier - 1, Q16", lag + 1)
    return _ago(feature.name, lag if feature.decided is None else lag + 1)


def _no_wider(b: ProgramBuilder, stored: int, newest: int) -> int:
    """A value as it was kept, within the range it had: a context may hold anything."""
    return clamp(b, stored, b.nodes[newest].low, b.nodes[newest].high, f"{b.nodes[stored].name}_held", "")


def _ago(what: str, back: int) -> str:
    return f"{what}, {back} decision{'s' if back > 1 else ''} ago"
