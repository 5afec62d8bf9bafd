"""Every metric that a network can have (netsim.metrics; docs/explanation/netsim.md says what each means), and how it
is shown."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """How a metric stands in a table."""

    heading: str
    decimals: int


METRICS: dict[str, Column] = {
    "goodput": Column("goodput", 4),
    "utilisation": Column("utilisation", 4),
    "latency_mean_us": Column("latency us", 2),
    "latency_p50_us": Column("p50 us", 2),
    "latency_p99_us": Column("p99 us", 2),
    "latency_p999_us": Column("p99.9 us", 2),
    "queue_mean_us": Column("queue us", 2),
    "queue_max_bytes": Column("queue max B", 0),
    "rtt_mean_us": Column("RTT us", 2),
    "rtt_inflation_mean": Column("inflation", 3),
    "unfairness": Column("unfairness", 4),
    "fairness_min_max": Column("min/max", 3),
    "jain": Column("Jain", 4),
    "rate_variation": Column("rate CV", 4),
    "loss": Column("loss", 5),
    "trimmed": Column("trimmed", 5),
    "drop_gbps": Column("drop Gb/s", 3),
    "dropped_packets": Column("dropped", 0),
    "cnps": Column("CNPs", 0),
    "nacks": Column("NACKs", 0),
    "timeouts": Column("timeouts", 0),
    "pfc_pauses": Column("PFC pauses", 0),
    "pfc_paused_share": Column("PFC paused", 4),
    "decisions": Column("decisions", 0),
    "decisions_per_flow_s": Column("decisions/flow/s", 0),
    "data_packets": Column("packets", 0),
    "long_bandwidth": Column("long flow", 4),
    "recovery_us": Column("recovery us", 1),
    "recoveries": Column("recoveries", 0),
    "completion_normalised_mean": Column("completion", 2),
    "completion_normalised_p99": Column("completion p99", 2),
    "rounds": Column("rounds", 0),
    "rounds_per_s": Column("rounds/s", 0),
    "round_mean_us": Column("round us", 1),
    "round_p50_us": Column("round p50 us", 1),
    "round_p95_us": Column("round p95 us", 1),
    "round_p99_us": Column("round p99 us", 1),
    "slowdown_jain": Column("slowdown Jain", 4),
    "start_goodput": Column("start goodput", 4),
    "start_latency_p99_us": Column("start p99 us", 2),
    "start_loss": Column("start loss", 5),
    "early_loss": Column("early loss", 5),
    "late_dropped_packets": Column("dropped later", 0),
}
METRICS |= {
    "engine_utilisation": Column("engine busy", 4),
    "engine_utilisation_max": Column("busiest engine", 4),
    "engine_decisions_s": Column("decisions/engine/s", 0),
    "engine_decisions_s_max": Column("decisions/engine/s max", 0),
    "engine_service_mean_us": Column("handler us", 3),
    "engine_wait_mean_us": Column("wait us", 2),
    "engine_wait_p99_us": Column("wait p99 us", 2),
    "engine_wait_max_us": Column("wait max us", 2),
    "engine_queue_mean": Column("waiting", 3),
    "engine_queue_max": Column("waiting max", 0),
    "engine_events": Column("events", 0),
    "engine_dropped": Column("events dropped", 0),
    "engine_coalesced": Column("events coalesced", 0),
    "engine_expired": Column("events expired", 0),
    "decision_latency_mean_us": Column("event to rate us", 2),
    "decision_latency_p50_us": Column("event to rate p50 us", 2),
    "decision_latency_p99_us": Column("event to rate p99 us", 2),
    "decision_latency_max_us": Column("event to rate max us", 2),
}
for _flows in ("", "mice_", "medium_", "elephants_"):
    _words = _flows.replace("_", " ")
    METRICS[f"{_flows}completions"] = Column(f"{_words}completions", 0)
    for _what in ("mean", "p50", "p95", "p99"):
        METRICS[f"{_flows}fct_{_what}_us"] = Column(f"{_words}FCT {_what} us", 1)
        METRICS[f"{_flows}slowdown_{_what}"] = Column(f"{_words}slowdown {_what}", 2)
PARTS = "abcdefgh"
"""Of a mix (netsim.mixes), in metrics of the flows of one part."""
for _part in PARTS:
    METRICS |= {
        f"{_part}_{_name}": Column(f"{_part} {METRICS[_name].heading}", METRICS[_name].decimals)
        for _name in (
            "goodput", "fairness_min_max", "latency_mean_us", "latency_p99_us", "loss", "completions", "slowdown_mean",
            "slowdown_p99",
        )
    }  # fmt: skip
    METRICS[f"{_part}_fair"] = Column(f"{_part} of fair", 3)
KERNEL = {
    "rtt_p50_us": Column("RTT p50 us", 2),
    "rtt_p99_us": Column("RTT p99 us", 2),
    "queue_mean_bytes": Column("queue B", 0),
    "marked_packets": Column("marked", 0),
    "retransmits": Column("retransmits", 0),
    "start_dropped_packets": Column("dropped at start", 0),
    "packets_per_ack": Column("packets/ACK", 3),
    "broken_connections": Column("broken", 0),
}
"""What only TCP on a real kernel has (rlcc evaluate --stack linux; docs/how-to/linux.md)."""
METRICS |= KERNEL
