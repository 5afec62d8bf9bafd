"""Which form the trees take: the cheapest that the limits allow, by the cost model of the engine.

The groups that trees may be joined in (codegen/grouping.py) are candidates next to the forms without groups. Some trees
have more combinations of cells than a proof follows: branches then come before cheaper forms. Branches are proved tree
by tree; a table that indexes many features is not proved (docs/reference/verify.md). The choice is deterministic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codegen.engines import CostModel
from codegen.forms import Lowered, entry_bytes, lowered, questions_of
from codegen.grouping import groupings
from codegen.joint import Group, array_of, join, packed, size_of, thresholds_of
from codegen.walk import Walk
from decision.artefact.errors import InputError
from decision.ir.forest import MAX_COMBINATIONS

OBJECTIVES = ("worst", "mean", "size")

MAX_ENTRIES = 1 << 16
MAX_QUESTIONS = 8
"""Of a tree in the index form: 256 entries."""


@dataclass(frozen=True)
class Limits:
    """Bytes of code and of constant tables, and cycles of the trees, that a form may take; None: no limit."""

    code: int | None = None
    table: int | None = 2048
    cycles: int | None = None


@dataclass(frozen=True)
class Choice:
    """The form that was taken, and all that were considered: (form, predicted cycles, code bytes, table bytes,
    allowed)."""

    lowered: Lowered
    considered: tuple[tuple[str, float, int, int, bool], ...]

    def to_json(self) -> dict[str, Any]:
        taken = self.lowered
        return {
            "form": taken.form,
            "groups": [[str(tree) for tree in g.trees] for g in taken.groups],
            "branches": len(taken.branches),
            "indexed": len(taken.indexed),
            "predicted": {"cycles": round(taken.cycles, 1), "code": taken.code_bytes, "tables": taken.table_bytes},
            "considered": [
                {"form": form, "cycles": round(cycles, 1), "code": code, "tables": tables, "allowed": allowed}
                for form, cycles, code, tables, allowed in self.considered
            ],
        }


def choose(walk: Walk, engine: CostModel, limits: Limits, *, optimise: str = "worst", form: str = "auto") -> Choice:
    """The cheapest form within the limits; InputError where there is none."""
    candidates = list(dict.fromkeys(_candidates(walk, engine, limits, optimise, form)))
    allowed = [c for c in candidates if _within(c, limits)]
    if not allowed:
        raise InputError(_too_tight(candidates, limits, engine))
    if optimise != "size" and (walk.cells or size_of(thresholds_of(walk.trees))) > MAX_COMBINATIONS:
        allowed = [c for c in allowed if not c.groups and not c.indexed] or allowed
    if optimise == "size":
        best = min(allowed, key=lambda c: (c.code_bytes + c.table_bytes, c.cycles))
    elif limits.cycles is not None:
        # Fast enough is fast enough: then the smallest.
        best = min(allowed, key=lambda c: (c.code_bytes + c.table_bytes, c.cycles))
    else:
        best = min(allowed, key=lambda c: (c.cycles, c.code_bytes + c.table_bytes))
    considered = [(_label(c), c.cycles, c.code_bytes, c.table_bytes, _within(c, limits)) for c in candidates]
    return Choice(best, tuple(considered))


def _candidates(walk: Walk, engine: CostModel, limits: Limits, optimise: str, form: str) -> list[Lowered]:
    every = list(range(len(walk.trees)))
    candidates = []
    if form in ("auto", "branches") or not every:
        candidates.append(lowered(walk, every, (), (), engine, optimise))
    if form in ("auto", "index") and every:
        small = [p for p in every if len(questions_of(walk.trees[p])) <= MAX_QUESTIONS]
        rest = [p for p in every if p not in small]
        if form == "auto" or not rest:
            candidates.append(lowered(walk, rest, small, (), engine, optimise))
    if form in ("auto", "joint") and every:
        # Idle entries fall out of a table only once it is made, and entries may take one byte or four: so the grouping
        # is tried with limits on the entries around the one on the bytes.
        most = limits.table if limits.table is not None else MAX_ENTRIES
        asked = tuple(min(entries, MAX_ENTRIES) for entries in (most // 4, most // 2, most, 2 * most))
        for made, rest in groupings(walk, asked, engine):
            if form == "auto" or not rest:
                for groups in _packings(walk, made):
                    candidates.append(lowered(walk, rest, (), groups, engine, optimise))
                    candidates += _placed_directly(walk, rest, groups, engine, optimise)
    return candidates


def _packings(walk: Walk, groups: Sequence[Group]) -> list[tuple[Group, ...]]:
    """The groups side by side in a word, with entries as they come and with narrower ones."""
    packings = [packed(walk, groups, size=size) for size in (4, 2, 1)]
    sizes = [None if packing is None else entry_bytes(array_of(packing)) for packing in packings]
    return [packing for k, packing in enumerate(packings) if packing is not None and sizes[k] not in sizes[:k]]


def _placed_directly(
    walk: Walk, rest: Sequence[int], groups: tuple[Group, ...], engine: CostModel, optimise: str
) -> list[Lowered]:
    """The same groups with each of the features that can be in turn as its own place, where the fields fit a word."""
    made = []
    for feature in sorted(walk.places & {axis.feature for group in groups for axis in group.axes}):
        again = packed(walk, [join(walk, group.trees, direct=feature) for group in groups])
        if again is not None and len(array_of(again)) <= MAX_ENTRIES:
            made.append(lowered(walk, rest, (), again, engine, optimise, feature))
    return made


def _within(candidate: Lowered, limits: Limits) -> bool:
    return (
        (limits.code is None or candidate.code_bytes <= limits.code)
        and (limits.table is None or candidate.table_bytes <= limits.table)
        and (limits.cycles is None or candidate.cycles <= limits.cycles)
    )


def _label(candidate: Lowered) -> str:
    groups = f", {len(candidate.groups)} groups" if candidate.groups else ""
    return f"{candidate.form}{groups}"


def _too_tight(candidates: list[Lowered], limits: Limits, engine: CostModel) -> str:
    if not candidates:
        return "no tree takes the form asked for within the limits; raise --max-table or choose --form auto"
    least = {
        "code": min(c.code_bytes for c in candidates),
        "table": min(c.table_bytes for c in candidates),
        "cycles": min(c.cycles for c in candidates),
    }
    asked = [f"--max-{k} {v}" for k, v in vars(limits).items() if v is not None]
    return (
        f"no form of these trees keeps {', '.join(asked)} on {engine.name}: alone, the least are {least['code']} B of "
        f"code, {least['table']} B of tables and {least['cycles']:.0f} cycles; raise a limit or distil fewer trees"
    )
