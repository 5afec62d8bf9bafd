"""Records of a model's fields, as rlcc/commands/model_options.json holds them for the command line.

    {"type": "integer", "help": "Maximum tree depth.", "default": "4", "minimum": 1, "maximum": 8}

type: integer, number, text, flag, list, duration ("0.9 us") or share ("5 %"); items: the type of a list's items;
above: a minimum that is excluded; choices; renamed_from: the key's old name.
"""

from itertools import chain
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from decision.artefact.option_help import shown_default, shown_of
from decision.artefact.quantity import TIME_PS
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom

TYPES = {bool: "flag", int: "integer", float: "number"}
DURATION = get_args(DurationPs)[1]
"""The mark of a field that is a duration in picoseconds."""


def records_of(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Returns key -> record of each field that has a description and is no table."""
    return {name: record_of(field) for name, field in model.model_fields.items() if field.description}


def record_of(field: FieldInfo) -> dict[str, Any]:
    """Returns the record of a field."""
    kind, metadata = _plain(field.annotation, field.metadata)
    shown = shown_of(field)
    choices = shown.choices
    record: dict[str, Any] = {"type": TYPES.get(kind, "text"), "help": str(field.description)}
    default = shown_default(field)
    if get_origin(kind) is list:
        item, of_items = _plain(get_args(kind)[0], [])
        record |= {"type": "list", "items": TYPES.get(item, "text")}
        if isinstance(field.default, list) and field.default:
            default = ", ".join(map(str, field.default))
        metadata = [*[mark for mark in metadata if isinstance(mark, RenamedFrom)], *of_items]
    elif DURATION in metadata:
        record["type"] = "duration"
        default = duration_text(field.default) if isinstance(field.default, int) else default
    elif shown.percent:
        record["type"] = "share"
        default = f"{field.default * 100:g} %"
    if get_origin(kind) is Literal:
        choices = choices or tuple(map(str, get_args(kind)))
    if default:
        record["default"] = default
    if choices:
        record["choices"] = list(choices)
    for mark in metadata:
        match mark:
            case annotated_types.Ge(ge):
                record["minimum"] = ge
            case annotated_types.Gt(gt):
                record["above"] = gt
            case annotated_types.Le(le):
                record["maximum"] = le
            case annotated_types.Lt(lt) if record["type"] == "integer":
                record["maximum"] = int(str(lt)) - 1
            case RenamedFrom(key):
                record["renamed_from"] = key
    return record


def duration_text(ps: int) -> str:
    """Returns a duration of whole picoseconds in its largest unit that divides it: "200 ms"."""
    unit = next(unit for unit, size in reversed(TIME_PS.items()) if ps % size == 0)
    return f"{ps // TIME_PS[unit]} {unit}"


def _plain(annotation: Any, metadata: list[Any]) -> tuple[Any, list[Any]]:
    """Returns the type without None, and all that it is annotated with."""
    if hasattr(annotation, "__metadata__"):
        nested = [mark.metadata if isinstance(mark, FieldInfo) else [mark] for mark in annotation.__metadata__]
        return _plain(annotation.__origin__, [*metadata, *chain.from_iterable(nested)])
    inner = [kind for kind in get_args(annotation) if kind is not type(None)]
    if get_origin(annotation) in (list, Literal) or len(inner) != 1:
        return annotation, metadata
    return _plain(inner[0], metadata)
