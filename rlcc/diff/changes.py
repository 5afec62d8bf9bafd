"""Parts of two policies, compared: header, parameters, contexts, thresholds, trees. One change is one row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from decision.ir.forest import Branch, Forest, Leaf, Node, branches, leaves
from decision.policy.student import Student
from rlcc.diff.side import Side

ABSENT = "-"


@dataclass(frozen=True)
class PolicyChange:
    """``part``: the key that changed; ``old`` and ``new``: its values as text, "-" where a side has none."""

    part: str
    old: str
    new: str


def changes(old: Side, new: Side) -> list[PolicyChange]:
    """Returns the changes in a fixed order: identity, header, parameters, firmware, thresholds, trees."""
    found = [*_of_texts(_identity(old), _identity(new))]
    found += _of_texts(_flat(_header(old)), _flat(_header(new)))
    found += _of_texts(_flat({"params": old.pupil.params()}), _flat({"params": new.pupil.params()}))
    found += _of_texts(_firmware(old), _firmware(new)) if old.kind == new.kind == "firmware" else []
    if old.student is not None and new.student is not None:
        found += _thresholds(old, new, old.student, new.student)
        found += _trees(old.student.forest, new.student.forest)
    return found


def _identity(side: Side) -> dict[str, str]:
    return {"name": side.pupil.name, "kind": _kind(side), "teacher": side.pupil.teacher[:12]}


def _kind(side: Side) -> str:
    return "network" if side.student is None else "trees"


def _header(side: Side) -> dict[str, Any]:
    header = side.pupil.header.model_dump(mode="json")
    features = header["observation"].pop("features")
    kinds = [feature["kind"] for feature in features]
    nth = [kinds[: at + 1].count(kind) for at, kind in enumerate(kinds)]
    keys = [kind if number == 1 else f"{kind}:{number}" for kind, number in zip(kinds, nth, strict=True)]
    return header | {"features": dict(zip(keys, features, strict=True))}


def _firmware(side: Side) -> dict[str, str]:
    wishes = ("probes", "bursts", "first_window_bytes")
    keys = ("target", "fixed", "context_bytes", "layout", "prefix", "identity", *wishes)
    shown = {key: side.details[key] for key in keys if key in side.details}
    layout = shown.pop("layout", {})
    fields = layout.get("context", {}).get("fields", []) if isinstance(layout, dict) else []
    context = {f"context.{field['name']}": f"{field['ctype']} at {field['offset']}" for field in fields}
    return _flat(shown) | context


def _flat(value: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """Returns the leaves of nested tables by their dotted keys."""
    leaves_of: dict[str, str] = {}
    for key, inner in value.items():
        name = f"{above}{key}"
        if isinstance(inner, Mapping):
            leaves_of |= _flat(inner, f"{name}.")
        elif inner is not None:
            leaves_of[name] = ", ".join(map(str, inner)) if isinstance(inner, list) else str(inner)
    return leaves_of


def _of_texts(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[PolicyChange]:
    for key in dict.fromkeys((*old, *new)):
        was, now = old.get(key, ABSENT), new.get(key, ABSENT)
        if was != now:
            yield PolicyChange(key, was, now)


def _thresholds(old: Side, new: Side, was: Student, now: Student) -> Iterator[PolicyChange]:
    """Thresholds that one side alone has, in the order of the features, ascending. If both sides have the same number,
    the removed and the added ones are paired in their order."""
    for name in dict.fromkeys((*was.forest.features, *now.forest.features)):
        before, after = (set(side.thresholds.get(name, [])) for side in (old, new))
        removed, added = sorted(before - after), sorted(after - before)
        if len(removed) == len(added):
            pairs = [(_shown(old, name, a), _shown(new, name, b)) for a, b in zip(removed, added, strict=True)]
        else:
            ordered = sorted([(t, 0) for t in removed] + [(t, 1) for t in added])
            pairs = [(ABSENT, _shown(new, name, t)) if side else (_shown(old, name, t), ABSENT) for t, side in ordered]
        yield from (PolicyChange(f"threshold {name}", *pair) for pair in pairs)


def _shown(side: Side, name: str, threshold: int) -> str:
    value = side.value(name, threshold + 1)
    return f"{threshold} ({value})" if value else str(threshold)


def _trees(old: Forest, new: Forest) -> Iterator[PolicyChange]:
    """One row a tree that differs: its leaves where both ask the same questions, else its questions. One row for all
    trees if most of them ask other questions: then the thresholds say more."""
    for output, (was, now) in enumerate(zip_longest(old.bias, new.bias)):
        if was != now:
            yield PolicyChange(f"bias {output}", *(ABSENT if bias is None else str(bias) for bias in (was, now)))
    pairs = list(zip_longest(old.trees, new.trees))
    asked = [(_questions(old, was), _questions(new, now)) for was, now in pairs]
    others = sum(before != after for before, after in asked)
    if 2 * others > len(pairs) > 1:
        yield PolicyChange("trees", str(len(old.trees)), f"{len(new.trees)}, of which {others} ask other questions")
        return
    for number, ((was, now), (before, after)) in enumerate(zip(pairs, asked, strict=True)):
        if was is None or now is None or before != after:
            yield PolicyChange(f"tree {number}", ", ".join(before) or ABSENT, ", ".join(after) or ABSENT)
        elif was != now:
            yield PolicyChange(f"tree {number}", f"{len(list(leaves(was)))} leaves", _moved(was, now))


def _questions(forest: Forest, tree: Node | None) -> list[str]:
    asked = [] if tree is None else [f"{forest.features[b.feature]} > {b.threshold}" for b in branches(tree)]
    return list(dict.fromkeys(asked)) or ([] if tree is None else ["no question"])


def _moved(old: Node, new: Node) -> str:
    """Returns how many leaves differ and by how much at most, where the trees are nested alike."""
    if not _alike(old, new):
        return "the same questions in another order"
    offs = [
        max(abs(a - b) for a, b in zip(was.value, now.value, strict=True))
        for was, now in zip(leaves(old), leaves(new), strict=True)
    ]
    return f"{sum(off > 0 for off in offs)} differ, by {max(offs)} at most"


def _alike(old: Node, new: Node) -> bool:
    if isinstance(old, Branch) and isinstance(new, Branch):
        same = (old.feature, old.threshold) == (new.feature, new.threshold)
        return same and _alike(old.above, new.above) and _alike(old.below, new.below)
    return isinstance(old, Leaf) and isinstance(new, Leaf) and len(old.value) == len(new.value)
