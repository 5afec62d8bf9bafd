"""Metrics over a measurement window, exact unless said otherwise (definitions: docs/netsim.md)."""

from typing import Any

import numpy as np

from netsim.network import Network
from netsim.scenarios import Scenario


def metrics(window: dict[str, Any], scenario: Scenario, network: Network) -> dict[str, float]:
    """What is reported of one window of a simulation. Rates are fractions of the line rate; NaN: nothing to measure."""
    counts = window["counts"]
    seconds = (window["end_ps"] - window["begin_ps"]) * 1e-12
    line_bytes = network.link_gbps * 1e9 / 8 * seconds
    delivered = window["delivered_packets"].astype(np.float64) * network.payload_bytes
    sent = window["sent_packets"].astype(np.float64) * network.payload_bytes
    received = window["port_received_bytes"].astype(np.float64)
    of_host = np.bincount(scenario.column("host"), weights=sent, minlength=scenario.hosts)
    p50, p99, p999 = (ps * 1e-6 if counts["data_arrived"] else np.nan for ps in window["latency_quantiles_ps"])
    base_us = window["latency_base_ps"] * 1e-6
    wait_us = _ratio(counts["wait_ps"] * 1e-6, counts["data_arrived"])
    rtt_us = _ratio(counts["rtt_ns"] * 1e-3, counts["decisions"])
    found = {
        "goodput": _ratio(delivered.sum(), scenario.receivers * line_bytes),
        "utilisation": _ratio(received.sum(), scenario.receivers * line_bytes),
        "latency_mean_us": base_us + wait_us,
        "latency_p50_us": p50,
        "latency_p99_us": p99,
        "latency_p999_us": p999,
        "rtt_mean_us": rtt_us,
        "rtt_inflation_mean": rtt_us / (network.base_rtt_ps * 1e-6),
        "queue_mean_us": wait_us,
        "queue_max_bytes": float(window["port_queue_max_bytes"].max()),
        "unfairness": _ratio(float(of_host.std()), float(of_host.mean())),
        "fairness_min_max": _ratio(float(delivered.min()), float(delivered.max())),
        "jain": _ratio(float(delivered.sum()) ** 2, delivered.size * float((delivered**2).sum())),
        "loss": _ratio(counts["data_dropped"], counts["data_sent"]),
        "drop_gbps": _ratio(counts["data_dropped"] * network.data_wire_bytes * 8e-9, seconds),
        "dropped_packets": float(counts["data_dropped"]),
        "cnps": float(counts["cnps"]),
        "nacks": float(counts["nacks"]),
        "timeouts": float(counts["timeouts"]),
        "decisions": float(counts["decisions"]),
        "decisions_per_flow_s": _ratio(counts["decisions"], len(scenario.flows) * seconds),
        "data_packets": float(counts["data_arrived"]),
    }
    if scenario.long_flow is not None:
        completion, recovery = window["completion_normalised"], window["recovery_us"]
        found |= {
            "long_bandwidth": _ratio(float(delivered[scenario.long_flow]), line_bytes),
            "recovery_us": float(recovery.mean()) if recovery.size else float("nan"),
            "recoveries": float(recovery.size),
            "completions": float(completion.size),
            "completion_normalised_mean": float(completion.mean()) if completion.size else float("nan"),
            "completion_normalised_p99": float(np.quantile(completion, 0.99)) if completion.size else float("nan"),
        }
    return {name: float(value) for name, value in found.items()}


def _ratio(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else float("nan")
