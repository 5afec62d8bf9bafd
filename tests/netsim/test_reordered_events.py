"""Events that come late, so that others of their context overtake them. Time stamps stay, and a policy that decides
once a round trip decides on no event that was overtaken."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student

from decision.artefact.errors import InputError
from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import RTT_BITS
from decision.ir.program import Op, ProgramBuilder
from decision.policy import tree_decision
from decision.policy.once_per_rtt import DECIDED, late_answer
from netsim import Network, Simulation
from netsim.network import MS, US
from netsim.policies import NativePolicy, ProgramPolicy, interpreted
from netsim.scenarios import Flow, Scenario

ALONE = Scenario("alone", 1, 1, (Flow(0, 0),))
SIXTEEN = Network(context_flows=16)
REORDERING = replace(SIXTEEN, event_reorder=0.2, event_reorder_by_ps=20 * US)
Records = dict[str, np.ndarray]


def records(policy: object, network: Network, scenario: Scenario | str = "many-to-one:4x16", ms: int = 40) -> Records:
    simulation = Simulation(scenario, policy, seed=1, network=network, duration_ps=ms * MS, record=True)
    simulation.run(ms * MS)
    return simulation.drain_records()


def test_a_share_of_the_events_is_late_and_no_time_stamp_moves(constant: Callable[..., NativePolicy]) -> None:
    plain, late = (
        records(constant("1 %"), Network(start_jitter_ps=0, **more), ALONE, 20)
        for more in ({}, {"event_reorder": 0.25, "event_reorder_by_ps": 20 * US})
    )
    rtts = [one["response_ns"] - one["request_sent_ns"] for one in (plain, late)]
    assert max(rtt.max() for rtt in rtts) - min(rtt.min() for rtt in rtts) <= 90

    def delays(of: Records) -> np.ndarray:
        behind = (of["t_ps"] // 1000).astype(np.int64) - of["response_ns"]
        return (behind - behind.min()) % 2**32

    assert delays(plain).max() <= 1
    count = len(late["t_ps"])
    delayed = delays(late)[delays(late) > 1]
    assert len(delayed) / count == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / count))
    assert 10_000 < delayed.max() <= 20_001
    assert delayed.mean() == pytest.approx(10_000, rel=0.2)


def deciding(once: bool) -> ProgramPolicy:
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (oblivious(((0, 1 << 18),), (3000, -3000)),))
    return interpreted(student.with_parts(once_per_rtt=once))


def overtaken(of: Records) -> int:
    """Returns the decisions whose response had come before that of a decision made earlier in the same context."""
    count = 0
    for context in np.unique(of["flow"]):
        steps = np.diff(of["response_ns"][of["flow"] == context].astype(np.int64)) % 2**32
        count += int((steps >= 2**31).sum())
    return count


def test_only_reordering_lets_events_overtake() -> None:
    assert overtaken(records(deciding(once=False), SIXTEEN)) == 0
    assert overtaken(records(deciding(once=False), REORDERING)) > 100


def test_a_policy_that_decides_once_a_round_trip_decides_on_no_overtaken_event() -> None:
    found = records(deciding(once=True), REORDERING)
    assert len(found["flow"]) > 100
    assert overtaken(found) == 0


def test_a_rule_that_needs_events_in_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant of the rule, the same to the last bit where events are in order: it asks for a request from before the
    last decision and a response from behind it."""

    def in_order(b: ProgramBuilder) -> int:
        late = late_answer(b)
        since = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.state_in(DECIDED, "uint32")))
        high = b.add(Op.SHR, (since,), RTT_BITS)
        before = b.add(Op.EQ, (high, b.const((1 << (32 - RTT_BITS)) - 1)))
        return b.add(Op.SELECT, (before, b.const(0), late))

    honest = records(deciding(once=True), SIXTEEN)
    monkeypatch.setattr(tree_decision, "late_answer", in_order)
    mutant = deciding(once=True)
    same = records(mutant, SIXTEEN)
    assert all(np.array_equal(honest[name], same[name], equal_nan=honest[name].dtype.kind == "f") for name in honest)
    assert overtaken(records(mutant, REORDERING)) > 10


def test_the_same_seed_gives_the_same_events() -> None:
    one, two = (records(deciding(once=True), REORDERING, ms=4) for _ in range(2))
    assert all(np.array_equal(one[name], two[name], equal_nan=one[name].dtype.kind == "f") for name in one)


@pytest.mark.parametrize("wrong", [{"event_reorder": 1.5}, {"event_reorder": -0.1}, {"event_reorder_by_ps": 10**18}])
def test_what_is_no_share_and_no_delay_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Network(**wrong)
