"""Names of emitted C, and the identity that tells one policy in an image from another.

A prefix is the first word of every file and external name (``rlcc_decide``, ``RLCC_PARAMS_DEFAULT``): two policies in
one image have two. A layout is what the fields of an agent's context mean: contexts that live through an update are
right for the new policy only if it has the layout that they were written under.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from codegen.layout import context_layout
from decision.artefact.errors import InputError
from decision.ir.network import Int8Network
from decision.ir.network_json import network_to_json
from decision.ir.program import Node, Op, Program

ABI = 1
"""Of the emitted header: names, structures and what a call does. One more for each change that an integrator must know.
"""
PREFIX = "rlcc"
MAX_PREFIX = 23
FORM = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_PREFIX - 1}}}")
OWN = re.compile(r"(?:(?<=-D)|\b)(rlcc|RLCC)_")  # -DRLCC_PORTS=2 is a name too, without a word's boundary
TAKEN = frozenset(("doca", "falcon", "int8", "int16", "int32", "int64", "linux", "mlnx", "uint8", "uint16", "uint32"))
"""First words of names that the adapters take from elsewhere."""


def check_prefix(prefix: str) -> str:
    """Returns the prefix. InputError if names of C cannot begin with it."""
    if not FORM.fullmatch(prefix) or prefix.endswith("_") or "__" in prefix or prefix in TAKEN:
        raise InputError(
            f"the prefix {prefix[:40]!r} cannot begin names of C; give at most {MAX_PREFIX} lower-case letters, digits "
            "and single underscores, a letter first, and no first word of the device's own names"
        )
    return prefix


def prefixed(text: str, prefix: str) -> str:
    """Returns an emitted text with the prefix in place of its own in every name."""
    words = {PREFIX: prefix, PREFIX.upper(): prefix.upper()}
    return text if prefix == PREFIX else OWN.sub(lambda found: f"{words[found[1]]}_", text)


def field_meanings(program: Program) -> dict[str, str]:
    """Returns a hash of what each field of the context means, by name: of the expression that writes it, with the trees
    as they are called. The first fields are the interface's own."""
    own = {field.name for field in program.interface.context}
    values = _values(program)
    meanings = {}
    for field in program.state:
        said = program.interface.name if field.name in own else values[field.node]
        meanings[field.name] = _hash([field.name, field.storage, said])
    return meanings


def fields_read(program: Program) -> dict[str, set[str]]:
    """Returns the fields that the meaning of each field names: none for the interface's own."""
    own = {field.name for field in program.interface.context}
    read: list[set[str]] = []
    for node in program.nodes:
        named = {program.state[node.imm].name} if node.op is Op.STATE else set()
        read.append(named.union(*(read[a] for a in _operands(node))))
    return {field.name: set() if field.name in own else read[field.node] for field in program.state}


def layout_id(program: Program) -> int:
    """Returns 32 bits that two programs have in common if each can go on with the other's contexts; 0 without any."""
    fields, _ = context_layout(program)
    if not fields:
        return 0
    meanings = field_meanings(program)
    return int(_hash([[f.name, f.offset, meanings[f.name]] for f in fields])[:8], 16)


def _values(program: Program) -> list[str]:
    """A hash of the value of each node, whatever its number and its operands' are."""
    hashes: list[str] = []
    for node in program.nodes:
        hashes.append(_hash([node.op.name, *_immediate(program, node), *(hashes[a] for a in _operands(node))]))
    return hashes


def _operands(node: Node) -> tuple[int, ...]:
    return () if node.op is Op.TREES else node.args


def _immediate(program: Program, node: Node) -> list[Any]:
    match node.op:
        case Op.EVENT | Op.PARAM | Op.STATE:
            return [program.key(node)]
        case Op.TABLE:
            return list(program.tables[node.imm])
        case Op.NETWORK:  # what an LSTM keeps means what its weights make of it
            network = program.network
            return [node.imm, network_to_json(network)] if isinstance(network, Int8Network) else [node.imm]
    return [node.imm]


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


def words(program: Program, decider: str, name: str, prefix: str) -> Mapping[str, Any]:
    """Returns what the templates say of the identity; ``decider``: the hash of what decides."""
    return {
        "abi": ABI,
        "prefix": prefix,
        "layout_id": f"0x{layout_id(program):08X}",
        "policy_bytes": [f"0x{byte:02X}" for byte in bytes.fromhex(decider)],
        "identity_name": re.sub(r"[^\w .:+-]", "?", name, flags=re.ASCII)[:31],
    }
