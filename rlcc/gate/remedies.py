"""Which knob of [distill] usually brings a failing check nearer: counted by bench/knobs.py, not believed."""

import tomllib
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("knobs.toml")
PAGE = "docs/results/knobs.md"
MIN_STUDENTS, MAX_LEFT = 10, 0.95
"""A knob is told that was turned in so many students, in more than half of which it helped, and that leaves no more in
the median."""


def mend(kind: str) -> str:
    """For the end of a sentence: "; what usually brings ``latency`` nearer: ..."; nothing where nothing is known to."""
    knobs = [
        f"more distill.{knob} (in {nearer} of {of} students)"
        for knob, (nearer, of, left) in _counted().get(kind, {}).items()
        if of >= MIN_STUDENTS and 2 * nearer > of and left <= MAX_LEFT
    ]
    return f"; what usually brings {kind} nearer: {', '.join(knobs)}; see {PAGE}" if knobs else ""


@cache
def _counted() -> dict[str, dict[str, tuple[int, int, float]]]:
    return tomllib.loads(FILE.read_text())
