"""Another network every episode: what a policy must not rely on is drawn anew for each simulation of its training.

    [training.randomise]
    link_gbps = [25, 100, 400]          # one of these
    base_rtt = ["4 us", "50 us"]        # between these, evenly on a logarithmic scale
    decision_loss = [0.05, 0.35]        # between these, evenly
    devices = ["bluefield3:1", "bluefield3:16"]     # NICs of one of these: jitter, loss, rates, who shares a context

A key that is left out keeps its default. A fabric has link rates and delays of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationPs, LineFractionQ30, SizeBytes
from decision.artefact.strict import Strict
from decision.ir import exact
from netsim import scenarios
from netsim.devices import chosen
from netsim.network import Network
from netsim.scenarios import Scenario
from netsim.simulation import DECISION_LATENCY_PS

DEFAULT = Network()


def _ascending(ends: Any) -> Any:
    if not 0 < ends[0] <= ends[1]:
        raise ValueError("the ends of a range must ascend and lie above 0")
    return ends


def _known_device(text: str) -> str:
    try:
        return chosen(text).name
    except InputError as error:
        raise ValueError(str(error)) from None


DeviceName = Annotated[str, AfterValidator(_known_device)]
Share = Annotated[float, Field(ge=0, lt=1)]
Durations = Annotated[tuple[DurationPs, DurationPs], AfterValidator(_ascending)]
Sizes = Annotated[tuple[SizeBytes, SizeBytes], AfterValidator(_ascending)]
Starts = Annotated[tuple[LineFractionQ30, LineFractionQ30], AfterValidator(_ascending)]
"""Between which the first rate of each flow is drawn, evenly on a logarithmic scale."""


class Randomisation(Strict):
    """Ranges and choices; None: not drawn."""

    link_gbps: list[Annotated[int, Field(ge=1, le=8000)]] | None = Field(default=None, min_length=1)
    """Line rates, Gb/s; one is drawn."""
    base_rtt: Durations | None = None
    """Range of the base RTT, even on a logarithmic scale."""
    buffer: Sizes | None = None
    """Range of the switch buffer, even on a logarithmic scale."""
    payload_bytes: list[Annotated[int, Field(ge=1, le=9000)]] | None = Field(default=None, min_length=1)
    """Payloads of a packet, bytes; one is drawn."""
    burst_packets: list[Annotated[int, Field(ge=1, le=16)]] | None = Field(default=None, min_length=1)
    """Packets per burst; one is drawn."""
    decision_latency: Durations | None = None
    """Range of the decision latency, even on a logarithmic scale."""
    decision_loss: tuple[Share, Share] | None = None
    """Range of the share of responses without a decision."""
    decision_late: tuple[Share, Share] | None = None
    """Range of the share of decisions that take effect late."""
    decision_late_by: DurationPs = DEFAULT.decision_late_by_ps
    """Longest delay of a late decision."""
    rtt_noise: Durations | None = None
    """Range of the largest error of a response's time stamp, even on a logarithmic scale."""
    devices: list[DeviceName] | None = Field(default=None, min_length=1)
    """Devices, NAME[:FLOWS]; one is drawn."""


@dataclass(frozen=True)
class Surroundings:
    """Network of one simulation of an episode."""

    scenario: Scenario | str
    network: Network
    decision_latency_ps: int


NO_RANDOMISATION = Randomisation()


def draw(name: str, what: Randomisation, random: Generator, seed: int, duration_ps: int) -> Surroundings:
    """The scenario ``name`` in a network of its own; where nothing is drawn, as it is by default."""
    if what == NO_RANDOMISATION:
        return Surroundings(name, DEFAULT, DECISION_LATENCY_PS)
    changes: dict[str, Any] = {"decision_late_by_ps": what.decision_late_by}
    for field, choices in (
        ("link_gbps", what.link_gbps),
        ("payload_bytes", what.payload_bytes),
        ("burst_packets", what.burst_packets),
    ):
        if choices is not None:
            changes[field] = int(choices[random.integers(len(choices))])
    for field, ends in (("buffer_bytes", what.buffer), ("rtt_noise_ps", what.rtt_noise)):
        if ends is not None:
            changes[field] = _between(ends, random)
    for field, shares in (("decision_loss", what.decision_loss), ("decision_late", what.decision_late)):
        if shares is not None:
            changes[field] = float(random.uniform(*shares))
    network = replace(DEFAULT, **changes)
    if what.base_rtt is not None:
        network = with_base_rtt(network, _between(what.base_rtt, random))
    latency = DECISION_LATENCY_PS if what.decision_latency is None else _between(what.decision_latency, random)
    if what.devices is not None:
        network = chosen(what.devices[random.integers(len(what.devices))]).on(network)
    return Surroundings(scenarios.instantiate(name, seed, duration_ps, network), network, latency)


def with_base_rtt(network: Network, base_rtt_ps: int) -> Network:
    """The network with other delays: as much of the base RTT one way as by default, and no less than the packets'
    times on the wire ask for."""
    share = DEFAULT.one_way_ps / DEFAULT.base_rtt_ps
    least = ceil(2.5 * network.data_wire_bytes * network.ps_per_byte / share)
    base_rtt_ps = max(base_rtt_ps, least)
    return replace(network, base_rtt_ps=base_rtt_ps, one_way_ps=round(base_rtt_ps * share))


def first_rates(starts: tuple[int, int], flows: int, random: Generator) -> NDArray[np.uint32]:
    """Q0.30 of line rate, one a flow [flows]."""
    low, high = exact.log(starts)
    rates = np.rint(exact.exp(random.uniform(low, high, flows)))
    return np.clip(rates, *starts).astype(np.uint32)


def _between(ends: Sequence[int], random: Generator) -> int:
    return round(float(exact.exp(random.uniform(*exact.log(ends)))))
