"""Falcon's Swift (falcon_swift.py) beside netsim's: event by event the same window where the two read one paper alike,
and each point where they do not, shown (docs/how-to/targets.md lists them)."""

import numpy as np
import pytest
from falcon_swift import SwiftParams, answer, gap_of, rounded, target_delay

from netsim import _core
from verify.adapter.falcon_lines import ACK, RETRANSMISSION, fields

UNIT_PS, TICK_PS = 131_072, 512_000
UNSCALED = SwiftParams(max_flow_scaling=0)
PACKET_PS = 80 * 100
"""At line rate: short, so that no window below one packet is worth more than it."""


def baseline(params: SwiftParams, window: float, hops: int = 0) -> "_core.Swift":
    """netsim's flow at that window, with its newest RTT one unit and no decrease so far."""
    config = _core.SwiftConfig()
    config.base_target_ps, config.hop_target_ps = params.base_delay * UNIT_PS, params.topo_scaling_per_hop * UNIT_PS
    config.scaling_range_ps = params.max_flow_scaling * UNIT_PS
    config.scaling_window_min, config.scaling_window_max = params.min_flow_scaling_window, params.max_window
    config.additive_step, config.decrease, config.decrease_max = 1.0, params.decrease_factor, params.max_decrease
    config.window_min, config.window_max, config.initial_window = params.min_window, params.max_window, window
    machine = _core.Swift(config, 1)
    machine.start(0, 0, UNIT_PS, hops, 80, 100)
    return machine


def acknowledged(
    window: int, rtt: int, *, now: int = 10**6, packets: int = 1, hops: int = 0, **more: int
) -> dict[str, int]:
    """An ACK of ``packets`` after ``rtt`` units, the last decrease long ago."""
    event = dict.fromkeys((name for name, _, _ in fields("Event_Gen1")), 0)
    event |= {"event_type": ACK, "timestamp_1": now - rtt, "timestamp_4": now, "num_packets_acked": packets}
    return event | {"fabric_congestion_window": window, "forward_hops": hops} | more


def window_of(limits: tuple[float, float], rtt: int) -> float:
    """What netsim's rate and window come to: below one packet it is the rate that says."""
    rate, window = limits
    return window if rate == 1 else rate * rtt * UNIT_PS / PACKET_PS


def heard(machine: "_core.Swift", now: int, rtt: int, packets: int = 1) -> float:
    """The window of netsim's Swift after such an ACK; times in units."""
    return window_of(machine.on_ack(0, now * UNIT_PS, rtt * UNIT_PS, 0, 0, packets), rtt)


def drawn(count: int) -> list[tuple[int, int, int, int]]:
    """Window (Q10), RTT, packets, hops: on both sides of the target, and on it."""
    rng = np.random.default_rng(4)
    rows = []
    for number in range(count):
        hops = int(rng.integers(16))
        rtt = 191 + 8 * hops if number % 9 == 0 else int(rng.integers(20, 2000))
        rows.append((int(np.exp(rng.uniform(np.log(11), np.log(256 << 10)))), rtt, int(rng.integers(1, 9)), hops))
    return rows


def test_windows_and_gaps_are_the_same():
    """More below the target, less above it, and in gaps below one packet. Windows to the last of their ten bits, a tie
    to either side."""
    kinds = {"more": 0, "less": 0, "gap": 0}
    for window, rtt, packets, hops in drawn(2000):
        allowed = heard(baseline(UNSCALED, window / 1024, hops), 10**6, rtt, packets)
        said = answer(UNSCALED, acknowledged(window, rtt, packets=packets, hops=hops), 10**6)
        if allowed < 1:
            alone = rtt / allowed - rtt  # as netsim paces, in units of time
            assert min(rounded(alone * UNIT_PS / TICK_PS), 65535) == said["inter_packet_gap"]
            kinds["gap"] += 1
        assert abs(allowed * 1024 - said["fabric_congestion_window"]) < 0.5 + 1e-9, (window, rtt, packets, hops)
        kinds["more" if said["fabric_congestion_window"] > window else "less"] += 1
    assert min(kinds.values()) > 200, kinds


def test_a_first_retransmission_is_a_loss():
    for window in (11, 700, 1024, 5000, 256 << 10):
        machine = baseline(UNSCALED, window / 1024)
        event = acknowledged(window, 100, event_type=RETRANSMISSION, retransmit_count=1, rtt_state=100)
        allowed = window_of(machine.on_loss(0, 10**6 * UNIT_PS), 1)
        assert answer(UNSCALED, event, 10**6)["fabric_congestion_window"] == rounded(allowed * 1024)


class TestWhatDiffers:
    def test_falcon_holds_a_decrease_to_the_newest_round_trip_and_netsim_to_the_one_before(self):
        machine = baseline(UNSCALED, 64.0)
        first = answer(UNSCALED, acknowledged(64 << 10, 400), 10**6)
        heard(machine, 10**6, 400)
        again = acknowledged(first["fabric_congestion_window"], 600, now=10**6 + 500)
        again["fabric_window_time_marker"] = first["fabric_window_time_marker"]
        second = answer(UNSCALED, again, 10**6 + 500)
        assert second["fabric_congestion_window"] == first["fabric_congestion_window"]
        assert rounded(heard(machine, 10**6 + 500, 600) * 1024) < first["fabric_congestion_window"]

    def test_falcon_scales_the_target_in_whole_units_of_time(self):
        scaled, differ = SwiftParams(), 0
        for window, rtt, packets, hops in drawn(500):
            allowed = heard(baseline(scaled, window / 1024, hops), 10**6, rtt, packets)
            said = answer(scaled, acknowledged(window, rtt, packets=packets, hops=hops), 10**6)
            if rtt == target_delay(scaled, window / 1024, hops):
                continue  # on the target of one, below that of the other
            off = abs(said["fabric_congestion_window"] - allowed * 1024)
            assert off <= 0.5 + window * 0.8 / rtt  # of a decrease, what a unit more of delay takes
            differ += off > 0.5
        assert differ > 10

    def test_falcon_keeps_ten_fraction_bits_of_a_window_between_events(self):
        machine, window = baseline(UNSCALED, 200.0), 200 << 10
        for number in range(400):
            allowed = heard(machine, 10**6 + number, 100)
            window = answer(UNSCALED, acknowledged(window, 100, now=10**6 + number), 10**6 + number)[
                "fabric_congestion_window"
            ]
        assert 0.02 < abs(allowed - window / 1024) < 0.2

    def test_falcon_goes_to_the_least_window_at_the_third_retransmission_and_ignores_the_second(self):
        for count, expected in ((2, 64 << 10), (3, 10)):
            event = acknowledged(64 << 10, 100, event_type=RETRANSMISSION, retransmit_count=count, rtt_state=100)
            assert answer(UNSCALED, event, 10**6)["fabric_congestion_window"] == expected
        assert baseline(UNSCALED, 64.0).on_loss(0, 10**6 * UNIT_PS)[1] == 32.0

    def test_falcon_counts_a_stay_at_the_least_window_as_a_decrease(self):
        said = answer(UNSCALED, acknowledged(10, 1000), 10**6)
        assert (said["fabric_congestion_window"], said["fabric_window_time_marker"]) == (10, 10**6)

    def test_falcons_marker_is_kept_young_so_that_24_bits_of_time_are_enough(self):
        said = answer(UNSCALED, acknowledged(64 << 10, 100), 10**6)
        assert said["fabric_window_time_marker"] == 10**6 - 100


@pytest.mark.parametrize(
    ("name", "params"), [("decrease", SwiftParams(0, 8, 0, decrease_factor=0.7)), ("base", SwiftParams(190, 8, 0))]
)
def test_another_parameter_is_noticed(name, params):
    window, rtt = 64 << 10, 250
    assert answer(params, acknowledged(window, rtt), 10**6) != answer(UNSCALED, acknowledged(window, rtt), 10**6)
    assert gap_of(params, 0.5, 100) == 26
