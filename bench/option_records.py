"""Records of a model's fields, as rlcc/commands/model_options.json holds them for the command line.

    {"type": "integer", "help": "Maximum tree depth.", "default": "4", "minimum": 1, "maximum": 8}

type: integer, number, text, flag or list; above: a minimum that is excluded; choices; renamed_from: the key's old name.
"""

from itertools import chain
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from decision.artefact.renamed import RenamedFrom
from decision.artefact.shown import shown_default, shown_of

TYPES = {bool: "flag", int: "integer", float: "number"}


def records_of(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Returns key -> record of each field that has a description and is no table."""
    return {name: _record(field) for name, field in model.model_fields.items() if field.description}


def _record(field: FieldInfo) -> dict[str, Any]:
    kind, metadata = _plain(field.annotation, field.metadata)
    choices = shown_of(field).choices
    record: dict[str, Any] = {"type": TYPES.get(kind, "text"), "help": str(field.description)}
    if get_origin(kind) is list:
        record["type"] = "list"
    if get_origin(kind) is Literal:
        choices = choices or tuple(map(str, get_args(kind)))
    if default := shown_default(field):
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
            case RenamedFrom(key):
                record["renamed_from"] = key
    return record


def _plain(annotation: Any, metadata: list[Any]) -> tuple[Any, list[Any]]:
    """Returns the type without None, and all that it is annotated with."""
    if hasattr(annotation, "__metadata__"):
        nested = [mark.metadata if isinstance(mark, FieldInfo) else [mark] for mark in annotation.__metadata__]
        return _plain(annotation.__origin__, [*metadata, *chain.from_iterable(nested)])
    inner = [kind for kind in get_args(annotation) if kind is not type(None)]
    if get_origin(annotation) in (list, Literal) or len(inner) != 1:
        return annotation, metadata
    return _plain(inner[0], metadata)
