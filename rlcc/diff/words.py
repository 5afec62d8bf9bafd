"""How a difference is said, in text and in the page alike."""

from collections.abc import Mapping, Sequence

from rlcc.diff.decisions import ACTION, ComparedDecisions, LargestDifference, ThresholdInterval
from rlcc.diff.difference import PolicyDifference

HEADINGS = ("feature", "interval", "of the traffic", "differ", "mean", "worst", "values")
MAX_COLUMN = 48
"""Characters of a column that are kept free for short cells: a longer cell moves the rest of its own line only."""


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns one line a row, cells below each other; nothing where there is no row below the headings."""
    if len(rows) < 2:
        return []
    widths = [max((len(row[k]) for row in rows if len(row[k]) <= MAX_COLUMN), default=0) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def summary(found: PolicyDifference) -> dict[str, str]:
    """Returns the figures of the stage: key and value."""
    figures = {"changes": str(len(found.changes)), "traffic": found.said}
    if found.traffic is not None:
        figures["in traffic"] = compared_text(found.traffic)
    figures["test inputs"] = (
        compared_text(found.inputs) if found.inputs is not None else "not compared: the contexts differ in their fields"
    )
    return figures


def compared_text(compared: ComparedDecisions) -> str:
    """Returns the share that differs and the largest difference."""
    share = f"{compared.differing:,} of {compared.decisions:,} decisions differ ({compared.share:.2%})"
    if compared.worst is None:
        return share
    name, worst = compared.worst.knob, compared.worst.difference
    return f"{share}, {name} by {number(name, worst)} at most, {number(name, compared.mean[name], '')} on average"


def number(knob: str, value: float, sign: str = "+") -> str:
    """Returns a difference: of an action as part of the rate, of a knob in its unit."""
    if knob == ACTION:
        return f"{value:{sign}.5f}"
    return f"{value:{sign},.0f}" if float(value).is_integer() else f"{value:{sign},.2f}"


def interval_cells(interval: ThresholdInterval) -> tuple[str, ...]:
    """Returns the cells of one row."""
    low, high = interval.low, interval.high
    if low is not None and high is not None:
        ends = f"{low + 1} to {high}"
    else:
        ends = f"> {low}" if low is not None else "all" if high is None else f"<= {high}"
    shares = f"{interval.share:.1%}", f"{interval.differing:.1%}"
    return (interval.feature, ends, *shares, f"{interval.mean:.5g}", f"{interval.worst:.5g}", interval.values)


def input_text(worst: LargestDifference) -> str:
    """Returns both decisions and the input."""
    pair = f"{worst.knob} {number(worst.knob, worst.old, '')} -> {number(worst.knob, worst.new, '')}"
    return f"{pair} at {worst.where}: {inputs_text(worst.inputs)}"


def inputs_text(inputs: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in inputs.items())
