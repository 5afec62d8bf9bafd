"""This project's kernels of the same trees: one for each aim of the compiler, and each of its forms.

Each is compiled for the engine that it then runs on.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from bench.codegen.contender import ENTRY, EVERYTHING, ExporterRun, ExportSource
from bench.codegen.foreign_models import AnySubject, OutsideExporter
from codegen.choose import Limits
from codegen.kernel import Kernel, kernel
from codegen.lower import Options
from codegen.search import Ask

OPTIONS: Mapping[str, Options] = {
    "worst": Options(),
    "worst, tables up to 8 KiB": Options(limits=Limits(table=8192)),
    "mean": Options(optimise="mean"),
    "size": Options(optimise="size"),
    "branches only": Options(form="branches"),
    "index only": Options(form="index"),
    "joint tables only": Options(form="joint", limits=Limits(table=65536)),
}
FOR_ALL = ("worst", "mean", "size")
"""The aims of the compiler: with these models of other libraries are compiled; the forms are for symmetric ones."""


def compiled(subject: AnySubject, engine: str, options: Options) -> ExportSource:
    forest = subject.integers.forest if isinstance(subject, OutsideExporter) else subject.forest
    made = kernel(forest, subject.ranges, replace(options, engine=engine))
    return ExportSource(made.c_source(ENTRY), "int32", "int32", outputs=subject.outputs, cuts=_pivots(made))


def _pivots(made: Kernel) -> dict[int, tuple[int, ...]]:
    """Returns the numbers that searches compare with: thresholds, and values inside an interval that are cheaper
    constants."""
    asked: dict[int, set[int]] = {}
    for search in made.choice.lowered.searches:
        todo = [search.root]
        while todo:
            node = todo.pop()
            if isinstance(node, Ask):
                asked.setdefault(search.placing.feature, set()).add(search.placing.thresholds[node.border])
                todo += [node.above, node.below]
    return {feature: tuple(sorted(values)) for feature, values in sorted(asked.items())}


OURS = tuple(
    ExporterRun(
        f"rlcc, {name}",
        "ours",
        partial(compiled, options=options),
        reads=EVERYTHING if name in FOR_ALL else ("symmetric",),
    )
    for name, options in OPTIONS.items()
)
