"""A decision program read from JSON. Every range is derived again."""

from collections.abc import Callable
from typing import Any

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, integer
from decision.ir.interfaces import from_json
from decision.ir.program import NetworkForm, Op, Program, ProgramBuilder, StateField

FORMAT = 2


def read_program(data: Any, read_network: Callable[[Any], NetworkForm]) -> Program:
    """Returns the program of a JSON document (decision.ir.program_json). Raises InputError if it is not readable or
    states a range that it does not have. ``read_network`` is called with the network's part, if there is one."""
    try:
        if data["format"] != FORMAT:
            raise InputError(f"the decision program has format {data['format']!r}, not {FORMAT}; emit it again")
        network = read_network(data["network"]) if "network" in data else None
        builder = ProgramBuilder(Forest.from_json(data["ensemble"]), from_json(data["interface"]), network=network)
        builder.tables = [tuple(integer(v) for v in table) for table in data["tables"]]
        builder.state = [
            StateField(text(s["name"]), text(s["storage"]), integer(s["node"]), text(s["note"])) for s in data["state"]
        ]
        for i, n in enumerate(data["nodes"]):
            args = tuple(integer(a) for a in n["args"])
            node = builder.add(Op[n["op"].upper()], args, integer(n["imm"]), n["name"], n["note"])
            if node != i or n["id"] != i:
                raise InputError(f"node {i} of the decision program stands twice or out of order; emit it again")
            if [builder.nodes[node].low, builder.nodes[node].high] != n["range"]:
                raise InputError(f"node {i} of the decision program states a range it does not have; emit it again")
        return builder.finish(*(integer(result) for result in data["results"]))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise InputError(f"the decision program is not readable: {error!r}; emit it again") from None


def text(value: Any) -> str:
    """The JSON value if it is a string, else ValueError."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")
    return value
