"""Swift as Falcon's rate update engine publishes it, the fabric window alone: one event in, one response out.

Written from the pseudocode of the OCP Falcon specification (10.3, 10.5), with what falcon-transport/isekai v1.1 fixes
beyond it: `<` at the target, flow scaling in whole units of time, windows of ten fraction bits between events.
"""

from dataclasses import dataclass
from math import floor, sqrt

from verify.adapter.falcon_lines import ACK, FABRIC, FORWARD, NACK, REVERSE, TIME

SCALE = 131_072 / 512_000
"""Ticks of the traffic shaper in a unit of time."""


@dataclass(frozen=True)
class SwiftParams:
    """Defaults as published. Times in units of 131.072 ns, windows in packets."""

    base_delay: int = 191
    topo_scaling_per_hop: int = 8
    max_flow_scaling: int = 763
    min_flow_scaling_window: float = 0.1
    additive_increment: float = 1.0
    decrease_factor: float = 0.8
    max_decrease: float = 0.5
    min_window: float = 0.01
    max_window: float = 256.0
    rtt_smoothing: float = 0.75
    retransmit_limit: int = 3
    min_retransmit_timeout: int = 1907
    gap_bits: int = 16


def target_delay(params: SwiftParams, window: float, hops: int) -> int:
    lowest = 1 / sqrt(params.max_window)
    slope = params.max_flow_scaling / (1 / sqrt(params.min_flow_scaling_window) - lowest)
    scaling = min(max(int(slope / sqrt(window) - slope * lowest), 0), params.max_flow_scaling)
    return min(params.base_delay + scaling + params.topo_scaling_per_hop * hops, TIME)


def gap_of(params: SwiftParams, window: float, rtt: int) -> int:
    """Ticks between packets where less than one may be in flight."""
    if window >= 1:
        return 0
    return min(rounded((rtt / window - rtt) * SCALE), (1 << params.gap_bits) - 1)


def rounded(value: float) -> int:
    return floor(value + 0.5)


def answer(params: SwiftParams, event: dict[str, int], now: int) -> dict[str, int]:
    """The fields of a response that the fabric's window decides."""
    window = before = event["fabric_congestion_window"] / 1024
    marker, delay, smoothed = event["fabric_window_time_marker"], event["delay_state"], event["rtt_state"]
    passed, rtt = (now - marker) & TIME, smoothed
    if event["event_type"] in (ACK, NACK):
        t1, t2, t3, t4 = (event[f"timestamp_{n}"] for n in (1, 2, 3, 4))
        rtt = (t4 - t1) & TIME
        one_way = {FABRIC: rtt - (t3 - t2), FORWARD: t2 - t1, REVERSE: t4 - t3}
        delay = one_way.get(event["delay_select"], rtt) & TIME
        smoothed = int(smoothed * params.rtt_smoothing + rtt * (1 - params.rtt_smoothing))
        goal = target_delay(params, window, event["forward_hops"])
        if delay < goal:
            step = params.additive_increment * event["num_packets_acked"]
            window += step / window if window >= 1 else step
        elif passed >= rtt:
            window *= 1 - min(params.max_decrease, (delay - goal) / delay * params.decrease_factor)
    elif passed >= rtt:
        if event["retransmit_count"] == 1:
            window *= 1 - params.max_decrease
        elif event["retransmit_count"] >= params.retransmit_limit:
            window = params.min_window
    window = min(max(window, params.min_window), params.max_window)
    if window < before or window == params.min_window:
        marker = now & TIME
    elif passed > rtt:
        marker = (now - rtt) & TIME
    gap = gap_of(params, window, rtt)
    timeout = min(int(2 * smoothed) + int(gap / SCALE), TIME)
    return {
        "fabric_congestion_window": rounded(window * 1024),
        "inter_packet_gap": gap,
        "retransmit_timeout": max(timeout, params.min_retransmit_timeout),
        "fabric_window_time_marker": marker,
        "delay_state": delay,
        "rtt_state": smoothed,
    }
