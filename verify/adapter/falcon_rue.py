"""Falcon's rate update engine: one event of either generation, as the specification of its lines says it.

Arithmetic is that of 64 bits. Nothing exceeds it if the parameters are in their ranges. Sources of what the fields
mean: OCP Falcon specification, revision 0.9, 10.3 to 10.6, and falcon-transport/isekai v1.1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verify.adapter.falcon_lines import ACK, FABRIC, FORWARD, NACK, RETRANSMISSION, REVERSE, TIME, fields
from verify.adapter.policy import PolicyFacts, named_context
from verify.adapter.transition import RATE, ProvedDevice, Transition, decided, first_rate, flow_after
from verify.adapter.values import Unknowns, Unsigned

LINE_WORDS, MEMORY_WORDS = 8, 16
"""64-bit words of an event and a response, 32-bit words of a connection's memory."""
UNIT_PS, TICK_PS = 131_072, 512_000
"""A unit of time, and a tick of the traffic shaper."""
NO_RESOURCES = 1
"""Code of a NACK for want of room at the receiver."""
LINE_RATE_Q20, LONGEST_RTT, PACKET_Q10, PACKET_Q36 = 1 << 20, (1 << 20) - 1, 1 << 10, 1 << 36
ALPHA, ALPHA_RETRANSMISSION, ASK_ALWAYS, ASK_SELDOM, ASK_WINDOW_Q10 = 6, 7, 0, 4, 8704
"""Generation 2 asks for these besides: isolation, and ACKs with every packet or with one of 8.5."""
TUNED, SIZED = ("line_q16", "window_most_q10", "nic_window", "gap_most", "retransmit_least"), "packet_bytes"
"""Parameters of the operator behind the policy's; the second where bytes are counted or capped."""
CAP = "in_flight_bytes"
PASSED_ON = "connection_id cc_metadata event_queue_select delay_select nic_window_time_marker base_delay cc_opaque"
PASSED_ON_BY = {1: "nic_window_direction", 2: "plb_state csig_enable"}
"""Fields of the event that the response repeats: in both generations, and in one."""


@dataclass(frozen=True)
class _Sample:
    """An event's delays of its connection. ``is_sample``: an ACK or NACK; ``passed``: units of time since the
    last decision."""

    is_sample: Unsigned
    rtt: Unsigned
    delay: Unsigned
    passed: Unsigned


def transitions(policy: PolicyFacts) -> Sequence[Transition]:
    return [_transition(policy, generation) for generation in (1, 2)]


def _transition(policy: PolicyFacts, generation: int) -> Transition:
    unknowns = Unknowns()
    u32, number, pointer = unknowns.u32, unknowns.number, unknowns.words.pointer
    now = u32("now")
    arguments = [*map(pointer, ("event", "response", "memory", "params")), unknowns.returned("now")]
    event = Transition(f"rlcc_rue_gen{generation}", unknowns, arguments)
    line = [unknowns.u64(f"event[{n}]") for n in range(LINE_WORDS)]
    memory = [u32(f"memory[{n}]") for n in range(MEMORY_WORDS)]
    counts_bytes = bool({"sent_bytes", "acked_bytes"} & set(policy.counters))
    own = (*TUNED, *([SIZED] if CAP in policy.action or counts_bytes else []))
    params = {name: u32(f"params.{name}") for name in (*policy.params, *own)}
    event.add("event", line, written=False, alignment=8)
    event.add("response", [unknowns.u64(f"response before[{n}]") for n in range(LINE_WORDS)], written=True, alignment=8)
    event.add("memory", memory, written=True, alignment=8)
    event.add("params", list(params.values()), written=False)

    # The event's fields, and the connection's memory: the policy's words, the rate in force, its cap, the counters.
    told = {name: _field(line, first, bits) for name, first, bits in fields(f"Event_Gen{generation}")}
    before = named_context(policy, [RATE, *policy.action[1:], *policy.counters], memory)
    sample = _sample(event, told, now)
    kind = told["event_type"]
    is_loss = kind.equals(RETRANSMISSION) | (kind.equals(NACK) & told["nack_code"].equals(NO_RESOURCES))
    counted = {name: before[name] for name in policy.counters}
    if "nack_count" in counted:
        counted["nack_count"] += is_loss
    for name in {"sent_bytes", "acked_bytes"} & counted.keys():
        counted[name] += (told["num_packets_acked"] * params[SIZED]).where(sample.is_sample)

    # A packet that left after the last decision is decided on. The policy's clock goes on by the time since then.
    decides = sample.is_sample & (before[RATE].equals(0) | ~sample.rtt.above(sample.passed))
    asked = {name: number(0) for name in policy.event} | counted | _times(event, policy, before, sample)
    answer = decided(policy, event, decides, memory[: policy.flow_words], asked, params)
    clears = decides
    if policy.decided is not None:
        clears = decides & answer.flow[policy.decided].equals(asked["response_ns"])

    # Afterwards: without a rate so far, that of a new connection.
    rate = answer.knobs[RATE].where(decides, before[RATE])
    is_new = rate.equals(0)
    after = before | flow_after(before, answer, decides) | {RATE: event.step(first_rate(params).where(is_new, rate))}
    after |= {name: number(0).where(clears, count) for name, count in counted.items()}
    if CAP in policy.action:
        cap = answer.knobs[CAP].where(decides, before[CAP])
        after[CAP] = event.step(_first_cap(event, params, policy.first_window).where(is_new, cap))
    event.leave("memory", after)

    young = ~sample.passed.above(told["rtt_state"])
    kept = told["fabric_window_time_marker"].where(young | sample.is_sample, (now - told["rtt_state"]) & TIME)
    response = _paced(event, after, params, event.step(sample.rtt.where(sample.is_sample, told["rtt_state"])))
    response["fabric_window_time_marker"] = (now & TIME).where(decides, kept)
    response["delay_state"] = sample.delay.where(sample.is_sample, told["delay_state"])
    response |= {name: told[name] for name in f"{PASSED_ON} {PASSED_ON_BY[generation]}".split()}
    response["nic_congestion_window"] = params["nic_window"]
    if generation == 2:
        response |= _of_generation_2(event, told, response)
    due = {
        name: (first, bits, response[name] & ((1 << bits) - 1) if name in response else number(0))
        for name, first, bits in fields(f"Response_Gen{generation}")
    }
    assert response.keys() <= due.keys()
    event.leave_fields("response", due)
    return event


def _field(line: Sequence[Unsigned], first: int, bits: int) -> Unsigned:
    """Returns a field of a line; of one of more than 32 bits, its low ones."""
    word, shift = divmod(first, 64)
    found = line[word] >> shift
    if shift + bits > 64:
        found = found | line[word + 1] << (64 - shift)
    return (found & ((1 << min(bits, 32)) - 1)).of_bits(32)


def _sample(event: Transition, told: Mapping[str, Unsigned], now: Unsigned) -> _Sample:
    """Returns what the timestamps say. A receiver holds no packet longer than the round trip."""
    t1, t2, t3, t4 = (told[f"timestamp_{n}"] for n in (1, 2, 3, 4))
    select = told["delay_select"]
    rtt, held = event.step((t4 - t1) & TIME), (t3 - t2) & TIME
    delay = (rtt - held).where(rtt.above(held)).where(select.equals(FABRIC), rtt)
    delay = ((t2 - t1) & TIME).where(select.equals(FORWARD), delay)
    delay = ((t4 - t3) & TIME).where(select.equals(REVERSE), delay)
    is_sample = told["event_type"].equals(ACK) | told["event_type"].equals(NACK)
    passed = event.step((now - told["fabric_window_time_marker"]) & TIME)
    return _Sample(is_sample, rtt, event.step(delay), passed)


def _times(
    event: Transition, policy: PolicyFacts, before: Mapping[str, Unsigned], sample: _Sample
) -> dict[str, Unsigned]:
    """Returns the timestamps of a decision, in ns. A policy that remembers when it decided gets that time and what has
    passed since; another gets the delay as the time of a response to a request at 0."""
    delay_ns = _ns(event, sample.delay)
    if policy.decided is None:
        return {"request_sent_ns": event.unknowns.number(0), "response_ns": delay_ns}
    now_ns = before[f"flow[{policy.decided}]"] + _ns(event, sample.passed)
    return {"request_sent_ns": now_ns - delay_ns, "response_ns": now_ns}


def _ns(event: Transition, units: Unsigned) -> Unsigned:
    return event.step(units.of_bits(64) * UNIT_PS // 1000).of_bits(32)


def _first_cap(event: Transition, params: Mapping[str, Unsigned], first_window: int | None) -> Unsigned:
    """Returns what a new connection may have in flight: its share of the path, by its rate, or its first window."""
    rate = event.step(params["rate_initial_q30"].at_most((1 << 30) - 1)).of_bits(64)
    share = event.step(rate * params["in_flight_line_q2"]) >> 32
    first = share.of_bits(32) if first_window is None else share.of_bits(32).at_most(first_window)
    return first.at_least(params["in_flight_min_bytes"])


def _paced(
    event: Transition, after: Mapping[str, Unsigned], params: Mapping[str, Unsigned], rtt: Unsigned
) -> dict[str, Unsigned]:
    """Returns window, gap and timeout of a rate at an RTT: the packets that it sends in an RTT; for less than one, one,
    and the time that is left between packets."""
    wide = {name: value.of_bits(64) for name, value in params.items()}
    rate = event.step(after[RATE].at_most(LINE_RATE_Q20)).of_bits(64)
    packets_a_unit = event.step((rate * wide["line_q16"]).at_least(1))
    in_flight = event.step(packets_a_unit * event.step(rtt.at_most(LONGEST_RTT)))
    window, is_less = in_flight >> 26, ~(in_flight >> 26).above(PACKET_Q10 - 1)
    scale = event.step(packets_a_unit * TICK_PS)
    left = event.step((event.unknowns.number(PACKET_Q36, 64) - in_flight) * UNIT_PS + (scale >> 1))
    gap = event.step((left // scale).at_most(wide["gap_most"]).where(is_less))
    most = wide["window_most_q10"]
    if CAP in after:
        capped = event.step(event.step(after[CAP].of_bits(64) * PACKET_Q10) // wide[SIZED])
        most = capped.at_least(PACKET_Q10).where(most.above(capped), most)
    timeout = rtt.of_bits(64) * 2 + (gap * TICK_PS >> 17)
    return {
        "fabric_congestion_window": window.at_least(1).where(is_less, window.at_most(most)).of_bits(32),
        "inter_packet_gap": gap.of_bits(32),
        "retransmit_timeout": timeout.at_most(TIME).at_least(wide["retransmit_least"]).of_bits(32),
        "rtt_state": rtt,
    }


def _of_generation_2(
    event: Transition, told: Mapping[str, Unsigned], response: Mapping[str, Unsigned]
) -> dict[str, Unsigned]:
    """Returns what the second generation asks for besides: its paths stay as they are, each with the same weight."""
    number, paths = event.unknowns.number, told["multipath_enable"]
    alpha = number(ALPHA_RETRANSMISSION).where(told["event_type"].equals(RETRANSMISSION), ALPHA)
    ask = number(ASK_SELDOM).where(response["fabric_congestion_window"].above(ASK_WINDOW_Q10 - 1), ASK_ALWAYS)
    return {
        "nic_congestion_window": response["nic_congestion_window"] << 10,
        "alpha_request": alpha,
        "alpha_response": alpha,
        "ar_rate": ask,
        "flow_id": told["flow_label"].where(paths),
        **{f"flow_label_{n}_weight": paths for n in (1, 2, 3, 4)},
    }


FALCON_RUE = ProvedDevice("falcon-rue", "rlcc_falcon_rue.c", transitions)
