"""The emitted folder: strict compilers accept it, UBSan has nothing to say, and its own vectors hold bit for bit.

Slow: further pairs of target, action map and compiler.
"""

import filecmp
import re
import tempfile
from pathlib import Path

import pytest
from drawing import ACTIONS, FEATURES, drawn_students, make_student
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from codegen.emit import emit
from codegen.lower import Options
from codegen.targets import TARGETS
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from decision.ir.forest import oblivious

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
UBSAN = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
BRANCHES = Options(form="branches")


def check(folder, compiler, run, *flags):
    """Compiles the folder's selftest strictly and runs it; the output of whichever failed, else nothing."""
    sources = [folder / "rlcc_selftest.c", folder / "rlcc_policy.c"]
    built = run(*compiler, *STRICT, *flags, "-I", folder, *sources, "-o", folder / "selftest")
    if built.returncode:
        return built.stderr
    ran = run(folder / "selftest")
    return ran.stdout + ran.stderr if ran.returncode else ""


@pytest.mark.slow_except("gcc")
@settings(max_examples=examples(12, fewest=3))
@given(student=drawn_students())
def test_any_student_compiles_strictly_and_passes_its_vectors_under_ubsan(student, emitted, compiler, run):
    with tempfile.TemporaryDirectory() as folder:
        firmware = emitted(student, Path(folder))
        assert check(firmware, compiler, run, "-O1", *UBSAN) == ""
        alone = run(*compiler, *STRICT, "-c", firmware / "trees_only.c", "-o", firmware / "trees_only.o")
        assert alone.returncode == 0, alone.stderr


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(student=drawn_students(trees=10))
def test_many_students_compile_and_pass(student, emitted, compiler, run):
    with tempfile.TemporaryDirectory() as folder:
        assert check(emitted(student, Path(folder)), compiler, run, "-O2", *UBSAN) == ""


@pytest.mark.parametrize("window", [1, 3])
def test_a_count_of_decisions_is_the_programs(window, emitted, tmp_path, host_compiler, run):
    """Contexts of every kind are among the vectors."""
    features = [FEATURES["rl_cc_congestion"], {"kind": "decisions", "most": 100}]
    tree = oblivious(((0, 9000), (1, 7), (2 * window - 1, 50)), tuple(range(-4000, 4000, 1000)))
    folder = emitted(make_student(features, ACTIONS[0], (tree,), window=window), tmp_path)
    assert check(folder, host_compiler, run, *UBSAN) == ""
    text = (folder / "rlcc_policy.c").read_text()
    (folder / "rlcc_policy.c").write_text(text.replace(": 100U;", ": 101U;"))
    assert "vectors wrong" in check(folder, host_compiler, run)


@pytest.mark.slow_except("tanh_map-*", "table-generic", "multiplier3.0-generic")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a["kind"] + str(a.get("high", "")))
def test_every_target_and_action_map_compiles(target, action, emitted, tmp_path, host_compiler, run):
    lacks = TARGETS[target].lacks
    kinds = [k for k in ("previous_action", "rl_cc_congestion", "cnp_ratio", "nack_ratio") if k[:3] not in str(lacks)]
    tree = oblivious(tuple((i % len(kinds), (10, 4000, 3, 9)[i]) for i in range(4)), tuple(range(-8000, 8000, 1000)))
    folder = emitted(make_student([FEATURES[k] for k in kinds], action, (tree,)), tmp_path, target=target)
    assert check(folder, host_compiler, run) == ""


@pytest.mark.slow_except(
    "rate-falcon-rue-no tree",
    "rate-generic-no tree",
    "previous_action-generic-a constant tree",
    "previous_action-generic-equal leaves",
)
@pytest.mark.parametrize(
    "trees",
    [
        (),
        (oblivious((), (500,)),),
        (oblivious(((0, 5),), (0, 0)),),
        (oblivious(((0, 5),), (9, 9)), oblivious((), (1,))),
    ],
    ids=["no tree", "a constant tree", "leaves of 0", "equal leaves"],
)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["previous_action", "rate"])
def test_a_student_that_looks_at_nothing(trees, kind, target, emitted, tmp_path, host_compiler, run):
    folder = emitted(make_student([FEATURES[kind]], ACTIONS[0], trees), tmp_path, target=target)
    assert check(folder, host_compiler, run) == ""
    text = (folder / "rlcc_policy.c").read_text()
    assert "(void)event;" in text
    assert "= (int32_t)flow->action_1" not in text, "read for nothing: an unused variable"


def test_a_student_that_looks_at_the_context_alone_leaves_the_event_unused(emitted, tmp_path, host_compiler, run):
    """-Wextra would else reject the unused parameter, and rlcc_policy.mk sets -Werror."""
    tree = oblivious(((0, 10),), (-500, 500))
    folder = emitted(make_student([FEATURES["previous_action"]], ACTIONS[0], (tree,)), tmp_path)
    assert check(folder, host_compiler, run) == ""


@pytest.mark.slow_except("gcc")
def test_a_table_of_256_actions_compiles(emitted, tmp_path, compiler, run):
    """Compilers bound the nesting of brackets (C99 promises 63, clang allows 256)."""
    multipliers = [0.5 + i / 256 for i in range(256)]
    tree = oblivious(tuple((0, 1000 * (i + 1)) for i in range(4)), tuple(range(0, 1 << 18, 1 << 14)))
    student = make_student([FEATURES["rl_cc_congestion"]], {"kind": "table", "multipliers": multipliers}, (tree,))
    assert check(emitted(student, tmp_path), compiler, run) == ""


@settings(max_examples=10)
@given(student=drawn_students(), target=st.sampled_from(["generic", "connectx6dx"]))
def test_no_float_no_division_no_loop_no_global_in_the_decision(student, target, emitted):
    with tempfile.TemporaryDirectory() as folder:
        text = (emitted(student, Path(folder), target=target, options=BRANCHES) / "rlcc_policy.c").read_text()
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    code = re.sub(r"^\s*#.*$", "", code, flags=re.MULTILINE)
    assert not re.search(r"\b(float|double|for|while|do|goto|malloc|memcpy)\b|[/%]|\[", code)
    outside = re.sub(r"\{[^{}]*\}", "", _bodies_removed(code))
    assert set(re.findall(r"^\w.*;$", outside, flags=re.MULTILINE)) == set(), "a global"


def _bodies_removed(code: str) -> str:
    kept, depth = [], 0
    for character in code:
        depth += character == "{"
        if depth == 0:
            kept.append(character)
        depth -= character == "}"
    return "".join(kept)


@settings(max_examples=5)
@given(student=drawn_students())
def test_emitting_twice_gives_the_same_bytes(student, emitted):
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        folders = [emitted(student, Path(folder), target="generic") for folder in (one, two)]
        names = sorted(p.name for p in folders[0].iterdir())
        assert names == sorted(p.name for p in folders[1].iterdir())
        match, mismatch, errors = filecmp.cmpfiles(*folders, names, shallow=False)
        assert (len(match), mismatch, errors) == (len(names), [], [])


def test_another_seed_gives_other_vectors_of_the_same_policy(emitted, tmp_path):
    tree = oblivious(((0, 4000),), (-500, 500))
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (tree,))
    one, two = (emitted(student, tmp_path / str(seed), seed=seed) for seed in (0, 1))
    assert (one / "rlcc_policy.c").read_bytes() == (two / "rlcc_policy.c").read_bytes()
    assert (one / "vectors.csv").read_bytes() != (two / "vectors.csv").read_bytes()


def test_a_context_too_large_for_the_device_is_refused_and_nothing_is_written(tmp_path):
    """Window 8 of two features: 4 (rate) + 7 x 4 (congestion) + 8 x 2 (action) = 48 bytes and the adapter's 4."""
    features = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]
    tree = oblivious(((14, 100), (15, 100)), (1, 2, 3, 4))
    student = make_student(features, ACTIONS[0], (tree,), window=8)
    with writing(tmp_path / "student", "student") as folder:
        student.save(folder)
    with pytest.raises(InputError, match=r"52 bytes \(48 .*, 4 .*\).*doca-pcc .*48"):
        emit(tmp_path / "student", tmp_path / "firmware", target="doca-pcc")
    assert not (tmp_path / "firmware").exists()
    assert emit(tmp_path / "student", tmp_path / "firmware", target="connectx6dx")["context_bytes"] == 48


def test_counters_of_the_adapter_count_towards_the_context(tmp_path):
    """CNPs, NACKs and bytes are kept by the DOCA adapter between decisions: 12 bytes more."""
    features = [FEATURES[k] for k in ("rl_cc_congestion", "cnp_ratio", "nack_ratio")]
    tree = oblivious(((12, 100), (13, 1), (14, 1)), tuple(range(8)))
    student = make_student(features, ACTIONS[0], (tree,), window=5)
    with writing(tmp_path / "student", "student") as folder:
        student.save(folder)
    with pytest.raises(InputError, match=r"52 bytes \(36 .*, 16 .*\)"):
        emit(tmp_path / "student", tmp_path / "firmware", target="doca-pcc")


@pytest.mark.parametrize("feature", [FEATURES["queue_inflation"], FEATURES["rl_cc_congestion"] | {"signal": "queue"}])
def test_a_policy_that_needs_the_queue_length_is_refused_where_there_is_none(feature, tmp_path):
    """Compiled all the same it would see an empty queue for ever and never slow down."""
    student = make_student([feature], ACTIONS[0], (oblivious(((0, 100),), (-5, 5)),))
    with writing(tmp_path / "student", "student") as folder:
        student.save(folder)
    with pytest.raises(InputError, match=r"queue_bytes, .*doca-pcc"):
        emit(tmp_path / "student", tmp_path / "firmware", target="doca-pcc")


def test_an_unknown_target_is_named(tmp_path):
    with writing(tmp_path / "student", "student") as folder:
        make_student([FEATURES["rate"]], ACTIONS[0], ()).save(folder)
    with pytest.raises(InputError, match=r"'bluefield'; .* generic, connectx6dx, doca-pcc"):
        emit(tmp_path / "student", tmp_path / "firmware", target="bluefield")


def test_the_manifest_tells_the_layout_that_the_compiler_uses(emitted, tmp_path, host_compiler, run):
    features = [FEATURES[k] for k in ("previous_action", "rl_cc_congestion", "rtt_inflation", "cnp_ratio")]
    tree = oblivious(((8, 1), (9, 1), (10, 1), (11, 1)), tuple(range(16)))
    folder = emitted(make_student(features, ACTIONS[0], (tree,), window=3), tmp_path)
    layout = opened(folder, "firmware").details["layout"]
    lines = ['#include "rlcc_policy.h"', "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    expected = []
    for group, struct in layout.items():
        kind = "flow" if group == "context" else group
        lines.append(f'printf("%d\\n", (int)sizeof(rlcc_{kind}));')
        expected.append(struct["size"])
        for field in struct["fields"]:
            member = f"((rlcc_{kind} *)0)->{field['name']}"
            lines.append(f'printf("%d %d\\n", (int)offsetof(rlcc_{kind}, {field["name"]}), (int)sizeof {member});')
            expected += [field["offset"], {"uint32_t": 4, "int32_t": 4, "uint16_t": 2, "int16_t": 2}[field["ctype"]]]
    (folder / "layout.c").write_text("\n".join([*lines, "return 0; }"]))
    assert run(*host_compiler, folder / "layout.c", "-o", folder / "layout").returncode == 0
    assert [int(word) for word in run(folder / "layout").stdout.split()] == expected


def test_the_makefile_fragment_checks_the_folder(emitted, tmp_path, run):
    tree = oblivious(((0, 4000),), (-500, 500))
    folder = emitted(make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (tree,)), tmp_path)
    done = run("make", "-C", folder, "-f", "rlcc_policy.mk", "check")
    assert done.returncode == 0, done.stderr
    assert "0 of" in done.stdout
    (folder / "rlcc_policy.c").write_text(
        (folder / "rlcc_policy.c").read_text().replace("4000U", "4001U").replace("4000)", "4001)")
    )
    assert run("make", "-C", folder, "-f", "rlcc_policy.mk", "check").returncode != 0
    assert not (folder / "rlcc_selftest").exists(), "what stays would not be in the manifest"


@pytest.mark.slow_except("gcc")
def test_a_current_feature_whose_splits_are_all_pruned_leaves_no_unused_value(emitted, tmp_path, compiler, run):
    """Equal leaves merge, nobody asks for the congestion any more; -Wunused-variable is an error in rlcc_policy.mk."""
    tree = oblivious(((0, 4000), (1, 3)), (5, 5, -9, -9))
    folder = emitted(make_student([FEATURES["rtt_inflation"], FEATURES["cnp_ratio"]], ACTIONS[0], (tree,)), tmp_path)
    assert check(folder, compiler, run) == ""
    text = (folder / "rlcc_policy.c").read_text()
    assert "rtt_ns" not in text
    alone = make_student([FEATURES["cnp_ratio"]], ACTIONS[0], (oblivious(((0, 3),), (5, 5)),))
    folder = emitted(alone, tmp_path / "alone", target="doca-pcc")
    assert check(folder, compiler, run) == ""
    assert "cnp_count" not in (folder / "rlcc_doca_pcc.c").read_text().replace("decided.cnp_count = 0U;", "")
