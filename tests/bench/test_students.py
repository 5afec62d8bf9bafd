"""The page of a recipe's variants, from verdicts written by hand."""

from pathlib import Path
from typing import Any

import pytest

from bench import students
from bench.students import BuiltStudent
from rlcc.gate.names import named
from rlcc.gate.verdict import Verdict


def made(difference: float, slowest: int, agrees: float, passed: bool = True) -> BuiltStudent:
    fidelity = {"scenario": "a:1", "metric": "fct_mean_us", "difference": difference, "passed": passed}
    measured: dict[str, Any] = {
        "emulation": {"cycles": {"mean": slowest - 10, "max": slowest}, "clock_mhz": 100.0}
        | {"code_bytes": 11, "table_bytes": 12, "stack_bytes": 13},
        "fidelity": [fidelity | {"seeds": {"1": difference - 0.01, "2": difference + 0.01}}],
    }
    checks = [named("network.*", part="fct", of="a:1", metric="FCT")(value="+3 %", limit="2 %", passed=passed)]
    verdict = Verdict(policy="p", firmware="f", student="s", teacher="t", profile="e", checks=checks, measured=measured)
    return BuiltStudent(verdict, {"a:1": agrees})


def test_variants_stand_beside_each_other() -> None:
    of = {students.AS_IT_IS: made(0.001, 400, 0.991), "values": made(0.03, 300, 0.97, passed=False)}
    text = students.page(Path("recipes/acc.toml"), of, "a command")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert ["as it is", "PASS", "1 of 1", "390", "400", "4.00", "11", "12", "13"] in lines
    assert ["values", "FAIL", "0 of 1", "290", "300", "3.00", "11", "12", "13"] in lines
    assert ["values", "97.0%"] in lines
    assert ["`a:1`", "FCT mean us", "+0.1 % (-0.9 % to +1.1 %)", "+3.0 % (+2.0 % to +4.0 %) **beyond**"] in lines
    (failed,) = [line for line in text.splitlines() if line.startswith("- values fails: ")]
    assert [part in failed for part in (of["values"].verdict.checks[0].name, "+3 %", "2 %")] == [True] * 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["recipes/acc.toml", "--variant", "x: distill.trees ="], "no name and"),
        (["no-such-recipe.toml"], "no-such-recipe.toml"),
    ],
)
def test_what_is_no_variant_and_no_recipe_is_said(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert students.main([*arguments, "--runs", str(tmp_path), "--docs", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err
