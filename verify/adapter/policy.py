"""Facts of a policy that an adapter depends on: the words of its structures, and the counters that it looks at."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from emulator.firmware import Firmware
from verify.code.failures import Refused

COUNTERS = ("cnp_count", "nack_count", "sent_bytes", "acked_bytes", "marked_bytes")
"""Signals that count what happened since the last decision, in the order of the adapter's context."""
DECIDED = "decided_ns"
"""Field of the policy's context: the response that was decided on last."""
WORD = 4
Word = TypeVar("Word")
COMMENT, WORDS = re.compile(r"/\*(?s:.*?)\*/"), re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class PolicyFacts:
    """``flow_words``: 32-bit words of the policy's context; ``event``, ``params``, ``action``: names of the words of
    these structures. Without an action ``rlcc_decide`` returns the rate."""

    flow_words: int
    event: tuple[str, ...]
    params: tuple[str, ...]
    action: tuple[str, ...]
    defaults: Mapping[str, int]
    counters: tuple[str, ...]
    """Counters that the policy's C reads. Its proof says that the program depends on no other."""
    first_window: int | None
    """Most bytes in flight before a new flow's first decision; None: what its first rate gives."""
    decided: int | None
    """Number of the flow's word with DECIDED; None for a policy that decides on each response."""


def policy_of(firmware: Firmware) -> PolicyFacts:
    """Returns the facts of a firmware folder. Refused where its structures are not made of 32-bit words."""
    layouts = firmware.layouts
    names = {group: _words(firmware, group) for group in ("event", "params", "action") if group in layouts}
    flow = layouts["context"].dtype if "context" in layouts else None
    if flow is None or flow.itemsize % WORD or not {"event", "params"} <= names.keys():
        raise Refused("not-proved", 0, "the policy is not one of a flow with a context in 32-bit words")
    offsets = {name: int(place[1]) for name, place in (flow.fields or {}).items()}
    defaults = {name: int(value) for name, value in dict(firmware.manifest.details.get("params_default", {})).items()}
    if defaults.keys() != set(names["params"]):
        raise Refused("not-proved", 0, "the manifest has no default of each parameter")
    words = set(WORDS.findall(COMMENT.sub(" ", firmware.sources.text)))
    counters = tuple(name for name in COUNTERS if name in words)
    decided = offsets[DECIDED] // WORD if DECIDED in offsets else None
    event, params, action = (names.get(group, ()) for group in ("event", "params", "action"))
    first_window = firmware.manifest.details.get("first_window_bytes")
    first_window = None if first_window is None else int(first_window)
    return PolicyFacts(flow.itemsize // WORD, event, params, action, defaults, counters, first_window, decided)


def named_context(policy: PolicyFacts, own: Sequence[str], words: Sequence[Word]) -> dict[str, Word]:
    """Returns the words that a device keeps for a flow by their names: the policy's, the adapter's own, and those that
    are left. Refused where they are too few."""
    names = [f"flow[{n}]" for n in range(policy.flow_words)] + [*own]
    if len(names) > len(words):
        raise Refused("not-proved", 0, f"the flow's context takes {len(names)} words, the device keeps {len(words)}")
    names += [f"unused[{n}]" for n in range(len(names), len(words))]
    return dict(zip(names, words, strict=True))


def _words(firmware: Firmware, group: str) -> tuple[str, ...]:
    """The names of a structure's words."""
    dtype = firmware.layouts[group].dtype
    places = [(name, kind.itemsize, offset) for name, (kind, offset, *_) in (dtype.fields or {}).items()]
    if any(size != WORD or offset != WORD * n for n, (_, size, offset) in enumerate(places)):
        raise Refused("not-proved", 0, f"the {group} of the policy has fields that are not of 32 bits")
    return tuple(name for name, *_ in places)
