"""Exports of the same trees compared: the models are the same, cycles are what was meant, wrong is found wrong.

Slow: further libraries, engines and options; the fast suite compares one of each kind.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import treelite
from rich.console import Console

from bench.codegen import __main__ as command
from bench.codegen import core, floors, foreign_models, page, peers, results, translated_trees
from bench.codegen.contender import Absent, ExporterRun, ExportSource
from bench.codegen.foreign_models import OutsideExporter
from bench.codegen.own_kernels import OURS
from bench.codegen.results import CompiledPlace, ExportCase, ExportResult, judge, measure
from bench.codegen.rows import Rows, cells, rows
from bench.codegen.subjects import ExportSubject, FloatTree, drawn, trained
from decision.ir.forest import Forest, branches
from emulator.compile import toolchain
from emulator.profile import load_profile
from emulator.timing import time_function

SEED = 7
ENGINE = "ibex-small"
IF_ELSE = ExporterRun("if-else", "floor", floors.if_else)
CATBOOST = ExporterRun("CatBoost", "peer", peers.catboost_cpp)


@pytest.fixture(scope="module")
def subject() -> ExportSubject:
    return drawn(SEED)


@pytest.fixture(scope="module")
def case(subject: ExportSubject) -> ExportCase:
    """Few rows: two dozen edge rows and as many others."""
    every = rows(subject, SEED)
    few = Rows(np.concatenate([every.table[: every.edges : 10], every.table[-26:]]), len(range(0, every.edges, 10)))
    return ExportCase(subject, few, None, subject.expected(few.table))


@pytest.fixture(scope="module", params=["clang", "gcc"])
def place(request: pytest.FixtureRequest) -> CompiledPlace:
    profile = load_profile(ENGINE)
    found = core.found_compilers(profile)
    if request.param not in found:
        pytest.skip("no RISC-V GCC here")
    return CompiledPlace(profile, found[request.param])


@pytest.fixture(scope="module")
def clang() -> CompiledPlace:
    profile = load_profile(ENGINE)
    return CompiledPlace(profile, core.found_compilers(profile)["clang"])


# --- models and rows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [trained, drawn])
def test_a_model_is_the_same_from_the_same_seed(make: Callable[[int], ExportSubject]) -> None:
    assert make(3).forest == make(3).forest
    assert make(3).forest != make(4).forest


def forest_says(subject: ExportSubject, table: Any) -> Any:
    return translated_trees.forest(subject).predict(table.astype(np.float32))


def lightgbm_says(subject: ExportSubject, table: Any) -> Any:
    return translated_trees.lightgbm_model(subject).booster_.predict(table.astype(np.float64))


def treelite_says(subject: ExportSubject, table: Any) -> Any:
    return treelite.gtil.predict(translated_trees.treelite_model(subject, "float64"), table.astype(np.float64)).reshape(
        -1
    )


@pytest.mark.parametrize("says", [forest_says, lightgbm_says, treelite_says])
def test_a_retold_model_says_what_catboost_says(
    subject: ExportSubject, says: Callable[[ExportSubject, Any], Any]
) -> None:
    table = rows(subject, SEED).table
    assert np.abs(says(subject, table) - subject.expected(table)).max() < 1e-12


def test_a_question_that_is_decided_on_its_path_is_not_asked_again() -> None:
    tree = FloatTree(((0, 1.5), (0, 1.5), (0, 3.0)), tuple(map(float, range(8))))
    assert [
        n.value
        for n in translated_trees.nodes(translated_trees.binary(tree))
        if isinstance(n, translated_trees.TreeLeaf)
    ] == [0, 3, 7]


def test_rows_lie_on_and_on_both_sides_of_every_threshold_and_in_the_corners(subject: ExportSubject) -> None:
    given = rows(subject, SEED)
    edges = given.table[: given.edges]
    for feature, values in subject.forest.thresholds().items():
        for value in values:
            for step in (-1, 0, 1):
                assert np.any(edges[:, feature] == value + step)
    assert all((edges == np.array(corner)).all(axis=1).any() for corner in zip(*subject.ranges, strict=True))
    low, high = np.array(subject.ranges).T
    assert np.all((given.table >= low) & (given.table <= high))


def answers(ensemble: Forest, table: Any) -> Any:
    """All comparisons with all thresholds [N, thresholds]."""
    return np.column_stack([table[:, f] > t for f, values in ensemble.thresholds().items() for t in values])


def test_cells_are_all_combinations_of_answers_and_each_once(subject: ExportSubject) -> None:
    found = cells(subject)
    assert found is not None
    counts = [len(values) + 1 for values in subject.forest.thresholds().values()]
    assert len(found) == np.prod(counts)
    assert len(np.unique(answers(subject.forest, found), axis=0)) == len(found)


def test_more_cuts_are_more_cells_and_one_beyond_the_range_is_none(subject: ExportSubject) -> None:
    few, more = cells(subject), cells(subject, {0: (subject.thresholds()[0][0], subject.ranges[0][1], 5)})
    assert few is not None
    assert more is not None
    assert set(more[:, 0]) == {*few[:, 0], 5}


# --- models of other libraries and of several outputs -------------------------------------------------------------


@pytest.fixture(scope="module", params=list(foreign_models.MODELS))
def other(request: pytest.FixtureRequest) -> OutsideExporter:
    return foreign_models.MODELS[request.param](request.param, SEED)


def few_rows(other: OutsideExporter) -> ExportCase:
    every = rows(other, SEED)
    few = Rows(np.concatenate([every.table[: every.edges : 20], every.table[-26:]]), len(range(0, every.edges, 20)))
    return ExportCase(other, few, None, other.expected(few.table))


@pytest.mark.slow_except("lightgbm", "random forest")
def test_a_model_of_another_library_is_the_same_from_the_same_seed(other: OutsideExporter) -> None:
    make = foreign_models.MODELS[other.name]
    assert make(other.name, SEED).integers == other.integers
    assert make(other.name, SEED + 1).integers != other.integers


@pytest.mark.slow_except("lightgbm", "xgboost", "catboost, 3 targets", "random forest, 3 classes")
def test_its_integers_are_what_its_library_says(other: OutsideExporter) -> None:
    table = rows(other, SEED).table
    off = np.abs(other.evaluate(table) / (1 << other.leaf_bits) - other.expected(table))
    assert off.max() <= max(other.integers.error)
    assert off.shape == ((len(table),) if other.outputs == 1 else (len(table), other.outputs))


@pytest.mark.slow_except("lightgbm")
def test_it_is_as_large_as_the_page_says(other: OutsideExporter) -> None:
    several = 3 if "classes" in other.name or "targets" in other.name else 1
    assert other.outputs == several
    assert len(other.integers.trees) == (30 if other.name == "xgboost, 3 classes" else 10)
    if other.library not in ("lightgbm", "scikit-learn"):
        assert other.integers.forest.depth == 4


@pytest.mark.slow_except("lightgbm", "random forest, 3 classes")
def test_plain_if_else_asks_every_question_once_however_many_outputs(other: OutsideExporter) -> None:
    text = floors.if_else(other, ENGINE).text
    assert text.count("if (") == sum(1 for tree in other.integers.trees for _ in branches(tree))


@pytest.mark.slow_except("random forest, 3 classes-if-else")
@pytest.mark.parametrize("who", ["rlcc, worst", "if-else"])
def test_ours_and_if_else_are_right_in_every_output(other: OutsideExporter, clang: CompiledPlace, who: str) -> None:
    contender = next(c for c in (*OURS, IF_ELSE) if c.name == who)
    found = measure(few_rows(other), contender, contender.make(other, ENGINE), clang)
    assert found.right
    assert 0 < found.error <= max(other.integers.error)
    assert found.library_bytes == 0


@pytest.mark.slow_except("lightgbm")
def test_a_peer_that_reads_the_library_says_what_it_says(other: OutsideExporter, clang: CompiledPlace) -> None:
    ran = 0
    for peer in peers.PEERS:
        if other.library in peer.reads:
            try:
                source = peer.make(other, ENGINE)
            except Absent:
                continue
            assert measure(few_rows(other), peer, source, clang).right
            ran += 1
    if not ran:
        pytest.skip("no exporter that reads it: make setup-exporters")


@cache
def several_outputs() -> OutsideExporter:
    return foreign_models.catboost_targets("catboost, 3 targets", SEED)


@pytest.mark.slow_except("out[0] = sum_1", "an output left out")
@pytest.mark.parametrize(
    "change",
    [
        ("out[2] = sum_2", "out[2] = sum_2 + 1"),
        ("out[0] = sum_0", "out[0] = sum_1"),
        ("out[1] = sum_1;", ""),
        ("sum_1 += ", "sum_1 -= "),
    ],
    ids=lambda change: change[1] or "an output left out",
)
def test_one_wrong_output_of_several_is_wrong(clang: CompiledPlace, change: tuple[str, str]) -> None:
    other = several_outputs()
    source = floors.if_else(other, ENGINE)
    wrong = replace(source, text=source.text.replace(*change))
    assert wrong.text != source.text
    assert not measure(few_rows(other), IF_ELSE, wrong, clang).right


def test_one_wrong_float_of_several_is_wrong() -> None:
    case = few_rows(several_outputs())
    source = ExportSource("", "float32", "float64", outputs=3)
    assert not judge(case, source, case.expected)[0].any()
    beside = case.expected.copy()
    beside[5, 2] += 2.0**-16
    wrong, error = judge(case, source, beside)
    assert wrong.nonzero()[0].tolist() == [5]
    assert error == 0


def test_a_library_that_is_not_there_leaves_its_models_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(foreign_models, "import_module", missing)
    found, absent = foreign_models.outside_subjects(SEED)
    assert {other.library for other in found} == {"catboost", "scikit-learn"}
    assert set(absent) == {"lightgbm", "xgboost", "xgboost, 3 classes"}


# --- what is measured ---------------------------------------------------------------------------------------------


@pytest.mark.slow_except("clang-ibex-small", "gcc-ibex-maxperf")
@pytest.mark.parametrize("engine", command.PROFILES)
def test_cycles_are_those_of_the_emulator(case: ExportCase, place: CompiledPlace, engine: str, tmp_path: Path) -> None:
    source = floors.if_else(case.subject, ENGINE)
    (tmp_path / "trees.c").write_text(source.text)
    timed = time_function(tmp_path / "trees.c", "bench_model", case.rows.table, toolchain(engine, place.compiler.name))
    built, (calls,) = core.run_fresh(source, place.compiler, load_profile(engine), [case.rows.table])
    np.testing.assert_array_equal(calls.cycles, timed.cycles_each)
    np.testing.assert_array_equal(calls.values, timed.returned)
    assert (built.code_bytes, built.library_bytes, built.table_bytes) == (
        timed.code.code_bytes,
        0,
        timed.code.table_bytes,
    )


@pytest.mark.parametrize("make", [floors.if_else, floors.pruned_if_else, floors.oblivious_tables])
def test_plain_forms_are_right_in_every_cell(
    case: ExportCase, clang: CompiledPlace, make: Callable[[ExportSubject, str], ExportSource]
) -> None:
    some = cells(case.subject)
    assert some is not None
    found = measure(
        replace(case, cells=some[::20]), ExporterRun("plain", "floor", make), make(case.subject, ENGINE), clang
    )
    assert found.right
    assert found.all_worst is not None
    assert found.error < 11 / 2 / (1 << 16)  # 10 leaves and the bias, half a unit each


@pytest.mark.slow_except("rlcc, size")
@pytest.mark.parametrize("contender", [c for c in OURS if "joint" not in c.name], ids=lambda c: c.name)
def test_ours_are_right_in_every_cell(case: ExportCase, clang: CompiledPlace, contender: ExporterRun) -> None:
    some = cells(case.subject)
    assert some is not None
    found = measure(replace(case, cells=some[::20]), contender, contender.make(case.subject, ENGINE), clang)
    assert found.right
    assert found.library_bytes == 0


@pytest.mark.slow_except("clang")
def test_catboost_s_own_export_runs_with_soft_float_and_is_right(case: ExportCase, place: CompiledPlace) -> None:
    found = measure(case, CATBOOST, CATBOOST.make(case.subject, ENGINE), place)
    assert found.right
    assert found.error < 1e-9
    assert 0 < found.library_bytes < found.code_bytes
    assert found.all_worst is None


@pytest.mark.parametrize("peer", peers.PEERS[1:], ids=lambda peer: peer.name)
def test_peers_run(case: ExportCase, clang: CompiledPlace, peer: ExporterRun) -> None:
    try:
        source = peer.make(case.subject, ENGINE)
    except Absent as absent:
        said = str(absent)
        if "wider than int16_t" in said:  # no code at all rather than wrong code
            return
        pytest.skip(f"no exporter: {said}")
    found = measure(case, peer, source, clang)
    assert found.wrong_others < 5  # emlearn is wrong beside thresholds
    assert found.right == ("emlearn" not in peer.name)


def test_a_result_of_64_bits_and_a_call_of_memset_are_served(case: ExportCase, place: CompiledPlace) -> None:
    text = """
    void *memset(void *, int, unsigned);
    double bench_model(const double *x);
    double bench_model(const double *x) {
      unsigned char bytes[12];
      for (int i = 0; i < 12; ++i) bytes[i] = 7;
      memset(bytes, 0, 4);
      memset(bytes + 5, 1, 3);
      int sum = 0;
      for (int i = 0; i < 12; ++i) sum += bytes[i] << (i % 4);
      return x[0] / 3 + sum;
    }"""
    table = case.rows.table
    _, (calls,) = core.run_fresh(ExportSource(text, "float64", "float64"), place.compiler, place.profile, [table])
    expected = sum(v << (i % 4) for i, v in enumerate([0, 0, 0, 0, 7, 1, 1, 1, 7, 7, 7, 7]))
    np.testing.assert_array_equal(calls.values, table[:, 0] / 3 + expected)


# --- wrong is found wrong -----------------------------------------------------------------------------------------


def mutants(text: str) -> dict[str, str]:
    return {
        "a comparison turned": text.replace(" > ", " >= "),
        "a leaf of every tree off by one": text.replace("sum += ", "sum += 1 + "),
        "a bias of another sign": text.replace("int32_t sum = ", "int32_t sum = -"),
    }


@pytest.mark.parametrize("name", mutants(""))
def test_wrong_integer_code_is_wrong(case: ExportCase, clang: CompiledPlace, name: str) -> None:
    source = floors.if_else(case.subject, ENGINE)
    wrong = replace(source, text=mutants(source.text)[name])
    assert wrong.text != source.text
    assert not measure(case, IF_ELSE, wrong, clang).right


def test_a_float_on_the_other_side_of_a_threshold_is_wrong_and_rounding_is_not(case: ExportCase) -> None:
    source = ExportSource("", "float32", "float32")
    wrong, error = judge(case, source, case.expected.astype(np.float32))
    assert not wrong.any()
    assert 0 < error < 1e-6
    beside = case.rows.table.copy()
    beside[:, 0] += 1
    assert judge(case, source, case.subject.expected(beside))[0].any()
    assert judge(case, source, np.full(len(case.expected), np.nan))[0].all()


def test_code_that_is_slow_inside_a_cell_is_not_measured_by_cells(case: ExportCase, clang: CompiledPlace) -> None:
    text = floors.if_else(case.subject, ENGINE).text
    slow = text.replace("  return sum;", "  for (volatile int i = 0; i < (x[0] & 15); ++i) {}\n  return sum;")
    few = cells(case.subject)
    assert few is not None
    with pytest.raises(results.InputError, match="more than compare"):
        measure(replace(case, cells=few[few[:, 0] % 16 == 0][:3]), IF_ELSE, ExportSource(slow, "int32", "int32"), clang)


# --- the command and its page -------------------------------------------------------------------------------------


def test_a_result_is_kept_until_its_code_changes(
    case: ExportCase, clang: CompiledPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = floors.if_else(case.subject, ENGINE)
    first = results.result(case, IF_ELSE, source, clang, tmp_path)
    monkeypatch.setattr(results, "measure", lambda *_: pytest.fail("measured again"))
    assert results.result(case, IF_ELSE, source, clang, tmp_path) == first
    changed = replace(source, text=source.text + "\n")
    with pytest.raises(pytest.fail.Exception, match="measured again"):
        results.result(case, IF_ELSE, changed, clang, tmp_path)


def test_a_missing_package_is_said_and_the_others_go_on(
    subject: ExportSubject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(peers, "import_module", missing)
    monkeypatch.setattr(
        command, "CONTENDERS", (IF_ELSE, ExporterRun("m2cgen", "peer", peers.m2cgen_c, "m2cgen", "MIT"))
    )
    monkeypatch.setattr(command, "PROFILES", (ENGINE,))
    monkeypatch.setattr(command, "subjects", lambda *_: [subject])
    monkeypatch.setattr(command, "outside_subjects", lambda _: ([], {"xgboost": "xgboost is not installed"}))
    monkeypatch.setattr(command, "cells", lambda _: None)
    found = command.compare(SEED, tmp_path, tmp_path, Console(stderr=True, width=200))
    said = capsys.readouterr().err
    assert "m2cgen is not installed" in said
    assert "no student in" in said
    text = page.write(found, SEED)
    assert "- m2cgen is left out" in text
    assert "model xgboost: xgboost" in text
    assert {contender for _, contender, _ in found.results} == {"if-else"}


def fake(worst: int, mean: float, size: int, takes: Any = "int32", wrong: int = 0) -> ExportResult:
    return ExportResult(takes, worst, mean, None, size, 0, 0, wrong, 0, 1e-5)


def test_the_page_says_how_ours_stand_and_where_others_do_better(case: ExportCase, clang: CompiledPlace) -> None:
    name, label = case.subject.name, clang.label
    given: dict[str, ExportResult] = {
        "rlcc, worst": fake(100, 90.0, 900),
        "rlcc, mean": fake(110, 80.0, 900),
        "rlcc, size": fake(300, 290.0, 500),
        "if-else": fake(150, 70.0, 3000),
        "m2cgen": fake(3000, 2000.0, 8000, "float64"),
        "emlearn": fake(50, 40.0, 400, wrong=9),
        "emlearn, float": fake(60, 50.0, 400, "float32", wrong=3),
    }
    kinds = {"if-else": "floor"} | dict.fromkeys(("m2cgen", "emlearn", "emlearn, float"), "peer")
    contenders = [ExporterRun(n, kinds.get(n, "ours"), floors.if_else) for n in given]  # type: ignore[arg-type]
    found = page.ExporterComparison([case], contenders, [clang], {(name, n, label): r for n, r in given.items()}, {})
    text = page.write(found, SEED)
    standing = next(line for line in text.splitlines() if line.startswith(f"| {name}, {label} "))
    assert "| 3000 = 30.00 x (m2cgen) |" in standing
    assert "| 50 = 0.50 x (emlearn) |" in standing
    assert "150 = 1.50 x (if-else)" in standing
    better = [line for line in text.splitlines() if line.startswith(f"- {name}, `")]
    assert len(better) == 1  # not emlearn's
    assert better[0].startswith(f"- {name}, `rlcc, mean`, ")
    assert f"{label} 80 against 70 (if-else)" in better[0]
    (peer,) = [line for line in text.splitlines() if line.startswith("- the best exact ")]
    assert re.findall(r"[0-9.]+", peer)[:3] == ["30.0", "30.0", "15"]
    assert "met in all" in peer
    (plain,) = [line for line in text.splitlines() if line.startswith("- the best plain ")]
    assert re.findall(r"[0-9.]+", plain) == ["1.5", "1.5", "2", "0", "1"]


@pytest.mark.parametrize(
    ("plain", "verdict"),
    [
        (
            (80, 90),
            "0.80 to 0.90 times `rlcc, worst`'s cycles ",
        ),
        (
            (80, 120),
            "0.80 to 1.20 times `rlcc, worst`'s cycles ",
        ),
        ((100, 130), "1.00 to 1.30 times `rlcc, worst`'s cycles "),
    ],
)
def test_the_page_says_that_ours_is_slower_where_it_is(
    clang: CompiledPlace, plain: tuple[int, int], verdict: str
) -> None:
    other = several_outputs()
    case = few_rows(other)
    places = [clang, CompiledPlace(load_profile("ibex-maxperf"), clang.compiler)]
    given: dict[tuple[str, str, str], ExportResult] = {}
    for place, cycles in zip(places, plain, strict=True):
        given[other.name, "rlcc, worst", place.label] = fake(100, 90.0, 900)
        given[other.name, "if-else", place.label] = fake(cycles, 70.0, 3000)
    found = page.ExporterComparison([case], [OURS[0], IF_ELSE], places, given, {})
    text = page.write(found, SEED)
    said = " ".join(" ".join(line.strip() for line in text.splitlines()).split())
    assert f"- {other.name}: " in said
    assert verdict in said
    assert "### Others" in text
    assert "### Symmetric" not in text
