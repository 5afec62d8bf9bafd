"""The C of an integer network: constant tables, and what the template's loops run over.

static const int8_t fc0_weights[12][4] = { .. };    static const int32_t fc0_bias[12] = { .. };
static const uint32_t fc0_scale[12] = { .. };       static const int16_t tanh_q15[257] = { .. };
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from codegen.ctypes99 import I32, literal
from decision.ir.network import TANH_Q15, Int8Network, Matrix

WIDTH = 116
"""Columns of a table's lines."""
BYTES = {"int8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4}


@dataclass(frozen=True)
class Array:
    """A constant table in the function that reads it: ``text`` is its whole definition."""

    function: str
    text: str
    bytes: int


@dataclass(frozen=True)
class Product:
    """A matrix as the template sees it: its name, sizes, what a sum is multiplied by before its scale (2^lift)."""

    name: str
    rows: int
    columns: int
    factor: int


@dataclass(frozen=True)
class NetworkStep:
    """A layer: its product, the types of what it takes and gives, the greatest value it gives."""

    product: Product
    takes: str
    gives: str
    high: int


def width_type(high: int) -> str:
    """int8_t or int16_t, as values up to ``high`` need."""
    return "int8_t" if high <= 127 else "int16_t"


def arrays(network: Int8Network) -> list[Array]:
    """All constant tables in the order of their use."""
    tables = []
    for name, matrix in named_matrices(network):
        function = "lstm" if name in ("input", "recurrent") else name
        tables.append(_matrix(function, f"{name}_weights", matrix))
        if name != "recurrent":
            tables.append(_vector(function, "int32_t", f"{name}_bias", matrix.bias))
        tables.append(_vector(function, "uint32_t", f"{name}_scale", matrix.scale))
    if network.lstm is not None:
        tables.append(_vector("tanh", "int16_t", "tanh_q15", TANH_Q15))
    if network.groups:
        return [*tables, _vector("output", "uint16_t", "first", (0, *accumulate(network.groups)))]
    fits = network.action[0] >= -(2**15) and network.action[-1] < 2**15
    tables.append(_vector("action", "int16_t" if fits else "int32_t", "action_q16", network.action))
    return tables


def named_matrices(network: Int8Network) -> list[tuple[str, Matrix]]:
    named = [(f"fc{k}", layer.matrix) for k, layer in enumerate(network.layers)]
    if network.lstm is not None:
        named += [("input", network.lstm.input), ("recurrent", network.lstm.recurrent)]
    return [*named, ("output", network.output)]


def described(network: Int8Network) -> dict[str, Any]:
    """Returns the names that the template uses of a network."""
    steps, takes = [], "int16_t"
    for k, layer in enumerate(network.layers):
        gives = width_type(layer.high)
        steps.append(NetworkStep(product(f"fc{k}", layer.matrix), takes, gives, layer.high))
        takes = gives
    description: dict[str, Any] = {"inputs": network.inputs, "steps": steps, "lstm": None}
    if network.lstm is not None:
        lstm = network.lstm
        description["lstm"] = {
            "input": product("input", lstm.input),
            "recurrent": product("recurrent", lstm.recurrent),
            "units": lstm.units,
            "takes": takes,
            "hidden": width_type(lstm.hidden_max),
            "hidden_max": lstm.hidden_max,
            "hidden_bits": lstm.hidden_bits,
            "cell_bits": lstm.cell_bits,
        }
        takes = width_type(lstm.hidden_max)
    groups = len(network.groups)
    return description | {"output": product("output", network.output), "output_takes": takes, "groups": groups}


def product(name: str, matrix: Matrix) -> Product:
    return Product(name, *matrix.shape, 1 << matrix.lift)


def _vector(function: str, ctype: str, name: str, values: Sequence[int]) -> Array:
    body = _lines([_literal(v, ctype) for v in values], "        ")
    text = f"    static const {ctype} {name}[{len(values)}] = {{\n{body}\n    }};"
    return Array(function, text, BYTES[ctype] * len(values))


def _matrix(function: str, name: str, matrix: Matrix) -> Array:
    rows, columns = matrix.shape
    lines = ",\n".join(_row(row) for row in matrix.weights)
    return Array(function, f"    static const int8_t {name}[{rows}][{columns}] = {{\n{lines}\n    }};", rows * columns)


def _row(weights: Sequence[int]) -> str:
    line = "        {" + ", ".join(map(str, weights)) + "}"
    return line if len(line) <= WIDTH else "        {\n" + _lines([str(w) for w in weights], " " * 12) + "\n        }"


def _lines(words: Sequence[str], pad: str) -> str:
    lines, line = [], pad
    for word in words:
        if len(line) + len(word) + 2 > WIDTH and line != pad:
            lines.append(line.rstrip())
            line = pad
        line += f"{word}, "
    lines.append(line.rstrip(", "))
    return "\n".join(lines)


def _literal(value: int, ctype: str) -> str:
    if ctype in ("uint16_t", "uint32_t"):
        return f"{value}U"
    return literal(value, I32) if value == -(2**31) else str(value)
