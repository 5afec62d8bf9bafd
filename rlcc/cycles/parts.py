"""The parts of an emitted decision, read off its C: which lines are features, which trees, which the action.

The emitted C is laid out alike for every form of the trees (firmware_templates/common/rlcc_policy.c.j2): in rlcc_decide
first the nodes before the trees, one ``const`` a statement, then the trees, then the nodes behind them, then the stores
into the agent's context and of its knobs. Functions that the trees need stand before it. A decision that walks its
trees on one side of a choice only has the same order on that side; the other side is a part of the action, called as
the comment of the choice calls it.
"""

import re
from collections.abc import Sequence

DECIDE, NETWORK = "rlcc_decide", "rlcc_network"
FEATURES, SUM, ACTION, CONTEXT, OTHER = "features", "sum of the trees", "action", "context", "call and return"
STAGES = ("features", "trees", "action", "context", "call and return")
TREE = re.compile(r"\b(?:\w+_)?(?:tree|index|leaves)_(\d+)\b")
OF_TREE = re.compile(r"/\* (?:\w+_)?tree (\d+) \*/")
WALK = re.compile(
    r"\b(?:\w+_)?(?:tree|index|leaves)_\d+\b|\bplace\b|\w_place\b|/\* (?:\w+_)?tree \d+ \*/|\w+_network\("
)
DECLARED = re.compile(r"u?int\d+_t \w+;")


def stage_of(part: str) -> str:
    """The stage of the decision that a part belongs to, one of ``STAGES``."""
    if part.startswith(f"{ACTION}: "):
        return ACTION
    return part if part in (FEATURES, ACTION, CONTEXT, OTHER) else "trees"


def part_of_function(name: str) -> str:
    """The part that a whole function is: ``tree_03`` is tree 3, ``place_delta`` the search of a feature's place,
    ``leaf_delta`` one that loads the leaf, ``rank_delta`` one for what the context keeps."""
    tree = re.fullmatch(r"tree_(\d+)", name)
    if tree:
        return f"tree {int(tree[1])}"
    kind, _, feature = name.partition("_")
    return f"{kind} of {feature}" if kind in ("place", "leaf", "rank") else name


def parts_of_decide(lines: Sequence[str], entry: str = DECIDE) -> dict[int, str]:
    """Line number (from 1) -> part, for the lines of the decision's function, ``entry``."""
    begin = next((n for n, line in enumerate(lines) if re.match(rf"\S.*\b{entry}\(", line)), None)
    if begin is None:
        return {}
    end = next((n for n in range(begin, len(lines)) if lines[n].startswith("}")), len(lines))
    body = next((n for n in range(begin, end) if lines[n] == "{"), begin)
    parts = {**dict.fromkeys(range(begin + 1, body + 2), OTHER), end + 1: OTHER}
    return parts | _parts(lines, body + 1, end, 4, FEATURES)


def _parts(lines: Sequence[str], begin: int, end: int, indent: int, part: str) -> dict[int, str]:
    """The same of the lines ``begin`` to ``end`` (from 0), whose statements stand at this indent."""
    parts, tree, said, n = dict[int, str](), "", "", begin
    while n < end:
        text = lines[n].strip()
        if re.match(rf" {{{indent}}}\w+_TABLE static const", lines[n]):
            closed = next(k for k in range(n, end) if lines[k].strip() == "};")
            parts |= dict.fromkeys(range(n + 1, closed + 2), SUM)
            n = closed + 1
            continue
        own = re.match(rf" {{{indent}}}\S", lines[n]) is not None and not text.startswith("}")
        if own and text.startswith("/*"):
            asked = OF_TREE.fullmatch(text)
            tree, said = (f"tree {int(asked[1])}" if asked else ""), text.strip("/* ")
        elif own and text.startswith("if (") and not tree:
            closed = lines.index(" " * indent + "}", n, end)
            parts |= _choice(lines, n, closed, indent, part, f"{ACTION}: {said.partition(',')[0] or 'choice'}")
            n, part, said = closed + 1, ACTION, ""
            continue
        elif own:
            part = tree if tree and text.startswith("if (") else _of_statement(text, part)
            tree = said = ""
        parts[n + 1] = part
        n += 1
    return parts


def _choice(lines: Sequence[str], begin: int, end: int, indent: int, part: str, side: str) -> dict[int, str]:
    """The same of a choice from line ``begin`` to ``end``: a side that walks trees has parts of its own under a
    condition of the part ``part``, another is the part ``side``."""
    other = lines.index(" " * indent + "} else {", begin, end)
    parts = {end + 1: ACTION}
    for first, last in ((begin, other), (other, end)):
        if any(WALK.search(line) for line in lines[first:last]):
            parts |= {first + 1: part} | _parts(lines, first + 1, last, indent + 4, FEATURES)
        else:
            parts |= dict.fromkeys(range(first + 1, last + 1), side)
    return parts


def _of_statement(text: str, before: str) -> str:
    """The part of a statement behind one of the part ``before``."""
    if re.search(r"= \w+_network\(", text):
        return part_of_function(NETWORK)
    if text.startswith("const ") and not TREE.search(text):
        return FEATURES if before in (FEATURES, OTHER) else ACTION
    if stored := re.match(r"(\w+)->", text):
        return ACTION if stored[1] == "action" else CONTEXT
    if text.startswith("return"):
        return ACTION
    if DECLARED.fullmatch(text):
        return before
    asked = TREE.search(text)
    return f"tree {int(asked[1])}" if asked else SUM
