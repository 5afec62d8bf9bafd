"""The command of a page that sets policies and baselines next to each other, seed by seed."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.places import Place
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation.contenders import Contender, opened

Page = Callable[[Sequence[Contender], Sequence[int], Place], str]
"""Contenders, seeds and where their runs go -> Markdown."""


def write_page(
    arguments: Sequence[str] | None,
    name: str,
    description: str,
    page: Page,
    out: Path,
    contenders: Sequence[str],
    *,
    seeds: int,
) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2. ``name``: the module's in bench;
    ``out``, ``contenders``, ``seeds``: by default."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=description)
    many = f"policies, as `rlcc evaluate` takes them; by default {len(contenders)}"
    parser.add_argument("policies", nargs="*", help=many)
    parser.add_argument(
        "--seeds", type=int, choices=range(1, 100), default=seeds, metavar="N", help=f"runs of each; {seeds}"
    )
    add_options(parser)
    parser.add_argument("--out", type=Path, default=out, help="the page")
    options = parser.parse_args(arguments)
    try:
        with opened(options.policies or list(contenders), decision_latency_ps=900_000, profile="ibex-small") as who:
            write_atomically(options.out, page(who, range(1, options.seeds + 1), place_of(options)))
    except InputError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 0
