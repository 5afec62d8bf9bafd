"""A policy.toml of a policy whose decisions are recorded elsewhere: what an agent observes and sets, and no network."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field

from decision.artefact.documents import Format1, parse_toml, read_bytes
from decision.policy.policy import POLICY_NAME, Header, PolicyFile


class PolicyHeader(Header):
    """The keys of policy.toml without ``[architecture]`` and ``[input]``."""

    format: Format1
    name: str = Field(pattern=POLICY_NAME)
    provenance: dict[str, Any] = Field(default_factory=dict)


def load_policy_header(path: Path) -> tuple[str, Header]:
    """Returns name and header of a policy.toml, with or without a network. InputError names the key that is wrong."""
    content, where = read_bytes(path), str(path)
    try:
        has_network = "architecture" in tomllib.loads(content.decode())
    except (ValueError, RecursionError):
        has_network = False  # parse_toml says what is wrong with it
    if has_network:
        policy = parse_toml(PolicyFile, content, where)
        return policy.name, policy.policy.header
    file = parse_toml(PolicyHeader, content, where)
    return file.name, file.header
