"""When a flow asks for its RTT: `[probes]` in policy.toml, the policy's wish to whoever sends its probes.

A new flow's first probes, up to its decision number `first`, wait for nothing. A later one leaves with the first burst
by which the flow has sent `after` bytes of payload since its last decision's response, or `latest` after its last
probe. One is under way at a time. Without the table the network decides: in netsim a probe follows each burst
(netsim/network.py).
"""

from typing import Annotated

from pydantic import Field

from decision.artefact.quantity_fields import DurationNs, SizeBytes
from decision.artefact.strict import Strict


class Probes(Strict):
    """The table. ``after``: payload between two decisions of a flow that is fast enough; ``latest``: or so long, in ns,
    where it is not; None: however long. ``first``: decisions of a new flow that wait for neither, in which it starts,
    brakes and recovers."""

    after: SizeBytes = Field(gt=0, le=2**30)
    """Payload that a flow sends between a response and its next RTT request."""
    latest: DurationNs | None = Field(default=None, gt=0, lt=2**32, exclude_if=lambda latest: latest is None)
    """Longest time between two RTT requests."""
    first: Annotated[int, Field(strict=True, ge=1, le=65535)] = 1
    """Number of a new flow's first decisions that wait for neither."""
