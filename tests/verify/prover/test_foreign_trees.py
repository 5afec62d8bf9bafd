"""Trees of another library as GCC compiles them: what follows a leaf is copied into it, so that sums of leaves reach
the return under their names in lanes that know by then which they are.

Slow: that the proof needs those leaves. The fast suite compares each with the sum of its lane, which both mutants
would fail.
"""

import numpy as np
import pytest
from options_by_hand import without_example

from bench.codegen.foreign_models import lightgbm_regressor
from codegen.model_body import emit_model
from emulator.build import Build
from emulator.firmware_folder import built
from verify.prover.prove import Limits, Proof, prove
from verify.prover.specialise import View

LIMITS = Limits(solver_seconds=1.0, worst_seconds=0.0, inputs=1)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("foreign") / "firmware"
    emit_model(lightgbm_regressor("lightgbm", 7).integers, folder, parents={}, seed=1)
    return built(folder, profile="ibex-small", compiler="gcc")


def proved(build: Build) -> Proof:
    with without_example():
        return prove(build.image, build.program, build.firmware.layouts, build.engine, limits=LIMITS)


def test_it_is_proved_and_a_leaf_that_a_lane_does_not_know_is_no_number(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int | None]] = []
    number = View.number

    def seen(view: View, word: int, row: int) -> int | None:
        found = number(view, word, row)
        trees = [view.leaf(k) for k in range(len(view.cuts.leaf_sums)) if view.cuts.tree(k) in view.pool.atoms(word)]
        unknown = sum(int(low[row] != high[row]) for low, high in trees)
        assert (found is None) == (unknown > 0)
        if found is not None:
            total, terms = view.pool.linear(word)
            total += sum(np.int64(times) * low[row] for (_, times), (low, _) in zip(terms, trees, strict=True))
            assert found == int(total) % (1 << 32)
        asked.append((word, found))
        return found

    monkeypatch.setattr(View, "number", seen)
    proof = proved(build)
    assert proof.proved, proof.failures
    assert proof.gave_up_cells
    assert any(found is not None for _, found in asked)


@pytest.mark.slow
@pytest.mark.parametrize("off", [None, 1])
def test_it_takes_the_leaves_that_a_lane_knows_and_no_others(
    build: Build, monkeypatch: pytest.MonkeyPatch, off: int | None
) -> None:
    number = View.number

    def other(view: View, word: int, row: int) -> int | None:
        found = number(view, word, row)
        return None if off is None or found is None else found + off

    monkeypatch.setattr(View, "number", other)
    assert not proved(build).proved
