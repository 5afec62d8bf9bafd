"""The interfaces that rlcc knows, one file each (every ``Interface`` in a file of this folder is one), and how a file
says which one it means."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from decision.artefact.errors import InputError
from decision.ir.interface import Interface
from decision.ir.interfaces import grid

INTERFACES: dict[str, Interface] = {
    interface.name: interface
    for module in iter_modules(__path__, f"{__name__}.")
    for value in vars(import_module(module.name)).values()
    for interface in (value if isinstance(value, tuple) else (value,))
    if isinstance(interface, Interface)
}
"""Those that are the same for every decider; a grid is made for its model."""


def to_json(interface: Interface) -> Any:
    """Its name; for a grid, whose signals are the model's, all of it."""
    return interface.name if interface.name in INTERFACES else grid.to_json(interface)


def from_json(data: Any) -> Interface:
    """Inverse of ``to_json``; InputError for an interface that this rlcc does not know."""
    if isinstance(data, dict):
        return grid.from_json(data)
    if data not in INTERFACES:
        raise InputError(f"there is no interface {data!r}; known are {', '.join(INTERFACES)}")
    return INTERFACES[data]
