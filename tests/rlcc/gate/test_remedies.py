"""What a failing check is told to be mended by is what the bench counted."""

import re
import tomllib

import pytest

from distill.options import DistillOptions
from netsim.tolerance import DEFAULT
from rlcc.gate import remedies
from rlcc.gate.remedies import mend


def test_the_knobs_that_helped_are_told_the_best_first_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = {"loss": {"rounds": (17, 17, 0.1), "window": (8, 14, 0.2), "trees": (5, 9, 0.1), "depth": (6, 12, 0.3)}}
    monkeypatch.setattr(remedies, "_counted", lambda: counted)
    assert re.findall(r"distill\.(\w+) \(in (\d+) of (\d+)", mend("loss")) == [
        ("rounds", "17", "17"),
        ("window", "8", "14"),
    ]
    assert "docs/results/knobs.md" in mend("loss")
    assert mend("latency") == ""


def test_what_ships_names_knobs_that_there_are() -> None:
    counted = tomllib.loads(remedies.FILE.read_text())
    assert {name for name in counted if not name.startswith("action error")} == {"outside", *DEFAULT}
    assert {knob for knobs in counted.values() for knob in knobs} <= set(DistillOptions.model_fields)
    assert "distill.rounds" in mend("latency")
    assert "distill.rounds" not in mend("action error, RMS")  # which it makes worse
