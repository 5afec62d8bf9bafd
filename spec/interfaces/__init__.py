"""The interfaces that rlcc knows, one file each."""

from spec.interface import Interface
from spec.interfaces.flow_rate import FLOW_RATE
from spec.interfaces.queue_marking import QUEUE_MARKING

INTERFACES: dict[str, Interface] = {interface.name: interface for interface in (FLOW_RATE, QUEUE_MARKING)}
