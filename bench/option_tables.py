"""The tables of options in the docs, made from the models of the options and from the commands; and the records of the
models' fields that the command line is made from (rlcc/commands/model_options.json).

python -m bench.option_tables       writes them anew where a field, a default or a help text has changed
"""

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bench.option_records import record_of, records_of
from decision.artefact.documents import dump_json
from decision.artefact.option_help import shown_default
from decision.artefact.output import write_atomically
from distill.options import DistillOptions, RolloutOptions
from rlcc.commands.model_options import FILE
from rlcc.evaluation.options import EvaluateOptions
from rlcc.recipe import EmitOptions, EmulateOptions, GateOptions, Neighbourhood, Sizes
from rlcc.search.options import SearchOptions
from teachers.curriculum import Training, Validation
from teachers.ddpg_options import Ddpg
from teachers.ddqn_options import Ddqn
from teachers.pg_options import Pg
from teachers.ppo_options import Ppo

DOCS = Path(__file__).resolve().parents[1] / "docs"
RECIPE_TABLES: dict[str, type[BaseModel]] = {
    "rollout": RolloutOptions,
    "distill": DistillOptions,
    "emit": EmitOptions,
    "emulate": EmulateOptions,
    "gate": GateOptions,
}
"""Tables of a recipe of `rlcc run`."""
OPTION_TABLES: dict[str, type[BaseModel]] = RECIPE_TABLES | {
    "gate.neighbourhood": Neighbourhood,
    "gate.sizes": Sizes,
    "search": SearchOptions,
    "evaluate": EvaluateOptions,
}
"""Tables whose keys are options of commands."""
TRAIN_TABLES: dict[str, type[BaseModel]] = {
    "training": Training,
    "validation": Validation,
    "ppo": Ppo,
    "ddqn": Ddqn,
    "ddpg": Ddpg,
    "pg": Pg,
}
"""Tables of a recipe of `rlcc train`."""
KEY_TABLES = {"run": RECIPE_TABLES, "training": TRAIN_TABLES}
"""Page -> the tables of recipes whose rows are made there."""
COMMANDS = ("distill", "emit", "evaluate", "gate", "import")
"""Commands whose table of options is made here, in the page of that name."""
HEAD = "| option | default | meaning |"
DEFAULT = re.compile(r"\s*\[default: (.*)\]$")


def key_rows(prefix: str, model: type[BaseModel]) -> Iterator[str]:
    """Rows of a recipe's table: key, default, meaning. A table in it has its own rows unless it has a description."""
    for name, field in model.model_fields.items():
        tables = [kind for kind in (field.annotation, *get_args(field.annotation)) if _is_model(kind)]
        if tables and not field.description:
            yield from key_rows(f"{prefix}.{name}", tables[0])
        else:
            yield f"| `{prefix}.{name}` | {_default(field)} | {field.description} |"


def option_rows(command: click.Command) -> Iterator[str]:
    """Rows of a command's options: option, default, meaning with its limits."""
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            text = option.help or ""
            said = DEFAULT.search(text)
            default = said[1] if said else _listed(option.default) if option.show_default else ""
            flags = ", ".join(f"`{flag}`" for flag in option.opts)
            yield f"| {flags} | {default or '-'} | {DEFAULT.sub('', text)}{_limits(option.type)} |"


def _listed(default: Any) -> str:
    return ", ".join(map(str, default)) if isinstance(default, list | tuple) else str(default)


def page(text: str, name: str) -> str:
    """Returns the page with its tables made anew."""
    for prefix, model in KEY_TABLES.get(name, {}).items():
        rows = "\n".join(key_rows(prefix, model))
        text = re.sub(rf"(^\| `{prefix}\..*\n)+", f"{rows}\n".replace("\\", r"\\"), text, flags=re.MULTILINE)
    if name in COMMANDS:
        command = importlib.import_module(f"rlcc.commands.{name}").command
        table = "\n".join([HEAD, "|---|---|---|", *option_rows(command)])
        text = re.sub(rf"^{re.escape(HEAD)}\n(\|.*\n)+", lambda _: f"{table}\n", text, flags=re.MULTILINE)
    return text


def records() -> str:
    """Returns the text of rlcc/commands/model_options.json."""
    return dump_json({name: records_of(model) for name, model in OPTION_TABLES.items()})


def pages() -> list[Path]:
    """The pages with such tables."""
    return [next(DOCS.glob(f"*/{name}.md")) for name in (*KEY_TABLES, *COMMANDS)]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _default(field: FieldInfo) -> str:
    if field.is_required() or field.default is None:
        return shown_default(field) or "-"
    default, record = shown_default(field), record_of(field)
    if isinstance(field.default, str) or record["type"] == "duration":
        default = json.dumps(record["default"], ensure_ascii=False)
    return f"`{default or str(field.default).lower()}`"


def _limits(kind: Any) -> str:
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return ""
    if kind.max is None:
        return f" {kind.min} or more." if kind.min else ""
    return f" {'Above ' if kind.min_open else ''}{kind.min} to {kind.max}."


if __name__ == "__main__":
    write_atomically(FILE, records())
    for path in pages():
        write_atomically(path, page(path.read_text(), path.stem))
