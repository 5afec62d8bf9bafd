"""At most one decision a round trip: `once_per_rtt = true` in policy.toml.

    late = -2^22 <= request_sent_ns - decided_ns < 0 (mod 2^32), and the flow is not new

A request that left before the last decision took effect brings back what that decision was made on, or older. Its
answer is late: the context stays as it is, to the last bit, and the rate in force is given once more. The caller goes
on counting. The context holds one field for it, ``decided_ns``, the response that was decided on last.

A flow that alone has a context, and one request under way, has no late answer: nothing changes. Queue pairs that share
a context each have requests of their own under way. Without this rule they make as many decisions a round trip on one
rate. A window of 2^22 ns is what an RTT saturates at (``RTT_BITS``): a flow that was idle for longer than the clock's
wrap misses one answer with a chance of 2^-10, never more than 4.2 ms of them.
"""

from dataclasses import dataclass

from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.interface import Interface
from decision.ir.interfaces.completion import NOW, PATH_RTT, RTT
from decision.ir.interfaces.flow_rate import RTT_BITS
from decision.ir.program import Node, Op, Program, ProgramBuilder, StateField
from decision.ir.rewrite import needed, rewritten

DECIDED = "decided_ns"
"""The field of a context that holds it."""


def late_answer(b: ProgramBuilder) -> int:
    """Returns the node that is 1 where the event answers a request from before the last decision. To be called behind
    the rate, which is a context's first field."""
    known = b.add(Op.GT, (b.state_in("rate_q30", "uint32"), b.const(0)), name="known_flow")
    decided = b.state_in(DECIDED, "uint32", "ns, wraps: the response that was decided on last")
    asked, answered = _times(b)
    b.state_out(DECIDED, answered)
    since = b.add(Op.WRAP_SUB, (asked, decided), name="asked_since_ns", note="the decision; wraps")
    high = b.add(Op.SHR, (since,), RTT_BITS, "asked_since_high", "all ones: asked before it, by 2^22 ns at the most")
    recent = b.add(Op.EQ, (high, b.const((1 << (32 - RTT_BITS)) - 1)), name="recent")
    return b.add(Op.MIN, (known, recent), name="late", note="its request left before the last decision")


def _times(b: ProgramBuilder) -> tuple[int, int]:
    """Returns the nodes of when the request was sent and when it was answered.

    A packet that is acknowledged or lost was the request. What was not timed is taken as a base RTT old, and nothing as
    older than an RTT can be."""
    if NOW not in b.interface.event_names:
        return b.event("request_sent_ns"), b.event("response_ns")
    now, path_rtt = b.event(NOW), b.param(PATH_RTT)
    least = b.add(Op.MAX, (b.event(RTT), path_rtt), name="age_least_ns", note="of the packet; an RTT of 0 is not timed")
    age = b.add(Op.MIN, (least, b.const(1 << RTT_BITS)), name="age_ns", note="longer RTTs are not told apart")
    return b.add(Op.WRAP_SUB, (now, age), name="packet_sent_ns", note="wraps"), now


def decides_once(program: Program) -> bool:
    """Returns whether a program leaves late answers undecided."""
    return any(field.name == DECIDED for field in program.state)


def hold(b: ProgramBuilder, late: int, unasked: int | None = None) -> None:
    """Leaves every field of the context as it is where an answer is late. Called when all of them are written.

    ``unasked``: 1 where an answer is late or a flow's phase makes the step. Then the rate is held already, and the
    other fields are where that is asked, so that the policy's own decisions do not ask again."""
    for field in list(b.state):
        held = b.state_in(field.name, field.storage)
        if unasked is None:
            b.state_out(field.name, b.add(Op.SELECT, (late, held, field.node)))
        elif field.name != "rate_q30":
            node = b.nodes[field.node]
            chosen = node.op is Op.SELECT and node.args[0] == unasked
            made, own = node.args[1:] if chosen else (field.node, field.node)
            b.state_out(field.name, b.add(Op.SELECT, (unasked, b.add(Op.SELECT, (late, held, made)), own)))


def late_program(interface: Interface) -> tuple[Program, int]:
    """Returns a program of the rule alone, and its node ``late``.

    Evaluators of another body, such as a teacher's network in floats, run it on each event. Its context is the rate,
    which is only compared with 0, and ``decided_ns``."""
    b = ProgramBuilder(Forest((), (), (0,), 0), interface)
    rate = b.state_in("rate_q30", "uint32")
    late = late_answer(b)
    b.state_out("rate_q30", rate)
    hold(b, late)
    return b.finish(*[rate] * len(interface.knobs)), late


@dataclass(frozen=True)
class Answers:
    """The two programs that a program with the rule consists of, one a kind of answer.

    ``due``: the program where the answer is decided on, without ``decided_ns``, which nothing reads then. ``late``: the
    program where it is not."""

    due: Program
    late: Program


def answers_of(program: Program) -> Answers:
    """Returns a program with the rule by its kinds of answers.

    The node that tells them apart is found by what it does, not by its name: it is 0 or 1; at 0 nothing reads
    ``decided_ns``, at 1 that field is written with itself. InputError if no node does so."""
    place = [field.name for field in program.state].index(DECIDED)
    since: set[int] = set()
    for number, node in enumerate(program.nodes):
        if (node.op is Op.STATE and node.imm == place) or since.intersection(node.args):
            since.add(number)
    for number in sorted(since):
        node = program.nodes[number]
        if node.op not in (Op.MIN, Op.MAX, Op.GT, Op.EQ) or (node.low, node.high) != (0, 1):
            continue
        due, late = (_with_value(program, number, value) for value in (0, 1))
        kept = late.nodes[late.state[place].node]
        if not _reads(due, place) and kept.op is Op.STATE and kept.imm == place:
            return Answers(_without_field(due, place), late)
    raise InputError(f"no node of the program says which answers are late, yet its context has {DECIDED}")


def _with_value(program: Program, number: int, value: int) -> Program:
    """Returns the program with a node as a constant, and with the choices that it decides."""
    replaced = program.nodes[number]

    def fold(b: ProgramBuilder, node: Node, args: tuple[int, ...]) -> int | None:
        if node is replaced:
            return b.const(value)
        operands = [b.nodes[a] for a in args]
        if node.op is Op.SELECT and operands[0].low == operands[0].high:
            return args[1 if operands[0].low else 2]
        if node.op in (Op.MIN, Op.MAX):
            for mine, other in ((0, 1), (1, 0)):
                a, c = operands[mine], operands[other]
                if a.low >= c.high if node.op is Op.MAX else a.high <= c.low:
                    return args[mine]
        return None

    return rewritten(program, fold)


def _reads(program: Program, place: int) -> bool:
    """Returns whether a program needs what a field held."""
    nodes = (program.nodes[number] for number in needed(program))
    return any(node.op is Op.STATE and node.imm == place for node in nodes)


def _without_field(program: Program, place: int) -> Program:
    """Returns the program without a field that it does not read."""
    b = ProgramBuilder(program.forest, program.interface, network=program.network)
    b.tables = list(program.tables)
    kept = [field for k, field in enumerate(program.state) if k != place]
    b.state = [StateField(field.name, field.storage, -1, field.note) for field in kept]
    new: dict[int, int] = {}
    outputs = [*(field.node for field in kept), *program.results]
    seen, todo = set[int](), list(outputs)
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo += program.nodes[number].args
    for number in sorted(seen):
        node = program.nodes[number]
        imm = node.imm - (node.op is Op.STATE and node.imm > place)
        new[number] = b.add(node.op, tuple(new[a] for a in node.args), imm, node.name, node.note)
    for field in kept:
        b.state_out(field.name, new[field.node])
    return b.finish(*(new[result] for result in program.results))
