"""``python -m bench.mutants``: a table of what became of the mutants, and every one that lives without a reason."""

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from bench import mutants as package
from bench.mutants import equivalent
from bench.mutants.children import Fate
from bench.mutants.draw import Mutant, draw
from bench.mutants.run import run
from bench.mutants.targets import TARGETS
from decision.artefact.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=package.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", metavar="FILE[:FIRST-LAST]", help="what to mutate (all of the targets)")
    parser.add_argument("--sample", type=int, help="how many to draw (all)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (2)")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="other tests than targets.py has for the files")
    parser.add_argument("--out", type=Path, metavar="JSON", help="what became of each, as a file")
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    drawn, whole = _drawn(options.places or list(TARGETS))
    if options.sample is not None:
        drawn, whole = sorted(random.Random(options.seed).sample(drawn, options.sample), key=_place), set()
    listed, fates = equivalent.read(), list[Fate]()
    groups: dict[tuple[str, ...], list[Mutant]] = defaultdict(list)
    for mutant in drawn:
        tests = tuple(options.tests or TARGETS.get(mutant.file, ()))
        if not tests:
            raise InputError(
                f"no tests are known for {mutant.file}; give --tests, or add it to bench/mutants/targets.py"
            )
        groups[tests].append(mutant)
    for tests, group in groups.items():
        sources = {m.file: Path(m.file).read_bytes() for m in group}
        there = [test for test in tests if Path(test.partition("::")[0]).exists()]
        fates += run(group, sources, there, options.jobs, lambda fate: _tell(fate, listed))
    if options.out:
        content = [{"mutant": vars(f.mutant) | {"binds": ""}, "state": f.state, "by": f.by} for f in fates]
        options.out.write_text(json.dumps(content, indent=1))
    print(table(fates, listed))
    rotten = equivalent.rotten(listed, fates, whole)
    for line in rotten:
        print(f"equivalent.toml, {line}; take it out")
    return 1 if rotten or any(f.state == "survived" and equivalent.key(f.mutant) not in listed for f in fates) else 0


def _drawn(places: list[str]) -> tuple[list[Mutant], set[str]]:
    """The mutants of these files or lines, and the files that are meant as a whole."""
    found, whole = list[Mutant](), set[str]()
    for place in places:
        name, _, lines = place.partition(":")
        files = sorted(Path(name).glob("*.py")) if Path(name).is_dir() else [Path(name)]
        first, _, last = lines.partition("-")
        if lines and not (first.isdecimal() and (last or first).isdecimal()):
            raise InputError(f"{place} names no lines; write FILE:LINE or FILE:FIRST-LAST")
        for file in files:
            if not file.is_file():
                raise InputError(f"there is no {file} to mutate")
            of_file = draw(str(file), file.read_bytes())
            if lines:
                of_file = [m for m in of_file if int(first) <= m.first <= int(last or first)]
            else:
                whole.add(str(file))
            found += of_file
    return found, whole


def _place(mutant: Mutant) -> tuple[str, int, int, str]:
    return mutant.file, mutant.first, mutant.start, mutant.becomes


def _tell(fate: Fate, listed: dict[equivalent.Key, str]) -> None:
    """A survivor as a difference, as soon as it is known."""
    m = fate.mutant
    if fate.state == "survived" and equivalent.key(m) not in listed:
        print(f"survived {m.file}:{m.first} {m.function}\n  {m.line}\n  {equivalent.change(m)}", file=sys.__stderr__)
        if sys.__stderr__:
            sys.__stderr__.flush()


def table(fates: list[Fate], listed: dict[equivalent.Key, str]) -> str:
    """A row a file."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for fate in sorted(fates, key=lambda f: _place(f.mutant)):
        known = fate.state == "survived" and equivalent.key(fate.mutant) in listed
        for name in (fate.mutant.file, "all"):
            rows[name]["drawn"] += 1
            rows[name]["equivalent" if known else fate.state] += 1
    rows["all"] = rows.pop("all", Counter())
    columns = ("drawn", "killed", "timed out", "equivalent", "survived")
    lines = ["| file | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(str(row[c]) for c in columns) + " |" for name, row in rows.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
