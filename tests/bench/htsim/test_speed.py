"""The speed of netsim beside htsim: both figures, and what is refused. htsim itself is not run here."""

from pathlib import Path

import pytest

from bench.htsim import speed
from bench.htsim.driver import silenced
from decision.artefact.errors import InputError

AN_ACK = '        cout << "CWND{} " << _cwnd << endl;\n'


def driver(folder: Path, body: str) -> Path:
    program = folder / "hpcc"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return program


def test_packets_are_divided_by_the_seconds_of_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([3.0, 5.0])
    monkeypatch.setattr(speed, "children_s", lambda: next(seconds))
    assert speed.theirs(driver(tmp_path, 'echo "$1$2"'), 64, 1024) == 641024 / 2e6


def test_ours_is_of_the_packets_that_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "UNTIL_MS", 1)
    times = iter([1.0, 2.0])
    monkeypatch.setattr(speed.time, "process_time", lambda: next(times))
    packets = speed.ours(2, 1024) * 1e6
    assert 0.8 * 100e9 * 1e-3 / 8 / 1106 < packets < 100e9 * 1e-3 / 8 / 1106


def test_a_driver_that_dies_is_an_error_of_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no room"):
        speed.theirs(driver(tmp_path, "echo no room >&2; exit 3"), 64, 1024)


def test_only_the_lines_of_an_ack_are_taken_out(tmp_path: Path) -> None:
    source = tmp_path / "sim" / "hpcc.cpp"
    source.parent.mkdir()
    source.write_text("first;\n" + AN_ACK.format(1) + "middle;\n" + AN_ACK.format(2) + "last;\n")
    assert silenced(source, tmp_path).read_text().split() == ["first;", "middle;", "last;"]


@pytest.mark.parametrize("lines", [1, 3])
def test_another_htsim_is_refused(tmp_path: Path, lines: int) -> None:
    source = tmp_path / "hpcc.cpp"
    source.write_text(AN_ACK.format(1) * lines)
    with pytest.raises(InputError, match="841d9e7"):
        silenced(source, tmp_path)


def test_a_folder_without_the_library_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert speed.main([str(tmp_path), "--out", str(page)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()
