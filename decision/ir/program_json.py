"""The decision program as JSON: readable and diffable. A reader derives every range again."""

from typing import Any

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, integer
from decision.ir.interfaces import from_json, to_json
from decision.ir.network_json import network_from_json, network_to_json
from decision.ir.program import Op, Program, ProgramBuilder, StateField

FORMAT = 2


def program_to_json(program: Program) -> dict[str, Any]:
    """Returns a readable form: one object a node, ranges included."""
    return {
        "format": FORMAT,
        "interface": to_json(program.interface),
        "nodes": [
            {"id": i, "op": n.op.name.lower(), "args": list(n.args), "imm": n.imm}
            | {"range": [n.low, n.high], "name": n.name, "note": n.note}
            for i, n in enumerate(program.nodes)
        ],
        "state": [{"name": s.name, "storage": s.storage, "node": s.node, "note": s.note} for s in program.state],
        "results": list(program.results),
        "ensemble": program.forest.to_json(),
        "tables": [list(table) for table in program.tables],
    } | ({} if program.network is None else {"network": network_to_json(program.network)})


def program_from_json(data: Any) -> Program:
    """Inverse of ``program_to_json``. Ranges are derived again; a stored range that differs is an InputError."""
    try:
        if data["format"] != FORMAT:
            raise InputError(f"the decision program has format {data['format']!r}, not {FORMAT}; emit it again")
        network = network_from_json(data["network"]) if "network" in data else None
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
