"""Which interface the tables of a document make of flows (decision/ir/interfaces/flow_rate.py, ``OPTIONS``)."""

from collections.abc import Mapping
from typing import Any

from decision.ir.interfaces.flow_rate import FLOWS, OPTIONS, TARGET_RATIO, WINDOWED, flow_interface

FLOW_NAMES = tuple(flow.name for flow in FLOWS)
OBSERVED = ("device_rate", TARGET_RATIO, "acks", "rtt_slack")
"""Options that keys of the observation ask for."""


def implied(data: Any) -> Any:
    """A document with tables that options are of, its observation's interface said."""
    if not isinstance(data, dict) or not isinstance(data.get("observation"), dict):
        return data
    chosen = _chosen(data, data["observation"])
    return data | {"observation": {"interface": flow_interface(chosen).name} | data["observation"]} if chosen else data


def check_options(interface: str, tables: Mapping[str, object], observation: Mapping[str, object]) -> None:
    """ValueError where agents of the interface do not have just these options, or options do not go together; a table
    that is None is not there, nor a key of the observation that is false."""
    chosen = _chosen(tables, observation)
    if interface not in FLOW_NAMES:
        if chosen:
            raise ValueError(f"{chosen[0]} is of flows that set their rate, and agents of {interface} are none")
    elif interface != flow_interface(chosen).name:
        tables_say = f"with {' and '.join(chosen) or 'no such table'} flows are of {flow_interface(chosen).name}"
        raise ValueError(f"{tables_say}, and interface says {interface}; leave it out")


def observed(observation: Mapping[str, object]) -> list[str]:
    """The options that an observation asks for."""
    return [name for name in OBSERVED if observation.get(name)]


def _chosen(tables: Mapping[str, object], observation: Mapping[str, object]) -> list[str]:
    asked, cap = observed(observation), tables.get("in_flight")
    window = cap.get("window") if isinstance(cap, Mapping) else getattr(cap, "window", False)
    told = {*asked, *(name for name, table in tables.items() if table is not None), *(["window"] if window else [])}
    chosen = [name for name in OPTIONS if name in told]
    if window and tuple(chosen) not in WINDOWED:
        apart = next(name for name in chosen if name not in WINDOWED[-1])
        raise ValueError(f"{apart} does not go with a window; leave it or in_flight.window out")
    return chosen
