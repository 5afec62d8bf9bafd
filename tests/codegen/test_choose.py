"""Which form trees take: what a proof can follow comes before what is predicted to be cheaper."""

from dataclasses import replace

import numpy as np
import pytest

from codegen import choose as module
from codegen.choose import Choice, Limits, choose
from codegen.engines import engine_named
from codegen.joint import size_of, thresholds_of
from codegen.walk import Feature, Sum, Walk
from decision.ir.forest import MAX_COMBINATIONS, oblivious

IBEX = engine_named("ibex-small")


@pytest.fixture(scope="module")
def many() -> Walk:
    """20 trees of depth 5 over 10 features of few thresholds: joint tables are predicted to be cheaper."""
    rng = np.random.default_rng(4)
    trees = []
    for _ in range(20):
        questions = [(int(rng.integers(10)), int(rng.integers(1, 6))) for _ in range(5)]
        trees.append(oblivious(questions, [(int(leaf),) for leaf in rng.integers(-900, 900, 32)]))
    walk = Walk(tuple(Feature(f"f{k}", 0, 9) for k in range(10)), tuple(trees), (Sum(0),))
    assert size_of(thresholds_of(walk.trees)) > MAX_COMBINATIONS
    return walk


def cheapest(choice: Choice) -> float:
    return min(cycles for _, cycles, _, _, allowed in choice.considered if allowed)


def test_trees_with_too_many_cells_for_a_proof_are_branches_although_tables_are_cheaper(many: Walk) -> None:
    choice = choose(many, IBEX, Limits())
    assert choice.lowered.form == "branches"
    assert cheapest(choice) < choice.lowered.cycles


def test_where_the_proof_reaches_the_cheapest_is_taken(many: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COMBINATIONS", size_of(thresholds_of(many.trees)))
    choice = choose(many, IBEX, Limits())
    assert "joint" in choice.lowered.form
    assert choice.lowered.cycles == cheapest(choice)


def test_trees_of_another_walk_count_too(many: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    most = size_of(thresholds_of(many.trees))
    monkeypatch.setattr(module, "MAX_COMBINATIONS", most)
    assert "joint" in choose(replace(many, cells=most), IBEX, Limits()).lowered.form
    assert choose(replace(many, cells=most + 1), IBEX, Limits()).lowered.form == "branches"


def test_a_limit_that_branches_do_not_keep_is_kept_without_a_proof(many: Walk) -> None:
    branches = choose(many, IBEX, Limits()).lowered
    fast = choose(many, IBEX, Limits(cycles=int(branches.cycles) - 1)).lowered
    assert fast.cycles < branches.cycles
    kept = choose(many, IBEX, Limits(cycles=int(branches.cycles) + 1)).lowered
    assert kept.form == "branches"  # not the smallest that is as fast
    small = choose(many, IBEX, Limits(code=branches.code_bytes // 2)).lowered
    assert small.code_bytes <= branches.code_bytes // 2


def test_who_asks_for_bytes_or_a_form_gets_them(many: Walk) -> None:
    size = choose(many, IBEX, Limits(), optimise="size")
    assert size.lowered.code_bytes + size.lowered.table_bytes == min(c + t for _, _, c, t, ok in size.considered if ok)
    assert choose(many, IBEX, Limits(), form="index").lowered.form == "index"
