"""netsim beside htsim: our side of a scene, a row's distances, and what is refused. htsim itself is not run here."""

from pathlib import Path

import pytest

from bench.htsim.compare import PortFigures, PortScene, main, ours, row, theirs
from decision.artefact.errors import InputError
from decision.devices import TRANSPORTS
from netsim.network import MS


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_small_buffer_drops_and_a_large_one_does_not(transport: str) -> None:
    large = ours(PortScene(2, MS, 3 * MS), transport, 1)
    small = ours(PortScene(8, 0, 2 * MS, 100_000), transport, 1)
    assert large.drops == 0 < small.drops
    assert large.packets > 0.99
    assert 4 < large.mean_us <= large.p99_us


def test_a_row_has_means_and_distances() -> None:
    found = [PortFigures(0.9, 0.1, 20.0, 40.0), PortFigures(1.0, 0.3, 22.0, 44.0)]
    cells = row("netsim", found, [PortFigures(0.95, 0.0, 10.0, 84.0)])
    assert cells == ["netsim", "0.9500 (+0.0%)", "0.2000", "21.00 (+110.0%)", "42.00 (-50.0%)"]


def test_what_the_driver_prints_is_in_shares_of_the_link(tmp_path: Path) -> None:
    program = tmp_path / "swift"
    program.write_text("#!/bin/sh\necho 11302 100 18.5 19.25\n")
    program.chmod(0o755)
    found = theirs(program, PortScene(2, 0, MS), 1)
    assert found.packets == pytest.approx(1.0, abs=1e-3)
    assert found == PortFigures(found.packets, 100 / 11402, 18.5, 19.25)


def test_a_driver_that_dies_is_an_error_of_input(tmp_path: Path) -> None:
    program = tmp_path / "swift"
    program.write_text("#!/bin/sh\necho no room >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match="no room"):
        theirs(program, PortScene(2, 0, MS), 1)


def test_a_folder_without_the_library_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert main([str(tmp_path), "--out", str(page)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()
