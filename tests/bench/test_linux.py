"""The page of a policy on a real kernel, but for the guests that it boots."""

from pathlib import Path

import numpy as np
import pytest

from bench import linux
from codegen.tuning import Word, packed
from rlcc.evaluation.grid import Times


def test_a_window_is_a_quarter_to_seventeen_twentieths() -> None:
    assert Times(2 * 10**12, (5 * 10**11, 17 * 10**11)) == linux.USUAL


def test_shares_are_of_the_last_sample_until_then() -> None:
    samples = np.array([[10, 0, 0, 100], [10, 1, 0, 50], [20, 0, 0, 300], [40, 1, 0, 900]])
    assert linux.acknowledged(samples, 2, 30).tolist() == [300, 50]
    assert linux.jain(np.array([1.0, 1.0])) == 1
    assert linux.jain(np.array([1.0, 0.0])) == 0.5


def test_a_hostile_map_is_ones_but_for_the_line_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    words = (
        Word("a", "", 0, 9, 1),
        Word("b", "", 0, 9, 1),
        Word("line_rate_bytes", "", 0, 9, 7, 8),
        Word("c", "", 0, 9, 1),
    )
    monkeypatch.setattr(linux, "words_of", lambda *_: words)
    got = linux.hostile(Path(), packed(words, {w.name: w.default for w in words}))
    assert got == b"\xff" * 8 + (7).to_bytes(8, "little") + b"\xff" * 4 + bytes(4)


def test_what_is_no_firmware_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert linux.main([str(tmp_path / "none")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("linux: ")
    assert str(tmp_path / "none") in error
