"""Every signal of every interface and every feature, as a page of the docs, made from the interfaces and the features.

python -m bench.signals       writes docs/reference/signals.md
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import annotated_types
from pydantic.fields import FieldInfo

from codegen.targets import TARGETS
from decision.artefact.output import write_atomically
from decision.ir.interface import Interface, Signal, Span
from decision.ir.interfaces import INTERFACES
from decision.policy.features import AnyFeature, Feature

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "signals.md"
HEAD = """# Signals and features
Made by `python -m bench.signals`. Do not edit it.

A feature of [policy.toml](policy-toml.md) names signals of its interface. Its two meanings, a teacher's float and
the firmware's integer, come from one expression (`decision/policy/features/`).
"""
MANY = 64
"""Signals of an interface from which on those whose names differ in a number only have one row."""


def page() -> str:
    """Returns the page's text."""
    lines = [HEAD, *(line for interface in shown() for line in _interface(interface)), *_features()]
    return "\n".join(lines) + "\n"


def shown() -> list[Interface]:
    """The interfaces that differ in their signals; of a site with options, that with all of them."""
    sites: dict[str, list[Interface]] = {}
    for interface in INTERFACES.values():
        if interface.agent != "none":
            sites.setdefault(interface.site_name, []).append(interface)
    return [page_of for interfaces in sites.values() for page_of in _ends_of(interfaces)]


def _ends_of(interfaces: list[Interface]) -> list[Interface]:
    """The interface of the site's name or the first, and the one with the most signals where that has more."""
    first = next((each for each in interfaces if each.name == each.site_name), interfaces[0])
    widest = max(interfaces, key=lambda each: (len(each.event) + len(each.params), len(each.name)))
    return [first, widest] if widest.event + widest.params != first.event + first.params else [first]


def _interface(interface: Interface) -> Iterator[str]:
    asked = {"response": "on a response", "period": "every period", "call": "on a call"}.get(interface.trigger, "")
    yield f"\n## `{interface.name}`: a {interface.agent}, {asked}"
    yield "\n| signal | unit | meaning | not told by |"
    yield "|---|---|---|---|"
    rows: dict[str, Signal | Span] = {}
    told: list[Signal | Span] = [*interface.event, *interface.spans]
    for signal in told:
        name = re.sub(r"_\d+_", "_N_", signal.name) if len(interface.event) > MANY else signal.name
        rows.setdefault(name, signal)
    for name, signal in rows.items():
        serving = (each for each in TARGETS.values() if each.serves == interface.site_name)
        lacking = ", ".join(target.name for target in serving if signal.name in target.lacks)
        yield f"| `{name}` | {signal.unit} | {signal.meaning} | {lacking or '-'} |"
    for parameter in interface.params:
        yield f"| `{parameter.name}` | {parameter.unit} | {parameter.meaning} (an operator's parameter) | - |"
    for kept in interface.context:
        yield f"| `{kept.name}` | {kept.unit} | {kept.meaning} (in the context) | - |"
    yield "\n| knob | unit | meaning |"
    yield "|---|---|---|"
    for knob in interface.knobs:
        yield f"| `{knob.name}` | {knob.unit} | {knob.meaning} |"


def _features() -> Iterator[str]:
    yield "\n## Features"
    yield "\n| kind | what it is | keys |"
    yield "|---|---|---|"
    for kind in kinds():
        (name,) = get_args(kind.model_fields["kind"].annotation)
        keys = [_key(key, field) for key, field in kind.model_fields.items() if key != "kind"]
        yield f"| `{name}` | {_first(kind)} | {'; '.join(keys) or '-'} |"


def kinds() -> tuple[type[Feature], ...]:
    """The classes of all features."""
    union, *_ = get_args(AnyFeature)
    return get_args(union)


def _first(kind: type[Feature]) -> str:
    """The text of a class, in one line."""
    return " ".join((kind.__doc__ or "").split()).replace("|", "\\|").replace("``", "`")


def _key(name: str, field: FieldInfo) -> str:
    said = [f"`{name}`", *_ends(field)]
    if not field.is_required() and field.default is not None:
        said.append(f"default {field.default if not isinstance(field.default, bool) else str(field.default).lower()}")
    return " ".join(said)


def _ends(field: FieldInfo) -> Iterator[str]:
    marks: list[Any] = list(field.metadata)
    low = next((str(mark.ge) for mark in marks if isinstance(mark, annotated_types.Ge)), None)
    above = next((str(mark.gt) for mark in marks if isinstance(mark, annotated_types.Gt)), None)
    high = next((str(mark.le) for mark in marks if isinstance(mark, annotated_types.Le)), None)
    below = next((str(mark.lt) for mark in marks if isinstance(mark, annotated_types.Lt)), None)
    if low is not None or above is not None:
        yield f"from {low}" if low is not None else f"above {above}"
    if high is not None or below is not None:
        yield f"to {high}" if high is not None else f"below {below}"


if __name__ == "__main__":
    write_atomically(PAGE, page())
