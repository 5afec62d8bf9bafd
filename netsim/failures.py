"""Links of a fabric that fail and come back, and what routes there are meanwhile.

    [[failures]]
    link = "leaf0-spine1"      # both ways; of parallel links all, leaf0-spine1:2 the third of them
    from = "20 ms"
    for = "10 ms"

Packets on the link or waiting for it are lost, and so are those that arrive for it until the routes follow (`reroute`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from decision.artefact.errors import InputError
from decision.artefact.quantity import parse_duration_ps

LATEST_PS = 100_000_000_000_000
"""Runs may last 100 s."""
KEYS = ("link", "from", "for")


@dataclass(frozen=True)
class Failure:
    """A link that is down from ``from_ps`` for ``for_ps``."""

    link: str
    from_ps: int
    for_ps: int

    def __post_init__(self) -> None:
        if not isinstance(self.link, str):
            raise InputError(f"failures: the link is {self.link!r}; write leaf0-spine1")
        for value, least in ((self.from_ps, 0), (self.for_ps, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LATEST_PS:
                raise InputError(
                    f"failures: {self.link} fails from {self.from_ps} ps for {self.for_ps}; up to 100 s each"
                )


def read(tables: object) -> tuple[Failure, ...]:
    """Returns the failures of a file's ``[[failures]]``."""
    if not isinstance(tables, Sequence) or isinstance(tables, str):
        raise InputError('write [[failures]] with link = "leaf0-spine1", from = "20 ms" and for = "10 ms"')
    return tuple(_one(table) for table in tables)


def _one(table: object) -> Failure:
    if not isinstance(table, Mapping) or set(table) != set(KEYS):
        raise InputError(f"each of [[failures]] has {', '.join(KEYS)}")
    return Failure(table["link"], parse_duration_ps(table["from"]), parse_duration_ps(table["for"]))


@dataclass(frozen=True)
class Change:
    """Ports that go down or come back, and those without which the routes are from now on; None: routes as before."""

    at_ps: int
    down: tuple[int, ...]
    up: tuple[int, ...]
    avoided: frozenset[int] | None


def changes(failures: Sequence[Failure], fabric: Any, reroute_ps: int) -> list[Change]:
    """Returns the changes by failing links, in the order of time: the routes follow ``reroute_ps`` later."""
    ports = {failure: fabric.link_ports(failure.link) for failure in failures}

    def dead(at_ps: int) -> frozenset[int]:
        down = [f for f in failures if f.from_ps <= at_ps < f.from_ps + f.for_ps]
        return frozenset(port for failure in down for port in ports[failure])

    edges = {t for f in failures for t in (f.from_ps, f.from_ps + f.for_ps)}
    told: list[Change] = []
    before: frozenset[int] = frozenset()
    for at in sorted(edges | {edge + reroute_ps for edge in edges}):
        now = dead(at)
        avoided = dead(at - reroute_ps) if at - reroute_ps in edges else None
        told.append(Change(at, tuple(sorted(now - before)), tuple(sorted(before - now)), avoided))
        before = now
    return told
