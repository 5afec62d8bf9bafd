"""An integer network as JSON: readable, one line a row of weights. A reader checks what it makes of it."""

from typing import Any

from decision.artefact.errors import InputError
from decision.ir.forest import integer
from decision.ir.network import Int8Network, Layer, Lstm, Matrix


def network_to_json(network: Int8Network) -> dict[str, Any]:
    lstm = network.lstm
    return {
        "inputs": network.inputs,
        "layers": [{"high": layer.high, **_matrix(layer.matrix)} for layer in network.layers],
        "lstm": None
        if lstm is None
        else {
            "cell_bits": lstm.cell_bits,
            "hidden_bits": lstm.hidden_bits,
            "input": _matrix(lstm.input),
            "recurrent": _matrix(lstm.recurrent),
        },
        "output": _matrix(network.output),
        "action": list(network.action),
    } | ({"groups": list(network.groups)} if network.groups else {})


def network_from_json(data: Any) -> Int8Network:
    """Inverse of ``network_to_json``; InputError where a part is missing, no integer, or does not fit the others."""
    try:
        lstm = data["lstm"]
        return Int8Network(
            inputs=integer(data["inputs"]),
            layers=tuple(Layer(_matrix_of(layer), integer(layer["high"])) for layer in data["layers"]),
            lstm=None
            if lstm is None
            else Lstm(
                _matrix_of(lstm["input"]),
                _matrix_of(lstm["recurrent"]),
                integer(lstm["cell_bits"]),
                integer(lstm["hidden_bits"]),
            ),
            output=_matrix_of(data["output"]),
            action=_integers(data["action"]),
            groups=_integers(data.get("groups", [])),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise InputError(f"the network is not readable ({error!r}); emit it again") from None


def _matrix(matrix: Matrix) -> dict[str, Any]:
    return {
        "lift": matrix.lift,
        "scale": list(matrix.scale),
        "bias": list(matrix.bias),
        "weights": [list(row) for row in matrix.weights],
    }


def _matrix_of(data: Any) -> Matrix:
    weights = tuple(_integers(row) for row in data["weights"])
    return Matrix(weights, _integers(data["bias"]), _integers(data["scale"]), integer(data["lift"]))


def _integers(values: Any) -> tuple[int, ...]:
    return tuple(integer(value) for value in values)
