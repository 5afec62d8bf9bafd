"""What this project makes of the same trees: a kernel for each aim of the compiler, and each of its forms.

Each is compiled for the engine that it then runs on.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from bench.codegen.contender import ENTRY, EVERYTHING, Contender, Source
from bench.codegen.outside import AnySubject, Outside
from codegen.choose import Limits
from codegen.kernel import kernel
from codegen.lower import Options
from codegen.model_emit import render
from codegen.model_print import print_trees
from decision.manifest import sha256

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


def compiled(subject: AnySubject, engine: str, options: Options) -> Source:
    if isinstance(subject, Outside):
        return emitted(subject, replace(options, engine=engine))
    made = kernel(subject.forest, subject.ranges, replace(options, engine=engine))
    return Source(made.c_source(ENTRY), "int32", "int32")


def emitted(subject: Outside, options: Options) -> Source:
    """What `rlcc emit` writes for a model file, as it stands: header and C, called as its header says."""
    printed = print_trees(subject.integers, options)
    files = render(subject.integers, printed, subject.name, sha256(subject.integers.dump().encode()))
    wanted = {name: files[name] for name in ("rlcc_model.h", "rlcc_model.c")}
    # A struct of nothing but int32_t is laid out as their array.
    if subject.outputs > 1:
        head, call = f"void {ENTRY}(const int32_t *row, int32_t *out)", "rlcc_predict((const rlcc_features *)row, out);"
    else:
        head, call = (
            f"int32_t {ENTRY}(const int32_t *row)",
            "return rlcc_predict((const rlcc_features *)row, (int32_t[1]){0});",
        )
    text = f'#include "rlcc_model.c"\n{head};\n{head} {{ {call} }}\n'
    return Source(text, "int32", "int32", files=wanted, outputs=subject.outputs)


OURS = tuple(
    Contender(
        f"rlcc, {name}",
        "ours",
        partial(compiled, options=options),
        reads=EVERYTHING if name in FOR_ALL else ("symmetric",),
    )
    for name, options in OPTIONS.items()
)
