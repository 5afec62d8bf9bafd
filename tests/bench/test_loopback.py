"""Windows over loopback next to the simulator: what is compared, and what a page says."""

from pathlib import Path

import pytest

from bench import loopback
from decision.policy.algorithm import Algorithm, load_algorithm
from netsim.baselines import by_name
from tests.codegen.test_host_example import EXAMPLE, SOURCES

HEADER = (EXAMPLE / "loopback.h").read_text()
SHORT = ["--runs", "2", "--seconds", "1"]


@pytest.fixture
def algorithm() -> Algorithm:
    return load_algorithm(loopback.SETTINGS)


def test_both_are_given_the_same_path(algorithm: Algorithm) -> None:
    constants = dict(
        line.split()[1:3] for line in HEADER.splitlines() if line.startswith("#define") and len(line.split()) == 3
    )
    value = {name: int(text.rstrip("U")) for name, text in constants.items() if text.rstrip("U").isdigit()}
    assert value["LINE_RATE_BPS"] == algorithm.line_rate == loopback.LINE_MBPS * 10**6
    assert value["PACKET_BYTES"] == algorithm.mtu
    assert (value["QUEUE_BYTES"], value["BASE_RTT_NS"]) == (loopback.QUEUE_BYTES, loopback.BASE_RTT_NS)
    assert value["PACKET_BYTES"] == loopback.PACKET_BYTES
    bdp_bytes = algorithm.line_rate * algorithm.base_rtt // (8 * 10**9)
    marks = by_name("nscc").ecn
    assert [f"{value[name] / bdp_bytes:.3f}" for name in ("MARK_MIN_BYTES", "MARK_MAX_BYTES")] == ["0.200", "0.800"]
    assert marks is not None
    assert marks.marking == "dequeue"
    leaves_ns = 8 * 10**9 * algorithm.mtu // algorithm.line_rate
    assert value["DELAY_NS"] + leaves_ns == value["BASE_RTT_NS"]
    assert abs(value["BASE_RTT_NS"] - algorithm.base_rtt) < 1000
    assert loopback.SOURCES == SOURCES
    assert loopback.EXAMPLE == EXAMPLE


def test_a_packet_takes_the_base_rtt_in_both() -> None:
    path = loopback.path_of(loopback.nscc())
    assert path.one_way_ps + path.control_delay_ps == path.base_rtt_ps


def test_the_simulated_path_holds_as_many_bytes(algorithm: Algorithm) -> None:
    """The queue settles at the target, a base RTT of the line: 41 KB."""
    bdp = algorithm.line_rate / 8 * algorithm.base_rtt * 1e-9
    found = loopback.simulated(loopback.nscc(), 8, 2, seed=1)
    assert found["queue"] == pytest.approx(bdp, rel=0.1)
    assert found["goodput"] > 0.98


def test_a_run_that_load_changes_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "measured", lambda *_, **__: {"goodput": 0.9, loopback.LATE: 20.0})
    first = [{"goodput": goodput, loopback.LATE: 0.1} for goodput in (0.9, 0.91, 0.9)]
    assert "NOT the same" in loopback.repeated(Path("program"), first, seconds=1)


@pytest.mark.parametrize(("real", "result"), [(0.96, "met"), (0.90, "not met")])
def test_the_page_judges_the_largest_difference(
    real: float, result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loopback, "built", lambda _source, folder: folder)
    run = {"goodput": 1.0, "queue": real * 40_000, "jain": 1.0, loopback.LATE: 0.1}
    monkeypatch.setattr(loopback, "measured", lambda *_, **__: run)
    monkeypatch.setattr(loopback, "simulated", lambda *_: {"goodput": 1.0, "queue": 40_000.0, "jain": 1.0})
    page = tmp_path / "page.md"
    assert loopback.main([*SHORT, "--out", str(page)]) == 0
    text = page.read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ") and line.split()[1].isdigit()]
    assert [int(row.split()[1]) for row in rows] == list(loopback.FLOWS)
    assert f"The aim is 5%: {result}.\n" in text
    assert "NOT the same" not in text
