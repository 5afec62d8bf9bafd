"""`--where` and `--jobs`: where the simulations of a command run, of `rlcc` by click, of a page's by argparse."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from netsim.places import NAMES, Place, at_place, named

if TYPE_CHECKING:
    import argparse

WHERE = f"Place of the simulations: {', '.join(NAMES)}; here: this process, one after the other."


def where_options(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The command itself is told of neither."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--where", default=default, show_default=True, metavar="PLACE", help=WHERE)
        @click.option("--jobs", type=click.IntRange(1), help="Parallel simulations. [default: number of cores]")
        @wraps(command)
        def there(*arguments: Any, where: str, jobs: int | None, **options: Any) -> Any:
            with at_place(named(where, jobs)):
                return command(*arguments, **options)

        return there

    return add


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--where", default="processes", metavar="PLACE", help=f"{', '.join(NAMES)}; processes")
    parser.add_argument("--jobs", type=int, help="runs at a time; as many as cores")


def place_of(options: argparse.Namespace) -> Place:
    """InputError where there is no such place."""
    return named(options.where, options.jobs)
