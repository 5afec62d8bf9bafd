"""Progress off a terminal: a line now and then, none of what is over at once."""

from typing import Any

import pytest

from rlcc.commands import console


def test_off_a_terminal_progress_is_a_line_now_and_then(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: clock[0])
    with console.stage("train") as (figures, progress):
        for second in range(25):
            clock[0] = 100.0 + second
            progress(f"round {second}")
        figures.append("done")
    said = capsys.readouterr()
    assert said.err == "train: round 10, 10 s\ntrain: round 20, 20 s\n"
    assert "done" in said.out
