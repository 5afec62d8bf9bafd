"""python -m bench.papers [--quick] [--seeds N] [--jobs N] [--docs FOLDER] [--work FOLDER]"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.papers import contenders, page
from bench.papers.found import Found
from bench.papers.runs import Run, run_all
from bench.papers.sections import Section
from bench.papers.traffic import QUICK, TIMES
from decision.documents import write_atomically
from decision.errors import InputError
from decision.processors import usable_cores

SEEDS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.papers", description="The papers' tables beside ours.")
    parser.add_argument("--quick", action="store_true", help="one seed, 40 ms: a draft, in build/papers/draft")
    parser.add_argument(
        "--seeds", type=int, choices=range(1, 100), metavar="N", help=f"runs of each; {SEEDS} by default"
    )
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="processes at a time")
    parser.add_argument("--docs", type=Path, help="where papers.md and papers/*.svg go; docs by default")
    parser.add_argument("--work", type=Path, default=contenders.ROOT / "build" / "papers", help="kept runs")
    options = parser.parse_args(arguments)
    docs = options.docs or (options.work / "draft" if options.quick else contenders.ROOT / "docs")
    times = QUICK if options.quick else TIMES
    seeds = range(1, 1 + (options.seeds or (1 if options.quick else SEEDS)))
    begin = time.monotonic()
    try:
        made = page.sections(times)
        with contenders.opened(options.work) as who:
            given = run_all(wanted(made, who, seeds), options.work / "runs", options.jobs)
            found = Found(given, seeds)
            for section in made:
                for picture in section.pictures:
                    store(docs / "papers" / f"{picture.name}.svg", picture.draw(found))
            store(docs / "papers.md", page.write(found, made, times, who, options.quick).encode())
    except InputError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    print(f"papers: {docs / 'papers.md'}, {len(given)} runs, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return 0


def wanted(made: Sequence[Section], who: dict[str, contenders.Contender], seeds: Sequence[int]) -> list[Run]:
    """All runs of all sections; a run that two of them need is there twice."""
    return [Run(who[c], t, seed) for s in made for t in s.traffic for c in s.contenders for seed in seeds]


def store(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)


if __name__ == "__main__":
    sys.exit(main())
