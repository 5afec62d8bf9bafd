"""Policies that share a network: `[LABEL=]POLICY@25%[@class:0]+POLICY@75%[@class:1]`, each with so much of the flows.

fair=runs/rl-cc/firmware@50%+dcqcn@50%             half of the flows each, in one queue
fair=runs/rl-cc/firmware@50%+dcqcn@50%@class:1     each in a queue of its own (class_weights of the network)
"""

import re
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.errors import InputError

LABEL = re.compile(r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,31}$")
ONE = re.compile(r"((?:(?!@[0-9]+%).)+)@([0-9]{1,3})%(?:@class:([0-9]{1,3}))?(?:\+(?=.)|$)")
FORM = "POLICY@25%+POLICY@75%, @class:1 behind a part that has a queue of its own"


@dataclass(frozen=True)
class Share:
    """A part as it was written."""

    policy: str
    percent: int
    klass: int | None


@dataclass(frozen=True)
class MixArgument:
    label: str | None
    shares: tuple[Share, ...]


def parse_mix(text: str) -> MixArgument | None:
    """None where it is one policy, or a path."""
    if Path(text).exists() or not re.search(r"@[0-9]+%", text):
        return None
    front, equals, rest = text.partition("=")
    label = front if equals and LABEL.match(front) else None
    rest = rest if label is not None else text
    shares, at = [], 0
    while at < len(rest):
        match = ONE.match(rest, at)
        if match is None:
            raise InputError(f"{text!r} is no mix of policies; write {FORM}")
        shares.append(Share(match[1], int(match[2]), None if match[3] is None else int(match[3])))
        at = match.end()
    return MixArgument(label, tuple(shares))
