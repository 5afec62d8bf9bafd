"""A flow on a path of one delay: what it is told, and from which RTT on a signal is above a threshold.

It is told the RTT and a queue of the same delay; no CNP, no NACK, no byte is counted. A request is sent at 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30
from decision.ir.interpret import trace
from decision.ir.program import Node, Op, Program
from decision.policy.policy import Observation
from verify.check.cells import made_of
from verify.check.history import History
from verify.check.refused import Refused

SENT, RESPONSE, QUEUE, RTT = "event.request_sent_ns", "event.response_ns", "event.queue_bytes", "event.rtt_ns"


@dataclass(frozen=True)
class Path:
    """``base_rtt_ns``; ``bytes_a_us``: what line rate moves in 1 us."""

    history: History
    base_rtt_ns: int
    bytes_a_us: int

    @staticmethod
    def of(history: History, observation: Observation) -> "Path":
        """Refused where the policy assumes no path."""
        if observation.base_rtt is None or observation.line_rate is None:
            raise Refused("what flows come to is a property of policies that assume a base RTT and a line rate")
        return Path(history, int(observation.base_rtt), int(observation.line_rate) // (8 * 10**6))

    @property
    def program(self) -> Program:
        return self.history.table.program

    @property
    def params(self) -> dict[str, int]:
        return self.history.table.params

    def rtt_ns(self, inflation: float) -> int:
        rtt = round(inflation * self.base_rtt_ns)
        if rtt > U32_MAX:
            raise Refused(f"an inflation of {inflation:g} is an RTT of over 2^32 ns")
        return rtt

    def rate(self, asked: int) -> int:
        """A rate that a flow can have, Q0.30."""
        rate = min(asked, LINE_RATE_Q30)
        if not self.params["rate_min_q30"] <= rate <= self.params["rate_max_q30"]:
            raise Refused(f"a rate of {rate} is not within the policy's limits")
        return rate

    def values(self, rtt_ns: Integers, contexts: Mapping[str, Integers]) -> list[Integers]:
        """Every node [N], where these contexts meet these RTTs."""
        event = {name: np.zeros_like(rtt_ns) for name in self.program.interface.event_names}
        delay = np.maximum(rtt_ns - self.base_rtt_ns, 0)
        queue = np.minimum(delay * self.bytes_a_us // 1000, U32_MAX)
        for key, value in ((RESPONSE, rtt_ns), (RTT, rtt_ns), (QUEUE, queue)):
            if key.partition(".")[2] in event:
                event[key.partition(".")[2]] = value
        return trace(self.program, event, self.params, contexts)

    def at_rates(self, rates: Integers) -> dict[str, Integers]:
        """Contexts of flows at these rates [N], past their start, that remember nothing."""
        return {**{name: np.zeros_like(rates) for name in self.history.names}, "rate_q30": rates}

    def first_above(self, node: int, edges: Integers, rates: Integers) -> Integers:
        """The least RTT [N] at which a node is above an edge [N] for flows at these rates [N]; 2^32 where none is.
        Refused where the node could fall as the RTT grows."""
        if direction(self.program, node) not in (0, 1):
            raise Refused(f"{self.program.nodes[node].name or 'a signal'} does not only rise with the RTT")
        contexts = self.at_rates(rates)
        above = np.zeros_like(rates)
        for bit in range(32, -1, -1):  # the greatest RTT at which it is not above, bit by bit, plus one
            longer = above + (1 << bit)
            below = self.values(np.minimum(longer - 1, U32_MAX), contexts)[node] <= edges
            above = np.where((longer <= U32_MAX + 1) & below, longer, above)
        return above

    def check_told(self) -> None:
        """Refused where the trees see what an RTT and a rate do not tell."""
        program = self.program
        known = {SENT, RESPONSE, QUEUE, RTT, *(f"context.{signal.name}" for signal in program.interface.context)}
        for node, name in self.history.seen.items():
            for key in (program.key(program.nodes[n]) for n in sorted(made_of(program, node))):
                if key is not None and not key.startswith("params.") and key not in known:
                    raise Refused(f"{name} is made of {key} too, of which an RTT and a rate say nothing")


Direction = int | None
"""As the RTT and its queue grow, all else the same: 1 never falls, -1 never rises, 0 stays, None: not known."""


def direction(program: Program, node: int) -> Direction:
    """Returns the direction of a node, by its operators."""
    known: list[Direction] = []
    for each in program.nodes[: node + 1]:
        if (key := program.key(each)) is not None:
            known.append(1 if key in (RESPONSE, RTT, QUEUE) else 0)
            continue
        args = [known[a] for a in each.args]
        known.append(0 if not any(arg != 0 for arg in args) else _moved(program, each, args))
    return known[node]


def _moved(program: Program, node: Node, args: list[Direction]) -> Direction:
    nodes = [program.nodes[a] for a in node.args]
    match node.op:
        case Op.ADD | Op.MIN | Op.MAX:
            return _together(*args)
        case Op.SUB | Op.GT:
            return _together(args[0], _opposite(args[1]))
        case Op.WRAP_SUB if program.key(nodes[1]) == SENT:  # which is 0, so nothing wraps
            return args[0]
        case Op.MUL | Op.MUL_SHR if all(each.low >= 0 for each in nodes):
            return _together(*args)
        case Op.SHL | Op.SHR:
            return args[0]
        case Op.SELECT if args[0] == 0:
            return _together(args[1], args[2])
    return None


def _together(a: Direction, b: Direction) -> Direction:
    if None in (a, b):
        return None
    return a if b == 0 else b if a == 0 or a == b else None


def _opposite(a: Direction) -> Direction:
    return None if a is None else -a
