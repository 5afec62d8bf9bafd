"""NSCC as an integer program: equal to exact rationals for any input, bounded, never stuck."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.nscc.compare import run_program
from bench.nscc.exact import ExactFlow, Numbers, WindowEvent, decide
from decision.artefact.errors import InputError
from decision.ir.interface import STORAGE_RANGE
from decision.ir.interfaces.flow_window import MAX_WINDOW_BYTES
from decision.ir.program import Op, Program
from decision.policy.nscc import NsccPath, NsccSteps, nscc_params, nscc_program

PROGRAM = nscc_program()
PARAMS = nscc_params(NsccPath(4096, 100 * 10**9, 12_000), NsccSteps())
EDGES = [0, 1, 2, 1000, 1023, 4095, 4096, 12_000, 24_001, 225_000, 2**20, 2**24 - 1, 2**26 - 1, 2**26, 2**27, 2**31 - 1,
         2**31, 2**32 - 2, 2**32 - 1]  # fmt: skip
WORDS = st.one_of(st.sampled_from(EDGES), st.integers(0, 2**32 - 1), st.integers(0, 2**18))
EVENTS = st.builds(WindowEvent, WORDS, WORDS, WORDS, WORDS, st.tuples(WORDS, WORDS, WORDS, WORDS), WORDS)
CONTEXTS = st.fixed_dictionaries({s.name: WORDS for s in PROGRAM.state})
SETTINGS = st.fixed_dictionaries(
    {s.name: st.one_of(st.sampled_from(s.settable), st.integers(*s.settable)) for s in PROGRAM.interface.params}
)


def decided(program: Program, event: WindowEvent, context: dict[str, int], params: dict[str, int]) -> dict[str, int]:
    (after,) = run_program(program, [event], [context], params)
    return after


@settings(max_examples=300, deadline=None)
@given(EVENTS, CONTEXTS, SETTINGS)
def test_it_is_the_exact_reference_for_any_event_context_and_setting(
    event: WindowEvent, context: dict[str, int], params: dict[str, int]
) -> None:
    flow = decide(ExactFlow.of(context), event, Numbers.of(params))
    assert decided(PROGRAM, event, context, params) == flow.context()


@settings(max_examples=200, deadline=None)
@given(EVENTS, CONTEXTS, SETTINGS)
def test_the_window_stays_within_a_packet_and_the_largest(
    event: WindowEvent, context: dict[str, int], params: dict[str, int]
) -> None:
    params |= {"window_max_bytes": max(params["window_max_bytes"], params["mtu_bytes"])}
    window = decided(PROGRAM, event, context, params)["window_bytes"]
    assert params["mtu_bytes"] <= window <= params["window_max_bytes"]


def unbounded(program: Program, number: int) -> set[int]:
    """Values that the window ``number`` may take without a bound: the last steps of each bring it below the largest and
    then above the smallest. A bounded window that grew needs the largest alone."""
    nodes, node = program.nodes, program.nodes[number]
    if node.op is Op.SELECT:
        return unbounded(program, node.args[1]) | unbounded(program, node.args[2])
    if node.op is Op.ADD:
        return {number} if all(unbounded(program, part) for part in node.args) else set()
    raised = node.op is Op.MAX and nodes[node.args[1]].name == "smallest_bytes"
    held = nodes[node.args[0]] if raised else node
    if held.op is not Op.MIN or nodes[held.args[0]].name != "largest_bytes":
        return {number}
    grown = held.args[1]
    return set() if raised else unbounded(program, grown) if nodes[grown].op is Op.ADD else {number}


def test_every_value_that_a_window_may_take_is_bounded() -> None:
    """For every bit pattern, whatever a choice chooses."""
    assert unbounded(PROGRAM, PROGRAM.result) == set()
    nodes = {node.name: node for node in PROGRAM.nodes}
    largest, floor = (PROGRAM.nodes[a] for a in nodes["largest_bytes"].args)
    assert (nodes["largest_bytes"].op, floor) == (Op.MAX, nodes["smallest_bytes"])
    for held, param in ((largest, "window_max_bytes"), (nodes["smallest_bytes"], "mtu_bytes")):
        source, limit = (PROGRAM.nodes[a] for a in held.args)
        assert PROGRAM.key(source) == f"params.{param}"
        assert limit.imm >= next(s.settable[1] for s in PROGRAM.interface.params if s.name == param and s.settable)


@pytest.mark.parametrize("name", ["window_cut", "window_shrunk", "window_adapted", "window_before"])
def test_a_value_without_its_bounds_is_noticed(name: str) -> None:
    number = next(n for n, node in enumerate(PROGRAM.nodes) if node.name == name)
    held = PROGRAM.nodes[PROGRAM.nodes[number].args[0]]
    bare = replace(PROGRAM.nodes[number], op=Op.MAX, args=(held.args[1], PROGRAM.nodes[number].args[1]))
    mutant = replace(PROGRAM, nodes=(*PROGRAM.nodes[:number], bare, *PROGRAM.nodes[number + 1 :]))
    assert number in unbounded(mutant, mutant.result)


@pytest.mark.parametrize("name", ["window_grown", "window_faster"])
def test_growth_beyond_the_largest_is_noticed(name: str) -> None:
    number = next(n for n, node in enumerate(PROGRAM.nodes) if node.name == name)
    bare = replace(PROGRAM.nodes[number], args=PROGRAM.nodes[number].args[::-1])
    mutant = replace(PROGRAM, nodes=(*PROGRAM.nodes[:number], bare, *PROGRAM.nodes[number + 1 :]))
    assert number in unbounded(mutant, mutant.result)


def test_no_flow_is_stuck() -> None:
    """Whatever context and clock held, a path without delay and marks fills the window in some base RTTs."""
    random = Random(3)

    def word() -> int:
        return random.choice([*EDGES, random.randrange(2**32), random.randrange(2**18)])

    contexts = [{s.name: word() for s in PROGRAM.state} for _ in range(64)]
    starts = [word() for _ in contexts]
    for number in range(500):
        clock = [(start + number * 1_500) % 2**32 for start in starts]
        events = [WindowEvent(now, rtt=12_000, acked=4096) for now in clock]
        contexts = run_program(PROGRAM, events, contexts, PARAMS)
    assert {context["window_bytes"] for context in contexts} == {PARAMS["window_max_bytes"]}


BAD: dict[str, dict[str, Any]] = {
    "none": {},
    "an RTT of 0": {"rtt": 0},
    "more acknowledged than was ever sent": {"acked": 2**32 - 1},
    "an RTT below the base": {"rtt": 1},
    "everything lost": {"lost": (2**32 - 1,) * 4},
    "everything in flight": {"lost": (4096,), "in_flight": 2**32 - 1},
}
BACK = (0, 1, 10**6, 2**31, 2**32 - 1)
BAD_AT, EVENTS_SHARED = 47, 500
SHARE = 60_000
"""Bytes in flight that a 40 Gb/s share of the path holds; what is beyond them waits."""
MID_RANGE = {"window_bytes": 112_000, "mean_q8": 10_000 << 8}
"""A flow that looks at every fifteenth event: three packets arrive between a look and the bad event."""


def shared_path(program: Program) -> list[list[dict[str, int]]]:
    """Returns, by event, the contexts of a flow for every kind of bad input and every step back of the clock.

    Each flow meets the queue of its own window, 5 bytes a ns, marked from 10 us on. Event ``BAD_AT`` is bad, and the
    clock goes back there.
    """
    kinds = [(bad, back) for bad in BAD.values() for back in BACK]
    contexts, found = [{s.name: 0 for s in program.state} | MID_RANGE for _ in kinds], []
    for number in range(EVENTS_SHARED):
        events = []
        for (bad, back), context in zip(kinds, contexts, strict=True):
            delay = max(context["window_bytes"] - SHARE, 0) // 5
            now = (10**7 + number * 1_640 - (back if number >= BAD_AT else 0)) % 2**32
            event = WindowEvent(now, 12_000 + delay, 8192, 8192 if delay > 10_000 else 0, in_flight=8192)
            events.append(replace(event, **bad) if number == BAD_AT else event)
        contexts = run_program(program, events, contexts, PARAMS)
        found.append(contexts)
    return found


def strayed(found: list[list[dict[str, int]]]) -> set[str]:
    """Bad inputs whose window is more than a packet from that without any, in the last fifty events."""
    return {
        name
        for contexts in found[-50:]
        for name, context in zip([name for name in BAD for _ in BACK], contexts, strict=True)
        if abs(context["window_bytes"] - contexts[0]["window_bytes"]) > PARAMS["mtu_bytes"]
    }


def test_bad_input_once_is_a_step_and_no_more() -> None:
    """Also where the clock goes back: the flow comes back to the window without bad input, in mid-range."""
    found = shared_path(PROGRAM)
    plain, *others = found[BAD_AT][:: len(BACK)]
    assert all(other != plain for other in others)
    assert all(PARAMS["mtu_bytes"] < contexts[0]["window_bytes"] < PARAMS["window_max_bytes"] for contexts in found)
    assert strayed(found) == set()


def test_a_flow_that_ignores_marks_for_4_gb_strays() -> None:
    """A mutant: the program without the largest window as a bound of what is ignored."""
    number = next(n for n, node in enumerate(PROGRAM.nodes) if node.name == "ignored_before")
    node = PROGRAM.nodes[number]
    bound = PROGRAM.nodes[node.args[0]]
    assert PROGRAM.nodes[bound.args[1]].imm == MAX_WINDOW_BYTES
    bare = replace(node, args=(bound.args[1], node.args[1]))
    mutant = replace(PROGRAM, nodes=(*PROGRAM.nodes[:number], bare, *PROGRAM.nodes[number + 1 :]))
    assert strayed(shared_path(mutant)) == {"everything in flight"}


def test_an_untimed_acknowledgement_counts_as_one_at_the_target() -> None:
    numbers = Numbers.of(PARAMS)
    flow = decide(ExactFlow(), WindowEvent(10**6, rtt=20_000, acked=4096), numbers)
    event = WindowEvent(10**6 + 500, acked=4096)
    assert decide(flow, event, numbers) == decide(flow, replace(event, rtt=24_000), numbers)


def test_a_loss_that_was_not_timed_counts_as_a_base_rtt_of_delay() -> None:
    params = nscc_params(NsccPath(4096, 100 * 10**9, 12_000), NsccSteps(target=2.0))
    new = {s.name: 0 for s in PROGRAM.state}
    untimed, timed, late = run_program(
        PROGRAM, [WindowEvent(10**6, rtt, lost=(4096,)) for rtt in (0, 24_000, 30_000)], [new] * 3, params
    )
    assert untimed == timed
    assert untimed["mean_q8"] == 12_000 * 2**8 * 53_687_091 // 2**32  # a gain of 1/80
    assert late["mean_q8"] == 18_000 * 2**8 * 53_687_091 // 2**32


def test_no_more_than_the_largest_window_is_ignored() -> None:
    """Quick adapt with 4 GB in flight: marks count again once a largest window came back."""
    context = {s.name: 0 for s in PROGRAM.state} | {
        "window_bytes": 100_000,
        "mean_q8": 30_000 << 8,
        "arrived": 20_480,
    }
    now = 10**6
    context = decided(PROGRAM, WindowEvent(now, lost=(4096,), in_flight=2**32 - 1), context, PARAMS)
    assert context["looked_ns"] == now
    windows = []
    for _ in range(PARAMS["window_max_bytes"] // 4096 + 1):  # 55 packets
        now += 500
        context = decided(PROGRAM, WindowEvent(now, 40_000, 4096, 4096), context, PARAMS)
        windows.append(context["window_bytes"])
    assert windows[:-1] == [20_480] * 54
    assert windows[-1] < 20_480


def test_a_setting_is_scaled_by_the_path_s_bdp() -> None:
    """BDP 25 Gb/s x 8 us = 25,000 B, a sixth of 150 KB: steps are in packets of 200 B."""
    steps = NsccSteps(target=1.25, window_max=2.0)
    assert nscc_params(NsccPath(1200, 25 * 10**9, 8_000), steps) == {
        "mtu_bytes": 1_200,
        "window_max_bytes": 50_000,
        "path_rtt_ns": 8_000,
        "target_delay_ns": 10_000,
        "fair_bytes": 1_000,  # 5 x 200
        "room_gain_q24": 1_118_481,  # 800 B / 12,000 ns x 2^24
        "steady_bytes": 30,  # 0.15 x 200
        "fast_share_q24": 699_051,  # 2^24 / 24
        "adjust_bytes": 9_600,
        "quick_delay_ns": 40_000,
        "quick_gate_bytes": 6_250,
    }


def test_the_largest_proportional_step_is_the_program_s() -> None:
    """4 packets x BDP / 150 KB x RTT / 12 us: it comes to 2^20 B an RTT at 100 Gb/s and 96 us."""
    params = nscc_params(NsccPath(4096, 10**11, 95_900), NsccSteps())
    step = params["room_gain_q24"] * params["target_delay_ns"] >> 24
    assert step == 4 * 4096 * 95_900**2 // 12_000**2
    new = {s.name: 0 for s in PROGRAM.state} | {"window_bytes": 1_000_000, "adjusted_ns": 10**6}
    event = WindowEvent(10**6, params["path_rtt_ns"], 4096)
    assert decided(PROGRAM, event, new, params)["pending"] == step * 4096 // 2**11
    with pytest.raises(InputError, match="proportional_step"):
        nscc_params(NsccPath(4096, 10**11, 96_100), NsccSteps())


@pytest.mark.parametrize(
    ("network", "steps", "word"),
    [
        (NsccPath(4096, 10**13, 10_000_000), NsccSteps(), "window_max_bytes"),
        (NsccPath(4096, 10**9, 12_000), NsccSteps(), "largest window"),
        (NsccPath(4096, 10**11, 2**24), NsccSteps(window_max=0.1), "path_rtt_ns"),
        (NsccPath(4096, 10**11, 12_000), NsccSteps(fair_step=1000), "fair_bytes"),
        (NsccPath(4096, 10**11, 12_000), NsccSteps(target=2000), "target_delay_ns"),
        (NsccPath(4096, 10**11, 300_000), NsccSteps(), "proportional_step"),
        (NsccPath(4096, 10**11, 12_000), NsccSteps(steady_step=1e-5), "steady_bytes"),
        (NsccPath(4096, 10**11, 12_000), NsccSteps(fast_share=1e-9), "fast_share_q24"),
        (NsccPath(255, 10**11, 12_000), NsccSteps(), "mtu"),
    ],
)
def test_settings_that_the_program_does_not_hold_are_refused(network: NsccPath, steps: NsccSteps, word: str) -> None:
    with pytest.raises(InputError, match=word):
        nscc_params(network, steps)


def test_the_context_holds_what_its_types_hold() -> None:
    for field in PROGRAM.state:
        node = PROGRAM.nodes[field.node]
        assert node.high <= STORAGE_RANGE[field.storage][1]
