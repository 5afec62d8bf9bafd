"""A network whose NICs are a device's (decision/devices): contexts shared, responses late or lost, rates rounded.

on_device(Network(), "bluefield3")        as its file says
on_device(Network(), "bluefield3:4")      with four queue pairs a context
"""

from dataclasses import dataclass, replace

from decision.artefact.errors import InputError
from decision.artefact.suggest import choices
from decision.devices import MAX_FLOWS, TRANSPORTS, Device, load_device
from netsim.network import NS, Network

RATE_BITS = 30


@dataclass(frozen=True)
class Chosen:
    """A device and how many queue pairs share a context on it; ``name`` as it was asked for."""

    name: str
    device: Device
    flows: int

    def on(self, network: Network) -> Network:
        """Returns the network with this device's NICs."""
        rates, events = self.device.rates, self.device.events
        shift = RATE_BITS - rates.bits.value
        has = self.device.transport.value
        if network.transport is not None and network.transport not in has:
            raise InputError(
                f"device {self.name} has no transport {network.transport!r}; choose {choices(network.transport, has)}"
            )
        reorder_by = max(events.reorder_by.value, network.event_reorder_by_ps if network.event_reorder else 0)
        return replace(
            network,
            context_flows=self.flows,
            probe_a_context=self.device.probes.a_context.value,
            rtt_noise_ps=network.rtt_noise_ps + events.jitter.value,
            decision_loss=_either(network.decision_loss, events.loss.value),
            event_reorder=_either(network.event_reorder, events.reorder.value),
            event_reorder_by_ps=reorder_by or network.event_reorder_by_ps,
            rate_scale=1 - rates.offset.value,
            rate_step_q30=1 << shift,
            rate_least_q30=rates.least.value << shift if shift else 0,
            transport=network.transport or (has[0] if has[0] != TRANSPORTS[0] else None),
            actuation_ps=rates.actuation.value * NS,
        )


def _either(share: float, other: float) -> float:
    """Returns the share of the events that one of two independent causes meets."""
    return 1 - (1 - share) * (1 - other) if share and other else share or other


def chosen(text: str) -> Chosen:
    """Returns the device that ``NAME[:FLOWS]`` names; NAME may be a TOML file. Raises
    InputError if the device is unknown, or ``FLOWS`` is out of range."""
    name, colon, flows = text.rpartition(":") if ":" in text else (text, "", "")
    device = load_device(name)
    if not colon:
        return Chosen(text, device, device.contexts.flows.value)
    if not flows.isascii() or not flows.isdigit() or not 1 <= int(flows[:6]) <= MAX_FLOWS:
        raise InputError(f"device {text!r}: {flows!r} queue pairs share no context; give 1 to {MAX_FLOWS}")
    return Chosen(text, device, int(flows))


def on_device(network: Network, text: str) -> Network:
    """Returns the network with the NICs of ``NAME[:FLOWS]``."""
    return chosen(text).on(network)
