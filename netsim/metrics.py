"""Metrics over a measurement window, exact unless said otherwise (definitions: docs/explanation/netsim.md,
docs/reference/scenarios.md)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.engines import engine_metrics
from netsim.metric_names import PARTS
from netsim.network import Network
from netsim.scenarios import Scenario

MICE_BYTES = 100_000  # at most: [ACC] section 5.4 and figure 12: (0, 100 KB] ..
ELEPHANT_BYTES = 10_000_000  # .. and [10 MB, inf)
COMPLETED = ("completed_flow", "completed_start_ps", "completed_finish_ps", "completed_alone_ps")
SPREAD = ("mean", "p50", "p95", "p99")


def metrics(window: dict[str, Any], scenario: Scenario, network: Network) -> dict[str, float]:
    """Returns the metrics of one window of a simulation. Rates are fractions of the line rate; NaN: nothing to
    measure."""
    counts = window["counts"]
    seconds = (window["end_ps"] - window["begin_ps"]) * 1e-12
    fabric = scenario.topology
    line_bytes = (network.link_gbps if fabric is None else fabric.host_gbps) * 1e9 / 8 * seconds
    base_rtt_ps = network.base_rtt_ps if fabric is None else fabric.base_rtt_ps
    # Senders that a switch can pause: NICs, and ports that lead to it from other switches.
    links = scenario.hosts + (0 if fabric is None else len(fabric.ports) - fabric.receivers)
    pausable = links * len(network.class_weights)
    # Only machines of a fabric that take part count.
    senders, receivers = np.unique(scenario.column("host")), np.unique(scenario.column("receiver"))
    delivered = _delivered_bytes(window, scenario, network)
    sent = window["sent_packets"].astype(np.float64) * network.payload_bytes
    received = window["port_received_bytes"][receivers].astype(np.float64)
    of_host = np.bincount(scenario.column("host"), weights=sent)[senders]
    p50, p99, p999 = (ps * 1e-6 if counts["data_arrived"] else np.nan for ps in window["latency_quantiles_ps"])
    base_us = window["latency_base_ps"] * 1e-6
    wait_us = _ratio(counts["wait_ps"] * 1e-6, counts["data_arrived"])
    rtt_us = _ratio(counts["rtt_ns"] * 1e-3, counts["rtts"])
    measured = {
        "goodput": _ratio(delivered.sum(), receivers.size * line_bytes),
        "utilisation": _ratio(received.sum(), receivers.size * line_bytes),
        "latency_mean_us": base_us + wait_us,
        "latency_p50_us": p50,
        "latency_p99_us": p99,
        "latency_p999_us": p999,
        "rtt_mean_us": rtt_us,
        "rtt_inflation_mean": rtt_us / (base_rtt_ps * 1e-6),
        "queue_mean_us": wait_us,
        "queue_max_bytes": float(window["port_queue_max_bytes"].max()),
        "unfairness": _ratio(float(of_host.std()), float(of_host.mean())),
        "fairness_min_max": _ratio(float(delivered.min()), float(delivered.max())),
        "jain": _ratio(float(delivered.sum()) ** 2, delivered.size * float((delivered**2).sum())),
        "rate_variation": _ratio(float(delivered.std()), float(delivered.mean())),
        "loss": _ratio(counts["data_dropped"], counts["data_sent"]),
        "drop_gbps": _ratio(counts["data_dropped"] * network.data_wire_bytes * 8e-9, seconds),
        "dropped_packets": float(counts["data_dropped"]),
        "cnps": float(counts["cnps"]),
        "nacks": float(counts["nacks"]),
        "timeouts": float(counts["timeouts"]),
        "pfc_pauses": float(window["pfc_pauses"]),
        "pfc_paused_share": _ratio(window["pfc_paused_ps"], (window["end_ps"] - window["begin_ps"]) * pausable),
        "decisions": float(counts["decisions"]),
        "decisions_per_flow_s": _ratio(counts["decisions"], len(scenario.flows) * seconds),
        "data_packets": float(counts["data_arrived"]),
    }
    if network.trim_bytes > 0:
        measured["trimmed"] = _ratio(counts["trimmed"], counts["data_sent"])
    if scenario.finite or scenario.long_flow is not None:
        measured |= completion(window, scenario, network)
    if scenario.long_flow is not None:
        recovery = window["recovery_us"]
        measured |= {
            "long_bandwidth": _ratio(float(delivered[scenario.long_flow]), line_bytes),
            "recovery_us": float(recovery.mean()) if recovery.size else np.nan,
            "recoveries": float(recovery.size),
            "completion_normalised_mean": measured["slowdown_mean"],
            "completion_normalised_p99": measured["slowdown_p99"],
        }
    if scenario.jobs is not None:
        took_us = (window["round_finish_ps"] - window["round_start_ps"]) * 1e-6
        measured |= {"rounds": float(took_us.size), "rounds_per_s": _ratio(took_us.size, seconds)}
        measured |= _spread("round_", "_us", took_us)
    if window.get("shares"):
        measured |= by_part(window, scenario, network, delivered / (receivers.size * line_bytes))
    if window.get("engines") is not None:
        measured |= engine_metrics(window["engines"], seconds)
    return {name: float(value) for name, value in measured.items()}


def completion(window: dict[str, Any], scenario: Scenario, network: Network) -> dict[str, float]:
    """Flows that finished in the window: completion time (start to last ACK) and slowdown (the same over the time in an
    empty network), of all and by size. Both are defined as in HPCC's evaluation."""
    flow = window["completed_flow"]
    time_ps = window["completed_finish_ps"] - window["completed_start_ps"]
    time_us, slowdown = time_ps * 1e-6, time_ps / window["completed_alone_ps"]
    size = scenario.size_bytes(network.payload_bytes)[flow]
    classes = {
        "": np.ones(size.shape, bool),
        "mice_": size <= MICE_BYTES,
        "medium_": (size > MICE_BYTES) & (size < ELEPHANT_BYTES),
        "elephants_": size >= ELEPHANT_BYTES,
    }
    measured: dict[str, float] = {}
    for name, which in classes.items():
        measured[f"{name}completions"] = float(which.sum())
        measured |= _spread(f"{name}fct_", "_us", time_us[which])
        measured |= _spread(f"{name}slowdown_", "", slowdown[which])
    speed = 1 / slowdown
    measured["slowdown_jain"] = _ratio(float(speed.sum()) ** 2, speed.size * float((speed**2).sum()))
    return measured


def by_part(
    window: dict[str, Any], scenario: Scenario, network: Network, goodput: NDArray[np.float64]
) -> dict[str, float]:
    """Returns the metrics of the flows of each part of a mix: ``goodput`` of each flow [flows]."""
    whose = np.asarray(window["flow_cohort"])
    measured: dict[str, float] = {}
    for number, share in enumerate(window["shares"]):
        mine = whose == number
        of = goodput[mine]
        p99 = share["latency_quantiles_ps"][1] * 1e-6 if share["arrived"] else np.nan
        part = {
            "goodput": of.sum(),
            "fair": _ratio(float(of.mean()), float(goodput.mean())),
            "fairness_min_max": _ratio(float(of.min()), float(of.max())),
            "latency_mean_us": _ratio(share["latency_ps"] * 1e-6, share["arrived"]),
            "latency_p99_us": p99,
            "loss": _ratio(share["dropped"], share["sent"]),
        }
        if scenario.finite:
            done = mine[window["completed_flow"]]
            ended = completion({**window, **{c: window[c][done] for c in COMPLETED}}, scenario, network)
            part |= {name: ended[name] for name in ("completions", "slowdown_mean", "slowdown_p99")}
        measured |= {f"{PARTS[number]}_{name}": value for name, value in part.items()}
    return measured


def start_metrics(early: dict[str, float], start: dict[str, float], window: dict[str, float]) -> dict[str, float]:
    """Returns the metrics of a run's start, from those of its first moments, of all before the window, and of the
    window: what was lost in the first moments, what between them and the window's end."""
    later = start["dropped_packets"] - early["dropped_packets"] + window["dropped_packets"]
    return {
        "start_goodput": start["goodput"],
        "start_latency_p99_us": start["latency_p99_us"],
        "start_loss": start["loss"],
        "early_loss": early["loss"],
        "late_dropped_packets": later,
    }


def _spread(before: str, after: str, values: NDArray[np.float64]) -> dict[str, float]:
    """Mean and quantiles."""
    if not values.size:
        return {f"{before}{what}{after}": np.nan for what in SPREAD}
    p50, p95, p99 = np.quantile(values, [0.5, 0.95, 0.99])
    spread = {"mean": values.mean(), "p50": p50, "p95": p95, "p99": p99}
    return {f"{before}{what}{after}": float(value) for what, value in spread.items()}


def _delivered_bytes(window: dict[str, Any], scenario: Scenario, network: Network) -> NDArray[np.float64]:
    """Payload of each flow [flows]. The shortfall of a last packet is subtracted when the flow is done."""
    full = window["delivered_packets"].astype(np.float64) * network.payload_bytes
    short = scenario.column("packets") * float(network.payload_bytes) - scenario.size_bytes(network.payload_bytes)
    done = np.bincount(window["completed_flow"], minlength=full.size)
    return np.asarray(np.maximum(full - done * short, 0.0))


def _ratio(part: float, total: float) -> float:
    return float(part) / float(total) if total else float("nan")
