"""rlcc_batch.h compared with the model and with rlcc_decide(): any row, any count of rows, each form of a tree."""

import ctypes
import os
import re
from itertools import count

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reproducible import examples
from test_model_firmware import FEATURES, MODELS, decided, random_model, rows_of

from codegen.batch import DE_BRUIJN, MASK_LEAVES, BatchPrinter
from codegen.model_body import ModelBody
from decision.ir.forest import Branch, Leaf, oblivious
from decision.policy.model import GridFeature, Model

HEAD = """#include "rlcc_policy.h"
void each(const rlcc_event *events, RESULT *results, uint32_t count);
void each(const rlcc_event *events, RESULT *results, uint32_t count)
{
    uint32_t k;
    for (k = 0U; k < count; k++) {
        ONE;
    }
}
"""
HEADER = """
#define rlcc_decide_batch decide_NAME
#define rlcc_batch_block block_NAME
#define rlcc_batch_leaf leaf_NAME
#include "NAME.h"
#undef RLCC_BATCH_H
#undef rlcc_decide_batch
#undef rlcc_batch_block
#undef rlcc_batch_leaf
void NAME(const rlcc_event *events, RESULT *results, uint32_t count);
void NAME(const rlcc_event *events, RESULT *results, uint32_t count) { decide_NAME(events, results, count); }
"""
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
UNTOUCHED = 0x5A5A5A5A
COUNTS = (0, 1, 63, 64, 65, 130)


def chain(values, feature=0, step=3):
    """A tree of one leaf a value: a question on each way up."""
    tree = Leaf((values[-1],))
    for k in range(len(values) - 2, -1, -1):
        tree = Branch(feature, step * k, tree, Leaf((values[k],)))
    return tree


ANY = GridFeature("any", 0, -(2**31), 2**31 - 1)
HIGH = GridFeature("high", 0, 2**31 - 9, 2**31 - 1)
FORMS = Model(  # bits, mask, rows, a tree of one leaf; keys of 16 bits, with an offset, by a search
    (*FEATURES, ANY, HIGH),
    (
        oblivious(((0, 7), (1, 900_000), (3, -(2**31)), (4, 2**31 - 2)), tuple(range(0, 160, 10))),
        oblivious(((1, 880_000), (2, -3), (3, 2**31 - 2), (4, 2**31 - 9)), tuple(range(500, 516))),
        chain([k * k for k in range(12)]),
        chain([k * 1001 for k in range(40)], feature=2, step=1),
        Leaf((77,)),
        chain([-3, 5, 9]),
    ),
    (11,),
    0,
    "regression",
)


@pytest.fixture
def built(tmp_path, host_compiler, run, rendered):
    """Builds a model and returns what decides rows [N, features] by the name of a function: ``many`` by the header,
    ``each`` a row at a time, and those of ``headers``."""
    numbers = count()

    def build(model, headers=None):
        folder = tmp_path / f"model{next(numbers)}"
        knobs = model.interface.knobs
        result = f"{knobs[0].storage}_t" if len(knobs) == 1 else "rlcc_action"
        one = "results[k] = rlcc_decide(&events[k])" if len(knobs) == 1 else "rlcc_decide(&events[k], &results[k])"
        files = rendered(model)
        texts = headers or {"many": files["rlcc_batch.h"]}
        folder.mkdir()
        for name, text in (files | {f"{name}.h": text for name, text in texts.items()}).items():
            (folder / name).write_text(text)
        caller = HEAD.replace("ONE", one) + "".join(HEADER.replace("NAME", name) for name in texts)
        (folder / "caller.c").write_text(caller.replace("RESULT", result))
        made = run(
            *host_compiler, *STRICT, "-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-shared",
            "-fPIC", "-o", folder / "batch.so", folder / "caller.c", folder / "rlcc_policy.c",
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        library = ctypes.CDLL(str(folder / "batch.so"))

        def decide(rows, name="many"):
            events = np.ascontiguousarray(rows, dtype=np.int32)
            out = np.full((len(rows) + 1, len(knobs)), UNTOUCHED, dtype=np.int32)
            getattr(library, name)(
                events.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p), len(rows)
            )
            assert (out[-1] == UNTOUCHED).all(), "a row beyond the last was written"
            return out[:-1].astype(np.int64)

        return decide

    return build


def anywhere(model, seed=1, number=300):
    """Rows of any int32, many of them at the ends and at thresholds."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-(2**31), 2**31, (number, len(model.features)))
    rows[: number // 3] = rng.choice([-(2**31), -1, 0, 1, 2**31 - 1], (number // 3, len(model.features)))
    for feature, thresholds in model.forest.thresholds().items():
        near = rng.choice(thresholds, number // 3) + rng.integers(-1, 3, number // 3)
        rows[number // 3 : 2 * (number // 3), feature] = np.clip(near, -(2**31), 2**31 - 1)
    return rows


@pytest.mark.slow_except("classes", "two targets", "the whole range", "forms")
@pytest.mark.parametrize("case", [*(name for name in MODELS if name != "no tree"), "forms"])
def test_every_row_gets_what_a_decision_gives_it(case, built):
    model = FORMS if case == "forms" else MODELS[case]
    decide, within, any_int = built(model), rows_of(model, 5, 200), anywhere(model)
    expected = decided(model, within)
    np.testing.assert_array_equal(decide(within), expected)
    np.testing.assert_array_equal(decide(any_int), decide(any_int, "each"))
    for number in COUNTS:
        np.testing.assert_array_equal(decide(within[:number]), expected[:number])


@given(
    seed=st.integers(0, 10**9), task=st.sampled_from([("regression", 1), ("argmax", 2), ("argmax", 4), ("binary", 1)])
)
@settings(
    max_examples=examples(12, fewest=3),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_row_of_any_model_gets_it(built, seed, task):
    model = random_model(seed, *task, trees=11)
    decide, rows = built(model), np.concatenate([rows_of(model, 0, 50), anywhere(model, seed, 90)])
    np.testing.assert_array_equal(decide(rows), decide(rows, "each"))


def test_the_forms_are_all_there():
    printer = ModelBody(FORMS).batch(FORMS.program())
    assert isinstance(printer, BatchPrinter)
    assert printer.masks
    assert printer.asks_rows
    offsets = {key.field: key.offset for key in printer.keys}
    assert offsets == {"rtt_q10": 0, "rate_q20": 912_768, "queue_qm6": 0, "any_q0": None, "high_q0": None}


def test_a_bit_of_a_mask_has_a_place_of_its_own():
    assert len({((1 << k) * DE_BRUIJN & 0xFFFF) >> 12 for k in range(MASK_LEAVES)}) == MASK_LEAVES


def test_a_model_without_trees_has_no_batch(rendered):
    assert "rlcc_batch.h" not in rendered(MODELS["no tree"])


def mutants(header):
    """The header with one thing wrong, each with the name of what is."""
    for number, found in enumerate(re.finditer(r"_key\[i\] > (\(?-?\d+\)?)\)", header)):
        for step in (-1, 1):
            wrong = f"({int(found[1].strip('()')) + step})"
            yield f"threshold {number} {step:+d}", header[: found.start(1)] + wrong + header[found.end(1) :]
    for number, found in enumerate(re.finditer(r"\? (0x[0-9A-F]{4})U", header)):
        yield f"mask {number}", header[: found.start(1)] + "0x0000" + header[found.end(1) :]
    for number, found in enumerate(re.finditer(r"\? (\d+)U : 0U\)", header)):
        yield f"bit {number}", header[: found.start(1)] + "0" + header[found.end(1) :]
    for number, found in enumerate(re.finditer(r"int32_t\)leaves_(\d+)\[", header)):
        yield f"leaves {number}", header[: found.start()] + "int32_t)2 * " + "(int32_t)" + header[found.start() + 8 :]
    yield "de Bruijn", header.replace(f"{DE_BRUIJN}U", "1U")
    yield "lowest bit", header.replace("excluded + 1U", "excluded + 2U")
    yield "bias", header.replace("int32_t sum_of_0 = ", "int32_t sum_of_0 = 1 + ")
    yield "first row", header.replace("first += rows", "first += rows + 1U")
    yield "cut", re.sub(r"_cut > (\(?-?\d+\)?)\) \? \w+ : \1", r"_cut > \1) ? \1 : \1", header, count=1)


SMALL = Model(
    FEATURES,
    (
        oblivious(((0, 7), (1, 900_000), (1, 1000)), tuple(range(1, 89, 11))),
        chain([k * k + 1 for k in range(8)]),
    ),
    (11,),
    0,
    "regression",
)


def test_rows_catch_every_mutant(built, rendered):
    """A threshold, a mask, a bit, a table, the product, the cut and the count of rows: each wrong in turn."""
    header, rows = rendered(SMALL)["rlcc_batch.h"], np.concatenate([rows_of(SMALL, 3, 700), anywhere(SMALL, 3, 60)])
    wrong = {name: text for name, text in mutants(header) if text != header}
    assert len(wrong) > 25
    headers = {f"mutant_{n}": text for n, text in enumerate(wrong.values())}
    decide = built(SMALL, headers)
    expected = decide(rows, "each")
    same = [(decide(rows, name) == expected).all() for name in headers]
    assert [name for name, equal in zip(wrong, same, strict=True) if equal] == []


def test_cxx_decides_a_batch(tmp_path, run, rendered):
    for name, text in rendered(FORMS).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "main.cpp").write_text(
        '#include "rlcc_batch.h"\nvoid many(const rlcc_event *e, int32_t *out) { rlcc_decide_batch(e, out, 9U); }\n'
    )
    cxx = os.environ.get("CXX", "c++").split()
    done = run(*cxx, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", tmp_path / "main.cpp")
    assert done.returncode == 0, done.stderr
