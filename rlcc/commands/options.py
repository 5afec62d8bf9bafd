"""Click options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from decision.artefact.errors import InputError
from decision.artefact.quantity import LINE_FRACTION, MAX_QUANTITY, parse

FOLDER = click.Path(path_type=Path)

out_option = click.option("--out", required=True, type=FOLDER, help="Output folder.")
FOREIGN_SOURCES = "--foreign-sources"
foreign_option = click.option(
    FOREIGN_SOURCES,
    "foreign",
    is_flag=True,
    help="Compile C that is not as rlcc emits it: only where you trust its author.",
)
scenario_option = click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    default=["many-to-one:64"],
    show_default=True,
    help="Scenario. Repeatable.",
)


def not_within(firmware: Path, place: Path) -> None:
    """A command's output goes elsewhere: InputError where it would lie in the folder of the firmware, whose manifest
    names every file and which would be refused from then on."""
    if firmware.resolve() in (place.resolve(), *place.resolve().parents):
        raise InputError(f"{place} is in the folder of the firmware, which holds nothing else; choose another place")


def renamed_option(old: str, new: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a hidden option under an old name, which is refused with the new one named."""

    def refuse(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> None:
        if value:
            raise InputError(f"{old}: this option is {new} now; write that")

    return click.option(old, multiple=True, hidden=True, expose_value=False, is_eager=True, callback=refuse)


def given_flags(*names: str) -> dict[str, str]:
    """Returns the flags of those parameters of the running command that its command line gives, by parameter."""
    context = click.get_current_context()
    flags = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    return {n: flags[n] for n in names if context.get_parameter_source(n) is ParameterSource.COMMANDLINE}


def seed_option(default: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Seeds of runs, repeatable."""
    seeds = click.IntRange(0)
    return click.option(
        "--seed", "seeds", multiple=True, type=seeds, default=[default], show_default=True, help="Seed. Repeatable."
    )


def quantity(parse: Callable[[object], int]) -> Callable[[click.Context, click.Parameter, str | None], int | None]:
    """A callback that reads an option as a quantity with its unit; "0.9us" and "0.9 us" are the same."""

    def read(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
        if value is None:
            return None
        try:
            return parse(value)
        except InputError as error:
            raise InputError(f"--{parameter.name}: {error}") from None

    return read


def share(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A callback that reads an option as a relative amount, "5 %"."""
    if value is None:
        return None
    try:
        amount = parse(value, {"%": LINE_FRACTION["%"]}, "5 %")
        if amount > MAX_QUANTITY:
            raise InputError(f"{value!r} is more than anything in rlcc can be")
    except InputError as error:
        raise InputError(f"--{parameter.name}: {error}".replace("_", "-")) from None
    return float(amount)
