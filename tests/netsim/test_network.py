"""The empty network's delays, the device's clock, and what the configuration refuses."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim import Network, Scenario, assembly, simulate
from netsim.network import MS
from netsim.scenarios import Flow
from netsim.topology import star

ALONE = Scenario("alone", 1, 1, (Flow(0, 0),))


@pytest.mark.parametrize("rate", ["100 %", "37 %", "1 %"])
def test_a_probe_in_an_empty_network_takes_exactly_8192_ns(constant, rate: str) -> None:
    records = simulate(ALONE, constant(rate), seed=5, record=True).records
    rtt = records["response_ns"] - records["request_sent_ns"]
    assert rtt.size > 100
    assert set(rtt.tolist()) == {8192}


def test_a_packet_in_an_empty_network_takes_exactly_4_us(constant) -> None:
    metrics = simulate(ALONE, constant(), seed=1).metrics
    assert metrics["latency_mean_us"] == 4.0
    assert metrics["latency_p999_us"] == pytest.approx(4.0, rel=0.008)


@pytest.mark.parametrize("seed", range(5))
def test_the_device_clock_wraps_in_an_ordinary_run(constant, seed: int) -> None:
    records = simulate(ALONE, constant(), seed=seed, record=True).records
    sent = records["request_sent_ns"].astype(np.int64)
    assert (np.diff(sent) < 0).sum() == 1


def test_a_flow_may_have_some_more_than_the_pipe_in_flight() -> None:
    assert Network().inflight_packets(8_192_000) == 10 * 16
    assert Network(link_gbps=25).inflight_packets(8_192_000) == 3 * 16
    assert Network(inflight_messages=40).inflight_packets(8_192_000) == 40 * 16


def test_the_longest_rtt_fits_the_timeouts() -> None:
    network = Network()
    core = assembly.network_config(network, star(2, 1, network))
    assert core.probe_timeout_ps == network.base_rtt_ps + network.buffer_bytes * 80
    assert core.retransmit_timeout_ps > core.probe_timeout_ps


@pytest.mark.parametrize(
    "change",
    [
        {"link_gbps": 0},
        {"link_gbps": 7},
        {"link_gbps": -100},
        {"buffer_bytes": 100},
        {"buffer_bytes": 1 << 40},
        {"one_way_ps": 10**18},
        {"payload_bytes": 9000, "burst_packets": 4096, "message_packets": 4096, "link_gbps": 25},
        {"lossless": True, "dynamic_threshold": 1.0},
        {"ecn_max_bytes": 2**60},
        {"ecn_max_probability": float("nan")},
        {"ecn_max_probability": 1.5},
        {"ecn_min_bytes": 2_000_000},
        {"burst_packets": 0},
        {"burst_packets": 17},
        {"probe_timeout_ps": 1000},
        {"probe_after_bytes": 2**31},
        {"probe_after_bytes": 1.5},
        {"probe_latest_ps": 10**18},
        {"probe_first": 0},
        {"probe_first": 2**32},
        {"payload_bytes": 1.5},
        {"inflight_messages": 0},
        {"start_jitter_ps": 10**18},
        {"decision_loss": 1.0},
        {"decision_late": 1.1},
        {"rtt_noise_ps": 10**18},
    ],
)
def test_a_network_that_cannot_be_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(InputError, match="network: "):
        Network(**change)


@pytest.mark.parametrize("change", [{"one_way_ps": 1000}, {"base_rtt_ps": 3_900_000}])
def test_one_switch_needs_time_for_its_links(change: dict[str, int]) -> None:
    with pytest.raises(InputError, match="no time for"):
        star(2, 1, Network(**change))


@pytest.mark.parametrize("gbps", [25, 100, 400])
def test_other_line_rates_keep_the_base_rtt(make_policy, gbps: int) -> None:
    from netsim.policies import native

    weights = {"fc0.weight": np.zeros((2, 4), np.float32), "out.weight": np.zeros((1, 2), np.float32)}
    result = simulate(
        ALONE,
        native(make_policy(), weights),
        seed=1,
        duration_ps=3 * MS,
        window_ps=(MS, 3 * MS),
        record=True,
        network=Network(link_gbps=gbps),
    )
    assert result.metrics["utilisation"] == pytest.approx(1.0, abs=1e-3)
    assert set((result.records["response_ns"] - result.records["request_sent_ns"]).tolist()) == {8192}
