"""Which form the trees take: the cheapest that the limits allow, by the cost model of the engine.

Trees are grouped greedily: of all pairs of groups the one whose joint table grows least is joined, as long as the
limits allow; every stage on the way is a candidate, beside the forms without groups. The choice is deterministic.
"""

from dataclasses import dataclass
from typing import Any

from codegen.engines import Engine
from codegen.forest import Forest
from codegen.forms import Lowered, lowered, questions_of
from codegen.joint import WORD_BITS, Group, join, packed, size_of, thresholds_of
from decision.errors import InputError

FORMS = ("auto", "branches", "index", "joint")
OBJECTIVES = ("worst", "mean", "size")
MOST_ENTRIES = 1 << 16
MOST_QUESTIONS = 8
"""Of a tree in the index form: 256 entries."""


@dataclass(frozen=True)
class Limits:
    """Bytes of code and of constant tables, and cycles of the trees, that a form may take; None: no limit."""

    code: int | None = None
    table: int | None = 2048
    cycles: int | None = None


@dataclass(frozen=True)
class Choice:
    """What was taken, and all that was considered: (form, predicted cycles, code bytes, table bytes, allowed)."""

    lowered: Lowered
    considered: tuple[tuple[str, float, int, int, bool], ...]

    def to_json(self) -> dict[str, Any]:
        taken = self.lowered
        return {
            "form": taken.form,
            "groups": [[f"{g.total}.{t}" if g.total else str(t) for t in g.trees] for g in taken.groups],
            "branches": len(taken.branches),
            "indexed": len(taken.indexed),
            "predicted": {"cycles": round(taken.cycles, 1), "code": taken.code_bytes, "tables": taken.table_bytes},
            "considered": [
                {"form": form, "cycles": round(cycles, 1), "code": code, "tables": tables, "allowed": allowed}
                for form, cycles, code, tables, allowed in self.considered
            ],
        }


def choose(forest: Forest, engine: Engine, limits: Limits, *, optimise: str = "worst", form: str = "auto") -> Choice:
    """The cheapest form within the limits; InputError where there is none."""
    candidates = list(dict.fromkeys(_candidates(forest, engine, limits, optimise, form)))
    allowed = [c for c in candidates if _within(c, limits)]
    if not allowed:
        raise InputError(_too_tight(candidates, limits, engine))
    if optimise == "size":
        best = min(allowed, key=lambda c: (c.code_bytes + c.table_bytes, c.cycles))
    elif limits.cycles is not None:
        # Fast enough is fast enough: then the smallest.
        best = min(allowed, key=lambda c: (c.code_bytes + c.table_bytes, c.cycles))
    else:
        best = min(allowed, key=lambda c: (c.cycles, c.code_bytes + c.table_bytes))
    considered = [(_label(c), c.cycles, c.code_bytes, c.table_bytes, _within(c, limits)) for c in candidates]
    return Choice(best, tuple(considered))


def _candidates(forest: Forest, engine: Engine, limits: Limits, optimise: str, form: str) -> list[Lowered]:
    every = [(t, n) for t, total in enumerate(forest.sums) for n in range(len(total.trees))]
    found = []
    if form in ("auto", "branches") or not every:
        found.append(lowered(forest, every, (), (), engine, optimise))
    if form in ("auto", "index") and every:
        small = [p for p in every if len(questions_of(forest.sums[p[0]].trees[p[1]])) <= MOST_QUESTIONS]
        rest = [p for p in every if p not in small]
        if form == "auto" or not rest:
            found.append(lowered(forest, rest, small, (), engine, optimise))
    if form in ("auto", "joint") and every:
        # Idle entries fall out of a table only once it is made, and entries may take one byte or four: so the joining
        # is tried with limits on the entries around the one on the bytes.
        most = limits.table if limits.table is not None else MOST_ENTRIES
        for entries in (most // 4, most // 2, most, 2 * most):
            for groups, rest in _groupings(forest, every, min(entries, MOST_ENTRIES)):
                if form == "auto" or not rest:
                    found.append(lowered(forest, rest, (), groups, engine, optimise))
    return found


def _groupings(
    forest: Forest, every: list[tuple[int, int]], most: int
) -> list[tuple[tuple[Group, ...], list[tuple[int, int]]]]:
    """Stages of the greedy joining up to ``most`` entries: groups whose fields fit a word, and the trees left out."""
    clusters = [[place] for place in every if size_of(_thresholds(forest, [place])) <= most]
    stages = []
    while True:
        kept, bits = [], 0
        for cluster in sorted(clusters, key=lambda c: (_bits(forest, c) / len(c), c)):
            if bits + _bits(forest, cluster) <= WORD_BITS:
                kept.append(cluster)
                bits += _bits(forest, cluster)
        groups = packed(forest, [join(forest, c[0][0], [n for _, n in c]) for c in sorted(kept)]) if kept else None
        if groups:
            inside = {place for cluster in kept for place in cluster}
            stages.append((groups, [place for place in every if place not in inside]))
        pair = _closest(forest, clusters, most)
        if pair is None:
            return stages
        a, b = pair
        clusters = [c for c in clusters if c not in (a, b)] + [sorted(a + b)]


def _closest(
    forest: Forest, clusters: list[list[tuple[int, int]]], most: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]] | None:
    """The two clusters of one sum whose joint table grows least, if all tables together then stay below ``most``."""
    sizes = {tuple(c): size_of(_thresholds(forest, c)) for c in clusters}
    whole = sum(sizes.values())
    best: tuple[int, list[tuple[int, int]], list[tuple[int, int]]] | None = None
    for i, a in enumerate(clusters):
        for b in clusters[i + 1 :]:
            if a[0][0] != b[0][0]:
                continue
            joint = size_of(_thresholds(forest, a + b))
            grown = joint - sizes[tuple(a)] - sizes[tuple(b)]
            if whole + grown <= most and (best is None or grown < best[0]):
                best = (grown, a, b)
    return (best[1], best[2]) if best else None


def _thresholds(forest: Forest, cluster: list[tuple[int, int]]) -> dict[int, set[int]]:
    return thresholds_of([forest.sums[t].trees[n] for t, n in cluster])


def _bits(forest: Forest, cluster: list[tuple[int, int]]) -> int:
    return (size_of(_thresholds(forest, cluster)) - 1).bit_length()


def _within(candidate: Lowered, limits: Limits) -> bool:
    return (
        (limits.code is None or candidate.code_bytes <= limits.code)
        and (limits.table is None or candidate.table_bytes <= limits.table)
        and (limits.cycles is None or candidate.cycles <= limits.cycles)
    )


def _label(candidate: Lowered) -> str:
    groups = f", {len(candidate.groups)} groups" if candidate.groups else ""
    return f"{candidate.form}{groups}"


def _too_tight(candidates: list[Lowered], limits: Limits, engine: Engine) -> str:
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
