"""A path's cycles as a picture: the decision on top, below it its stages, parts and lines, as wide as they cost.

An icicle, the flame graph's form that reads from the top; a box tells all of itself where the pointer rests on it.
"""

from dataclasses import dataclass
from pathlib import Path

import jinja2

from rlcc.cycles.measure import LineCost, PathCosts
from rlcc.cycles.parts import STAGES, stage_of

WIDTH, MARGIN, TOP, ROW = 1200.0, 8.0, 28.0, 22.0
LETTER = 6.7  # width of a letter of the font
COLOURS = ("#f4b183", "#a9d18e", "#9dc3e6", "#c9a6e4", "#d6c6a8")  # of the stages


@dataclass(frozen=True)
class _FlameBox:
    x: float
    y: float
    width: float
    colour: str
    label: str
    tip: str


def flame(path: PathCosts, title: str) -> str:
    """The SVG document of one path."""
    scale = (WIDTH - 2 * MARGIN) / path.cycles
    total = f"decision, {path.cycles:.4g} cycles"
    boxes = [_box(0.0, path.cycles, 0, "#d9d9d9", total, total, scale)]
    at = 0.0
    for stage, colour in zip(STAGES, COLOURS, strict=True):
        within = {part: cycles for part, cycles in path.by_part().items() if stage_of(part) == stage}
        boxes.append(_share(at, sum(within.values()), 1, colour, stage, path, scale))
        for part, cycles in within.items():
            inside = at
            if part != stage:
                boxes.append(_share(at, cycles, 2, colour, part, path, scale))
            for cost in (cost for cost in path.lines if cost.part == part):
                boxes.append(_box(inside, cost.cycles, 3, colour, _short(cost), _tip(cost, path), scale))
                inside += cost.cycles
            at += cycles
    folder = Path(__file__).resolve().parent
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined
    )
    height = TOP + 4 * ROW + MARGIN
    document = templates.get_template("flame.svg.j2")
    return document.render(width=WIDTH, height=height, row=ROW, title=title, boxes=boxes) + "\n"


def _share(at: float, cycles: float, level: int, colour: str, name: str, path: PathCosts, scale: float) -> _FlameBox:
    tip = f"{name}: {cycles:.4g} cycles, {cycles / path.cycles:.1%}"
    return _box(at, cycles, level, colour, f"{name} {cycles:.3g}", tip, scale)


def _box(at: float, cycles: float, level: int, colour: str, label: str, tip: str, scale: float) -> _FlameBox:
    width = round(cycles * scale - 1, 2)
    letters = int((width - 6) / LETTER)
    shown = label if len(label) <= letters else label[: letters - 1] + "…" if letters > 2 else ""
    return _FlameBox(round(MARGIN + at * scale, 2), TOP + level * ROW, max(width, 0.3), colour, shown, tip)


def _short(cost: LineCost) -> str:
    return cost.text.removeprefix("const ").removeprefix("uint32_t ").removeprefix("int32_t ") or cost.function


def _tip(cost: LineCost, path: PathCosts) -> str:
    where = f"line {cost.line} of {cost.function}" if cost.line else cost.function
    return f"{where}: {cost.cycles:.4g} cycles, {cost.cycles / path.cycles:.1%}\n{cost.text}"
