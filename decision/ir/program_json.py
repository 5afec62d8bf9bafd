"""The decision program as JSON: readable and diffable. A reader derives every range again."""

from typing import Any

from decision.ir.interfaces import to_json
from decision.ir.network import Int8Network
from decision.ir.network_json import network_from_json, network_to_json
from decision.ir.program import Program
from decision.ir.program_reader import FORMAT, read_program


def program_to_json(program: Program) -> dict[str, Any]:
    """Returns a readable form: one object a node, ranges included."""
    network = program.network
    assert network is None or isinstance(network, Int8Network)
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
    } | ({} if network is None else {"network": network_to_json(network)})


def program_from_json(data: Any) -> Program:
    """Inverse of ``program_to_json``; InputError where it is none."""
    return read_program(data, network_from_json)
