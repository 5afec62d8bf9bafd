"""Reference pages made from the code: all commands, all keys of recipes and policies, all names of the Python API.

python -m bench.reference       writes the pages again after a command, a key or a docstring has changed
"""

import ast
import importlib
import inspect
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click
from pydantic import BaseModel, PlainSerializer
from pydantic.fields import FieldInfo

import rlcc
from bench.option_records import DURATION, duration_text
from bench.option_tables import HEAD, option_rows
from decision.artefact.option_help import shown_default
from decision.artefact.output import write_atomically
from decision.artefact.quantity_fields import DurationNs, DurationPs, LineFractionQ30, RateBps, SizeBytes
from decision.devices import Device
from decision.policy.model_policy import ModelPolicy
from decision.policy.policy import Policy, PolicyFile
from emulator.profile import Profile
from netsim.baselines import BaselineSpec
from rlcc import api, cli
from rlcc.evaluation.suite import Suite
from rlcc.recipe import Recipe
from teachers.curriculum import TrainConfig
from teachers.methods import METHODS
from verify.trusted.properties import Properties

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
NOTE = "Made from the code by `python -m bench.reference`. Do not edit it."
FILES: dict[str, tuple[str, list[type[BaseModel]]]] = {
    "Recipes of `rlcc run`": ("[Explained here](run.md#a-recipe).", [Recipe]),
    "Recipes of `rlcc train`": (
        "[Explained here](training.md#keys-of-a-recipe). The keys of `policy` are those of policy.toml.",
        [TrainConfig, *(method.config for method in METHODS.values())],
    ),
    "policy.toml": ("[Explained here](policy-toml.md); features: [signals and features](signals.md).", [PolicyFile]),
    "policy.toml of a model from another library": ("[Explained here](../how-to/from-elsewhere.md).", [ModelPolicy]),
    "Properties": ("[Explained here](properties.md).", [Properties]),
    "Suites of `rlcc evaluate`": ("[Explained here](evaluate.md).", [Suite]),
    "Engine profiles": ("[Explained here](engines.md).", [Profile]),
    "Baselines": ("[Explained here](baselines.md).", [BaselineSpec]),
    "Device models": ("[Explained here](../explanation/netsim.md#a-devices-nics).", [Device]),
}
"""Heading -> where its keys are explained, and the models of the files."""
PLAIN = {str: "text", int: "integer", float: "number", bool: "true or false", dict: "table", Any: "any"}


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yields name and command of each command, in the order of `rlcc --help`."""
    for name in cli.COMMANDS:
        yield name, importlib.import_module(f"rlcc.commands.{name}").command


def command_page() -> str:
    """Returns the page of all commands: usage, help, arguments and options of each."""
    lines = ["# All commands", NOTE, ""]
    lines += ["Every command exits with 0 when it is done, 2 when it could not run and 130 when it is interrupted"]
    lines[-1] += " ([errors](errors.md)). `rlcc --version` prints the version."
    lines[-1] += " `rlcc --debug COMMAND` adds the traceback of an error."
    lines += ["", "| command | what it does |", "|---|---|"]
    lines += [f"| [`rlcc {name}`](#rlcc-{name}) | {line} |" for name, line in cli.COMMANDS.items()]
    for name, command in commands():
        usage = " ".join(command.collect_usage_pieces(click.Context(command, info_name=name)))
        lines += [
            "",
            f"## rlcc {name}",
            "",
            "```text",
            f"rlcc {name} {usage}",
            "```",
            "",
            *_help(command.help or ""),
            "",
        ]
        page = FOLDER / f"{name}.md"
        if page.exists():
            lines += [f"More: [{name}]({name}.md).", ""]
        lines += [HEAD, "|---|---|---|", *option_rows(command)]
    return "\n".join(lines) + "\n"


def _help(text: str) -> list[str]:
    """Returns the paragraphs of a help text, each on one line."""
    paragraphs = inspect.cleandoc(text.replace("\b", "")).split("\n\n")
    joined = [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip()]
    return "\n\n".join(re.sub(r"([<>|*_])", r"\\\1", paragraph) for paragraph in joined).split("\n")


def key_page() -> str:
    """Returns the page of all keys: of each file a table of key, type, default and meaning."""
    lines = ["# All keys", NOTE, ""]
    lines += [
        "`[]` stands for one entry of a list, `NAME` for a name of your own. A table of several kinds has its kind in",
        'brackets: `observation.features[ratio].of` is `of` in a feature with `kind = "ratio"`. The default `-`',
        "means that the key is required, *none* that it may be left out.",
    ]
    for heading, (more, models) in FILES.items():
        rows = list(dict.fromkeys(row for model in models for row in key_rows(model)))
        lines += ["", f"## {heading}", more, "", "| key | type | default | meaning |", "|---|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def key_rows(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yields the rows of a model's keys, those of tables in it below them."""
    said = _attribute_docstrings(model)
    for name, field in model.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        inner, suffix = _models(field.annotation)
        if inner == [Policy] or name == "kind":
            continue
        if not inner or field.description:
            meaning = field.description or said.get(name, "")
            meaning = " ".join(meaning.split()).replace("|", "\\|")
            kind = _marked_type(field.annotation, field.metadata)
            yield f"| `{path}` | {kind} | {_default(field)} | {meaning} |"
        for table in inner:
            kinds = table.model_fields.get("kind")
            which = f"[{'/'.join(get_args(kinds.annotation))}]" if kinds is not None and len(inner) > 1 else suffix
            yield from key_rows(table, f"{path}{which}.")


def _models(annotation: Any) -> tuple[list[type[BaseModel]], str]:
    """Returns the models in a type, in their order, and what one of them is called behind the key."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation], ""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return [], ""
    found = [model for argument in arguments for model in _models(argument)[0]]
    suffix = "[]" if origin in (list, tuple) else ".NAME" if origin is dict else ""
    deeper = next((_models(argument)[1] for argument in arguments if _models(argument)[1]), "")
    return list(dict.fromkeys(found)), suffix or deeper


def _type(annotation: Any) -> str:
    """Returns a type in words: "integer", "list of text", "`mlp` or `lstm`"."""
    if annotation in PLAIN:
        return PLAIN[annotation]
    if hasattr(annotation, "__metadata__"):
        return _marked_type(get_args(annotation)[0], annotation.__metadata__)
    origin, arguments = get_origin(annotation), [each for each in get_args(annotation) if each is not type(None)]
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(argument) for argument in arguments))
    if origin in (list, tuple):
        return f"list of {_type(arguments[0])}" if arguments else "list"
    return "table" if origin is dict or _models(annotation)[0] else "text"


def _marked_type(annotation: Any, marks: Iterable[Any]) -> str:
    """Returns the type in a file where the model has another: a quantity's text, a number that is stored in Q."""
    if _is_quantity(marks):
        return "text with a unit"
    written = [mark.return_type for mark in marks if isinstance(mark, PlainSerializer)]
    return _type(written[0] if written and written[0] in PLAIN else annotation)


QUANTITIES = [get_args(kind)[1] for kind in (DurationPs, DurationNs, SizeBytes, RateBps, LineFractionQ30)]


def _is_quantity(marks: Any) -> bool:
    """Returns whether a field is written as text with a unit."""
    return any(mark in QUANTITIES for mark in marks)


def _default(field: FieldInfo) -> str:
    """Returns a key's default as it may be written in TOML, `-` where the key is required."""
    if field.is_required():
        return "-"
    if DURATION in field.metadata and isinstance(field.default, int):
        return f'`"{duration_text(field.default)}"`'
    text = shown_default(field)
    if field.default is False:
        return "`false`"
    if not text or field.default_factory is not None or isinstance(field.default, BaseModel):
        return "*none*"
    return f'`"{text}"`' if _is_quantity(field.metadata) and text[0].isdigit() else f"`{text}`"


def _attribute_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Returns name -> the text below the attribute, of the model and of those that it inherits from."""
    said: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if not isinstance(kind, type) or kind.__module__.startswith(("pydantic", "builtins", "typing", "abc")):
            continue
        generic: dict[str, Any] = getattr(kind, "__pydantic_generic_metadata__", {})
        written = generic.get("origin") or kind  # Fact of Fact[int]
        (definition,) = ast.parse(dedent(inspect.getsource(written))).body
        body = getattr(definition, "body", [])
        for one, below in pairwise(body):
            match one, below:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(str(text))):
                    said[name] = text
    return said


def api_page() -> str:
    """Returns the page of `rlcc`'s public names: signature and docstring of each, and of its public members."""
    lines = [
        "# All names of the Python API",
        NOTE,
        "",
        "`import rlcc` gives these names. [How to use them](api.md).",
    ]
    for name in rlcc.__all__:
        value = getattr(api, name)
        lines += ["", f"## rlcc.{name}", "", *_signature(f"rlcc.{name}", value), *_docstring(value)]
        if inspect.isclass(value):
            for member, part in vars(value).items():
                if not member.startswith("_") and (callable(part) or isinstance(part, property)):
                    function = part.fget if isinstance(part, property) else part
                    lines += ["", f"### rlcc.{name}.{member}", "", *_signature(member, part), *_docstring(function)]
    return "\n".join(lines) + "\n"


def _signature(name: str, value: Any) -> list[str]:
    if isinstance(value, property):
        kind = inspect.signature(value.fget).return_annotation if value.fget else ""
        return ["```python", f"{name}: {kind}", "```", ""]
    text = str(inspect.signature(value)).replace("'", "").replace("self, ", "").replace("(self)", "()")
    return ["```python", f"{name}{text}", "```", ""]


def _docstring(value: Any) -> list[str]:
    text = inspect.getdoc(value) or ""
    assert text, value
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n")).split("\n")


PAGES = {"cli.md": command_page, "keys.md": key_page, "python.md": api_page}
"""Page -> what makes it."""

if __name__ == "__main__":
    for name, make in PAGES.items():
        write_atomically(FOLDER / name, make())
