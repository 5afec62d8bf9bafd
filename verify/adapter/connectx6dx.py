"""The engine behind ``rl_algo`` (ConnectX-6Dx): one event, as its firmware engineer would say it.

The integrator's ``rlcc_read_event`` says what an event adds. It gets the context to read only, and a zeroed event.
"""

from collections.abc import Sequence

from verify.adapter.external import ExternalCall, Model
from verify.adapter.policy import PolicyFacts, named_context
from verify.adapter.transition import RATE, ProvedDevice, Transition, carried, decided
from verify.adapter.values import Unknowns
from verify.rv64.values import MachineWord

ENTRY = "rl_algo"
CONTEXT_WORDS = 30
RTT_REQ, RATE_SHIFT, RATE_MASK = 1, 8, 0xFFFFFF
"""Bit fields of the first word of the results: ask for a probe, and the rate in the upper 24 bits."""


def transitions(policy: PolicyFacts) -> Sequence[Transition]:
    unknowns = Unknowns()
    u32, number, pointer = unknowns.u32, unknowns.number, unknowns.words.pointer
    arguments = [pointer("context"), unknowns.structure("attr"), pointer("results"), pointer("memory")]
    event = Transition(ENTRY, unknowns, arguments)
    context = [u32(f"context[{n}]") for n in range(CONTEXT_WORDS)]
    params = {name: u32(f"params.{name}") for name in policy.params}
    event.add("context", context, written=True)
    event.add("results", [u32("results before.rate"), u32("results before.credits")], written=True)
    event.add("memory", list(params.values()), written=False)

    # The integrator's function is asked once, with the context as it is.
    told = {name: u32(f"told.{name}") for name in policy.event}
    event.hand({"events read": number(1), "read event attr": u32("attr")})
    event.hand({f"read event context[{n}]": word for n, word in enumerate(context)})
    event.hand({f"read event zeroed {name}": number(0) for name in policy.event})
    event.models["rlcc_read_event"] = _read_event(unknowns, policy)

    # The flow's context: the policy's words, the rate in force, and the counters with what this event adds.
    before = named_context(policy, [RATE, *policy.counters], context)
    counted = {name: before[name] + told[name] for name in policy.counters}
    is_response = ~u32("is response").equals(0)

    # A response is decided on, with what was counted.
    asked = told | counted
    answer = decided(policy, event, is_response, context[: policy.flow_words], asked, params)
    is_decision = is_response
    if policy.decided is not None:
        is_decision = is_response & answer.flow[policy.decided].equals(asked["response_ns"])

    # Afterwards: a decision takes what was counted.
    after = carried(before, answer, is_response, before["rate_q20"].equals(0), params)
    after |= {name: number(0).where(is_decision, counted[name]) for name in policy.counters}
    event.leave("context", after)
    event.leave("results", {"rate": (after["rate_q20"] & RATE_MASK) << RATE_SHIFT | RTT_REQ, "credits": number(0)})
    return [event]


def _read_event(unknowns: Unknowns, policy: PolicyFacts) -> Model:
    """The integrator's function: it reads the context, and adds anything to the event."""

    def model(call: ExternalCall) -> MachineWord:
        low = unknowns.words.low(call.argument(1), 32, False)
        call.points_to(0, "context")
        call.count("events read")
        call.record("read event attr", low)
        for n in range(CONTEXT_WORDS):
            call.record(f"read event context[{n}]", call.word(0, 4 * n))
        for n, name in enumerate(policy.event):
            call.record(f"read event zeroed {name}", call.word(2, 4 * n))
            call.write(2, 4 * n, unknowns.u32(f"told.{name}").word)
        return unknowns.returned("is response")

    return model


CONNECTX6DX = ProvedDevice("connectx6dx", "rlcc_rl_algo.c", transitions)
