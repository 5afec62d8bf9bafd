"""Deciders with a header whose fields are at hand: a student, a quantised network."""

from dataclasses import dataclass, replace
from typing import Any, Self

from decision.policy.actions import AnyAction
from decision.policy.bursts import Bursts
from decision.policy.in_flight import InFlight
from decision.policy.policy import Header, Limits, Observation
from decision.policy.probes import Probes
from decision.policy.start import Start
from decision.policy.trigger import Trigger


@dataclass(frozen=True)
class Headed:
    """A name, and a header whose fields are at hand."""

    name: str
    header: Header

    @property
    def observation(self) -> Observation:
        return self.header.observation

    @property
    def action(self) -> AnyAction:
        return self.header.action

    @property
    def limits(self) -> Limits | None:
        return self.header.limits

    @property
    def start(self) -> Start | None:
        return self.header.start

    @property
    def in_flight(self) -> InFlight | None:
        return self.header.in_flight

    @property
    def probes(self) -> Probes | None:
        return self.header.probes

    @property
    def bursts(self) -> Bursts | None:
        return self.header.bursts

    @property
    def once_per_rtt(self) -> bool:
        return self.header.once_per_rtt

    @property
    def trigger(self) -> Trigger | None:
        return self.header.trigger

    def with_parts(self, **changes: Any) -> Self:
        """Returns the same with other fields of the header; whether they fit is checked where it is read."""
        return replace(self, header=self.header.model_copy(update=changes))

    def params(self) -> dict[str, int]:
        """Returns the operator's parameters with the values that the teacher was trained for."""
        return self.header.params()
