"""Several who steer flows in one network, each a share of them.

    mix = Mix((Part(native(policy, weights), 25), Part(by_name("dcqcn"), 75, klass=1)))
    simulate("many-to-one:64", mix, seed=1, network=Network(class_weights=(1, 3))).metrics["a_fair"]

Which flows are whose the seed draws. The two ends of a flow (bursts, ACKs, CNPs, probes) behave as its algorithm asks;
a queue has one marking, that of the first part of its class that brings one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from netsim.baselines import BaselineSpec, MaxMinSpec
from netsim.cohorts import whole_ps
from netsim.metric_names import PARTS
from netsim.network import MAX_CLASSES
from netsim.policies import PolicySpec, like_baseline
from netsim.splitmix import keys

MIX_STREAM = 1 << 17
"""Of the seed's random numbers; paths and workloads draw from lower ones."""

Steering = PolicySpec | BaselineSpec
"""Who steers flows."""


@dataclass(frozen=True)
class Part:
    """``percent`` of the flows; ``klass``: their traffic class, None: as the scenario has it. ``latency_ps``: what a
    decision takes, None: as for the simulation."""

    policy: Steering
    percent: int
    klass: int | None = None
    latency_ps: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.percent, bool) or not isinstance(self.percent, int) or not 1 <= self.percent <= 99:
            raise InputError(f"a part of a mix has {self.percent!r} % of the flows; give a whole number from 1 to 99")
        if self.klass is not None and not 0 <= self.klass < MAX_CLASSES:
            raise InputError(f"a part of a mix is in class {self.klass}; there are 0 to {MAX_CLASSES - 1}")
        if self.latency_ps is not None:
            whole_ps("decision latency", self.latency_ps)
        if isinstance(self.policy, MaxMinSpec):
            raise InputError(f"{self.policy.name} hands out the rates of all flows of a network; leave it out of a mix")


@dataclass(frozen=True)
class Mix:
    """Two to eight parts that make up all flows."""

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.parts) <= len(PARTS):
            raise InputError(f"a mix of {len(self.parts)} parts; 2 to {len(PARTS)} are possible")
        percent = sum(part.percent for part in self.parts)
        if percent != 100:
            raise InputError(f"the parts of a mix have {percent} % of the flows together; they must have 100 %")

    @property
    def needs_int(self) -> bool:
        return any(part.policy.needs_int for part in self.parts)

    def of_flows(self, flows: int, seed: int) -> NDArray[np.uint32]:
        """Returns the part of each flow, by its number [flows]: as many of each as it has per cent, by the largest
        remainder, drawn by the seed. InputError where a part has none."""
        percent = np.array([part.percent for part in self.parts])
        number = flows * percent // 100
        most_left = np.argsort(-(flows * percent % 100), kind="stable")
        number[most_left[: flows - number.sum()]] += 1
        if (number == 0).any():
            raise InputError(
                f"{percent[number.argmin()]} % of {flows} flows are none; take more flows or a larger part"
            )
        whose = np.empty(flows, np.uint32)
        whose[np.argsort(keys(flows, seed, MIX_STREAM), kind="stable")] = np.repeat(np.arange(percent.size), number)
        return whose

    def classes(self, whose: NDArray[np.uint32], own: NDArray[Any]) -> NDArray[np.uint32]:
        """The traffic class of each flow [flows], ``own`` where its part does not say."""
        klass = np.array([-1 if part.klass is None else part.klass for part in self.parts])[whose]
        return np.where(klass < 0, own, klass).astype(np.uint32)

    def marking(self, klass: int) -> Steering | None:
        """The first of a class that brings thresholds of its own for its queue."""
        of = (part.policy for part in self.parts if (part.klass or 0) == klass)
        return next((spec for spec in of if (like := like_baseline(spec)) is not None and like.ecn is not None), None)


def parts_of(spec: Steering | Mix | None) -> tuple[Steering | None, ...]:
    """Returns the algorithms that steer, one after the other; only one if it is no mix."""
    return tuple(part.policy for part in spec.parts) if isinstance(spec, Mix) else (spec,)
