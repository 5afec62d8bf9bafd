"""Vectors as C initialisers, for the self-test that goes with every firmware folder."""

from collections.abc import Sequence

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
    columns = vectors.columns

    def filled(prefix: str, fields: Sequence[LaidOut], row: int) -> str:
        return initialiser(fields, [int(columns[f"{prefix}.{f.name}"][row]) for f in fields])

    lines = []
    for row in range(len(vectors)):
        parts = [filled(key, fields, row) for key, fields in handed.items()]
        if action is None:
            (knob,) = program.interface.knobs
            parts.append(number(int(columns[f"expect.{knob.name}"][row]), knob.storage))
        else:
            parts.append(filled("expect", action, row))
        if "context" in handed:
            parts.append(filled("expect.context", handed["context"], row))
        lines.append(f"{{{', '.join(parts)}}},")
    return "\n".join(lines) + "\n"


def number(value: int, ctype: str) -> str:
    """A constant of a field's sign."""
    return literal(value, "uint32_t" if ctype.startswith("u") else "int32_t")


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


def initialiser(fields: Sequence[LaidOut], values: Sequence[int]) -> str:
    """A C initialiser of a structure: braces around each vector."""
    parts: list[str] = []
    vector: dict[str, list[str]] = {}
    for field, value in zip(fields, values, strict=True):
        text = number(value, field.ctype)
        stem = field.name.rpartition("_")[0]
        if not is_vector(field.name):
            parts.append(text)
        elif stem in vector:
            vector[stem].append(text)
        else:
            vector[stem] = [text]
            parts.append(stem)
    return "{" + ", ".join("{" + ", ".join(vector[p]) + "}" if p in vector else p for p in parts) + "}"
