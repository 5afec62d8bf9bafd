"""Ends of a drawing with two axes, in pixels."""

from dataclasses import dataclass

LEFT, RIGHT, TOP, BOTTOM = 48.0, 16.0, 12.0, 44.0
"""Room around what is drawn, for words."""


@dataclass(frozen=True)
class HtmlFrame:
    """``x`` and ``y``: the place of a share of an axis, 0 at its beginning, on the left and below."""

    width: float
    height: float

    @property
    def left(self) -> float:
        return LEFT

    @property
    def right(self) -> float:
        return self.width - RIGHT

    @property
    def top(self) -> float:
        return TOP

    @property
    def bottom(self) -> float:
        return self.height - BOTTOM

    def x(self, share: float) -> float:
        return round(self.left + share * (self.right - self.left), 2)

    def y(self, share: float) -> float:
        return round(self.bottom - share * (self.bottom - self.top), 2)
