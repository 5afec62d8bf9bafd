"""Where the runs of a benchmark are done: `--where` and `--jobs`, as `rlcc evaluate` has them."""

import argparse

from netsim.places import NAMES, Place, named


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--where", default="processes", metavar="PLACE", help=f"{', '.join(NAMES)}; processes")
    parser.add_argument("--jobs", type=int, help="runs at a time; as many as cores")


def place_of(options: argparse.Namespace) -> Place:
    """InputError where there is no such place."""
    return named(options.where, options.jobs)
