"""Histories as ranks: which, that the decision stays, also of contexts that no value led to, and that errors show."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.choose import Limits
from codegen.emit import ranked
from codegen.lower import Options
from codegen.passes.program import lower_program
from codegen.passes.ranks import chains, with_ranks
from codegen.printer import Printer
from codegen.tree_body import StudentBody
from decision.ir.forest import Forest, mapped, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.ranks import RANK, same_decision, with_values
from decision.policy.student import Student
from emulator.firmware_folder import read_firmware
from emulator.host import run_on_host
from emulator.vectors import vectors_of
from rlcc.gate.emission_check import checked_program

STEPS = 60
PROBE_NS = 40_000
"""Between two requests: answers that take longer come behind the next request."""
NOW, AGO = (703, 4295, 17_180, 65_536, 393_626), (1000, 4295, 30_000, 65_536, 131_072, 500_000)


def student(window: int = 2, features: tuple[str, ...] = ("rl_cc_congestion",), past: tuple[int, ...] = AGO) -> Student:
    """Ten questions about now and about before, in trees of two."""
    width = len(features)
    trees = [
        oblivious(((0, a), (width, b)), (9 * k, -700, 300 + k, 40))
        for k, (a, b) in enumerate(zip(NOW, past, strict=False))
    ]
    trees += [oblivious(((width * (window - 1), past[-1] + 7),), (11, -60))]
    return make_student([FEATURES[name] for name in features], ACTIONS[0], tuple(trees), window=window, bias=5)


def driven(program: Program, params: dict[str, int], rtts: np.ndarray) -> np.ndarray:
    """The rates of flows [decisions, flows] from new contexts on."""
    context = {s.name: np.zeros(rtts.shape[1], dtype=np.int64) for s in program.state}
    rates = []
    for step, rtt in enumerate(rtts):
        event = dict.fromkeys(program.interface.event_names, np.zeros(rtt.shape, dtype=np.int64))
        event["request_sent_ns"] = np.full(rtt.shape, step * PROBE_NS)
        event["response_ns"] = step * PROBE_NS + rtt
        (rate,), context = evaluate(program, event, params, context)
        rates.append(rate)
    return np.stack(rates)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("window", [2, 3, 4])
def test_flows_go_the_same_way_with_ranks_as_with_values(window: int, once: bool, masked: bool) -> None:
    """Also those of which some answers leave the history as it is."""
    made = student(window).with_parts(once_per_rtt=once)
    program = made.program()
    (chain,) = chains(program)
    ranks = with_ranks(program, (chain,), masked=masked)
    assert bool(chain.selects) == once
    assert len(chain.fields) == window - 1
    assert [s.storage for s in ranks.state if s.name.endswith(RANK)] == ["uint8"] * (window - 1)
    rtt = np.random.default_rng(1).integers(8000, 200_000, size=(STEPS, 500))
    rtt[:, ::3] = rtt[:, ::3] // 8 + 8000
    expected = driven(program, made.params(), rtt)
    assert len(np.unique(expected)) > (200 if once else 1000)
    assert np.array_equal(driven(ranks, made.params(), rtt), expected)
    back = with_values(ranks, {s.name: s.storage for s in program.state})
    assert same_decision(back, program)
    assert not same_decision(ranks, program)
    assert chains(ranks) == ()


def test_what_else_needs_the_value_keeps_it() -> None:
    assert chains(student(past=(-5, *AGO[1:])).program()) == ()  # a new flow's 0 is above it
    assert chains(student(features=("previous_action",)).program()) == ()  # decided after the trees, no search there


def test_ranks_are_taken_where_they_are_cheaper_and_can_be_left_out() -> None:
    body = StudentBody(student(), "0" * 64)
    program = body.decider.program()
    taken, lowered = ranked(body, program, Options())
    assert [s.name for s in taken.state] == ["rate_q30", "congestion_q20_1_rank"]
    assert lowered.forests
    assert lowered.forests[0].direct == 1
    assert ranked(body, program, Options(without=("ranks",)))[0] is program
    assert ranked(body, program, Options(form="branches"))[0] is program  # a search more, and no table


@pytest.mark.parametrize("options", [Options(), Options(form="joint", without=("entries",)), Options(optimise="mean")])
def test_the_c_does_what_the_program_does_for_corrupted_contexts_too(
    emitted: Callable[..., Path], tmp_path: Path, options: Options
) -> None:
    folder = emitted(student(3), tmp_path, options=options)
    firmware = read_firmware(folder)
    names = [s.name for s in firmware.program.state if s.name.endswith(RANK)]
    assert names
    context = vectors_of(firmware).columns()[2]
    assert max(context[name].max() for name in names) > 200
    assert run_on_host(folder).passed
    _, program = checked_program(firmware.manifest)
    assert program == firmware.program


def changed_node(program: Program, number: int, **fields: int | tuple[int, ...]) -> Program:
    nodes = list(program.nodes)
    nodes[number] = replace(nodes[number], **fields)  # type: ignore[arg-type]
    return replace(program, nodes=tuple(nodes))


def mutants() -> dict[str, Program]:
    """Programs with ranks that do not decide as their student: each with one thing wrong."""
    program = with_ranks(student(3).program(), chains(student(3).program()))
    counted = {program.nodes[n.args[1]].imm: n.args[1] for n in program.nodes if n.op is Op.GT}
    cut = next(n for n, node in enumerate(program.nodes) if node.op is Op.MIN and node.name.endswith("_place"))
    limit = program.nodes[cut].args[1]
    older = next(k for k, s in enumerate(program.state) if s.name == "congestion_q20_2_rank")
    newest = next(s.node for s in program.state if s.name == "congestion_q20_1_rank")

    def asked(shift: int) -> Program:
        trees = tuple(
            mapped(tree, lambda b: (b.feature, b.threshold + shift if b.feature == 1 else b.threshold))
            for tree in program.forest.trees
        )
        return replace(program, forest=replace(program.forest, trees=trees))

    def written(place: int, node: int) -> Program:
        state = list(program.state)
        state[place] = replace(state[place], node=node)
        return replace(program, state=tuple(state))

    value = next(n.args[0] for n in program.nodes if n.op is Op.GT)
    cut_to_bits = with_ranks(student(3).program(), chains(student(3).program()), masked=True)
    bits = next(n for n, node in enumerate(cut_to_bits.nodes) if node.op is Op.MASK)
    return {
        "a bit too few": changed_node(cut_to_bits, bits, imm=cut_to_bits.nodes[bits].imm - 1),
        "a threshold off by one": changed_node(program, counted[4295], imm=4296),
        "a rank off by one": asked(1),
        "a rank less by one": asked(-1),
        "cut below the greatest rank": changed_node(program, limit, imm=program.nodes[limit].imm - 1),
        "the older rank is the newest": written(older, newest),
        "a comparison of another value": changed_node(program, newest, args=(program.nodes[newest].args[0], value)),
    }


@pytest.mark.parametrize("wrong", mutants())
def test_a_program_whose_ranks_are_wrong_is_not_the_students(wrong: str) -> None:
    program, mutant = student(3).program(), mutants()[wrong]
    back = with_values(mutant, {s.name: s.storage for s in program.state})
    assert not same_decision(back, program)


def once_mutants() -> dict[str, Program]:
    """Programs that may leave their history as it is, each with one thing wrong."""
    made = student(3).with_parts(once_per_rtt=True).program()
    program = with_ranks(made, chains(made), masked=True)
    written = {s.name: s.node for s in program.state}
    newest, older = (written[f"congestion_q20_{age}_rank"] for age in (1, 2))
    (late, kept, rank), (_, oldest, moved) = (program.nodes[n].args for n in (newest, older))
    other = next(n for n, node in enumerate(program.nodes) if node.op is Op.EQ and n != late)
    return {
        "the other way round": changed_node(program, newest, args=(late, rank, kept)),
        "another condition": changed_node(program, newest, args=(other, kept, rank)),
        "always the old one": changed_node(program, newest, args=(late, kept, kept)),
        "the age before": changed_node(program, older, args=(late, moved, moved)),
        "always the oldest": changed_node(program, older, args=(late, oldest, oldest)),
    }


@pytest.mark.parametrize("wrong", once_mutants())
def test_a_history_that_is_left_in_another_way_is_not_the_students(wrong: str) -> None:
    program, mutant = student(3).with_parts(once_per_rtt=True).program(), once_mutants()[wrong]
    assert not same_decision(with_values(mutant, storage_of(program)), program)


def of_a_choice(*, ranks: bool, seen: str) -> Program:
    """A history that one of two conditions leaves, and of which somebody ``seen`` takes what the second chooses."""
    thresholds = (1000, 3000)
    asked = (0, 1) if ranks else thresholds
    trees = tuple(oblivious(((1, t),), (1, 100)) for t in asked)
    b = ProgramBuilder(Forest(("x", "x_1" + RANK * ranks), trees, (5,), 16), FLOW_RATE)
    x, sent = b.event("response_ns"), b.event("request_sent_ns")
    held = b.state_in("x_1" + RANK * ranks, "uint8" if ranks else "uint32")
    other = b.state_in("other", "uint32")
    first, second = (b.add(Op.GT, (sent, b.const(t))) for t in (2500, 700))
    new = b.add(Op.ADD, tuple(b.add(Op.GT, (x, b.const(t))) for t in thresholds)) if ranks else x
    inner = b.add(Op.SELECT, (second, held, new))
    trees_of = b.add(Op.TREES, (x, b.add(Op.MASK, (held,), 2) if ranks else held))
    b.state_out("x_1" + RANK * ranks, b.add(Op.SELECT, (first, held, inner)))
    b.state_out("other", inner if seen == "field" else other)
    return b.finish(inner if seen == "knob" else b.add(Op.ADD, (b.add(Op.MIN, (other, b.const(1000))), trees_of)))


@pytest.mark.parametrize("seen", ["nobody", "knob", "field"])
def test_what_others_see_of_a_choice_between_ranks_is_no_value(seen: str) -> None:
    """The value would stand there when it is read back, and not its rank."""
    program, values = of_a_choice(ranks=True, seen=seen), of_a_choice(ranks=False, seen=seen)
    back = with_values(program, storage_of(values))
    assert same_decision(back, values) == (seen == "nobody")


def test_choices_that_share_their_sides_take_no_longer_with_each_level() -> None:
    b = ProgramBuilder(Forest(("x", "x_1_rank"), (oblivious(((1, 0),), (1, 100)),), (5,), 16), FLOW_RATE)
    x = b.event("response_ns")
    held = b.state_in("x_1_rank", "uint8")
    sides = [held, b.add(Op.GT, (x, b.const(1000)))]
    for level in range(200):
        asked = b.add(Op.GT, (x, b.const(level)))
        sides = [b.add(Op.SELECT, (asked, *pair)) for pair in (sides, sides[::-1])]
    b.state_out("x_1_rank", sides[0])
    program = b.finish(b.add(Op.TREES, (x, held)))
    assert with_values(program) is program


def test_a_value_that_two_histories_keep_is_no_rank() -> None:
    """One search counts the thresholds of one."""
    forest = Forest(("x", "x_1", "y_1"), tuple(oblivious(((k, 900 * k + 50),), (1, 100)) for k in range(3)), (5,), 16)
    b = ProgramBuilder(forest, FLOW_RATE)
    x = b.event("response_ns")
    x_1, y_1 = b.state_in("x_1", "uint32"), b.state_in("y_1", "uint32")
    b.state_out("x_1", x)
    b.state_out("y_1", b.add(Op.SELECT, (b.add(Op.GT, (b.event("request_sent_ns"), b.const(700))), y_1, x)))
    assert chains(b.finish(b.add(Op.TREES, (x, x_1, y_1)))) == ()


def test_a_leaf_of_one_sum_of_two_is_looked_up_behind_the_search() -> None:
    """The search returns one leaf, which is of the only sum."""
    pairs = tuple(oblivious(((0, t - 500), (1, t)), ((0, t), (0, 1), (0, 30), (0, 2))) for t in (1000, 3000, 9000))
    wide = oblivious(tuple((k, 70 * k) for k in range(2, 6)), tuple((13 * n, 0) for n in range(16)))
    forest = Forest(("x", "x_1", "p", "q", "r", "s"), (*pairs, wide), (5, 6), 16)
    b = ProgramBuilder(forest, FLOW_RATE)
    x = b.event("response_ns")
    args = (
        x,
        b.state_in("x_1", "uint32"),
        *(b.event(n) for n in ("cnp_count", "nack_count", "sent_bytes", "queue_bytes")),
    )
    first, second = (b.add(Op.TREES, args, k) for k in (0, 1))
    b.state_out("x_1", x)
    program = b.finish(b.add(Op.ADD, (b.add(Op.MUL, (first, b.const(256))), second)))
    made = lower_program(with_ranks(program, chains(program), masked=True), Options(limits=Limits(table=64)))
    assert made.forests[0].direct == 1
    assert [group.columns for group in made.forests[0].groups] == [(1,)]
    printed = [s.code for s in Printer(made, lambda k, t: "").statements()]
    assert not any("leaf_" in line for line in printed)


def test_a_leaf_is_loaded_by_the_search_where_a_rank_can_be_returned_with_it(
    emitted: Callable[..., Path], tmp_path: Path
) -> None:
    """A rank shares the word with leaves that are not negative: with others a look-up follows."""
    for name, without in (("leaf_congestion_q20(row, ", ()), ("place_congestion_q20(", ("entries",))):
        folder = emitted(student(), tmp_path / str(len(without)), options=Options(without=without))
        assert name in (folder / "rlcc_policy.c").read_text()
        assert run_on_host(folder).passed


def asking(names: tuple[str, ...], *questions: tuple[int, int]) -> Program:
    """Over a window of 2; a tree a question."""
    trees = tuple(oblivious((question,), (-9000, 8000)) for question in questions)
    bucket = {"kind": "bucket", "signal": "queue_bytes", "first": 8192, "count": 6}
    return make_student([FEATURES.get(name, bucket) for name in names], ACTIONS[0], trees, window=2, bias=5).program()


def storage_of(program: Program) -> dict[str, str]:
    return {s.name: s.storage for s in program.state}


def test_a_bucket_is_a_sum_of_comparisons_and_no_rank() -> None:
    questions = [(0, 703), (0, 65_536), (2, 1000), (2, 30_000), (3, 3)]
    program = asking(("rl_cc_congestion", "bucket"), *questions)
    ranks = with_ranks(program, chains(program))
    assert [s.name.endswith(RANK) for s in ranks.state] == [False, True, False]
    assert same_decision(with_values(ranks, storage_of(program)), program)


def test_ranks_of_signed_values_are_read_back_without_their_type() -> None:
    program = asking(("rtt_inflation",), (0, 900), (1, 500), (1, 2000))
    ranks = with_ranks(program, chains(program))
    assert ranks != program
    assert same_decision(with_values(ranks), with_values(ranks, storage_of(program)))
    back = with_values(ranks)
    assert {s.storage for s in back.state[1:]} == {"int32"}


def test_a_rank_above_less_than_none_is_any_value() -> None:
    """Also one below -1: the student that asks for that is another."""
    other = asking(("rtt_inflation",), (0, 900), (1, 500), (1, -1))
    program = asking(("rtt_inflation",), (0, 900), (1, 500), (1, 500))
    ranks = with_ranks(program, chains(program))
    trees = (*ranks.forest.trees[:2], mapped(ranks.forest.trees[2], lambda b: (b.feature, -1)))
    wrong = replace(ranks, forest=replace(ranks.forest, trees=trees))
    assert not same_decision(with_values(wrong, storage_of(other)), other)


def test_of_trees_asked_about_two_things_no_field_is_a_rank() -> None:
    """What nobody uses either: the thresholds that were counted would go unread."""
    program = asking(("rl_cc_congestion",), (0, 900), (1, 0), (1, 1))
    ranks = with_ranks(program, chains(program))
    tree = next(node for node in ranks.nodes if node.op is Op.TREES)
    idle = replace(ranks, nodes=(*ranks.nodes, replace(tree, args=tree.args[::-1])))
    assert with_values(idle) is idle
    assert not same_decision(with_values(idle, storage_of(program)), program)
