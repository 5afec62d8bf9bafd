"""python -m bench.codegen [--seed N] [--student FOLDER] [--docs FOLDER] [--work FOLDER]"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bench.codegen import core, floors, page
from bench.codegen.contender import EVERYTHING, Absent, ExporterRun
from bench.codegen.foreign_models import AnySubject, outside_subjects
from bench.codegen.own_kernels import OURS
from bench.codegen.peers import PEERS
from bench.codegen.results import CompiledPlace, ExportCase, ExportResult, result
from bench.codegen.rows import cells, rows
from bench.codegen.subjects import subjects
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from emulator.core import built_core
from emulator.profile import load_profile

ROOT = Path(__file__).parents[2]
PROFILES = ("ibex-small", "ibex-maxperf", "picorv32", "cv32e40p")

FLOORS = (
    ExporterRun("if-else", "floor", floors.if_else, reads=EVERYTHING),
    ExporterRun("if-else, pruned", "floor", floors.pruned_if_else),
    ExporterRun("oblivious tables", "floor", floors.oblivious_tables),
)
CONTENDERS = (*OURS, *FLOORS, *PEERS)
"""Who takes part. One more is one more entry here."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.codegen", description="Exports of the same trees compared.")
    parser.add_argument("--seed", type=int, default=7, help="of models and rows; 7 by default")
    parser.add_argument(
        "--student", type=Path, default=ROOT / "runs/rl-cc/student", help="a distilled student's folder"
    )
    parser.add_argument("--docs", type=Path, default=ROOT / "docs" / "results", help="where codegen-bench.md goes")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "codegen-bench", help="kept results")
    options = parser.parse_args(arguments)
    console = Console(stderr=True)
    try:
        comparison = compare(options.seed, options.student, options.work, console)
        options.docs.mkdir(parents=True, exist_ok=True)
        write_atomically(options.docs / "codegen-bench.md", page.write(comparison, options.seed).encode())
    except InputError as error:
        print(f"codegen-bench: {error}", file=sys.stderr)
        return 2
    console.print(f"codegen-bench: {options.docs / 'codegen-bench.md'}", highlight=False, soft_wrap=True)
    return 0


def compare(seed: int, student: Path, keep: Path, console: Console) -> page.ExporterComparison:
    """All contenders on all models in all places. The console and the page name contenders that cannot take part."""
    places = [CompiledPlace(p, c) for p in map(load_profile, PROFILES) for c in core.found_compilers(p).values()]
    for place in places:
        built_core(place.profile.core)
    symmetric, (others, missing) = subjects(seed, student), outside_subjects(seed)
    models: list[AnySubject] = [*symmetric, *others]
    for name, why in missing.items():
        console.print(f"codegen-bench: no model {name}: {why}", highlight=False, markup=False, soft_wrap=True)
    if len(symmetric) < 3:
        console.print(f"codegen-bench: no student in {student} (made by `make demo`): its table is left out")
    cases: list[ExportCase] = []
    absent: dict[tuple[str, str], str] = {}
    results: dict[tuple[str, str, str], ExportResult] = {}
    with Progress(console=console, transient=True) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers' packages
        task = progress.add_task("", total=sum(m.library in c.reads for m in models for c in CONTENDERS) * len(places))
        for subject in models:
            points = rows(subject, seed)
            case = ExportCase(subject, points, cells(subject), subject.expected(points.table))
            cases.append(case)
            for contender in (c for c in CONTENDERS if subject.library in c.reads):
                progress.update(task, description=f"{subject.name}: {contender.name}")
                for place in places:
                    try:
                        source = contender.make(subject, place.profile.name)
                        one = result(case, contender, source, place, keep)
                        results[subject.name, contender.name, place.label] = one
                    except (Absent, InputError) as reason:
                        absent.setdefault((subject.name, contender.name), f"{place.label}: {reason}")
                    progress.advance(task)
    for (model, name), why in absent.items():
        console.print(f"codegen-bench: {model}: {name} left out, {why}", highlight=False, markup=False, soft_wrap=True)
    return page.ExporterComparison(cases, CONTENDERS, places, results, absent, missing)


if __name__ == "__main__":
    sys.exit(main())
