"""A firmware on a model of the device that it is for: `gate.device` (decision/devices, netsim/devices.py).

The program runs on the device: queue pairs share contexts, from 1 up to the number of the device file or recipe, and
the device adds its jitter, losses, offsets and floors. The program also runs in the recipe's network, where each flow
has its own context and no device interferes. The check limits the difference between both. A device whose threads
interleave is tried once more, with reordered events: how often one overtakes another was measured on no device.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from netsim.deployment import Deployment
from netsim.devices import Chosen
from netsim.network import US, Network
from netsim.policies import PolicySpec
from netsim.trials import Progress
from netsim.trials import run as run_trials
from rlcc.gate.names import named
from rlcc.gate.verdict import Check

SCENARIOS = ("many-to-one:4x16", "many-to-one:16x16", "many-to-one:64x16")
"""16 queue pairs a host."""
FLOWS = (1, 4, 16)
GOODPUT, TAIL = 0.005, 1.5
"""Goodput may be so much lower than without the device, as a share of the link; the 99th percentile of the latency so
many times as long."""


REORDER, REORDER_BY_PS = 0.1, 10 * US
"""Share of the events that come late where a device's threads interleave, and their largest delay: declared, as much as
a base RTT of 8.2 us and more."""


@dataclass(frozen=True)
class DeviceCase:
    """One trial of a device: ``flows`` per context, and whether events are reordered."""

    flows: int
    reorder: bool = False


@dataclass(frozen=True)
class OnDevice:
    """One scenario at ``flows`` flows per context, on the device and without it; ``reorder``: with reordered events.

    Goodput and 99th percentile of the latency (us) are means over the seeds.
    """

    scenario: str
    flows: int
    goodput: float
    goodput_without: float
    p99_us: float
    p99_without_us: float
    reorder: bool = False


def check_device(deployment: Deployment) -> None:
    """Raises InputError if the agents are no flows: a NIC keeps contexts of flows only."""
    if deployment.interface.agent != FLOW_RATE.agent:
        raise InputError(
            f"gate.device is of NICs, which keep contexts of flows, and the agents are of {deployment.interface.name}; "
            "leave it out"
        )


def cases(asked: Chosen) -> tuple[DeviceCase, ...]:
    """Returns what is tried: the numbers of flows a context of ``FLOWS`` up to the number asked for, and that number,
    where threads interleave once more with reordered events."""
    flows = sorted({flows for flows in (*FLOWS, asked.flows) if flows <= asked.flows})
    reordered = [DeviceCase(asked.flows, True)] if asked.device.events.interleaved.value else []
    return (*map(DeviceCase, flows), *reordered)


def network_of(case: DeviceCase, asked: Chosen, network: Network) -> Network:
    """Returns the network of a case on the device."""
    on = replace(asked.on(network), context_flows=case.flows)
    if not case.reorder:
        return on
    share, by_ps = (on.event_reorder, on.event_reorder_by_ps) if on.event_reorder else (0.0, 0)  # the device's own
    return replace(on, event_reorder=max(share, REORDER), event_reorder_by_ps=max(by_ps, REORDER_BY_PS))


def run_on_device(
    policy: PolicySpec,
    asked: Chosen,
    deployment: Deployment,
    seeds: Sequence[int],
    *,
    duration_ps: int,
    window_ps: tuple[int, int],
    latency_ps: int,
    progress: Progress | None = None,
) -> list[OnDevice]:
    """Returns what came of every scenario and case. InputError where flows do not fill contexts."""
    tried = cases(asked)
    networks = [deployment.network] + [network_of(case, asked, deployment.network) for case in tried]
    trials = [
        replace(deployment, network=network).trial(
            policy,
            scenario,
            seed=seed,
            duration_ps=duration_ps,
            window_ps=window_ps,
            decision_latency_ps=latency_ps,
            name=asked.name,
        )
        for scenario in SCENARIOS
        for network in networks
        for seed in seeds
    ]
    outcomes = [outcome.metrics for outcome in run_trials(trials, progress=progress)]
    means = [
        {name: fmean(one[name] for one in outcomes[at : at + len(seeds)]) for name in ("goodput", "latency_p99_us")}
        for at in range(0, len(outcomes), len(seeds))
    ]
    found = []
    for number, scenario in enumerate(SCENARIOS):
        without, *on = means[number * len(networks) : (number + 1) * len(networks)]
        for case, ours in zip(tried, on, strict=True):
            goodput, p99 = ours["goodput"], ours["latency_p99_us"]
            row = OnDevice(
                scenario, case.flows, goodput, without["goodput"], p99, without["latency_p99_us"], case.reorder
            )
            found.append(row)
    return found


def within(one: OnDevice) -> tuple[bool, bool]:
    """Returns whether goodput and latency are within their limits. A figure that is NaN is not."""
    return one.goodput_without - one.goodput <= GOODPUT, one.p99_us <= TAIL * one.p99_without_us


def checks(found: Sequence[OnDevice], asked: Chosen) -> list[Check]:
    """Returns two checks of each scenario and case. A figure that is NaN fails."""
    rows = []
    model = asked.name.partition(":")[0]
    for one in found:
        of = f"{one.scenario} on {model}:{one.flows}{', events reordered' if one.reorder else ''}"
        lacks, times = one.goodput_without - one.goodput, one.p99_us / one.p99_without_us
        in_goodput, in_latency = within(one)
        mend = "" if one.flows == 1 else "set once_per_rtt = true in the teacher's policy.toml and distil again"
        rows.append(
            named("network.device.goodput", of=of)(
                value=f"{one.goodput:.4f} ({-lacks:+.4f})",
                limit=f"-{GOODPUT:g}",
                passed=in_goodput,
                detail="" if in_goodput else mend,
            )
        )
        rows.append(
            named("network.device.latency", of=of)(
                value=f"{one.p99_us:.2f} us ({times:.2f} times)",
                limit=f"{TAIL:g} times",
                passed=in_latency,
                detail="" if in_latency else mend,
            )
        )
    return rows


def figures(found: Sequence[OnDevice], asked: Chosen) -> dict[str, Any]:
    """Returns the device model that judged, each of its values with its evidence class, and what was measured on it."""
    facts = {key: {"value": fact.value, "evidence": fact.evidence} for key, fact in asked.device.facts()}
    return {"name": asked.name, "title": asked.device.title, "facts": facts, "runs": [vars(one) for one in found]}
