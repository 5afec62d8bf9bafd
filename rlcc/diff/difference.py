"""The difference of two policies: what changed, and what they decide in traffic and on test inputs."""

from dataclasses import dataclass

from rlcc.diff.changes import PolicyChange
from rlcc.diff.decisions import ComparedDecisions
from rlcc.diff.side import Side


@dataclass(frozen=True)
class PolicyDifference:
    """``said``: which traffic; ``traffic`` and ``inputs``: None where they could not be compared."""

    old: Side
    new: Side
    changes: tuple[PolicyChange, ...]
    said: str
    traffic: ComparedDecisions | None
    inputs: ComparedDecisions | None

    @property
    def compared(self) -> list[tuple[str, ComparedDecisions]]:
        """Returns the sets of inputs that could be compared, each with its name."""
        sets = (("traffic", self.traffic), ("test inputs", self.inputs))
        return [(name, one) for name, one in sets if one is not None]

    @property
    def differs(self) -> bool:
        """Returns whether a decision differs; policies of two interfaces always do."""
        return self.traffic is None or any(one.differing for _, one in self.compared)
