"""The page of what policies do."""

from pathlib import Path

import pytest

from bench import properties
from verify.behaviour.decide import Behaviour
from verify.behaviour.finding import Finding
from verify.trusted.properties import Step


def test_a_section_has_a_row_a_property() -> None:
    findings = (Finding("step", "it is bounded", "found", "0.8 to 1.2"), Finding("recovers", "it is", "fails", "never"))
    text = properties.section("a policy", Behaviour("abcdef123456789", ((Step(), findings),)), 1.24)
    assert text.startswith("## a policy\n\nProgram `abcdef123456`, 1.2 ")
    assert text.splitlines()[-2:] == ["| found | it is bounded | 0.8 to 1.2 |", "| fails | it is | never |"]


def test_a_folder_that_is_none_writes_no_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    with pytest.raises(Exception, match="manifest"):
        properties.main([str(tmp_path), "--out", str(page)])
    assert not page.exists()
