"""`rlcc evaluate --stack linux`: its arguments, the flows that a scenario becomes, the metrics of what was seen. The
guest itself runs in the slow tests."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from decision.artefact.errors import InputError
from decision.artefact.output import writing
from emulator.linux import safety
from emulator.linux.cell import Seen
from emulator.linux.parts import machine_parts
from netsim.metric_names import METRICS
from rlcc import cli
from rlcc.evaluation import linux
from rlcc.evaluation.grid import Cell, Grid, Times
from rlcc.evaluation.linux_control import control

TIMES = Times(10**12, (25 * 10**10, 85 * 10**10))


def cell(scenario: str, path: str = linux.PATH) -> Cell:
    return linux.cells([scenario], [path], TIMES)[0]


def seen(flows: int = 2) -> Seen:
    """A second of which both halves are known: 2 packets wait, then 10; flow 0 has twice what flow 1 has."""
    t = np.arange(0, 1_000_001, 1000)
    queue = np.stack([t, np.where(t < 500_000, 3028, 15140), t // 100_000, t * 0, t // 130], axis=1)
    at = np.repeat(np.arange(10_000, 1_000_001, 10_000), flows)
    flow = np.tile(np.arange(flows), len(at) // flows)
    rows = np.stack(
        [at, flow, 1500 + 0 * at, at * 4 * (2 - flow), flow * at // 100_000, 0 * at, 0 * at, at // 50, at // 100],
        axis=1,
    )
    completed = np.array([[0, 300_000, 310_000, 14_480], [1, 100_000, 120_000, 14_480], [1, 400_000, 440_000, 14_480]])
    return Seen(queue, rows, completed, 3, ())


def test_a_path_is_read() -> None:
    path = linux.bottleneck("50 Mb/s, 4 ms, 60 KB, 12 KB-24 KB")
    assert (path.rate_bps, path.delay_ps, path.queue_bytes) == (50 * 10**6, 4 * 10**9, 60_000)
    assert path.marking_bytes == (12_000, 24_000)
    assert linux.bottleneck("50 Mb/s, 4 ms, 60 KB, 12 KB").marking_bytes == (12_000, 12_000)
    assert linux.bottleneck(linux.PATH).packet_ps == 1514 * 8 * 10**4


@pytest.mark.parametrize(
    "text", ["", "100 Mb/s", "100, 1 ms, 100 KB", "100 Mb/s, 1 ms, 100 KB, 20 KB-10 KB", "9 Gb/s, 1 ms, 1 MB"]
)
def test_a_path_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"path .*for example"):
        linux.bottleneck(text)


def test_flows_are_the_scenarios_in_the_guests_time() -> None:
    scenario, flows = linux.flows_of(cell("many-to-one:8"), 3)
    assert (len(flows), scenario.finite) == (8, False)
    assert all(f.payload_bytes == f.period_us == 0 and f.start_us < 10_000 for f in flows)
    slow, fast = (linux.flows_of(cell("incast:4x100KB", f"{rate} Mb/s, 1 ms, 1 MB"), 3)[1] for rate in (50, 100))
    assert all(f.payload_bytes == 100_000 for f in slow + fast)
    assert [f.period_us for f in slow] == [2 * f.period_us for f in fast] != [0] * 4
    short, again = (linux.flows_of(cell("messages:30%x2"), seed)[1] for seed in (3, 3))
    assert short == again != linux.flows_of(cell("messages:30%x2"), 4)[1]


@pytest.mark.parametrize("scenario", ["all-to-all:4", "many-to-one:8@rl-cc-cluster"])
def test_one_bottleneck_is_all_that_there_is(scenario: str) -> None:
    with pytest.raises(InputError, match="one receiver"):
        linux.flows_of(cell(scenario), 1)


def test_metrics_are_those_of_the_window() -> None:
    where = cell("many-to-one:2")
    scenario, flows = linux.flows_of(where, 1)
    got = linux.measured(seen(), scenario, where, flows)
    assert got.keys() <= METRICS.keys()
    assert got["goodput"] == pytest.approx((8 + 4) * 1e6 / 12.5e6, rel=0.02)
    assert got["jain"] == pytest.approx(0.9)
    assert got["fairness_min_max"] == pytest.approx(0.5)
    assert (got["rtt_mean_us"], got["rtt_p99_us"]) == (1500, 1500)
    assert got["queue_mean_bytes"] == pytest.approx((3028 * 250 + 15140 * 351) / 601)
    assert got["latency_p99_us"] == pytest.approx((15140 + 1514) / 12.5)
    assert (got["dropped_packets"], got["start_dropped_packets"], got["retransmits"]) == (6, 2, 6)
    assert got["broken_connections"] == 3
    assert got["packets_per_ack"] == 2


def test_flows_that_end_are_told_by_their_completion() -> None:
    where = cell("incast:2x14480B")
    scenario, flows = linux.flows_of(where, 1)
    got = linux.measured(seen(), scenario, where, flows)
    assert got["completions"] == 2  # the one that ended before the window is not
    assert got["fct_mean_us"] == pytest.approx(25_000)
    assert got["goodput"] == pytest.approx(2 * 14_480 / (12.5e6 * 0.6))
    alone_us = 2000 + 15_140 * 8 / 100
    assert got["slowdown_mean"] == pytest.approx(25_000 / alone_us)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["cubix"], "cubic, dctcp, reno"),
        (["cubic@1us"], "leave @ and"),
        (["cubic@target:2"], "leave @target out"),
        (["cubic", "cubic"], "called 'cubic'"),
        (["cubic", "--engines", "2"], "--engines is of netsim"),
        (["cubic", "--path", "fast"], "path 'fast'"),
        (["cubic", "--scenario", "all-to-all:4"], "one receiver"),
    ],
)
def test_what_cannot_run_is_said_before_a_guest_boots(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["evaluate", "--stack", "linux", *options]) == 2
    assert words in capsys.readouterr().err


def test_a_path_is_for_linux_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", "hpcc", "--path", linux.PATH]) == 2
    assert "--stack linux" in capsys.readouterr().err


def test_firmware_of_another_target_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with writing(tmp_path / "firmware", "firmware", details={"target": "doca-pcc"}) as work:
        (work / "rlcc_policy.c").write_text("")
    assert cli.main(["evaluate", "--stack", "linux", str(tmp_path / "firmware")]) == 2
    assert "--target linux-bpf" in capsys.readouterr().err


@pytest.mark.slow
def test_the_kernels_own_and_the_same_bytes_twice(tmp_path: Path) -> None:
    """Boots two guests; needs apt's packages, or what they left in the cache."""
    options = ["--stack", "linux", "--scenario", "many-to-one:1", "--duration", "400 ms", "--no-pictures"]
    assert cli.main(["evaluate", "cubic", "again=cubic", *options, "--out", str(tmp_path)]) == 0
    table = pq.read_table(tmp_path / "evaluation" / "runs.parquet").to_pylist()
    assert [row["policy"] for row in table] == ["cubic", "again"]
    assert all(0.9 < row["goodput"] < 0.957 for row in table)
    assert table[0]["goodput"] == pytest.approx(table[1]["goodput"], rel=1e-3)


@pytest.mark.slow
def test_a_policy_comes_and_goes_in_a_kernel(pipeline, tmp_path: Path) -> None:
    """Boots a guest for some six of its seconds; needs apt's packages, or what they left in the cache."""
    folder = tmp_path / "firmware"
    assert cli.main(["emit", str(pipeline.student), "--target", "linux-bpf", "--out", str(folder)]) == 0
    made = control(folder, safety.PATH)
    assert made.program is not None
    assert made.tuning is not None
    got = safety.run(machine_parts(), made.program, made.tuning, b"\xff" * len(made.tuning))
    assert min(got.completed) > 2000
    assert got.broken == 0
    assert abs(got.memory_kb["again"] - got.memory_kb["short"]) < 1024
    assert "rlcc" not in got.gone
    assert "rlcc" in got.back
    assert got.acknowledged[1] > 1.5 * got.acknowledged[0]
    assert got.hostile_bytes > 0


def test_a_grid_is_cells_by_contenders_by_seeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    booted: list[tuple[str, int]] = []

    def run(parts: object, path: object, controls: list, flows: list, *, seed: int, duration_us: int) -> Seen:
        booted.append((controls[0].name, seed))
        return seen()

    monkeypatch.setattr(linux, "run", run)
    monkeypatch.setattr(linux, "agent", dict)
    parts = linux.Parts(tmp_path, "6.1", (), "0")
    grid = Grid(tuple(linux.contenders(["cubic", "reno"])), (cell("many-to-one:2"),), (1, 2))
    keep = linux.Kept(tmp_path)
    results = linux.run_grid(grid, parts, keep=keep)
    assert sorted(booted) == [("cubic", 1), ("cubic", 2), ("reno", 1), ("reno", 2)]
    again = linux.run_grid(grid, parts, keep=keep)
    assert len(booted) == 4
    assert [o.metrics for o in again.outcomes] == [o.metrics for o in results.outcomes]
    series = results.outcomes[0].samples
    assert series is not None
    assert series.flow_gbps.shape == (100, 2)
    assert series.mean_gbps[50] == pytest.approx(6 * 8e-3, rel=1e-3)
