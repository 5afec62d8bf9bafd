"""The whole decision as an integer program: raw event, parameters and context in, knobs and the new context out.

Rule two of the design: what is emitted, timed and proved starts at the raw signals and ends at the knobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from decision.actions import Action, Scale, clamp
from decision.errors import InputError
from decision.expression import Expression, Nodes, Past
from decision.features import AnyFeature, PreviousAction
from decision.forest import Forest
from decision.policy import Observation
from decision.program import Op, Program, ProgramBuilder
from decision.rate import knob, new_rate, rate_in_force
from decision.signals import LINE_RATE_Q30


def feature_name(feature: AnyFeature, lag: int) -> str:
    """Name of a feature ``lag`` decisions back. What was decided at lag 0 is what the decision before gave."""
    back = lag if feature.decided is None else lag + 1
    return feature.name if back == 0 else f"{feature.name}_{back}"


def feature_names(observation: Observation) -> tuple[str, ...]:
    """Names of a feature row, newest decision first."""
    return tuple(feature_name(f, lag) for lag in range(observation.window) for f in observation.features)


def build(observation: Observation, action: Action, forest: Forest) -> Program:
    """The decision program of a student. Features that no tree looks at are neither computed nor remembered."""
    names = feature_names(observation)
    if forest.features != names:
        seen, offered = ", ".join(forest.features), ", ".join(names)
        raise InputError(f"the student looks at {seen}, but the observation offers {offered}")
    if forest.leaf_bits != action.leaf_bits:
        raise InputError(f"the leaves have {forest.leaf_bits} fraction bits, the action map needs {action.leaf_bits}")
    if forest.outputs != action.sums:
        raise InputError(
            f"the forest has {forest.outputs} outputs, the action map takes {action.sums}; distil the student again"
        )
    compact = forest.only_used()
    b = ProgramBuilder(compact, observation.agents)

    history = History(b, in_force(b))
    values = _observe(history, observation, action, set(compact.features))
    args = tuple(values[name] for name in compact.features)
    single = action.sums == 1
    sums = [
        b.add(Op.TREES, args, k, "trees" if single else f"sum_{k}", "sum of the trees" if single else "")
        for k in range(action.sums)
    ]
    return finish(history, action, sums)


def in_force(b: ProgramBuilder) -> int:
    """The node of the knob that contexts of the interface keep in force; -1 where they keep none."""
    if b.interface.new_phase is not None:
        raise InputError("a policy with a table start runs in netsim only as yet; leave the table out to make firmware")
    return rate_in_force(b) if b.interface.context else -1


def finish(history: "History", action: Action, sums: Sequence[int]) -> Program:
    """From the sums to the knobs and the new context."""
    b, decided = history.b, action.integer(history.b, sums)
    if isinstance(action, Scale):
        rate = new_rate(b, history.in_force, decided[0])
        history.write({"action": decided[0]})
        return b.finish(knob(b, rate))
    history.write(dict(zip(b.interface.knob_names, decided, strict=True)))
    program = b.finish(*decided)
    action.check_shown(program)
    return program


@dataclass
class History:
    """The fields of a context that hold earlier decisions. ``writes``: what each takes over, a node or, of what is yet
    to be decided, an expression."""

    b: ProgramBuilder
    in_force: int
    writes: dict[str, int | Expression] = field(default_factory=dict)

    def nodes(self) -> Nodes:
        return Nodes(self.b, self.in_force, past=self._past)

    def field(self, name: str, storage: str, note: str, newest: int | Expression) -> int:
        """Read a field that will hold ``newest``."""
        self.writes[name] = newest
        return self.b.state_in(name, storage, note)

    def write(self, decided: dict[str, int]) -> None:
        """Write all fields, now that it is decided."""
        nodes = Nodes(self.b, decided=decided)
        for name, newest in self.writes.items():
            self.b.state_out(name, newest if isinstance(newest, int) else newest.integers(nodes))

    def _past(self, past: Past) -> int:
        newest = node = past.x.integers(self.nodes())
        for back in range(1, past.back + 1):
            node = self.field(f"{past.x.name}_{back}", past.x.storage, _ago(past.x.name, back), node)
        return _no_wider(self.b, node, newest)


class Observer(NamedTuple):
    """A program that only computes the newest features. Its context is the knob in force as it is, what the decision
    before gave (by name), and past values: ``past`` says of each field of which node, how many decisions ago."""

    program: Program
    nodes: tuple[int, ...]
    past: dict[str, tuple[int, int]]


def build_observer(observation: Observation) -> Observer:
    """Of the features in their order."""
    b = ProgramBuilder(Forest((), (), (0,), 0), observation.agents)
    force = -1
    if b.interface.new_phase is not None:
        in_force(b)
    if b.interface.context:
        force = b.add(Op.MIN, (b.state_in("rate_q30", "uint32"), b.const(LINE_RATE_Q30)))
    past: dict[str, tuple[int, int]] = {}

    def kept(p: Past) -> int:
        newest = p.x.integers(nodes)
        past[f"{p.x.name}_{p.back}"] = newest, p.back
        return _no_wider(b, b.state_in(f"{p.x.name}_{p.back}", p.x.storage), newest)

    nodes = Nodes(b, force, past=kept)
    observed = []
    for feature in observation.features:
        expression = feature.expression(observation.place)
        if feature.decided is not None:
            stored = b.state_in(feature.decided, "int32" if isinstance(feature, PreviousAction) else "uint32")
            observed.append(expression.integers(Nodes(b, decided={feature.decided: stored})))
        else:
            observed.append(expression.integers(nodes))
    for known in list(b.state):
        b.state_out(known.name, force if known.name == "rate_q30" else b.state_in(known.name, known.storage))
    return Observer(b.finish(*[force if force >= 0 else b.const(0)] * len(b.interface.knobs)), tuple(observed), past)


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
