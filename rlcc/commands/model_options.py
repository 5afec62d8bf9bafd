"""Click options of a command made from the model of its options: name, type, limits, default, help and old names.

The model's fields are the one source: a recipe's table is the model, `--help` shows these options, and the tables of
the docs come from the same fields (`python -m bench.option_tables`).
"""

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Literal, TypeVar, get_args, get_origin

import annotated_types
import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from decision.artefact.renamed import new_names
from decision.artefact.shown import shown_default, shown_of
from rlcc.commands.options import renamed_option

Command = TypeVar("Command", bound=Callable[..., Any])


def model_options(
    model: type[BaseModel], *names: str, choices: Mapping[str, tuple[str, ...]] | None = None
) -> Callable[[Command], Command]:
    """Returns a decorator that adds an option for each of these fields of the model, in this order.

    An option that is not given is None, or an empty tuple, so that the model's default holds. ``choices``: of a field
    whose option takes other values than the recipe's key. An old name of a field is refused with the new one named.
    """
    old = {new: name for name, new in new_names([model]).items()}

    def add(command: Any) -> Any:
        for name in reversed(names):
            if name in old:
                command = renamed_option(flag(old[name]), flag(name))(command)
            command = _option(name, model.model_fields[name], (choices or {}).get(name))(command)
        return command

    return add


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that were given, as a model's keys: lists for repeatable ones."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items() if v not in (None, ())}


def flag(name: str) -> str:
    """Returns the option of a field's name."""
    return f"--{name.replace('_', '-')}"


def _option(name: str, field: FieldInfo, choices: tuple[str, ...] | None) -> Callable[[Command], Command]:
    text = str(field.description)
    if default := shown_default(field):
        text += f"  [default: {default}]"
    kind, metadata = _plain(field.annotation, field.metadata)
    shown = shown_of(field)
    choices = choices or shown.choices
    if kind is bool:
        return click.option(flag(name), is_flag=True, default=None, help=text)
    if get_origin(kind) is list:
        return click.option(flag(name), multiple=True, help=f"{text.removesuffix('.')}. Repeatable.")
    if get_origin(kind) is Literal:
        choices = choices or tuple(map(str, get_args(kind)))
    return click.option(flag(name), type=_type(kind, metadata, choices), help=text)


def _type(kind: Any, metadata: list[Any], choices: tuple[str, ...]) -> Any:
    if choices:
        return click.Choice(choices)
    if kind not in (int, float):
        return str
    low: Any = None
    high: Any = None
    low_open = False
    for each in metadata:
        match each:
            case annotated_types.Ge(ge):
                low = ge
            case annotated_types.Gt(gt):
                low, low_open = gt, True
            case annotated_types.Le(le):
                high = le
    ranges: Any = click.IntRange if kind is int else click.FloatRange
    return kind if low is None and high is None else ranges(low, high, min_open=low_open)


def _plain(annotation: Any, metadata: list[Any]) -> tuple[Any, list[Any]]:
    """Returns the type without None, and all that it is annotated with."""
    if hasattr(annotation, "__metadata__"):
        nested = [each.metadata if isinstance(each, FieldInfo) else [each] for each in annotation.__metadata__]
        return _plain(annotation.__origin__, [*metadata, *chain.from_iterable(nested)])
    inner = [each for each in get_args(annotation) if each is not type(None)]
    if get_origin(annotation) in (list, Literal) or len(inner) != 1:
        return annotation, metadata
    return _plain(inner[0], metadata)
