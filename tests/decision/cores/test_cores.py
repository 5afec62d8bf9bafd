"""Cycles of cores as data: a file a core, and what its parameters change."""

from pathlib import Path

import pytest

from decision import cores
from decision.artefact.errors import InputError
from decision.cores import FOLDER, timing_of

PARAMETERS = {"multiplier": "fast", "writeback_stage": False, "branch_target_alu": False}


def test_a_parameter_changes_what_its_table_says_and_nothing_else() -> None:
    plain = timing_of("ibex", PARAMETERS)
    assert (plain.access, plain.branch_taken, plain.product, plain.high_product, plain.exact) == (2, 3, 3, 4, True)
    staged = timing_of("ibex", {**PARAMETERS, "writeback_stage": True})
    assert (staged.access, staged.load_use, staged.writeback_stage) == (1, 1, True)
    assert staged.model_copy(update={"access": 2, "load_use": 0, "writeback_stage": False}) == plain
    early = timing_of("ibex", {**PARAMETERS, "branch_target_alu": True})
    assert (early.branch_taken, early.early_jump) == (2, True)
    assert timing_of("ibex", {**PARAMETERS, "multiplier": "single-cycle"}).high_product == 2
    slow = timing_of("ibex", {**PARAMETERS, "multiplier": "slow"})
    assert (slow.product, slow.exact) == (33, False)
    assert timing_of("ibex", {**PARAMETERS, "multiplier": "none"}).product is None


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_core_has_what_the_cost_model_needs(path: Path) -> None:
    timing = timing_of(path.stem, {})
    assert min(timing.alu, timing.jump, timing.branch, timing.branch_taken, timing.access) >= 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("alu = 1", "jump"),
        ("alu = 0", "alu"),
        ("alu = 1\njump = 1\nbranch = 1\nbranch_taken = 1\naccess = 1\nfree = 2", "free"),
        ("alu = [", "not valid TOML"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, why: str) -> None:
    (tmp_path / "new.toml").write_text(text)
    monkeypatch.setattr(cores, "FOLDER", tmp_path)
    with pytest.raises(InputError, match=why):
        timing_of("new", {})
    with pytest.raises(InputError, match=r"a other .*other\.toml"):
        timing_of("other", {})
