"""Packages that a plain installation leaves out: the one place that knows which extra of rlcc brings a missing package.

The extras are read from rlcc's own metadata (pyproject.toml), so that no second list can differ from it.
"""

import importlib.metadata
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from decision.artefact.errors import InputError

DISTRIBUTIONS = {"z3": "z3-solver"}
"""Top-level modules whose distributions are named otherwise."""
OF_THE_CHECKOUT = ("test", "dev")
_MACHINE = re.compile(r"platform_machine\s*==\s*['\"](?P<machine>[^'\"]+)['\"]")
_ENTRY = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*;.*\bextra\s*==\s*['\"](?P<extra>[^'\"]+)['\"]")


def extras() -> dict[str, list[str]]:
    """Extra -> the distributions that it asks for, both in the order of pyproject.toml."""
    try:
        requirements = importlib.metadata.requires("rlcc") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    brought: dict[str, list[str]] = {}
    for entry in filter(None, map(_ENTRY.match, requirements)):
        if entry["name"] != "rlcc":  # `all` is made of the others
            brought.setdefault(entry["extra"], []).append(entry["name"])
    return brought


def machines_of(distribution: str) -> set[str]:
    """The machines, as `platform.machine` names them, that a distribution has a wheel for; empty: any."""
    try:
        requirements = importlib.metadata.requires("rlcc") or []
    except importlib.metadata.PackageNotFoundError:
        return set()
    entries = [e for e in requirements if (found := _ENTRY.match(e)) and found["name"] == distribution]
    named = [{m["machine"] for m in _MACHINE.finditer(entry)} for entry in entries]
    return set().union(*named) if named and all(named) else set()


def offered_here(distribution: str) -> bool:
    """Whether the distribution has a wheel for this machine."""
    machines = machines_of(distribution)
    return not machines or platform.machine() in machines


def missing(module: str, command: str = "") -> InputError | None:
    """The sentence for a module that is not installed; None where no extra brings it. If several do, the one that is
    named like the ``command`` is named."""
    top = module.partition(".")[0]
    distribution = DISTRIBUTIONS.get(top, top.replace("_", "-"))
    offered = [e for e, names in extras().items() if distribution in names and e not in OF_THE_CHECKOUT]
    if not offered:
        return None
    if not offered_here(distribution):
        machines = " and ".join(sorted(machines_of(distribution)))
        return InputError(
            f"{distribution} has packages for {machines} only, and this machine is {platform.machine()}; "
            f"run this on {machines} (docs/reference/platforms.md: what runs where)"
        )
    extra = command if command in offered else offered[0]
    how = f"pip install 'rlcc[{extra}]' (in a checkout: make setup-test)"
    return InputError(f"{distribution} is not installed; install it: {how}")


def package_folder(module: str) -> Path:
    """Returns the folder of an installed wheel's files; raises InputError, which names the extra to install, if it is
    missing."""
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise missing(module) or InputError(f"{module} is not installed, nor is rlcc; install rlcc")
    return Path(next(iter(spec.submodule_search_locations)))


@contextmanager
def needed() -> Iterator[None]:
    """Around imports of what an extra brings: ModuleNotFoundError becomes the sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing(error.name or "") or error from None
