"""What this project makes of the same trees: a kernel for each aim of the compiler, and each of its forms.

Each is compiled for the engine that it then runs on.
"""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

from bench.codegen.contender import ENTRY, Absent, Contender, Source
from bench.codegen.subjects import Subject

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "worst": {},
    "worst, tables up to 8 KiB": {"table": 8192},
    "mean": {"optimise": "mean"},
    "size": {"optimise": "size"},
    "branches only": {"form": "branches"},
    "index only": {"form": "index"},
    "joint tables only": {"form": "joint", "table": 65536},
}
"""``--optimise`` and ``--form`` of `rlcc emit`; ``table`` is its ``--max-table``, in bytes."""


def kernel(subject: Subject, engine: str, options: Mapping[str, Any]) -> Source:
    try:
        compiler = import_module("codegen.kernel")
    except ImportError:
        raise Absent("codegen.kernel is not in this checkout") from None
    limits = import_module("codegen.choose").Limits
    chosen = {key: value for key, value in options.items() if key != "table"}
    if "table" in options:
        chosen["limits"] = limits(table=options["table"])
    made = compiler.kernel(subject.ensemble, subject.ranges, compiler.Options(engine=engine, **chosen))
    return Source(made.c_source(ENTRY), "int32", "int32")


OURS = tuple(Contender(f"rlcc, {name}", "ours", partial(kernel, options=options)) for name, options in OPTIONS.items())
