"""A trigger in C: its trees stand before the branch, those of the choice inside it, and it is its program."""

from pathlib import Path

import pytest
from triggered_students import triggered_student

from codegen.emit import emit
from codegen.lower import Options
from decision.artefact.output import writing
from emulator.host import run_on_host


@pytest.mark.parametrize(("form", "silent"), [("branches", 0), ("joint", 0), ("joint", 3)])
def test_the_choice_is_walked_only_where_the_trigger_fires(form: str, silent: int, tmp_path: Path) -> None:
    """Also where nobody votes for the first rows, so that a comparison asks for some of the sums only."""
    with writing(tmp_path / "student", "student", parents={}, tools=(), seed=1) as work:
        triggered_student(4, silent=silent).save(work)
    emit(tmp_path / "student", tmp_path / "firmware", target="bare", options=Options(form=form))
    assert run_on_host(tmp_path / "firmware").mismatches == 0
    text = (tmp_path / "firmware/rlcc_policy.c").read_text()
    decision = text[text.index("void rlcc_decide") :]
    before, behind = decision.split("if ((row_chosen == 0U)", 1)
    inside, other = behind.split("} else {", 1) if form == "joint" else behind.rsplit("} else {", 1)
    assert "trigger +=" in before or "trigger = (int32_t)first_leaves" in before
    assert "sum_5 " in inside
    assert "sum_5 " not in before
    assert "sum_" not in other
