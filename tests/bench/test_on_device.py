"""The page of policies on the model of a device, from verdicts written by hand."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bench import on_device
from netsim.devices import chosen
from rlcc.gate.names import named
from rlcc.gate.on_device import OnDevice, checks, figures
from rlcc.gate.verdict import Verdict

CARD = chosen("bluefield3")
RUNS = [
    OnDevice("many-to-one:4x16", 1, 0.9, 0.9, 10.0, 10.0),
    OnDevice("many-to-one:4x16", 16, 0.8, 0.9, 14.0, 10.0),
    OnDevice("many-to-one:4x16", 16, 0.9, 0.9, 15.1, 10.0, reorder=True),
]


def written(folder: Path, **measured: Any) -> Path:
    text = named("size.code")(value="1 B", limit="2 B", passed=True)
    found = {"worst_case_cycles": 116, "emulation": {"cycles": {"max": 115}}} | measured
    verdict = Verdict(
        policy="mine",
        firmware="f" * 64,
        student="s",
        teacher="t",
        profile="ibex-small",
        checks=[text, *checks(RUNS, CARD)],
        measured=found,
    )
    folder.mkdir()
    outcome = {"verdict": "PASS" if verdict.passed else "FAIL"}
    (folder / "verdict.json").write_text(json.dumps(outcome | verdict.model_dump()))
    return folder


def test_each_case_is_a_column_and_what_fails_is_bold(tmp_path: Path) -> None:
    folder = written(tmp_path / "v", device=figures(RUNS, CARD))
    assert on_device.main([str(folder), str(folder), "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert text.count("## mine on `bluefield3`") == 2
    row = next(line for line in text.splitlines() if line.startswith("| 4x16"))
    cells = [cell.strip() for cell in row.split("|")[2:6]]
    assert cells == ["0.9000 / 10.0", "0.9000 / 10.0", "**0.8000 / 14.0**", "**0.9000 / 15.1**"]
    assert "5 of 7 checks" in text
    assert "116 cycles" in text
    assert "2 of the 2" in text
    assert "values measured" in text


def test_the_runs_of_a_verdict_are_read_back(tmp_path: Path) -> None:
    assert [OnDevice(**one) for one in json.loads(json.dumps([asdict(one) for one in RUNS]))] == RUNS


@pytest.mark.parametrize("content", [None, "{}", "no JSON"])
def test_what_is_no_verdict_of_a_device_is_one_sentence(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "v")  # judged on no device
    if content is not None:
        (folder / "verdict.json").write_text(content)
    assert on_device.main([str(folder), "--out", str(tmp_path / "page.md")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "page.md").exists()
