"""PowerTCP's 10:1 incast: what its course tells, and the page."""

from pathlib import Path

import numpy as np
import pytest

from bench import incasts
from netsim.network import US
from netsim.result_store import Outcome
from netsim.samples import Samples


def test_ten_flows_join_one() -> None:
    scenario = incasts.scenario()
    assert scenario.column("start_ps").tolist() == [0] + [incasts.INCAST_PS] * 10
    assert not scenario.finite
    assert scenario.topology is not None
    assert scenario.topology.base_rtt_ps == pytest.approx(28 * US, rel=0.05)


def test_a_course_is_of_the_time_after_the_incast() -> None:
    """A queue of 1 MB that halves each 100 us, and before the incast one that is not to count."""
    t = np.arange(5, 24_001, 5, dtype=np.float32)
    since = t - incasts.INCAST_PS / US
    queue = np.where(since > 0, 1e6 * 0.5 ** (np.maximum(since, 0) / 100), 9e9).astype(np.float32)
    gbps = np.where(since > 2000, 1.0, 2.0).astype(np.float32)
    zeros = np.zeros(t.size)
    samples = Samples(t, queue, zeros[:, None], gbps, zeros, zeros[:0], zeros[:0])  # type: ignore[arg-type]
    found = incasts.course(Outcome(11, {}, samples=samples))
    assert found.peak_kb == pytest.approx(1e3 * 0.5 ** (5 / 100), rel=1e-4)
    assert found.drained_us == pytest.approx(5 + 100 * np.log2(10), abs=5)
    assert found.mean_kb == pytest.approx(1e3 * 100 / np.log(2) / 4000, rel=0.05)
    assert found.settled_kb < found.mean_kb / 100
    assert found.gbps == pytest.approx(16.5, rel=1e-2)
    assert found.least_gbps == pytest.approx(11)


def test_the_page_sets_each_against_powertcp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incasts, "KEPT", tmp_path / "runs")
    page = tmp_path / "page.md"
    assert incasts.main(["powertcp", "swift", "--out", str(page)]) == 0
    rows = [line for line in page.read_text().splitlines() if line.startswith(("| powertcp", "| swift"))]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert cells[0][4] == "+0%"
    assert float(cells[1][3]) > float(cells[0][3]) > 0
    assert cells[1][4].startswith("+")


def test_a_policy_that_there_is_not_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert incasts.main(["nothing-of-that-name", "--out", str(page)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()
