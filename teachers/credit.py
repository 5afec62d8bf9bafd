"""Credit of a decision: the deltas that follow it, each with a weight (ADPG, teachers/adpg.py).

    to_go(t) = sum_j gamma^(j-1) w(t, t+j) clip(delta(t+j) / target),   j = 1..horizon, while the flow lives

``w`` is 1 where flows last. If flows come and go, others caused part of what follows, and no observation showed it when
the decision was made:

    others     "shared": the flows at the receiver that are there both when the decision is made and when its delta is
               seen, over those that are there at either time. "apart": 1 while none has come or left since the flow
               decided before, then 0
    newcomer   0 for the first deltas of a flow: it did not make the queue that it met
    by_rate    a delta that asks for less counts by the flow's rate over an equal share, at most 1: who sends little
               has caused little

Two kinds of decisions count only if their key is true, because what followed is no answer to them:

    count_clipped  the new rate lay beyond the policy's limits: a flow at line rate cannot go faster, and a link that it
                   cannot fill would ask it to, for ever
    count_idle     the queue was empty then and stayed empty: faster is right whatever was decided, and where flows
                   come and go most decisions are like that. What they ask for drowns what keeps a crowd from swinging
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decision.artefact.renamed_keys import RenamedFrom
from decision.artefact.strict import Strict
from decision.ir.arrays import Floats32
from teachers.scalars import power

EMPTY = 0.999
"""From this delta on, in targets, there is no queue."""


class Credit(Strict):
    """Which weights are in use; by default none, as where flows last."""

    others: Literal["count", "shared", "apart"] = "count"
    """Weight of a delta when other flows come or go: 1, the share of flows that stayed, or 0."""
    newcomer: int = Field(default=0, ge=0, le=64)  # deltas of a flow that nobody answers for
    """Number of a flow's first deltas that count for no decision."""
    by_rate: bool = False
    """Weigh a delta that asks for less by the flow's rate over an equal share, at most 1."""
    count_clipped: Annotated[bool, RenamedFrom("clipped")] = True
    """Count decisions whose new rate the limits clipped."""
    count_idle: Annotated[bool, RenamedFrom("idle")] = True
    """Count decisions that saw an empty queue that stayed empty."""


@dataclass(frozen=True)
class Presence:
    """Facts about each decision [T, B]: its number within its flow, the flow's rate (a fraction of line rate), whether
    the limits clipped the new one, and how many flows had begun and had ended at its receiver until then."""

    step: NDArray[np.int64]
    rate: Floats32
    clipped: NDArray[np.bool_]
    begun: NDArray[np.int64]
    ended: NDArray[np.int64]

    @property
    def active(self) -> NDArray[np.int64]:
        return np.asarray(np.maximum(self.begun - self.ended, 1))


def to_go(delta: Floats32, presence: Presence | None, credit: Credit, *, horizon: int, gamma: float) -> Floats32:
    """Returns the credit of each decision [T, B]; ``delta`` is clipped, and 0 where a flow has no decision."""
    steps = len(delta)
    total = np.zeros(delta.shape, dtype=np.float32)
    if presence is not None and credit.newcomer:
        delta = np.where(presence.step < credit.newcomer, np.float32(0), delta)
    if presence is not None and credit.by_rate:
        share = np.minimum(presence.rate * presence.active, 1).astype(np.float32)
        delta = np.where(delta < 0, delta * share, delta)
    for ahead in range(1, min(horizon, steps - 1) + 1):
        seen = delta[ahead:]
        if presence is not None and credit.others == "shared":
            seen = seen * _in_common(presence, ahead)
        if presence is not None and credit.others == "apart":
            seen = np.where(_unchanged(presence, ahead), seen, np.float32(0))
        total[: steps - ahead] += np.float32(power(gamma, ahead - 1)) * seen
    return total


def answered(length: NDArray[np.int64], done: NDArray[np.bool_], steps: int, horizon: int) -> NDArray[np.bool_]:
    """Decisions [T, B] all of whose deltas are known: ``horizon`` of them, or until the flow's end where it is
    ``done`` [B]. ``length`` [B] decisions there are."""
    needed = np.where(done, 1, horizon)
    return np.asarray(np.arange(steps)[:, None] + needed[None, :] < length[None, :])


def counted(delta: Floats32, presence: Presence | None, credit: Credit, horizon: int) -> NDArray[np.bool_]:
    """Decisions [T, B] that are not left out; ``delta`` is in targets: 1 is that of an empty queue."""
    counts = np.ones(delta.shape, dtype=bool)
    if presence is not None and not credit.count_clipped:
        counts &= ~presence.clipped
    if not credit.count_idle:
        least = delta.copy()
        for ahead in range(1, min(horizon, len(delta) - 1) + 1):
            least[:-ahead] = np.minimum(least[:-ahead], delta[ahead:])
        counts &= least < EMPTY
    return counts


def _in_common(presence: Presence, ahead: int) -> Floats32:
    """Flows that were there all the time over those that were there at any, from each decision to the one ``ahead``.
    One that began and ended meanwhile counts among those that left."""
    came = presence.begun[ahead:] - presence.begun[:-ahead]
    left = presence.ended[ahead:] - presence.ended[:-ahead]
    before = presence.active[:-ahead]
    return (np.maximum(before - left, 0) / np.maximum(before + came, 1)).astype(np.float32)


def _unchanged(presence: Presence, ahead: int) -> NDArray[np.bool_]:
    """Whether nobody came or left between the decision before each and the one ``ahead`` of it: an observation shows
    what happened a round trip ago. A first decision is compared with itself."""
    changes = presence.begun + presence.ended
    since = np.concatenate([changes[:1], changes[:-1]])
    return np.asarray(changes[ahead:] == since[:-ahead])
