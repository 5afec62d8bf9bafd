"""Options come from the fields of a model: name, type, limits, default, help, old names."""

import importlib
import inspect
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import BaseModel, Field

from bench.option_records import records_of
from bench.option_tables import COMMANDS, RECIPE_TABLES
from decision.artefact.errors import InputError
from decision.artefact.option_help import Shown, shown_default
from decision.artefact.renamed_keys import RenamedFrom
from rlcc.commands.model_options import flag, given, model_options, tables


class Drawn(BaseModel):
    """One field of each kind."""

    trees: Annotated[int, RenamedFrom("wood")] = Field(default=10, ge=1, le=200, description="Maximum number of trees.")
    share: float | None = Field(default=None, gt=0, le=4, description="Share.")
    code: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(default=None, description="Code size, bytes.")
    window: Annotated[int | None, Shown(default="the teacher's")] = Field(default=None, description="History length.")
    engine: Annotated[str, Shown(choices=("ibex", "rv"))] = Field(default="ibex", description="Cost model.")
    goal: Literal["worst", "mean"] = Field(default="worst", description="Goal.")
    names: list[str] = Field(default=[], description="Feature to exclude.")
    inline: bool = Field(default=False, description="Inline trees.")


@click.command()
@model_options(records_of(Drawn), *Drawn.model_fields, choices={"goal": ("worst", "mean", "other")})
def command(**values: Any) -> None:
    click.echo(repr(given(values)))


PARAMETERS = {option.name: option for option in command.params if isinstance(option, click.Option)}


def run(*arguments: str) -> str:
    done = CliRunner().invoke(command, arguments, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.output.strip()


def test_types_and_limits_are_the_fields() -> None:
    trees, share, code = (PARAMETERS[name].type for name in ("trees", "share", "code"))
    assert isinstance(trees, click.IntRange)
    assert (trees.min, trees.max) == (1, 200)
    assert isinstance(share, click.FloatRange)
    assert (share.min, share.min_open, share.max) == (0, True, 4)
    assert isinstance(code, click.IntRange)
    assert (code.min, code.max) == (0, 2**31 - 1)
    assert PARAMETERS["window"].type is click.INT
    for name, choices in (("engine", ("ibex", "rv")), ("goal", ("worst", "mean", "other"))):
        kind = PARAMETERS[name].type
        assert isinstance(kind, click.Choice)
        assert tuple(kind.choices) == choices
    assert PARAMETERS["names"].multiple
    assert PARAMETERS["inline"].is_flag


def test_help_is_the_description_with_the_default() -> None:
    for name, field in Drawn.model_fields.items():
        text = str(PARAMETERS[name].help)
        assert text.startswith(str(field.description))
        assert (f"[default: {shown_default(field)}]" in text) == bool(shown_default(field))
    assert [
        name for name, option in PARAMETERS.items() if "[default" not in str(option.help) and not option.hidden
    ] == [
        "share",
        "code",
        "names",
        "inline",
    ]


def test_what_is_not_given_is_left_to_the_model() -> None:
    assert run() == "{}"
    assert run("--inline", "--trees", "3", "--names", "a", "--names", "b", "--goal", "other") == repr(
        {"inline": True, "trees": 3, "names": ["a", "b"], "goal": "other"}
    )


@pytest.mark.parametrize("arguments", [("--trees", "0"), ("--trees", "201"), ("--share", "0"), ("--engine", "x")])
def test_a_value_outside_the_limits_is_refused(arguments: tuple[str, str]) -> None:
    with pytest.raises(click.BadParameter):
        run(*arguments)


def test_an_old_name_is_refused_with_the_new_one() -> None:
    with pytest.raises(InputError, match=r"^--wood: .*--trees"):
        run("--wood", "3")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name in RECIPE_TABLES])
def test_no_command_declares_by_hand_what_its_model_has(name: str) -> None:
    module, model = importlib.import_module(f"rlcc.commands.{name}"), RECIPE_TABLES[name]
    own = [field for field in tables()[name] if f'"{flag(field)}"' in inspect.getsource(module)]
    assert own == []
    options = {option.name: option for option in module.command.params}
    shared = [field for field in tables()[name] if field in options]
    assert len(shared) >= 5
    for field in shared:
        assert str(options[field].help).startswith(str(model.model_fields[field].description))
