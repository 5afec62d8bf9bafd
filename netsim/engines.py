"""The engines of a NIC, which run the event handlers: how many there are, and what happens when too many events come.

Engines(4)                            four a NIC; an event that finds its flow's engine busy waits
Engines(4, "drop", depth=16)          .. unless 16 wait there: then it is dropped, and the flow has to measure again
Engines(4, "coalesce")                .. and a newer event of the flow takes its place
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from decision.artefact.errors import InputError

if TYPE_CHECKING:
    from netsim import _core

Overload = Literal["wait", "drop", "coalesce"]
OVERLOAD: tuple[Overload, ...] = get_args(Overload)
MAX_ENGINES = 1 << 16
UNLIMITED = 2**32 - 1


@dataclass(frozen=True)
class Engines:
    """``of_nic`` engines a NIC; a flow belongs to one of them by its queue pair, modulo ``of_nic``. ``depth``: how many
    events may wait at an engine beside the one that it handles; None: as many as it has flows."""

    of_nic: int
    overload: Overload = "wait"
    depth: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.of_nic, bool) or not isinstance(self.of_nic, int) or not 1 <= self.of_nic <= MAX_ENGINES:
            raise InputError(f"{self.of_nic!r} engines a NIC are not possible; choose 1 to {MAX_ENGINES}")
        if self.overload not in OVERLOAD:
            raise InputError(f"overload is {self.overload!r}; choose one of {', '.join(OVERLOAD)}")
        if self.depth is None:
            if self.overload == "drop":
                raise InputError("engines that drop events need the depth of their queue; say how many may wait")
            return
        if isinstance(self.depth, bool) or not isinstance(self.depth, int) or not 0 <= self.depth < UNLIMITED:
            raise InputError(f"a queue for {self.depth!r} events is not possible; give a whole number from 0 on")
        if self.overload == "wait":
            raise InputError("where every event waits the queue has no depth; leave it out, or choose drop or coalesce")

    def set(self, core: "_core.CohortSpec") -> None:
        """Give them to the devices of a cohort's agents."""
        from netsim import _core

        overload = getattr(_core.Overload, self.overload)
        core.set_engines(self.of_nic, UNLIMITED if self.depth is None else self.depth, overload)


def engine_metrics(window: dict[str, Any], seconds: float) -> dict[str, float]:
    """Metrics of the engines in a window of a simulation (definitions: docs/explanation/netsim.md); NaN: nothing to
    measure.

    Engines are those that a flow belongs to. Times count from the event that was decided on, of coalesced ones from the
    newest.
    """
    busy = window["engine_busy_ps"] * 1e-12 / seconds
    a_second = window["engine_decided"] / seconds
    decided, applied = window["decided"] or float("nan"), window["applied"] or float("nan")
    wait_p99 = window["wait_quantiles_ps"][1] if window["decided"] else float("nan")
    p50, p99, _ = window["latency_quantiles_ps"] if window["applied"] else 3 * [float("nan")]
    return {
        "engine_utilisation": float(busy.mean()),
        "engine_utilisation_max": float(busy.max()),
        "engine_decisions_s": float(a_second.mean()),
        "engine_decisions_s_max": float(a_second.max()),
        "engine_service_mean_us": window["service_ps"] * 1e-6 / decided,
        "engine_wait_mean_us": window["wait_ps"] * 1e-6 / decided,
        "engine_wait_p99_us": wait_p99 * 1e-6,
        "engine_wait_max_us": window["wait_max_ps"] * 1e-6 if window["decided"] else float("nan"),
        "engine_queue_mean": window["queue_ps"] * 1e-12 / seconds / busy.size,
        "engine_queue_max": float(window["queue_max"]),
        "engine_events": float(window["events"]),
        "engine_dropped": float(window["dropped"]),
        "engine_coalesced": float(window["coalesced"]),
        "engine_expired": float(window["expired"]),
        "decision_latency_mean_us": window["latency_ps"] * 1e-6 / applied,
        "decision_latency_p50_us": p50 * 1e-6,
        "decision_latency_p99_us": p99 * 1e-6,
        "decision_latency_max_us": window["latency_max_ps"] * 1e-6 if window["applied"] else float("nan"),
    }
