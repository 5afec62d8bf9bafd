"""How long a flow's bursts are: `[bursts]` in policy.toml, the policy's wish to the NIC that sends them.

A burst is what leaves back to back when the NIC serves the flow, in netsim's network four packets (netsim/network.py).
They are 4 % of what a path of 100 Gb/s and 8 us holds, and 40 % of one of 10 Gb/s. There a flow meets the queue of its
own burst. The table makes bursts shorter in proportion to the BDP, and never longer. The baselines that are clocked by
acknowledgements send packet by packet (netsim/parameters/).
"""

from fractions import Fraction
from math import floor

from pydantic import Field

from decision.artefact.strict import Strict
from decision.policy.in_flight import MAX_BYTES, NS_BITS


class Bursts(Strict):
    """The table. ``bdp``: the longest burst, in line rate x base RTT. One packet may always leave."""

    bdp: float = Field(gt=0, le=1)
    """Longest burst, in line rate x base RTT; one packet at least."""

    def bytes(self, base_rtt_ns: int, line_rate_bps: float) -> int:
        """Returns the longest burst, in bytes on the wire, where flows have this base RTT and line rate."""
        burst = floor(Fraction(str(self.bdp)) * base_rtt_ns * Fraction(line_rate_bps) / NS_BITS)
        return min(burst, MAX_BYTES)
