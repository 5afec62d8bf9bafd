"""NSCC as an integer program: equal to exact rationals for any input, bounded, never stuck."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.nscc.compare import run_program
from bench.nscc.exact import ExactFlow, Numbers, WindowEvent, decide
from decision.artefact.errors import InputError
from decision.ir.interface import STORAGE_RANGE
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


def unbounded(program: Program) -> list[int]:
    """Values that a window may take without being brought below the largest and then above the smallest."""
    nodes, todo, found = program.nodes, list(program.results), []
    while todo:
        node = nodes[number := todo.pop()]
        if node.op is Op.SELECT:
            todo += node.args[1:]
            continue
        held, smallest = (nodes[a] for a in node.args[:2]) if node.op is Op.MAX else (node, node)
        within = held.op is Op.MIN and nodes[held.args[0]].name == "largest_bytes"
        if not within or smallest.name != "smallest_bytes":
            found.append(number)
    return found


def test_every_value_that_a_window_may_take_is_bounded() -> None:
    """For every bit pattern: whatever a choice chooses, its last two steps are the bounds."""
    assert unbounded(PROGRAM) == []
    by_name = {node.name: node for node in PROGRAM.nodes}
    for name, param in (("largest_bytes", "window_max_bytes"), ("smallest_bytes", "mtu_bytes")):
        source, limit = (PROGRAM.nodes[a] for a in by_name[name].args)
        assert PROGRAM.key(source) == f"params.{param}"
        assert limit.imm >= next(s.settable[1] for s in PROGRAM.interface.params if s.name == param and s.settable)


@pytest.mark.parametrize("name", ["window_grown", "window_shrunk", "window_adapted", "window_before"])
def test_a_value_without_its_bounds_is_noticed(name: str) -> None:
    number = next(n for n, node in enumerate(PROGRAM.nodes) if node.name == name)
    held = PROGRAM.nodes[PROGRAM.nodes[number].args[0]]
    bare = replace(PROGRAM.nodes[number], op=Op.MAX, args=(held.args[1], PROGRAM.nodes[number].args[1]))
    mutant = replace(PROGRAM, nodes=(*PROGRAM.nodes[:number], bare, *PROGRAM.nodes[number + 1 :]))
    assert unbounded(mutant) == [number]


@settings(max_examples=10, deadline=None)
@given(CONTEXTS, WORDS)
def test_no_flow_is_stuck(context: dict[str, int], start: int) -> None:
    """Whatever the context and the clock held, a path without delay and marks fills the window in some base RTTs."""
    flow, numbers = ExactFlow.of(context), Numbers.of(PARAMS)
    for number in range(900):
        now = (start + number * 1_500) % 2**32
        flow = decide(flow, WindowEvent(now, rtt=12_000, acked=4096, in_flight=0), numbers)
    assert flow.window == PARAMS["window_max_bytes"]


BAD = {
    "an RTT of 0": {"rtt": 0},
    "more acknowledged than was ever sent": {"acked": 2**32 - 1},
    "an RTT below the base": {"rtt": 1},
    "everything lost": {"lost": (2**32 - 1,) * 4},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("back", [0, 1, 10**6, 2**31, 2**32 - 1], ids=lambda b: f"back{b}")
def test_bad_input_once_is_a_step_and_no_more(bad: dict[str, Any], back: int) -> None:
    """Also where the clock goes back: within a hundred base RTTs the flow is where it was without it."""
    numbers, flow = Numbers.of(PARAMS), ExactFlow()
    for number in range(700):
        now = 10**7 + number * 1_500 - (back if number > 200 else 0)
        event = WindowEvent(now % 2**32, rtt=16_000, acked=4096, in_flight=8192)
        flow = decide(flow, replace(event, **bad) if number == 201 else event, numbers)
        assert PARAMS["mtu_bytes"] <= flow.window <= PARAMS["window_max_bytes"]
    assert flow.window == PARAMS["window_max_bytes"]


def test_an_untimed_acknowledgement_counts_as_one_at_the_target() -> None:
    numbers = Numbers.of(PARAMS)
    flow = decide(ExactFlow(), WindowEvent(10**6, rtt=20_000, acked=4096), numbers)
    event = WindowEvent(10**6 + 500, acked=4096)
    assert decide(flow, event, numbers) == decide(flow, replace(event, rtt=24_000), numbers)


@pytest.mark.parametrize(
    ("network", "steps", "word"),
    [
        (NsccPath(4096, 10**13, 10_000_000), NsccSteps(), "window_max_bytes"),
        (NsccPath(4096, 10**9, 12_000), NsccSteps(), "largest window"),
        (NsccPath(4096, 10**11, 2**24), NsccSteps(window_max=0.1), "path_rtt_ns"),
        (NsccPath(4096, 10**11, 12_000), NsccSteps(fair_step=1000), "fair_bytes"),
        (NsccPath(4096, 10**11, 12_000), NsccSteps(target=2000), "target_delay_ns"),
    ],
)
def test_settings_that_the_program_does_not_hold_are_refused(network: NsccPath, steps: NsccSteps, word: str) -> None:
    with pytest.raises(InputError, match=word):
        nscc_params(network, steps)


def test_the_context_holds_what_its_types_hold() -> None:
    for field in PROGRAM.state:
        node = PROGRAM.nodes[field.node]
        assert node.high <= STORAGE_RANGE[field.storage][1]
