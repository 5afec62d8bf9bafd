"""What a proof of a core's cycles has to know of its netlist: data, by the names of nets."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PipelineView:
    """Names of nets, and what is assumed of programs and memories.

    - ``clock``: the port whose rising edge is every register's
    - ``enters``: 1 in the last cycle before an instruction stands in decode, unless ``redirects`` is 1 there too
    - ``instruction``: registers that hold its word while it stands there
    - ``taken``: 1 in its first cycle if it is a branch that is taken
    - ``never``: what no program here does -> bits that are never all 1
    - ``zero_where_one_begins``: bits that are 0 where an instruction of the proof begins
    - ``inputs``: ports that are constant; nothing is assumed of the others
    - ``operands``: words that may be anything in every cycle: what is read from the register file
    - ``data``: registers whose values are not followed from one instruction to the next
    """

    clock: str
    enters: str
    redirects: str
    instruction: tuple[str, ...]
    taken: str
    never: Mapping[str, tuple[tuple[str, int], ...]]
    zero_where_one_begins: tuple[tuple[str, int], ...]
    inputs: Mapping[str, int]
    operands: tuple[str, ...]
    data: re.Pattern[str]
