"""C text against the interpreter: random programs of every operator, whole students on 100,000 inputs, literals."""

import ctypes
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, drawn_programs, drawn_students, make_student, random_inputs
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.choose import OBJECTIVES, Limits
from codegen.ctypes99 import I32, I64, RANGES, U32, U64, literal, type_for
from codegen.fork import fork_of
from codegen.form_names import TREE_FORMS
from codegen.kernel import head, kernel
from codegen.layout import context_layout
from codegen.lower import PASSES, Options
from codegen.passes.program import lower_program
from codegen.printer import Printer
from decision.artefact.errors import InputError
from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.program_json import program_from_json
from decision.ir.rewrite import needed

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
# Programs of no purpose: comparisons that are always true, functions and values that nothing uses.
PURPOSELESS = ("-Wno-type-limits", "-Wno-unused", "-Wno-tautological-compare", "-Wno-unused-parameter")
UBSAN = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
LOOP = """
void decide_all(long n, rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params, uint32_t *rate)
{
    for (long i = 0; i < n; i++) {
        rate[i] = rlcc_decide(&flow[i], &event[i], &params[i]);
    }
}
"""


def decided_by(library, program, event, params, state):
    """Rates and contexts of all rows, by the C in a shared library."""
    rows = next(iter(event.values())).size
    fields, size = context_layout(program)
    formats = [np.dtype(f.ctype.removesuffix("_t")) for f in fields]
    layout = {"names": [f.name for f in fields], "formats": formats, "offsets": [f.offset for f in fields]}
    flow = np.zeros(rows, dtype=np.dtype({**layout, "itemsize": size}))
    for name, values in state.items():
        flow[name] = values
    words = [
        np.ascontiguousarray(np.stack([group[n] for n in names], axis=1).astype(np.uint32))
        for group, names in ((event, FLOW_RATE.event_names), (params, FLOW_RATE.param_names))
    ]
    rate = np.zeros(rows, dtype=np.uint32)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (flow, *words, rate)]
    ctypes.CDLL(str(library)).decide_all(ctypes.c_long(rows), *pointers)
    return rate.astype(np.int64), {name: flow[name].astype(np.int64) for name in state}


def same(program, library, inputs):
    (rate,), context = evaluate(program, *inputs)
    rate_c, context_c = decided_by(library, program, *inputs)
    assert np.array_equal(rate, rate_c)
    for name, values in context.items():
        assert np.array_equal(values, context_c[name]), name


def printer_of(program, options=None):
    return Printer(lower_program(program, options or Options()), lambda feature, threshold: "")


def printed(program, options=None):
    """A C file of its own for a program, as the template arranges it."""
    printer = printer_of(program, options)
    fields, _ = context_layout(program)
    lines = ["#include <stdint.h>"]
    for name, words in (("event", FLOW_RATE.event_names), ("params", FLOW_RATE.param_names)):
        lines.append("typedef struct { " + " ".join(f"uint32_t {w};" for w in words) + f" }} rlcc_{name};")
    lines.append("typedef struct { " + " ".join(f"{f.ctype} {f.name};" for f in fields) + " } rlcc_flow;")
    for function in printer.functions():
        lines += [head(function), "{", *function.body, "}"]
    lines.append("uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params);")
    lines.append("uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params) {")
    lines += [*printer.tables(), "(void)event; (void)params;", *(s.code for s in printer.statements())]
    lines += [*(s.code for s in printer.writes()), f"return {printer.result()}; }}"]
    declared = "void decide_all(long, rlcc_flow *, const rlcc_event *, const rlcc_params *, uint32_t *);"
    return "\n".join([*lines, declared, LOOP])


ways = st.builds(
    Options,
    engine=st.sampled_from(["ibex-small", "ibex-maxperf"]),
    optimise=st.sampled_from(OBJECTIVES),
    form=st.sampled_from(TREE_FORMS),
    limits=st.sampled_from([Limits(), Limits(table=64), Limits(table=None)]),
    without=st.lists(st.sampled_from([name for name in PASSES if name != "prune"]), unique=True).map(tuple),
    one_function=st.booleans(),
)


@settings(max_examples=examples(80))
@given(program=drawn_programs(), options=ways, seed=st.integers(0, 2**32))
def test_any_program_means_the_same_in_c_whatever_the_passes_and_the_form(program, options, seed, host_compiler, run):
    """Every operator, every mix of types that ranges bring about; UBSan watches for undefined behaviour."""
    try:
        source = printed(program, options)
    except InputError as error:  # sums beyond 32 bits and limits that no form keeps are refused, in words
        refusals = (
            "32 bits cannot hold",
            "no form",
            "no tree",
            "different values",
        )
        assume(not any(text in str(error) for text in refusals))
        raise
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "policy.so"
        library.with_suffix(".c").write_text(source)
        flags = [*STRICT, *PURPOSELESS, *UBSAN, "-O1", "-fPIC", "-shared"]
        built = run(*host_compiler, *flags, library.with_suffix(".c"), "-o", library)
        assert built.returncode == 0, built.stderr + source
        same(program, library, random_inputs(program, 500, seed))


@settings(max_examples=4)
@given(student=drawn_students(trees=10))
def test_a_shared_library_of_the_emitted_c_agrees_on_100_000_inputs(student, emitted, host_compiler, run):
    with tempfile.TemporaryDirectory() as folder:
        firmware = emitted(student, Path(folder))
        (firmware / "loop.c").write_text(f'#include "rlcc_policy.h"\n{LOOP}')
        sources = [firmware / "rlcc_policy.c", firmware / "loop.c"]
        built = run(*host_compiler, "-O2", "-fPIC", "-shared", *sources, "-o", firmware / "policy.so")
        assert built.returncode == 0, built.stderr
        program = program_from_json(json.loads((firmware / "program.json").read_text()))  # histories may be ranks there
        same(program, firmware / "policy.so", random_inputs(program, 100_000, 7))


def nested(inner: str) -> Program:
    """Trees on one side of a choice, with another choice by the same condition within: ``inner`` says where."""
    b = ProgramBuilder(Forest(("f0",), (oblivious(((0, 5),), (1, 2)),), (0,), 16), FLOW_RATE)
    rate = b.state_in("rate_q30", "uint32")
    condition = b.add(Op.GT, (rate, b.const(3)))
    low = b.add(Op.SHR, (rate,), 20, "low")
    sum_ = b.add(Op.ADD, (b.add(Op.MAX, (b.add(Op.TREES, (rate,)), b.const(0))), low), name="sum")
    first = b.add(Op.SELECT, (condition, low, sum_), name="first")
    more = b.add(Op.ADD, (first, b.const(1)), name="more")
    arms = {
        "arm": (first, low),
        "operand": (more, low),
        "other arm": (low, first),
        "both": (more, b.add(Op.ADD, (more, low))),
        "behind": (more, low),
    }
    second = b.add(Op.SELECT, (condition, *arms[inner]), name="second")
    b.state_out("rate_q30", second)
    return b.finish(more if inner == "behind" else b.add(Op.ADD, (second, first)))


@pytest.mark.parametrize("inner", ["arm", "operand", "other arm", "both", "behind"])
def test_choices_by_one_condition_may_nest(inner, tmp_path, host_compiler, run):
    program = nested(inner)
    source = printed(program, Options(form="branches"))
    library = tmp_path / "policy.so"
    library.with_suffix(".c").write_text(source)
    built = run(*host_compiler, *STRICT, *UBSAN, "-fPIC", "-shared", library.with_suffix(".c"), "-o", library)
    assert built.returncode == 0, built.stderr + source
    forks = fork_of(program, needed(program), lambda node: node.args) is not None
    assert forks == (inner not in ("both", "behind"))
    same(program, library, random_inputs(program, 500, 1))


@pytest.mark.parametrize(("op", "value", "places"), [(Op.SHL, 1, 40), (Op.SHR, 2**32 - 1, 32), (Op.SHR, 1, 63)])
def test_a_shift_by_32_or_more_is_done_in_64_bits(op, value, places):
    """In 32 bits it would be undefined, also where the range says that the result is 0."""
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_RATE)
    small = b.add(Op.MIN, (b.state_in("rate_q30", "uint32"), b.const(value)))
    node = b.add(op, (small,), places, "shifted")
    b.state_out("rate_q30", b.add(Op.MIN, (node, b.const(5))))
    text = "\n".join(s.code for s in printer_of(b.finish(small)).statements())
    assert "shifted = " not in text or "(uint64_t)" in text


def kernel_values(ensemble, ranges, options, rows, folder, host_compiler, run):
    """A kernel's value of each row of features."""
    library = folder / "kernel.so"
    library.with_suffix(".c").write_text(kernel(ensemble, ranges, options).c_source())
    built = run(*host_compiler, *STRICT, *UBSAN, "-fPIC", "-shared", library.with_suffix(".c"), "-o", library)
    assert built.returncode == 0, built.stderr
    function = ctypes.CDLL(str(library)).rlcc_trees
    return [function((ctypes.c_int32 * len(row))(*row)) for row in rows]


CANCELLING = Forest(
    ("f0", "f1"),
    (
        oblivious(((0, 5), (1, 3)), (3, 0, 1, 2)),
        oblivious(((1, 3), (0, 5)), (-3, -1, 0, -2)),
        oblivious((), (4,)),
    ),
    (7,),
    16,
)


@pytest.mark.parametrize("form", TREE_FORMS)
@pytest.mark.parametrize("without", [(), ("merge",), ("prune", "merge", "limits")])
def test_trees_that_cancel_each_other_and_constant_trees_compile_in_every_form(
    form, without, tmp_path, host_compiler, run
):
    rows = [[a, b] for a in (0, 5, 6, 9) for b in (0, 3, 4, 9)]
    options = Options(form=form, without=without)
    values = kernel_values(CANCELLING, [(0, 9)] * 2, options, rows, tmp_path, host_compiler, run)
    assert values == [11] * len(rows)


@pytest.mark.parametrize("form", [form for form in TREE_FORMS if form != "auto"])
def test_a_threshold_below_the_type_is_refused_in_every_form_where_nothing_prunes_it(form):
    """-5 as a uint32_t would be the greatest of thresholds, not the least."""
    b = ProgramBuilder(Forest(("f0",), (oblivious(((0, -5),), (1, 2)),), (0,), 16), FLOW_RATE)
    rate = b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", rate)
    program = b.finish(b.add(Op.MAX, (b.add(Op.TREES, (rate,)), b.const(0))))
    with pytest.raises(InputError, match="below its type"):
        printed(program, Options(form=form, without=("prune",)))
    assert "-5" not in printed(program, Options(form=form))


@pytest.mark.parametrize("form", TREE_FORMS)
def test_a_clamp_beyond_32_bits_is_not_the_trees_own(form):
    b = ProgramBuilder(Forest(("f0",), (oblivious(((0, 5),), (1, 2)),), (0,), 16), FLOW_RATE)
    rate = b.state_in("rate_q30", "uint32")
    clamped = b.add(Op.MAX, (b.add(Op.TREES, (rate,)), b.const(1 << 40)))
    b.state_out("rate_q30", b.add(Op.SHR, (clamped,), 20))
    printed(b.finish(rate), Options(form=form, without=("idle",)))


def test_a_product_shifted_by_32_is_done_in_64_bits():
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_RATE)
    low = b.add(Op.MIN, (b.state_in("rate_q30", "uint32"), b.const(60_000)))
    product = b.add(Op.ADD, (b.add(Op.MUL_SHR, (low, low), 32), b.param("rate_min_q30")))
    b.state_out("rate_q30", b.add(Op.SHR, (product,), 1))
    text = "\n".join(s.code for s in printer_of(b.finish(low)).statements())
    assert ">> 32U" not in text, "its range is 0..0: no code is needed"


def test_a_sum_of_trees_that_is_not_negative_gets_wider_without_a_warning(tmp_path, host_compiler, run):
    """The sum is an int32_t whatever its range: beside a constant gcc warns where it becomes a uint64_t at once."""
    b = ProgramBuilder(Forest(("f0",), (oblivious(((0, 5),), (100_000, 200_000)),), (0,), 16), FLOW_RATE)
    rate = b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", b.add(Op.SHR, (b.add(Op.MUL, (b.add(Op.TREES, (rate,)), b.const(88_387))),), 4))
    (tmp_path / "policy.c").write_text(printed(b.finish(rate)))
    built = run(*host_compiler, *STRICT, *PURPOSELESS, "-c", tmp_path / "policy.c", "-o", tmp_path / "policy.o")
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize(
    ("low", "high", "ctype"),
    [
        (0, 0, U32),
        (0, 2**32 - 1, U32),
        (-1, 0, I32),
        (-(2**31), 2**31 - 1, I32),
        (0, 2**32, U64),
        (0, 2**63 - 1, U64),
        (-1, 2**31, I64),
        (-(2**31) - 1, 0, I64),
        (-(2**63), 2**63 - 1, I64),
    ],
)
def test_types_are_the_narrowest_that_hold_the_range(low, high, ctype):
    assert type_for(low, high) == ctype


def test_literals_have_their_type_and_value_in_c(tmp_path, host_compiler, run):
    cases = [(v, t) for t, (low, high) in RANGES.items() for v in sorted({low, low + 1, -1, 0, 1, high - 1, high})]
    cases = [(v, t) for v, t in cases if RANGES[t][0] <= v <= RANGES[t][1]]
    lines = ["#include <stdint.h>", "#include <inttypes.h>", "#include <stdio.h>", "int main(void) {"]
    for value, ctype in cases:
        form = "PRIu64" if ctype.startswith("u") else "PRId64"
        wide = "uint64_t" if ctype.startswith("u") else "int64_t"
        lines.append(f'{{ const {ctype} v = {literal(value, ctype)}; printf("%" {form} "\\n", ({wide})v); }}')
    (tmp_path / "literals.c").write_text("\n".join([*lines, "return 0; }"]))
    built = run(*host_compiler, *STRICT, "-Wsign-conversion", tmp_path / "literals.c", "-o", tmp_path / "literals")
    assert built.returncode == 0, built.stderr
    assert [int(line) for line in run(tmp_path / "literals").stdout.split()] == [value for value, _ in cases]


def test_trees_that_cannot_add_up_in_32_bits_are_refused():
    trees = tuple(oblivious(((0, 5),), (-(2**30), 2**30)) for _ in range(2))
    program = make_student([FEATURES["rate"]], ACTIONS[0], trees).program()
    with pytest.raises(InputError, match="32 bits cannot hold"):
        printer_of(program)


def test_a_threshold_that_the_feature_cannot_reach_decides_nothing():
    program = make_student([FEATURES["rate"]], ACTIONS[0], (oblivious(((0, 2**20 + 1),), (1, 2)),)).program()
    assert printer_of(program).functions() == []
    without = printer_of(program, Options(form="branches", without=("prune", "merge", "limits", "reorder")))
    assert "> 1048577U" in str(without.functions())
