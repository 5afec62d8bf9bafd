"""A choice with the trees on one side is a branch in the C; other programs have none."""

import numpy as np

from codegen.fork import fork_of
from codegen.inputs import split
from codegen.lower import Options
from codegen.passes.program import lower_program
from codegen.printer import Printer
from codegen.vectors import make
from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import Phase, flow_interface
from decision.ir.interpret import trace
from decision.ir.program import Op, Program
from decision.ir.rewrite import needed
from decision.policy.actions import TanhMap
from decision.policy.cells import act
from decision.policy.policy import Header, Limits, Observation
from decision.policy.start import Start
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names

FLOW_START = flow_interface(("start",))

OBSERVATION = {
    "window": 2,
    "base_rtt": "8192 ns",
    "line_rate": "100 Gb/s",
    "rtt_max": "4 ms",
    "features": [
        {"kind": "previous_action"},
        {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
    ],
}


def student(start: Start | None) -> Student:
    interface = {} if start is None else {"interface": FLOW_START.name}
    observation = Observation.model_validate(OBSERVATION | interface)
    names = feature_names(observation)
    trees = (oblivious(((0, 0), (1, 4295)), (655, -8192, 1966, -3000)), oblivious(((3, 17180),), (100, -100)))
    limits = Limits.model_validate({"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "25 %"})
    forest = Forest(names, trees, (7,), 16)
    action = TanhMap(kind="tanh_map", step=0.2)
    header = Header(observation=observation, action=action, limits=limits, start=start)
    return Student("drawn", header, forest, "0" * 12)


def statements(program: Program) -> list[str]:
    printer = Printer(lower_program(program, Options()), lambda feature, threshold: "")
    return [s.code for s in printer.statements()]


def test_trees_stand_behind_the_else():
    lines = statements(student(Start()).program())
    question, otherwise, end = (
        next(i for i, line in enumerate(lines) if line.startswith(s)) for s in ("if", "} else", "}")
    )
    end = len(lines) - 1 - lines[::-1].index("}")
    assert question < otherwise < end
    walked = [i for i, line in enumerate(lines) if "place" in line or "tree_" in line]
    assert walked
    assert all(otherwise < i < end for i in walked)
    assert "nack_count" in lines[question]


def test_a_program_without_such_a_choice_has_no_branch():
    program = student(None).program()
    assert fork_of(program, needed(program), lambda node: node.args) is None
    assert not any(line.startswith("if") for line in statements(program))


def test_every_node_is_printed_on_its_side():
    program = student(Start()).program()
    fork = fork_of(program, needed(program), lambda node: node.args)
    assert fork is not None
    parts = [*fork.before, *fork.first, *fork.second, *fork.selects, *fork.after]
    assert sorted(parts) == needed(program)
    assert any(program.nodes[n].op is Op.TREES for n in fork.second)
    for side, others in ((fork.first, fork.second), (fork.second, fork.first), (fork.before, fork.after)):
        assert not any(a in others for n in side for a in program.nodes[n].args)


def test_a_phase_leaves_no_action_and_remembers_a_new_flows_rate():
    """The history is what a teacher's is: action 0 behind a step of the phase, features with the first rate."""
    one = student(Start())
    program, params = one.program(), one.params()
    event = dict.fromkeys(FLOW_START.event_names, 0) | {"response_ns": 30_000}
    context = {field.name: 5 if field.name.startswith("action") else 0 for field in program.state}
    values = trace(program, event, params, context)
    after = {field.name: int(values[field.node][0]) for field in program.state}
    inflation = (30_000 << 10) // 8192
    assert after["action_1"] == 0
    assert after["congestion_q20_1"] == (inflation - 1536) ** 2 * params["rate_initial_q30"] >> 30
    assert after["rate_q30"] == Phase.STARTING << 30 | 2 * params["rate_initial_q30"] & -2


def test_what_a_student_does_in_a_state_is_its_policys():
    """Cells are asked of the trees, not of the phase that a zeroed context is in."""
    rows = np.array([[0, 0, 0, 0], [5, 9000, 0, 0], [5, 9000, 0, 20000]])
    assert act(student(Start()), rows).tolist() == act(student(None), rows).tolist()


def test_vectors_stand_on_every_threshold_of_the_start_in_every_phase():
    one = student(Start())
    program = one.program()
    vectors, _ = make(program, one.params(), seed=1, random_rows=16)
    phases = np.asarray(vectors.columns["context.rate_q30"], dtype=np.int64) >> 30
    for name in ("slow_start_until_q10", "brake_above_q10", "recover_until_q10"):
        for phase in range(4):
            for step in ("-1", "+0", "+1"):
                kind = f"edge:phase {phase} {name} {step}"
                at = [i for i, k in enumerate(vectors.kinds) if k == kind]
                assert at, kind
                assert (phases[at] == phase).all()


def test_vectors_tell_every_comparison_of_the_start_from_one_that_is_off_by_one():
    one = student(Start())
    program = one.program()
    vectors, _ = make(program, one.params(), seed=1, random_rows=256)
    inputs = split(program, {key: np.asarray(column, dtype=np.int64) for key, column in vectors.columns.items()})
    values = trace(program, *inputs)
    for number, node in enumerate(program.nodes):
        if node.op not in (Op.GT, Op.EQ):
            continue
        a, b = (values[operand] for operand in node.args)
        wrong = (a >= b if node.op is Op.GT else a != b).astype(np.int64)
        others = trace(program, *inputs, forced={number: wrong})
        assert any((values[n] != others[n]).any() for n in program.outputs), f"{number} {node.name or node.op.name}"
