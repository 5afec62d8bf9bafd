"""What Hypothesis draws for the tests of decision and codegen: whole students, and decision programs of any shape."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import TypeAdapter

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, Node, oblivious
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE, WINDOWED, flow_interface
from decision.ir.program import STORAGE_RANGE, Op, Program, ProgramBuilder
from decision.policy.actions import AnyAction, Table
from decision.policy.in_flight import InFlight
from decision.policy.policy import Header, Limits, Observation
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names

FEATURES: dict[str, dict[str, Any]] = {
    "previous_action": {"kind": "previous_action"},
    "rl_cc_congestion": {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
    "pcc_rl_congestion": {"kind": "pcc_rl_congestion", "target": 2.0},
    "rtt_inflation": {"kind": "rtt_inflation"},
    "queue_inflation": {"kind": "queue_inflation"},
    "rate": {"kind": "rate"},
    "cnp_ratio": {"kind": "cnp_ratio"},
    "nack_ratio": {"kind": "nack_ratio"},
}
ACTIONS: tuple[dict[str, Any], ...] = (
    {"kind": "tanh_map", "step": 0.2},
    {"kind": "multiplier", "low": 0.75, "high": 1.25},
    {"kind": "multiplier", "low": 0.5, "high": 3.0},
    {"kind": "table", "multipliers": [0.7, 0.9, 0.99, 1.0, 1.01, 1.1, 1.5]},
)
# Thresholds as distillation finds them: within what rollouts show of each feature.
THRESHOLDS = {
    "action": st.integers(-9000, 12000),
    "congestion_q20": st.one_of(st.integers(0, 20_000), st.integers(0, 2**24 - 2)),
    "congestion_q16": st.one_of(st.integers(0, 500_000), st.integers(0, 2**24 - 2)),
    "rtt_inflation_q10": st.one_of(st.integers(-1024, 4000), st.integers(0, 200_000)),
    "queue_inflation_q10": st.one_of(st.integers(0, 4000), st.integers(0, 40_000)),
    "rate_q20": st.integers(0, 2**20 - 1),
    "cnp_ratio_q8": st.integers(0, 255),
    "nack_ratio_q8": st.integers(0, 255),
}


def make_student(
    features: list[dict[str, Any]],
    action: dict[str, Any],
    trees: tuple[Node, ...],
    *,
    window: int = 1,
    bias: int = 0,
    base_rtt: str = "8192 ns",
    acks: bool = False,
) -> Student:
    """A student as if distilled: observation and limits of the RL-CC recipe around the given trees."""
    path = {"base_rtt": base_rtt, "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    observation = Observation.model_validate({"window": window, **path, "acks": acks, "features": features})
    mapped: AnyAction = TypeAdapter(AnyAction).validate_python(action)
    limits = Limits.model_validate({"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"})
    ensemble = Forest(feature_names(observation), trees, (bias,), mapped.leaf_bits)
    header = Header(observation=observation, action=mapped, limits=limits)
    return Student("drawn", header, ensemble, "0123456789abcdef" * 4)


def with_window(student: Student, bdp: float = 1.2) -> Student:
    """The student as a sender that keeps a window has it."""
    observation = student.observation.model_copy(update={"interface": flow_interface(WINDOWED[0]).name})
    cap = InFlight(bdp=bdp, least="4 KiB", window=True)
    return student.with_parts(observation=observation, in_flight=cap, once_per_rtt=True)


@st.composite
def drawn_students(
    draw: st.DrawFn, *, kinds: tuple[str, ...] = tuple(FEATURES), windows: int = 4, trees: int = 6
) -> Student:
    """Any student: features in any order, any action map, a window of up to ``windows`` decisions."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5, unique=True))
    action = draw(st.sampled_from(ACTIONS))
    window = draw(st.integers(1, windows))
    base_rtt = draw(st.sampled_from(["8192 ns", "13 us", "1100 ns"]))
    student = make_student([FEATURES[k] for k in chosen], action, (), window=window, base_rtt=base_rtt)
    names = student.forest.features
    count = draw(st.integers(0, trees))
    if isinstance(student.action, Table):
        spread = (len(student.action.multipliers) << student.action.leaf_bits) // max(count, 1)
        leaf = st.integers(-spread // 4, spread)
    else:
        low, high = student.action.limits_q16()
        leaf = st.integers(2 * low // max(count, 1), 2 * high // max(count, 1))
    drawn = []
    for _ in range(count):
        splits = []
        for _ in range(draw(st.integers(0, 4))):
            feature = draw(st.integers(0, len(names) - 1))
            splits.append((feature, draw(THRESHOLDS[_without_lag(names[feature])])))
        size = 1 << len(splits)
        drawn.append(oblivious(tuple(splits), tuple(draw(st.lists(leaf, min_size=size, max_size=size)))))
    return make_student(
        [FEATURES[k] for k in chosen], action, tuple(drawn), window=window, bias=draw(leaf), base_rtt=base_rtt
    )


def _without_lag(name: str) -> str:
    return next(known for known in THRESHOLDS if name == known or name.startswith(f"{known}_"))


@st.composite
def drawn_programs(draw: st.DrawFn, *, nodes: int = 40) -> Program:
    """Any program the builder accepts: it is offered random nodes and those it refuses are left out."""
    splits = st.tuples(st.integers(0, 2), st.integers(-(2**16), 2**32 - 1))
    leaves = st.lists(st.integers(-(2**28), 2**28), min_size=4, max_size=4)
    tree = st.builds(lambda s, v: oblivious((s[0], s[1]), tuple(v)), st.tuples(splits, splits), leaves)
    trees = draw(st.lists(tree, max_size=3))
    b = ProgramBuilder(Forest(("f0", "f1", "f2"), tuple(trees), (draw(st.integers(-(2**20), 2**20)),), 16), FLOW_RATE)
    b.tables = [tuple(draw(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=9)))]
    for name, storage in (("rate_q30", "uint32"), ("a", "int16"), ("b", "uint16"), ("c", "int32")):
        b.state_in(name, storage)
    inputs = [b.event(name) for name in FLOW_RATE.event_names] + [b.param(name) for name in FLOW_RATE.param_names]
    values = [*inputs, *range(4)]
    for _ in range(draw(st.integers(1, nodes))):
        op = draw(st.sampled_from([op for op in Op if op not in (Op.EVENT, Op.PARAM, Op.STATE, Op.NETWORK)]))
        # Mostly the newest values, so that programs grow deep.
        operand = st.one_of(st.sampled_from(values[-6:]), st.sampled_from(values))
        args = tuple(draw(operand) for _ in range(_ARITY[op]))
        if op is Op.CONST:
            imm = draw(st.one_of(st.integers(-4, 70), st.integers(-(2**63), 2**63 - 1)))
        elif op in (Op.SHL, Op.SHR, Op.MASK, Op.MUL_SHR):
            imm = draw(st.integers(0, 63))
        else:
            imm = 0
        if op is Op.TABLE:  # an index within the table
            args = (b.add(Op.MIN, (b.add(Op.MAX, (args[0], b.const(0))), b.const(len(b.tables[0]) - 1))),)
        try:
            values.append(b.add(op, args, imm))
        except InputError:
            continue
    for name, storage in (("rate_q30", "uint32"), ("a", "int16"), ("b", "uint16"), ("c", "int32")):
        low, high = STORAGE_RANGE[storage]
        b.state_out(name, _clamped(b, draw(st.sampled_from(values)), low, high))
    return b.finish(_clamped(b, values[-1], 0, U32_MAX))


_ARITY = {
    **dict.fromkeys((Op.CONST,), 0),
    **dict.fromkeys((Op.SHL, Op.SHR, Op.MASK, Op.TABLE), 1),
    **dict.fromkeys((Op.ADD, Op.SUB, Op.MUL, Op.WRAP_SUB, Op.MUL_SHR, Op.MIN, Op.MAX, Op.GT, Op.EQ), 2),
    **dict.fromkeys((Op.SELECT, Op.TREES), 3),
}


def _clamped(b: ProgramBuilder, node: int, low: int, high: int) -> int:
    return b.add(Op.MIN, (b.add(Op.MAX, (node, b.const(low))), b.const(high)))


Columns = dict[str, NDArray[np.int64]]


def random_inputs(program: Program, rows: int, seed: int) -> tuple[Columns, Columns, Columns]:
    """Event, parameters and context: any bit patterns, a third of them small, a third at or next to the extremes."""
    rng = np.random.default_rng(seed)

    def column(low: int, high: int) -> NDArray[np.int64]:
        anything = rng.integers(low, high, size=rows, endpoint=True)
        small = np.clip(rng.integers(-4, 5000, size=rows), low, high)
        extreme = rng.choice([low, low + 1, high - 1, high, max(low, 0), max(low, -1)], size=rows)
        return np.choose(rng.integers(0, 3, size=rows), [anything, small, extreme]).astype(np.int64)

    return (
        {name: column(0, U32_MAX) for name in FLOW_RATE.event_names},
        {name: column(0, U32_MAX) for name in FLOW_RATE.param_names},
        {s.name: column(*STORAGE_RANGE[s.storage]) for s in program.state},
    )
