"""Vectors as C initialisers, for the self-test that goes with every firmware folder."""

from collections.abc import Sequence
from itertools import groupby

from codegen.ctypes99 import literal
from codegen.layout import LaidOut, structures
from codegen.vectors import Vectors
from decision.ir.program import Program

VECTORS = ("hidden", "cell")
"""Fields of a context that are arrays in C: hidden_0, hidden_1, .. are hidden[0], hidden[1], .."""


def vectors_inc(program: Program, vectors: Vectors) -> str:
    """One vector a line: the structures that go in, in their order; the only knob or all; the new context."""
    handed = {s.key: s.fields for s in structures(program)}
    action = handed.pop("action", None)
    parts: list[tuple[str, Sequence[LaidOut], str]] = [(key, f, initialiser(f)) for key, f in handed.items()]
    if action is None:
        (knob,) = program.interface.knobs
        parts.append(("expect", [LaidOut(knob.name, knob.storage, 0)], "%s"))
    else:
        parts.append(("expect", action, initialiser(action)))
    if "context" in handed:
        parts.append(("expect.context", handed["context"], initialiser(handed["context"])))
    texts = [
        numbers(vectors.columns[f"{prefix}.{field.name}"].tolist(), field.ctype)
        for prefix, fields, _ in parts
        for field in fields
    ]
    line = f"{{{', '.join(template for _, _, template in parts)}}},\n"
    return "".join(line % row for row in zip(*texts, strict=True))


def numbers(values: Sequence[int], ctype: str) -> list[str]:
    """Returns constants of a field's sign."""
    sign = "uint32_t" if ctype.startswith("u") else "int32_t"
    texts = {value: literal(value, sign) for value in set(values)}
    return [texts[value] for value in values]


def is_vector(name: str) -> bool:
    stem, _, number = name.rpartition("_")
    return stem in VECTORS and number.isdecimal()


def declared(fields: Sequence[LaidOut]) -> list[LaidOut]:
    """The context's fields as C declares them: an array for each vector, at the place of its first element."""
    declarations: list[LaidOut] = []
    for field in fields:
        stem = field.name.rpartition("_")[0]
        if not is_vector(field.name):
            declarations.append(field)
        elif field.name.endswith("_0"):
            count = sum(1 for f in fields if is_vector(f.name) and f.name.rpartition("_")[0] == stem)
            declarations.append(LaidOut(f"{stem}[{count}]", field.ctype, field.offset, field.note))
    return declarations


def elements(fields: Sequence[LaidOut]) -> list[LaidOut]:
    """Every value of the context as C names it."""
    return [
        LaidOut("{0}[{2}]".format(*f.name.rpartition("_")), f.ctype, f.offset) if is_vector(f.name) else f
        for f in fields
    ]


def initialiser(fields: Sequence[LaidOut]) -> str:
    """A C initialiser of a structure, with ``%s`` for each value: braces around each vector."""
    runs = groupby(fields, lambda field: field.name.rpartition("_")[0] if is_vector(field.name) else "")
    parts = [(stem, ", ".join("%s" for _ in run)) for stem, run in runs]
    return "{" + ", ".join(f"{{{part}}}" if stem else part for stem, part in parts) + "}"
