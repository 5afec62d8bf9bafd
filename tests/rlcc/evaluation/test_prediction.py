"""netsim beside a kernel: the path it is given, its figures in TCP's words, what is said where they do not agree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from emulator.linux.cell import Bottleneck
from emulator.linux.parts import Parts
from netsim.result_store import Outcome
from netsim.trials import perform
from rlcc import cli
from rlcc.evaluation import linux, prediction
from rlcc.evaluation.grid import Cell, Grid, Times
from rlcc.evaluation.prediction import Compared, Figures
from rlcc.policies import by_path

TIMES = Times(10**12, (25 * 10**10, 85 * 10**10))
METRICS = {
    "goodput": 0.95, "rtt_mean_us": 1500.0, "queue_mean_bytes": 5000.0, "jain": 1.0, "dropped_packets": 0.0,
    "start_dropped_packets": 0.0, "retransmits": 0.0, "packets_per_ack": 1.9, "queue_mean_us": 40.0, "utilisation": 1.0,
}  # fmt: skip


def cell(scenario: str = "many-to-one:8", path: str = linux.PATH) -> Cell:
    return linux.cells([scenario], [path], TIMES)[0]


@given(rate=st.integers(10, 400), delay_us=st.integers(2000, 100_000), hosts=st.integers(1, 200))
def test_an_empty_path_answers_after_its_delay(rate: int, delay_us: int, hosts: int) -> None:
    path = Bottleneck(rate * 10**6, delay_us * 10**6, 100_000)
    slower = 1000 / rate
    rtts = prediction.topology(path, hosts).base_rtts_ps(np.arange(hosts), np.zeros(hosts, int))
    assert rtts * slower == pytest.approx(delay_us * 10**6, rel=1e-6)


def test_a_path_that_is_shorter_than_a_packet_is_refused() -> None:
    with pytest.raises(InputError, match="packet's 12112 us"):
        prediction.topology(Bottleneck(10**6, 10**9, 100_000), 1)


def test_netsims_figures_are_told_in_the_kernels_words() -> None:
    path = linux.bottleneck(linux.PATH)
    got = prediction.figures(Outcome(8, METRICS), path, 1.9)
    assert got.goodput == 0.95
    assert got.queue_bytes == pytest.approx(400 * 12.5)  # 40 us, ten times slower
    assert got.rtt_us == pytest.approx(1000 + 400 + 0.9 * 8 * 121.12)


@pytest.mark.parametrize(
    ("changed", "failing"),
    [
        ({}, []),
        ({"goodput": 0.9594}, []),
        ({"goodput": 0.9596}, ["goodput"]),
        ({"rtt_us": 1574.0}, []),
        ({"rtt_us": 1424.0}, ["RTT"]),
        ({"queue_bytes": 8027.0}, []),
        ({"queue_bytes": 1971.0}, ["queue"]),
        ({"goodput": 0.5, "rtt_us": 9.0, "queue_bytes": 0.0}, ["goodput", "RTT", "queue"]),
    ],
)
def test_limits_are_a_per_cent_five_and_two_packets(changed: dict[str, float], failing: list[str]) -> None:
    figures = Figures(0.95, 1500.0, 5000.0)
    assert Compared("a", "b", figures, replace(figures, **changed)).failing == failing


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "nothing that was"),
        ({"dropped_packets": 3.0, "retransmits": 4.0}, "3 packets were lost"),
        ({"start_dropped_packets": 7.0}, "start lost 7 packets"),
        ({"jain": 0.5}, "Jain 0.500"),
    ],
)
def test_what_does_not_hold_is_explained(changed: dict[str, float], words: str, monkeypatch) -> None:
    """A kernel that shows a queue of 50 packets, beside netsim's 5000 bytes."""
    compared = _compared(METRICS | changed | {"queue_mean_bytes": 75_700.0}, monkeypatch)
    assert words in compared.reason
    assert "FAIL" in prediction.lines([compared])[0][-1]
    assert prediction.lines([_compared(METRICS | changed, monkeypatch)])[0][-1].startswith("FAIL RTT")


def test_a_lone_flow_keeps_what_late_timers_left(monkeypatch) -> None:
    netsims = Outcome(1, METRICS | {"queue_mean_us": 0.0})
    assert prediction.ALONE in _compared(METRICS | {"queue_mean_bytes": 6_500.0}, monkeypatch, netsims).reason


def _compared(kernels: dict[str, float], monkeypatch: pytest.MonkeyPatch, netsims: Outcome | None = None) -> Compared:
    monkeypatch.setattr(linux, "firmware_of", lambda _: None)
    contender = replace(linux.contenders(["cubic"])[0], kind="firmware")
    where = cell()
    results = prediction.Results(Grid((contender,), (where,), (1,)), [Outcome(8, kernels)])
    return prediction._compared(contender, where, [netsims or Outcome(8, METRICS)], results)


def test_the_cell_runs_in_netsim(pipeline) -> None:
    with by_path(pipeline.firmware) as named:
        outcome = perform(prediction.trial(cell(), named.policy, "ours", 1))
    assert outcome.flows == 8
    assert 0 < outcome.metrics["goodput"] < 0.9566  # 1448 of 1514 bytes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["cubic", "--stack", "linux", "--predict", "hold"], "flows do not"),
        (["hpcc", "--predict", "show"], "--stack linux"),
    ],
)
def test_what_cannot_be_predicted_is_said_at_once(options, words, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("predict", "near", "code"), [("hold", True, 0), ("hold", False, 1), ("show", False, 0)])
def test_the_gate_fails_where_a_cell_is_too_far_off(predict, near, code, tmp_path, monkeypatch, capsys) -> None:
    figures = Figures(0.95, 1500.0, 5000.0)
    compared = Compared("many-to-one:8", "ours", figures, figures if near else replace(figures, queue_bytes=0.0))
    results = prediction.Results(Grid((), (), (1,)), [])
    monkeypatch.setattr("emulator.linux.parts.machine_parts", lambda _: Parts(tmp_path, "6.1", (), "0"))
    monkeypatch.setattr(linux, "run_grid", lambda *_, **__: results)
    monkeypatch.setattr(prediction, "check", lambda *_: None)
    monkeypatch.setattr(prediction, "compare", lambda *_: [compared])
    assert cli.main(["evaluate", "cubic", "--stack", "linux", "--predict", predict]) == code
    assert ("FAIL queue" in capsys.readouterr().out) == (not near)
