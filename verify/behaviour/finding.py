"""The answer about one property."""

from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["holds", "fails", "found", "undecided"]
"""``found``: no limit was asked for, the least that holds is told; ``undecided``: the reason is told."""


@dataclass(frozen=True)
class Finding:
    """``says``: the property in words; ``value``: what was found; ``witness``: an input that shows it, by feature or by
    "context.x" and "event.x"."""

    kind: str
    says: str
    verdict: Verdict
    value: str
    witness: dict[str, int] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The state in which a property fails; empty where it does not, or none is known."""
        values = " ".join(f"{name}={value}" for name, value in self.witness.items())
        return f"with {values}" if self.verdict == "fails" and values else ""


def judged(holds: bool | None) -> Verdict:
    """None: no limit was asked for."""
    return "found" if holds is None else "holds" if holds else "fails"
