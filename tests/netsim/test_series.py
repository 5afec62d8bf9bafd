"""Time series: they add up to the window's totals, and looking at a run does not change it."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim import Network, Simulation, simulate
from netsim.network import MS
from netsim.series import joined, record

SMALL = Network(buffer_bytes=100_000)  # drops


def test_samples_add_up_to_the_totals(steering):
    run = Simulation("many-to-one:8", steering(), seed=3, network=SMALL)
    series = record(run, 5 * MS, MS // 7)
    window = run.window()
    assert series.t_ps.tolist() == [*range(MS // 7, 5 * MS, MS // 7), 5 * MS]
    assert series.dropped.sum() == window["counts"]["data_dropped"] > 0
    seconds = np.diff(series.t_ps, prepend=0) * 1e-12
    delivered = (series.flow_gbps * seconds[:, None]).sum(axis=0) * 1e9 / (8 * 1024)
    assert np.allclose(delivered, window["delivered_packets"])
    assert np.allclose(series.mean_gbps, series.flow_gbps.mean(axis=1))
    assert series.queue_bytes.shape == (len(series.t_ps), 1)
    assert 0 < series.queue_bytes.max() <= window["port_queue_max_bytes"].max() <= SMALL.buffer_bytes


def test_a_queue_is_what_waits_at_that_moment(steering, constant):
    """Two senders at line rate queue what is in flight; one leaves the port with what is being sent at the most."""
    full = record(Simulation("many-to-one:2", constant(), seed=1), MS // 2, MS // 50)
    assert full.queue_bytes[-1, 0] > 200_000
    empty = record(Simulation("many-to-one:1", constant(), seed=1), MS // 2, MS // 50)
    assert empty.queue_bytes.max() <= Network().data_wire_bytes
    assert np.allclose(empty.mean_gbps[2:], 100 * 1024 / 1106, rtol=0.02)


def test_looking_changes_nothing(steering):
    times = {"duration_ps": 6 * MS, "window_ps": (2 * MS, 5 * MS)}
    plain = simulate("long-short:4", steering(), seed=5, **times)
    run = Simulation("long-short:4", steering(), seed=5)
    record(run, 2 * MS, 70_001_000)
    run.reset_window()
    record(run, 5 * MS, 123_456_789)
    assert run.metrics() == pytest.approx(plain.metrics, rel=0, abs=0, nan_ok=True)


def test_parts_join_over_a_reset_of_the_window(steering):
    whole = record(Simulation("many-to-one:4", steering(), seed=2), 4 * MS, MS // 4)
    run = Simulation("many-to-one:4", steering(), seed=2)
    parts = [record(run, 2 * MS, MS // 4)]
    run.reset_window()
    parts.append(record(run, 4 * MS, MS // 4))
    parts.append(record(run, 4 * MS, MS // 4))  # nothing more to run
    for name, column in vars(joined(parts)).items():
        assert np.array_equal(column, getattr(whole, name)), name


def test_only_the_flows_asked_for_and_the_mean_of_all(steering):
    whole = record(Simulation("many-to-one:8", steering(), seed=2), MS, MS // 4)
    some = record(Simulation("many-to-one:8", steering(), seed=2), MS, MS // 4, flows=[6, 1])
    assert np.array_equal(some.flow_gbps, whole.flow_gbps[:, [6, 1]])
    assert np.array_equal(some.mean_gbps, whole.mean_gbps)


def test_every_port_has_a_column(steering):
    series = record(Simulation("all-to-all:3", steering(), seed=2), MS, MS // 4)
    assert series.queue_bytes.shape == (4, 3)


@pytest.mark.parametrize("flows", [[8], [-1]])
def test_refusals(steering, flows):
    run = Simulation("many-to-one:8", steering(), seed=2)
    with pytest.raises(InputError, match="this scenario has 8"):
        record(run, MS, MS, flows=flows)
    with pytest.raises(InputError, match="every 0 ps"):
        record(run, MS, 0)
    assert run.now_ps == 0


def test_no_flow_need_be_kept(steering) -> None:
    series = record(Simulation("many-to-one:2", steering(), seed=1), 3 * MS, MS, [])
    assert series.flow_gbps.shape == (3, 0)
    assert (series.mean_gbps > 0).all()
