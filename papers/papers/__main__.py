"""python -m papers [--quick] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from decision.artefact.errors import InputError
from papers import contenders, page
from papers.command import SEEDS, run_sections, store
from papers.found import Found
from papers.traffic import QUICK, TIMES
from rlcc.commands.run_location import add_options


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers", description="The papers' tables beside ours.")
    parser.add_argument("--quick", action="store_true", help="one seed, 40 ms: a draft, in build/papers/draft")
    parser.add_argument(
        "--seeds", type=int, choices=range(1, 100), metavar="N", help=f"runs of each; {SEEDS} by default"
    )
    add_options(parser)
    parser.add_argument("--docs", type=Path, help="where tables.md and figures/*.svg go; papers/pages by default")
    parser.add_argument("--work", type=Path, default=contenders.ROOT / "build" / "papers", help="kept runs")
    options = parser.parse_args(arguments)
    docs = options.docs or (options.work / "draft" if options.quick else contenders.PAGES)
    times = QUICK if options.quick else TIMES
    seeds = range(1, 1 + (options.seeds or (1 if options.quick else SEEDS)))
    begin = time.monotonic()
    try:
        made = page.sections(times)
        with contenders.opened(options.work) as who:
            given = run_sections(made, who, seeds, options)
            found = Found(given, seeds)
            for section in made:
                for picture in section.pictures:
                    store(docs / "figures" / f"{picture.name}.svg", picture.draw(found))
            store(docs / "tables.md", page.write(found, made, times, who, options.quick).encode())
    except InputError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    print(f"papers: {docs / 'tables.md'}, {len(given)} runs, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
