"""Decision programs: proved ranges hold, JSON is believed only as far as it can be checked, 64 bits are the end."""

import copy
import itertools
import json

import numpy as np
import pytest
from drawing import drawn_programs, drawn_students, random_inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, oblivious
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate, trace
from decision.ir.program import INT64_MAX, Op, ProgramBuilder
from decision.ir.program_json import program_from_json, program_to_json

NOTHING = (dict.fromkeys(FLOW_RATE.event_names, 0), dict.fromkeys(FLOW_RATE.param_names, 0))


def exact(program, event, params, state):
    """Every node in unbounded Python integers, for one row."""
    values = []
    for n in program.nodes:
        a = [values[i] for i in n.args]
        values.append(
            {
                Op.CONST: lambda n=n: n.imm,
                Op.EVENT: lambda n=n: event[FLOW_RATE.event_names[n.imm]],
                Op.PARAM: lambda n=n: params[FLOW_RATE.param_names[n.imm]],
                Op.STATE: lambda n=n: state[program.state[n.imm].name],
                Op.ADD: lambda a=a: a[0] + a[1],
                Op.SUB: lambda a=a: a[0] - a[1],
                Op.MUL: lambda a=a: a[0] * a[1],
                Op.SHL: lambda n=n, a=a: a[0] * 2**n.imm,
                Op.SHR: lambda n=n, a=a: a[0] // 2**n.imm,
                Op.MASK: lambda n=n, a=a: a[0] % 2**n.imm,
                Op.WRAP_SUB: lambda a=a: (a[0] - a[1]) % 2**32,
                Op.MUL_SHR: lambda n=n, a=a: a[0] * a[1] // 2**n.imm,
                Op.MIN: lambda a=a: min(a),
                Op.MAX: lambda a=a: max(a),
                Op.GT: lambda a=a: int(a[0] > a[1]),
                Op.EQ: lambda a=a: int(a[0] == a[1]),
                Op.SELECT: lambda a=a: a[1] if a[0] else a[2],
                Op.TABLE: lambda n=n, a=a: program.tables[n.imm][a[0]],
                Op.TREES: lambda n=n, a=a: int(program.forest.evaluate(np.array([a], dtype=np.int64))[0, n.imm]),
            }[n.op]()
        )
    return values


@settings(max_examples=examples(200))
@given(drawn_programs(), st.integers(0, 2**32))
def test_every_value_is_exact_and_within_its_range(program, seed):
    inputs = random_inputs(program, 24, seed)
    traced = trace(program, *inputs)
    for node, values in zip(program.nodes, traced, strict=True):
        assert node.low <= int(values.min()) <= int(values.max()) <= node.high, node
    for row in range(8):
        one = [{name: int(column[row]) for name, column in group.items()} for group in inputs]
        assert [int(values[row]) for values in traced] == exact(program, *one)


@settings(max_examples=examples(60))
@given(drawn_students(), st.integers(0, 2**32))
def test_ranges_of_whole_decisions_hold_for_any_bit_pattern(student, seed):
    program = student.program()
    for node, values in zip(program.nodes, trace(program, *random_inputs(program, 300, seed)), strict=True):
        assert node.low <= int(values.min()) <= int(values.max()) <= node.high, node


@given(drawn_programs())
def test_json_round_trip(program):
    again = program_from_json(json.loads(json.dumps(program_to_json(program))))
    assert again == program


@settings(max_examples=examples(30))
@given(drawn_students())
def test_decisions_survive_json(student):
    assert program_from_json(json.loads(json.dumps(program_to_json(student.program())))) == student.program()


def test_a_stored_range_that_is_not_the_derived_one_is_refused():
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_RATE)
    rate = b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", b.add(Op.SHR, (rate,), 1))
    whole = program_to_json(b.finish(rate))
    for number in range(len(whole["nodes"])):
        for end, step in ((0, -1), (0, 1), (1, -1), (1, 1)):
            data = copy.deepcopy(whole)
            data["nodes"][number]["range"][end] += step
            with pytest.raises(InputError, match=f"node {number} .*range"):
                program_from_json(data)


def tampered(**changes):
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_RATE)
    rate = b.state_in("rate_q30", "uint32")
    two = b.const(2)
    b.state_out("rate_q30", b.add(Op.MIN, (rate, two)))
    data = program_to_json(b.finish(rate))
    for key, value in changes.items():
        data[key] = value
    return data


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(format=1), "has format 1, not 2"),
        (lambda d: d.pop("nodes"), "not readable: KeyError"),
        (lambda d: d.update(results=[99]), "one result .*rate_q20"),
        (lambda d: d.update(results=[]), "one result .*rate_q20"),
        (lambda d: d.update(results=[0, 0]), "one result .*rate_q20"),
        (
            lambda d: d.update(interface="flow"),
            "'flow'; .* flow_rate, flow_start, .*, queue_marking",
        ),
        (lambda d: d.update(interface={}), "interface .*not readable"),
        (lambda d: d.update(results=[1.0]), "1.0 .*integer"),
        (lambda d: d["nodes"][2].update(op="divide"), "not readable: KeyError"),
        (lambda d: d["nodes"][2].update(op=5), "not readable: AttributeError"),
        (lambda d: d["nodes"][2].update(args=[0, 2]), "comes after it"),
        (lambda d: d["nodes"][2].update(args=[0, -1]), "comes after it"),
        (lambda d: d["nodes"][2].update(args=[0]), "min takes 2 operands"),
        (lambda d: d["nodes"][1].update(imm=2.0), "2.0 .*integer"),
        (lambda d: d["nodes"][1].update(imm=2**70), "64 bits cannot hold"),
        (lambda d: d["state"][0].update(node=7), "nothing .*written back"),
        (lambda d: d["state"][0].update(name=["rate_q30"]), "not a string"),
        (lambda d: d["state"][0].update(note={}), "not a string"),
        (lambda d: d["state"][0].update(storage="uint64"), "state|rate_q30 .*not defined"),
        (lambda d: d["nodes"].insert(1, dict(d["nodes"][1])), "out of order"),
        (lambda d: d["nodes"][1].update(id=5), "out of order"),
    ],
)
def test_a_program_that_was_tampered_with_is_refused(change, says):
    data = tampered()
    change(data)
    with pytest.raises(InputError, match=says):
        program_from_json(data)


def test_a_node_written_twice_does_not_shift_the_others():
    """The builder shares equal nodes: believing the list would make every later number mean its neighbour."""
    data = tampered()
    data["nodes"].append(dict(data["nodes"][1]) | {"id": 3})
    with pytest.raises(InputError, match=r"node 3 .* stands twice"):
        program_from_json(data)


def builder():
    return ProgramBuilder(Forest(("f",), (oblivious(((0, 5),), (-3, 9)),), (1,), 16), FLOW_RATE)


@pytest.mark.parametrize(
    ("op", "first", "second", "imm"),
    [
        (Op.ADD, INT64_MAX, 1, 0),
        (Op.SUB, -(2**63), 1, 0),
        (Op.MUL, 2**32, 2**31, 0),
        (Op.MUL, -(2**63), -1, 0),
        (Op.SHL, 1, None, 63),
        (Op.SHL, 2**62, None, 1),
        (Op.SHL, -1, None, 1),  # shifts of negative numbers are not C
        (Op.SHR, -1, None, 1),
        (Op.SHL, 1, None, 64),
        (Op.SHR, 1, None, -1),
        (Op.MASK, -1, None, 1),
        (Op.MASK, 1, None, 64),
        (Op.MUL_SHR, 2**32, 2**32, 32),  # 2^64
        (Op.MUL_SHR, -1, 1, 0),
        (Op.MUL_SHR, 2**63 - 1, 2, 0),  # fits uint64, but the result does not fit int64
        (Op.WRAP_SUB, 2**32, 0, 0),
        (Op.WRAP_SUB, 0, -1, 0),
        (Op.SELECT, 2, 0, 0),
        (Op.TABLE, 0, None, 0),
        (Op.STATE, None, None, 0),
        (Op.EVENT, None, None, 6),
    ],
)
def test_what_64_bits_or_c_cannot_do_is_refused(op, first, second, imm):
    b = builder()
    args = [b.const(v) for v in (first, second) if v is not None]
    if op is Op.SELECT:
        args.append(args[-1])
    with pytest.raises(InputError):
        b.add(op, tuple(args), imm)


@pytest.mark.parametrize("shift", [1, 32, 63])
def test_mul_shr_at_the_edge_of_uint64(shift):
    """(2^32 - 1)^2 and (2^64 - 1) = 5 * 3689348814741910323: beyond int64, within uint64."""
    for first, second in ((U32_MAX, U32_MAX), (5, (2**64 - 1) // 5)):
        b = builder()
        node = b.add(Op.MUL_SHR, (b.const(first), b.const(second)), shift)
        b.state_in("rate_q30", "uint32")
        b.state_out("rate_q30", 0 if first <= U32_MAX else node)
        value = int(trace(b.finish(b.const(0)), *NOTHING, {"rate_q30": 0})[node][0])
        assert value == (first * second) >> shift


def test_what_is_written_back_must_fit_its_storage():
    b = builder()
    rate = b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", b.add(Op.ADD, (rate, b.const(1))))
    with pytest.raises(InputError, match=r"rate_q30 .*1\.\.4294967296, .*uint32"):
        b.finish(rate)


def test_a_result_must_fit_its_knob():
    """The C would cut it: code and program would differ, and both be called equal in 32 bits."""
    for low, high, more in ((1, 2**32, 1), (-1, U32_MAX - 1, -1)):
        b = builder()
        rate = b.state_in("rate_q30", "uint32")
        b.state_out("rate_q30", rate)
        with pytest.raises(InputError, match=rf"rate_q20 .*{low}\.\.{high}, .*uint32"):
            b.finish(b.add(Op.ADD, (rate, b.const(more))))


@pytest.mark.parametrize("shift", [0, 1, 3, 12])
def test_what_is_left_of_a_number_without_a_part_of_it_grows_with_it(shift):
    """x - (x >> k) of every x between two ends, and of no other two nodes."""
    for low, high in itertools.combinations((0, 1, 2, 7, 8, 9, 63, 64, 200), 2):
        b = builder()
        x = b.add(Op.MAX, (b.add(Op.MIN, (b.event("sent_bytes"), b.const(high))), b.const(low)))
        part = b.add(Op.SHR, (x,), shift)
        left = b.nodes[b.add(Op.SUB, (x, part))]
        values = [v - (v >> shift) for v in range(low, high + 1)]
        assert (left.low, left.high) == (min(values), max(values))
        other = b.nodes[b.add(Op.SUB, (b.const(high), part))]
        assert (other.low, other.high) == (high - (high >> shift), high - (low >> shift))


def test_at_most_4096_nodes():
    b = builder()
    for value in range(4096):
        b.const(value)
    with pytest.raises(InputError, match="at most 4096 nodes"):
        b.const(-1)
    assert b.const(4095) == 4095, "a node that is already there costs nothing"


def test_operators_have_the_numbers_of_the_wire_format():
    """netsim's interpreter knows these numbers."""
    assert [op.value for op in Op] == list(range(20))
    assert [op.name for op in Op][:4] == ["CONST", "EVENT", "PARAM", "STATE"]
    assert Op.MUL_SHR == 10
    assert Op.TREES == 17
    assert Op.MASK == 18


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ({"cnp_count": 2**32}, "cnp_count .*integers .*0..4294967295"),
        ({"cnp_count": -1}, "cnp_count must be"),
        ({"cnp_count": 0.5}, "cnp_count must be"),
    ],
)
def test_the_interpreter_refuses_what_a_field_cannot_hold(event, says):
    b = builder()
    b.state_out("rate_q30", b.state_in("rate_q30", "uint32"))
    program = b.finish(0)
    with pytest.raises(ValueError, match=says):
        evaluate(program, NOTHING[0] | event, NOTHING[1], {"rate_q30": 1})
    with pytest.raises(KeyError):
        evaluate(program, {}, NOTHING[1], {"rate_q30": 1})


def test_scalars_broadcast_and_forced_values_take_a_nodes_place():
    b = builder()
    rate = b.state_in("rate_q30", "uint32")
    double = b.add(Op.SHL, (rate,), 1)
    more = b.add(Op.ADD, (double, b.const(1)))
    b.state_out("rate_q30", rate)
    program = b.finish(rate)
    state = {"rate_q30": np.array([1, 2, 3])}
    assert trace(program, *NOTHING, state)[more].tolist() == [3, 5, 7]
    assert trace(program, *NOTHING, state, forced={double: np.array([10, 20, 30])})[more].tolist() == [11, 21, 31]


def test_a_forced_place_beyond_a_table_has_its_last_entry():
    """What a wrong clamp would choose is asked for by the vectors: there is an answer, not an error."""
    b = builder()
    rate = b.state_in("rate_q30", "uint32")
    place = b.add(Op.MIN, (rate, b.const(1)))
    b.tables.append((5, 9))
    entry = b.add(Op.TABLE, (place,), 0)
    b.state_out("rate_q30", rate)
    program = b.finish(entry)
    forced = trace(program, *NOTHING, {"rate_q30": np.array([0, 1, 7])}, forced={place: np.array([1, 2, 0])})
    assert forced[entry].tolist() == [9, 9, 5]
