"""Click options of a command made from a recipe's table: name, type, limits, default, help and old names.

The fields of the table's model are the one source. `python -m bench.option_tables` writes them to model_options.json,
which is read here: a model of pydantic takes longer to import than all of a command's help.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import click

from decision.artefact.quantity import parse_duration_ps
from rlcc.commands.options import quantity, renamed_option, share

FILE = Path(__file__).with_suffix(".json")
Command = TypeVar("Command", bound=Callable[..., Any])
Table = Mapping[str, Mapping[str, Any]]
"""Key -> its record (bench/option_records.py)."""


@cache
def tables() -> Mapping[str, Table]:
    """Returns all tables by name: "emit", "gate.sizes"."""
    read: dict[str, Table] = json.loads(FILE.read_text())
    return read


def model_options(
    table: str | Table,
    *names: str,
    flags: Mapping[str, tuple[str, ...]] | None = None,
    choices: Mapping[str, tuple[str, ...]] | None = None,
    default: str = "{}",
) -> Callable[[Command], Command]:
    """Returns a decorator that adds an option for each of these keys of the table, in this order.

    An option that is not given is None, or an empty tuple, so that the model's default holds. ``flags``: of a key whose
    option has another name; ``choices``: of a key whose option takes other values; ``default``: the words around each
    default. An old name of a key is refused with the new one named.
    """
    records = tables()[table] if isinstance(table, str) else table

    def add(command: Any) -> Any:
        for name in reversed(names):
            record = records[name]
            written = (flags or {}).get(name, (flag(name),))
            if old := record.get("renamed_from"):
                command = renamed_option(flag(old), written[0])(command)
            command = _option(written, record, (choices or {}).get(name), default)(command)
        return command

    return add


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that were given, as a model's keys: lists for repeatable ones."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items() if v not in (None, ())}


def flag(name: str) -> str:
    """Returns the option of a key's name."""
    return f"--{name.replace('_', '-')}"


def _option(
    flags: tuple[str, ...], record: Mapping[str, Any], choices: tuple[str, ...] | None, default: str
) -> Callable[[Command], Command]:
    kind, text = record["type"], record["help"]
    if kind == "list":
        text = f"{text.removesuffix('.')}. Repeatable."
    if said := record.get("default"):
        text += f"  [default: {default.format(said)}]"
    match kind:
        case "flag":
            return click.option(*flags, is_flag=True, default=None, help=text)
        case "list":
            items = _type({**record, "type": record["items"]}, None)
            return click.option(*flags, type=items, multiple=True, help=text)
        case "duration":
            return click.option(*flags, callback=_duration, help=text)
        case "share":
            return click.option(*flags, callback=share, help=text)
    return click.option(*flags, type=_type(record, choices or record.get("choices")), help=text)


def _duration(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Returns a duration as a model reads it, in picoseconds."""
    ps = quantity(parse_duration_ps)(context, parameter, value)
    return None if ps is None else f"{ps} ps"


def _type(record: Mapping[str, Any], choices: tuple[str, ...] | None) -> Any:
    if choices:
        return click.Choice(choices)
    if record["type"] == "text":
        return str
    kinds: dict[str, tuple[Any, Any]] = {"integer": (int, click.IntRange), "number": (float, click.FloatRange)}
    plain, ranges = kinds[record["type"]]
    low, high, above = record.get("minimum"), record.get("maximum"), record.get("above")
    if low is None and high is None and above is None:
        return plain
    return ranges(low if above is None else above, high, min_open=above is not None)
