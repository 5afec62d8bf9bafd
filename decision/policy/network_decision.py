"""The whole decision around an integer network: raw event and flow context in, new rate and flow context out.

The same program as a student's, with Op.NETWORK where its trees stand: same features, same clamps, same rate. A network
also needs the size of a feature, not only its order: the congestion feature gets its root back, exactly floored, and
every feature is brought to int16.

    congestion_q20 = excess^2 * rate                              as for trees
    congestion     = floor(sqrt(congestion_q20 << 6))             15 steps, no multiplication, no division
    network        = network(action, congestion, ..)              its result 0; the others are its new state
"""

from dataclasses import dataclass

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.expression import Expression
from decision.ir.forest import Forest
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interface import Knob, Signal
from decision.ir.interfaces import grid
from decision.ir.interpret import evaluate
from decision.ir.network import INPUT_MAGNITUDE, Int8Network
from decision.ir.program import Op, Program, ProgramBuilder
from decision.policy.actions import Action, Choice, Scale, clamp
from decision.policy.features import FEATURE_KINDS, AnyFeature, PccRlCongestion, PreviousAction, RlCcCongestion
from decision.policy.policy import Observation
from decision.policy.rate import recorded_rate
from decision.policy.start import Start
from decision.policy.tree_decision import History, feature_name, finish, history_note, history_of, set_anew, storage

ROOT_BITS = 15
MAX_SHIFT = 20


@dataclass(frozen=True)
class Input:
    """How a feature's integer becomes an int16: divided by 2^shift (rounded half up, saturated), or the root of
    integer / 2^shift (floored, saturated)."""

    root: bool
    shift: int

    def __post_init__(self) -> None:
        if not -MAX_SHIFT <= self.shift <= MAX_SHIFT:
            raise InputError(f"an input of the network is shifted by {self.shift}; emit it again")


def wants_root(feature: AnyFeature) -> bool:
    """Whether the integer of a feature is the square of what a network sees."""
    return isinstance(feature, RlCcCongestion | PccRlCongestion)


def input_name(feature: AnyFeature) -> str:
    """Name of a feature's int16 in the C."""
    if isinstance(feature, PreviousAction):
        return "action_input"
    return f"{feature.kind if feature.kind in FEATURE_KINDS else feature.name}_input"


def build(
    observation: Observation,
    action: Scale | Choice,
    inputs: tuple[Input, ...],
    network: Int8Network,
    start: Start | None = None,
    once_per_rtt: bool = False,
) -> Program:
    """The decision program of a network. ``inputs``: one a feature of the observation."""
    b = ProgramBuilder(Forest((), (), (0,), action.leaf_bits), observation.agents, network=network)
    history = history_of(b, observation, start, once_per_rtt)
    rows = _observe(history, observation, action, inputs)
    operands = [row[lag] for lag in range(observation.window) for row in rows]
    if len(operands) != network.inputs:
        raise InputError(f"the network takes {network.inputs} inputs, but the observation offers {len(operands)}")
    units = range(network.units)
    hidden_storage = "int8" if network.lstm and network.lstm.hidden_bits == 7 else "int16"
    hidden = [b.state_in(f"hidden_{k}", hidden_storage, _state_note(network, "hidden")) for k in units]
    cells = [b.state_in(f"cell_{k}", "int16", _state_note(network, "cell")) for k in units]
    args = (*operands, *hidden, *cells)
    if isinstance(action, Choice):
        if network.groups != action.sizes:
            raise InputError("the network's outputs are not the rows of the action's table; emit it again")
        names = enumerate(action.row_names)
        places = [b.add(Op.NETWORK, args, k, name, "the row that it chooses") for k, name in names]
        return set_anew(history, action, action.knobs(b, places))
    result = b.add(Op.NETWORK, args, 0, "network", "the action it puts out, Q16")
    for k in units:
        b.state_out(f"hidden_{k}", b.add(Op.NETWORK, args, 1 + k, f"hidden_{k}_new"))
        b.state_out(f"cell_{k}", b.add(Op.NETWORK, args, 1 + network.units + k, f"cell_{k}_new"))
    return finish(history, action, [result])


def build_inputs(observation: Observation, action: Scale, inputs: tuple[Input, ...]) -> tuple[Program, tuple[int, ...]]:
    """A program that only computes the newest inputs, and their nodes in the order of the features. Its context holds
    the rate in force and, for a previous action, that of the decision before."""
    b = ProgramBuilder(Forest((), (), (0,), action.leaf_bits), observation.agents)
    history = History(b, *recorded_rate(b))
    rows = _observe(history, observation.with_window(1), action, inputs)
    for field in list(b.state):
        b.state_out(field.name, b.state_in(field.name, field.storage))
    return b.finish(*[history.in_force] * len(b.interface.knobs)), tuple(row[0] for row in rows)


def narrowed(feature: AnyFeature, scaling: Input, values: Integers) -> Integers:
    """The int16 of a feature's integers [N], as the decision program computes them."""
    value = Signal("value", "", "", storage=feature.storage)
    narrow = Knob("input", "", "", -INPUT_MAGNITUDE, INPUT_MAGNITUDE - 1, "int16")
    b = ProgramBuilder(Forest((), (), (0,), 0), grid.grid([value], [narrow]))
    program = b.finish(_narrowed(b, b.event("value"), scaling, input_name(feature)))
    return evaluate(program, {"value": values}, {}, {})[0][0]


def _observe(history: History, observation: Observation, action: Action, inputs: tuple[Input, ...]) -> list[list[int]]:
    """Inputs by feature and lag.

    The history holds inputs, not features: they are smaller, and their roots are drawn once.
    """
    if len(inputs) != len(observation.features):
        raise InputError(f"{len(inputs)} inputs are told for {len(observation.features)} features; emit it again")
    b = history.b
    rows: list[list[int]] = []
    for feature, scaling in zip(observation.features, inputs, strict=True):
        row: list[int] = []
        expression = feature.expression(observation.place)
        if feature.decided is not None:
            newest: int | Expression = expression
            for lag in range(observation.window):
                note = history_note(feature, lag)
                newest = history.field(feature_name(feature, lag), storage(feature, action), note, newest)
                row.append(_narrowed(b, newest, scaling, input_name(feature)))
        else:
            newest = expression.integers(history.nodes())
            if isinstance(feature, RlCcCongestion | PccRlCongestion) and feature.saturates:
                newest = b.add(Op.MIN, (newest, b.const(FEATURE_LIMIT - 1)), name=f"{feature.name}_ended")
            row.append(_narrowed(b, newest, scaling, input_name(feature)))
            for lag in range(1, observation.window):
                name = f"{input_name(feature)}_{lag}"
                row.append(history.field(name, "int16", _input_note(feature, lag), row[-1]))
        rows.append(row)
    return rows


def _narrowed(b: ProgramBuilder, node: int, scaling: Input, name: str) -> int:
    if scaling.root:
        return _root(b, node, scaling.shift, name)
    low, high = -INPUT_MAGNITUDE, INPUT_MAGNITUDE - 1
    if scaling.shift <= 0:
        factor = b.const(1 << -scaling.shift)
        held = clamp(b, node, low >> -scaling.shift, high >> -scaling.shift, f"{name}_held", "")
        return b.add(Op.MUL, (held, factor), 0, name)
    # Shifts take no negative operands: raised by half a step and by a whole number of steps first.
    held = clamp(
        b,
        node,
        low << scaling.shift,
        ((high + 1) << scaling.shift) - 1 - (1 << (scaling.shift - 1)),
        f"{name}_held",
        "",
    )
    steps = -(min(b.nodes[held].low, 0) >> scaling.shift)
    raised = b.add(Op.ADD, (held, b.const((steps << scaling.shift) + (1 << (scaling.shift - 1)))), 0, f"{name}_raised")
    shifted = b.add(Op.SHR, (raised,), scaling.shift, name if not steps else "")
    return b.add(Op.SUB, (shifted, b.const(steps)), 0, name) if steps else shifted


def _root(b: ProgramBuilder, node: int, shift: int, name: str) -> int:
    """floor(sqrt(node / 2^shift)), at most 2^15 - 1, by restoring subtraction: a bit of the root a step."""
    most = (1 << 2 * ROOT_BITS) - 1
    limit = most << shift if shift > 0 else most >> -shift
    held = b.nodes[node].high <= limit
    kept = node if held else b.add(Op.MIN, (node, b.const(limit)), name=f"{name}_held", note="saturates the root")
    rest = b.add(Op.SHR if shift >= 0 else Op.SHL, (kept,), abs(shift), f"{name}_square") if shift else kept
    root = b.const(0)
    for bit in range(2 * ROOT_BITS - 2, -1, -2):
        trial = b.add(Op.ADD, (root, b.const(1 << bit)), 0, "trial")
        short = b.add(Op.GT, (trial, rest))
        # Taken only where it is not short, so that nothing wraps.
        less = b.add(Op.WRAP_SUB, (rest, trial), 0, "less")
        rest = b.add(Op.SELECT, (short, rest, less), 0, "rest")
        half = b.add(Op.SHR, (root,), 1, "half")
        more = b.add(Op.ADD, (half, b.const(1 << bit)), 0, "more")
        root = b.add(Op.SELECT, (short, half, more), 0, name if bit == 0 else "root", "the root" if bit == 0 else "")
    return root


def _input_note(feature: AnyFeature, lag: int) -> str:
    return f"the network's input of {feature.kind}, {lag} decision{'s' if lag > 1 else ''} ago"


def _state_note(network: Int8Network, what: str) -> str:
    assert network.lstm is not None
    bits = network.lstm.hidden_bits if what == "hidden" else network.lstm.cell_bits
    return f"{'h' if what == 'hidden' else 'c'} of the LSTM, Q{bits}"
