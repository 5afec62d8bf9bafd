"""DOCA PCC (BlueField-3, ConnectX-7/8): one event of the device algorithm, as its firmware engineer would say it.

The device's functions and structures are those of the firmware's ``doca_pcc_shim.h``. Each case has the parameters that
the host's tool has set or none, and counters to count in or none.
"""

from collections.abc import Sequence
from itertools import product

from verify.adapter.external import ExternalCall, Model
from verify.adapter.policy import PolicyFacts, named_context
from verify.adapter.transition import RATE, ProvedDevice, Transition, carried, decided
from verify.adapter.values import Unknowns, Unsigned
from verify.rv64.values import MachineWord

ENTRY = "doca_pcc_dev_user_algo"
SLOT = 0
"""The algorithm slot of the policy; the device's own algorithm has the others."""
CNP, TX, NACK, RTT = 2, 3, 5, 6
"""Types of events that matter."""
CONTEXT_WORDS, RESULT_NAMES = 12, ("rate", "rtt_req", "probe_type_slot")
COUNTS, COUNTS_ONCE = ("decisions", "cnps", "nacks", "new_flows"), ("late_answers", "foreign_events")
"""Counters for the host's tools; the further ones of a policy that decides once a round trip."""
POINTERS = ("context", "event", "attr", "results")
KEPT_COUNTERS = ("cnp_count", "nack_count", "sent_bytes")
"""Counters that the device can tell."""


def transitions(policy: PolicyFacts) -> Sequence[Transition]:
    return [_transition(policy, tuned, counted) for tuned, counted in product((True, False), repeat=2)]


def _transition(policy: PolicyFacts, tuned: bool, counted: bool) -> Transition:
    unknowns = Unknowns()
    u32, number = unknowns.u32, unknowns.number
    one = number(1)
    event = Transition(ENTRY, unknowns, [unknowns.words.pointer(name) for name in POINTERS])
    context = [u32(f"context[{n}]") for n in range(CONTEXT_WORDS)]
    attr, general = u32("attr"), u32("event attributes")
    set_params = {name: u32(f"params.{name}") for name in policy.params}
    once, kept = policy.decided is not None, [name for name in KEPT_COUNTERS if name in policy.counters]
    count_names = (*COUNTS, *COUNTS_ONCE) if once else COUNTS
    counts = [u32(f"counters.{name}") for name in count_names]
    event.add("context", context, written=True)
    event.add("attr", [attr], written=False)
    event.add("results", [u32(f"results before.{name}") for name in RESULT_NAMES], written=True)
    if tuned:
        event.add("tuned", list(set_params.values()), written=False)
    if counted:
        event.add("counters", counts, written=True)

    # The event, and the flow's context: the policy's words, the rate in force, the owner, and the counters.
    ours, kind, port = (attr & 15).equals(SLOT), general & 255, (general >> 16) & 255
    is_cnp, is_tx, is_nack, is_rtt = (ours & kind.equals(each) for each in (CNP, TX, NACK, RTT))
    said = u32("ack_nack_cnp_extra") & 0xFFFF
    coalesced = said.where(said.above(1), one)
    before = named_context(policy, [RATE, *(["owner"] if once else []), *kept], context)
    is_new = ours & before["rate_q20"].equals(0)
    # Nobody tells the owner of a TX event (0): in a context that has one, the event is foreign.
    foreign = is_tx & ~before["owner"].equals(0) if once else number(0)
    added = {"cnp_count": coalesced.where(is_cnp), "nack_count": coalesced.where(is_nack)}
    added["sent_bytes"] = ((u32("roce_tx_cntrs") & 0xFFFF) * 32).where(is_tx & ~foreign)

    # An RTT event is decided on, with what the context has counted and the parameters in force.
    params = set_params if tuned else {name: number(policy.defaults[name]) for name in policy.params}
    asked = {name: number(0) for name in policy.event} | {name: before[name] for name in kept}
    asked |= {"request_sent_ns": u32("rtt_req_send_timestamp"), "response_ns": u32("timestamp")}
    answer = decided(policy, event, is_rtt, context[: policy.flow_words], asked, params)
    is_late = is_rtt & ~answer.flow[policy.decided or 0].equals(asked["response_ns"]) if once else number(0)
    is_decision = is_rtt & ~is_late

    # Afterwards: a decision takes what was counted.
    after = carried(before, answer, is_rtt, is_new, params)
    after |= {name: number(0).where(is_decision, before[name] + added[name]) for name in kept}
    results = dict(zip(RESULT_NAMES, (after["rate_q20"], one, number(0)), strict=True))

    # Another slot's event goes to the device's own algorithm, which may write the context and the results.
    own = {name: u32(f"internal.{name}") for name in (*before, *RESULT_NAMES)}
    event.leave("context", {name: after[name].where(ours, own[name]) for name in before})
    event.leave("results", {name: results[name].where(ours, own[name]) for name in RESULT_NAMES})
    if counted:
        more = (is_decision, coalesced.where(is_cnp), coalesced.where(is_nack), is_new, is_late, foreign)
        sums = {name: count + by for name, count, by in zip(count_names, counts, more, strict=False)}
        event.leave("counters", sums)
    event.hand({"internal calls": one.where(~ours)})
    for name in ("params", "counters"):
        due = {"calls": one.where(ours), "port": port.where(ours), "slot": number(SLOT)}
        event.hand({f"get {name} {key}": value for key, value in due.items()})
    event.models |= _getters(unknowns)
    pointers = {name: unknowns.words.pointer(name) for name in ("tuned", "counters")}
    null = unknowns.words.number(0)
    event.models["doca_pcc_dev_get_algo_params"] = _array("params", pointers["tuned"] if tuned else null)
    event.models["doca_pcc_dev_get_counters"] = _array("counters", pointers["counters"] if counted else null)
    event.models["doca_pcc_dev_default_internal_algo"] = _internal([own[name] for name in before], own)
    return event


def _getters(unknowns: Unknowns) -> dict[str, Model]:
    """The device's functions of an event. Each gives one value for one event."""

    def told(value: str, is_structure: bool) -> Model:
        def model(call: ExternalCall) -> MachineWord:
            call.points_to(0, "event")
            return unknowns.structure(value) if is_structure else unknowns.returned(value)

        return model

    structures = {"ev_attr": "event attributes"} | {name: name for name in ("roce_tx_cntrs", "ack_nack_cnp_extra")}
    numbers = {name: name for name in ("timestamp", "rtt_req_send_timestamp")}
    found = {f"doca_pcc_dev_get_{name}": told(value, True) for name, value in structures.items()}
    return found | {f"doca_pcc_dev_get_{name}": told(value, False) for name, value in numbers.items()}


def _array(name: str, result: MachineWord) -> Model:
    """The parameters or counters of a port and slot."""

    def model(call: ExternalCall) -> MachineWord:
        call.count(f"get {name} calls")
        call.record(f"get {name} port", call.argument(0))
        call.record(f"get {name} slot", call.argument(1))
        return result

    return model


def _internal(context: Sequence[Unsigned], own: dict[str, Unsigned]) -> Model:
    """The device's own algorithm: it gets the adapter's arguments."""

    def model(call: ExternalCall) -> None:
        call.count("internal calls")
        for n, name in enumerate(POINTERS):
            call.points_to(n, name)
        for n, word in enumerate(context):
            call.write(0, 4 * n, word.word)
        for n, name in enumerate(RESULT_NAMES):
            call.write(3, 4 * n, own[name].word)

    return model


SDK = ("doca_pcc_dev.h", "doca_pcc_dev_algo_access.h", "doca_pcc_dev_event.h")
"""Headers of the device's SDK, which the C names and a build without the SDK passes over."""
DOCA_PCC = ProvedDevice("doca-pcc", "rlcc_doca_pcc.c", transitions, frozenset(("stddef.h", *SDK)))
