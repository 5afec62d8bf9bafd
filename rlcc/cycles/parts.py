"""The parts of an emitted decision, read off its C: which lines are features, which trees, which the action.

The emitted C is laid out alike for every form of the trees (firmware_templates/common/rlcc_policy.c.j2): in rlcc_decide
first the nodes before the trees, one ``const`` a line, then the trees, then the nodes behind them, then the stores into
the agent's context and of its knobs. What the trees need of functions stands before.
"""

import re
from collections.abc import Sequence

DECIDE, NETWORK = "rlcc_decide", "rlcc_network"
FEATURES, SUM, ACTION, CONTEXT, OTHER = "features", "sum of the trees", "action", "context", "call and return"
STAGES = ("features", "trees", "action", "context", "call and return")
TREE = re.compile(r"\b(?:tree|index|leaves|rank|word)_(\d+)\b")


def stage_of(part: str) -> str:
    """The stage of the decision that a part belongs to, one of ``STAGES``."""
    return part if part in (FEATURES, ACTION, CONTEXT, OTHER) else "trees"


def part_of_function(name: str) -> str:
    """The part that a whole function is: ``tree_03`` is tree 3, ``place_delta`` the search of a feature's place."""
    tree = re.fullmatch(r"tree_(\d+)", name)
    if tree:
        return f"tree {int(tree[1])}"
    return name.replace("place_", "place of ", 1) if name.startswith("place_") else name


def parts_of_decide(lines: Sequence[str]) -> dict[int, str]:
    """Line number (from 1) -> part, for the lines of rlcc_decide."""
    begin = next((n for n, line in enumerate(lines) if re.match(rf"\S.*\b{DECIDE}\(", line)), None)
    if begin is None:
        return {}
    end = next((n for n in range(begin, len(lines)) if lines[n].startswith("}")), len(lines))
    parts, part, block = {begin + 1: OTHER}, FEATURES, -1
    for n in range(begin + 1, end + 1):
        line = lines[n] if n < len(lines) else ""
        text = line.strip()
        if line.startswith("    static const"):
            parts[n + 1] = SUM
            continue
        if re.match(r"    \S", line) and not text.startswith("}"):  # a statement of the function's own level
            if f" = {NETWORK}(" in text:
                part = part_of_function(NETWORK)
            elif text.startswith("const ") and not TREE.search(text):
                part = FEATURES if part in (FEATURES, OTHER) else ACTION
            elif stored := re.match(r"(\w+)->", text):
                part = ACTION if stored[1] == "action" else CONTEXT
            elif text.startswith("return"):
                part = ACTION
            elif text.startswith("if ("):
                block += 1
                part = f"if-else {block}"
            else:
                tree = TREE.search(text)
                part = f"tree {int(tree[1])}" if tree else SUM
        parts[n + 1] = part
    parts[end + 1] = OTHER
    return parts
