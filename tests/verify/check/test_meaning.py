"""The checker's meaning of a program is the interpreter's, over the whole range of every operator."""

from collections import Counter
from random import Random

import pytest
from reproducible import examples
from term_values import cut, value_of
from wide_programs import DRAWN, INT32_MAX, INT32_MIN, Around, program_around

from decision.ir.forest import Forest, oblivious, unrolled
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import trace
from decision.ir.program import INT64_MAX, INT64_MIN, Op, ProgramBuilder
from verify.check.meaning import Meaning, fits, input_name, input_word
from verify.check.notation import evaluate
from verify.check.path_facts import Bounds, Known, bounded
from verify.check.terms import FALSE, NARROW, TRUE, Term, const, var

WHOLE = 80
"""Programs of an operator in the slow suite, four inputs each."""
PROGRAMS = examples(WHOLE)
UNSIGNED = (Op.SHL, Op.SHR, Op.MASK, Op.MUL_SHR)


def traced(around: Around) -> list[list[int]]:
    """The interpreter's value of every node, for each input."""
    parts = [
        {n.partition(".")[2]: [row[n] for row in around.inputs] for n in around.inputs[0] if n.startswith(f"{s}.")}
        for s in ("event", "params", "context")
    ]
    columns = trace(around.program, *parts)
    return [[int(column[row]) for column in columns] for row in range(len(around.inputs))]


def leaf_of(ensemble: Forest, k: int, features: list[int]) -> int:
    splits, leaves = unrolled(ensemble.trees[k])
    return leaves[sum((features[f] > t) << level for level, (f, t) in enumerate(splits))].value[0]


def named_values(around: Around, values: list[int]) -> dict[str, int]:
    """What each name of the certificate's notation stands for, beside the inputs."""
    program, found = around.program, {f"node.{n}": value for n, value in enumerate(values)}
    trees = next((node for node in program.nodes if node.op is Op.TREES), None)
    if trees is not None:
        features, total = [values[a] for a in trees.args], 0
        for k in range(len(program.forest.trees)):
            leaf = leaf_of(program.forest, k, features)
            total += leaf
            found |= {f"tree.{k}": leaf, f"sum.{k}": total}
    return found


def known_of(around: Around) -> Known:
    """What the checker knows of inputs: the ranges of their types."""
    bounds: dict[Term, Bounds] = {}
    for node in around.program.nodes:
        name = input_name(around.program, node)
        if name:
            bounds[input_word(name, node.low, node.high)] = bounded(node.low, node.high)
    return Known(bounds)


def holds(around: Around, free: frozenset[str], values: list[int], inputs: dict[str, int], decided: bool) -> None:
    """Every node, tree and sum of the meaning has the interpreter's value in one input."""
    program, names, done = around.program, named_values(around, values), dict[Term, int]()
    environment = inputs | names

    def choose(condition: Term) -> Term:
        return const(value_of(condition, environment, done), 0) if decided else condition

    meaning = Meaning(program, free, choose, known_of(around).product)
    for n, node in enumerate(program.nodes):
        term = meaning.value(n)
        assert term.width == (32 if fits(node.low, node.high) else 64), (n, node)
        assert value_of(term, environment, done) == cut(values[n], term.width), (n, node)
        assert value_of(meaning.wide(n), environment, done) == cut(values[n], 64), (n, node)
    for name, value in names.items():
        term = evaluate(name, meaning)
        assert term.width == 32
        assert value_of(term, environment, done) == cut(value, 32), name
        kind, k = name.split(".")
        if kind == "sum":
            whole = meaning.sum(int(k))
            assert value_of(whole, environment, done) == cut(value, whole.width), name


def reached(around: Around, values: list[int]) -> list[str]:
    """What an input shows of the operator, to count how much of its range the draws cover."""
    node, value = around.program.nodes[around.node], values[around.node]
    operands = [values[a] for a in node.args]
    return [
        *(["beyond a word"] if not INT32_MIN <= value <= U32_MAX else []),
        *(["above"] if value > U32_MAX else []),
        *(["below"] if value < INT32_MIN else []),
        *(["of the upper half"] if INT32_MAX < value <= U32_MAX else []),
        *(["far"] if not INT64_MIN >> 8 <= value <= INT64_MAX >> 8 else []),
        *(["operands beyond a word"] if any(not INT32_MIN <= v <= U32_MAX for v in operands) else []),
        *(["wraps"] if node.op is Op.WRAP_SUB and operands[0] < operands[1] else []),
        *(["negative"] if value < 0 else []),
        *(["true"] if node.op in (Op.GT, Op.EQ) and value else []),
        "drawn",
    ]


def least(op: Op) -> dict[str, int]:
    """How often each must have been seen among the inputs of WHOLE programs: a draw must not silently go narrow."""
    if op in (Op.EVENT, Op.PARAM):
        return {"of the upper half": 60}
    if op is Op.STATE:
        return {"of the upper half": 10, "negative": 40}
    if op is Op.WRAP_SUB:
        return {"wraps": 60, "of the upper half": 60}
    if op in (Op.GT, Op.EQ):
        return {"operands beyond a word": 100, "true": 10}
    if op in UNSIGNED:
        return {"beyond a word": 35, "above": 35}
    if op is Op.TREES:  # three times as far as a word reaches, never further
        return {"beyond a word": 30, "above": 10, "below": 10}
    if op in (Op.MIN, Op.MAX):  # the other sign of the wider operand is seldom the chosen one
        return {"beyond a word": 60, "above": 10, "below": 10, "far": 20}
    return {"beyond a word": 60, "above": 20, "below": 20, "far": 20}


@pytest.mark.parametrize("op", DRAWN, ids=lambda op: op.name)
def test_the_meaning_is_the_interpreters(op: Op) -> None:
    seen: Counter[str] = Counter()
    for seed in range(PROGRAMS):
        around, rng = program_around(op, seed), Random(seed)
        rows = traced(around)
        free = frozenset(name for name in named_values(around, rows[0]) if rng.random() < 0.4)
        for values, inputs in zip(rows, around.inputs, strict=True):
            seen.update(reached(around, values))
            holds(around, frozenset(), values, inputs, decided=False)
            holds(around, free, values, inputs, decided=rng.random() < 0.5)
    counts = {what: count * PROGRAMS // WHOLE for what, count in least(op).items()}
    short = {what: (seen[what], count) for what, count in counts.items() if seen[what] < count}
    assert not short, f"{op.name} was drawn too narrow: {short} of {seen['drawn']}"


def test_every_operator_is_drawn() -> None:
    assert {*DRAWN, Op.NETWORK} == set(Op)


@pytest.mark.parametrize(
    ("low", "high", "narrow"),
    [
        (0, 1, (1, False)),
        (0, 255, (8, False)),
        (-128, 127, (8, True)),
        (-1, 0, (1, True)),
        (0, INT32_MAX, (31, False)),
        (INT32_MIN, INT32_MAX, None),
        (0, U32_MAX, None),
    ],
)
def test_an_input_is_narrow_where_fewer_bits_hold_it_whoever_had_its_name_before(
    low: int, high: int, narrow: tuple[int, bool] | None
) -> None:
    for before in ((0, 15), (0, U32_MAX)):
        input_word("meaning.input", *before)
        assert NARROW.get(input_word("meaning.input", low, high)) == narrow
    input_word("meaning.input", 0, U32_MAX)


def test_inputs_and_constants_stay_what_they_are_where_their_names_are_free() -> None:
    """A cut may hold any node; of these two the checker knows more than that."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    event, seven = b.event(FLOW_RATE.event_names[0]), b.const(7)
    total = b.add(Op.WRAP_SUB, (event, seven))
    program = b.finish(total)
    free = frozenset(f"node.{n}" for n in (event, seven, total))
    meaning = Meaning(program, free, lambda condition: condition, Known({}).product)
    assert meaning.value(event) is var(f"event.{FLOW_RATE.event_names[0]}")
    assert meaning.value(seven) is const(7)
    assert meaning.value(total) is var(f"node.{total}")


@pytest.mark.parametrize("x", [0, 300, 501, 550, 1000, 5000])
def test_a_threshold_is_not_asked_where_another_says_its_answer(x: int) -> None:
    """Trees with thresholds on one input, in no order, two of them twice: only what moves an end is asked."""
    thresholds = [600, 100, 1000, 300, 299, 800, 600, 200, 900, 500, 501, 400, 700, 299]
    trees = tuple(oblivious([(0, each)], (0, 1 << k)) for k, each in enumerate(thresholds))
    b = ProgramBuilder(Forest(("f",), trees, (0,), 16), FLOW_RATE)
    total = b.add(Op.TREES, (b.event(FLOW_RATE.event_names[0]),))
    program = b.finish(total)
    asked: list[int] = []

    def choose(condition: Term) -> Term:
        asked.append(condition.args[0].value)
        return TRUE if x > asked[-1] else FALSE

    meaning = Meaning(program, frozenset(), choose, Known({}).product)
    assert meaning.value(total).value == sum(1 << k for k, each in enumerate(thresholds) if x > each)
    below, above = [-1], [5001]
    for each in thresholds:
        if below[-1] < each < above[-1]:
            (below if x > each else above).append(each)
    assert asked == [each for each in dict.fromkeys(thresholds) if each in below or each in above]
    assert len(asked) < len(thresholds)
