"""no_rise_above, recovers, yields, fixed_point: known answers, and runs from the witness and from elsewhere.

Slow: the least inflation at which a policy yields.
"""

import re
from typing import Any

import numpy as np
import pytest
from deciders import FALL, RISE, decision, loop, policy, split
from drawing import FEATURES, make_student
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE, LINE_RATE_Q30
from decision.ir.interpret import evaluate
from decision.ir.program import Op, ProgramBuilder
from decision.policy.student import Student
from verify.behaviour.circles import circles
from verify.behaviour.loops import _rises, fixed_point, no_rise_above, recovers, yields
from verify.trusted.properties import FixedPoint, NoRiseAbove, Recovers, Yields

TARGET_SQUARED = round(0.064**2 * 2**20)


def run(student: Student, context: dict[str, int], rtt_ns: int, ends: int) -> int:
    """Decisions until the rate is at ``ends`` or beyond, as the whole program makes them."""
    return run_all(student, [context], rtt_ns, ends)[0]


def run_all(student: Student, contexts: list[dict[str, int]], rtt_ns: int, ends: int) -> list[int]:
    """``run`` of several contexts at once, all on the same side of ``ends``."""
    program, params, rises = student.program(), student.params(), contexts[0]["rate_q30"] < ends
    event = dict.fromkeys(program.interface.event_names, 0) | {"response_ns": rtt_ns}
    now = {f.name: np.asarray([context.get(f.name, 0) for context in contexts]) for f in program.state}
    arrived = np.zeros(len(contexts), dtype=np.int64)
    for decisions in range(1, 5000):
        _, now = evaluate(program, event, params, now)
        there = now["rate_q30"] >= ends if rises else now["rate_q30"] <= ends
        arrived[there & (arrived == 0)] = decisions
        if arrived.all():
            return arrived.tolist()
    raise AssertionError("it does not come there")


def context_of(witness: dict[str, int]) -> dict[str, int]:
    return {name.removeprefix("context."): value for name, value in witness.items()}


def test_a_rate_that_always_rises_is_back_in_as_many_decisions_as_the_program_takes() -> None:
    student = policy(bias=RISE)
    least = run(student, {"rate_q30": 1074}, 8192, LINE_RATE_Q30)
    assert least == 76  # 1.2^76 = 10^6, about
    (finding,) = recovers(loop(student), Recovers())
    assert (finding.verdict, finding.value) == ("found", f"least {least}")
    assert recovers(loop(student), Recovers(decisions=least))[0].verdict == "holds"
    assert recovers(loop(student), Recovers(decisions=least - 1))[0].verdict == "fails"


def test_a_rate_that_does_not_move_is_never_back() -> None:
    (finding,) = recovers(loop(policy(bias=0)), Recovers())
    assert finding.verdict == "fails"
    assert finding.value.startswith("never: it stays")


def test_a_history_that_keeps_a_flow_down_is_the_witness() -> None:
    """It rises unless what it did last was to fall, and then it falls again."""
    student = policy(split(0, -1, FALL, RISE))
    (finding,) = recovers(loop(student), Recovers())
    assert finding.verdict == "fails"
    assert finding.witness["context.action_1"] <= -1


@pytest.mark.slow
def test_yields_at_an_inflation_and_not_below_it() -> None:
    """Falls above an excess of 2: at line rate that is a congestion of 4 * 2^20."""
    student = policy(split(1, 4 * 2**20 // 8192, RISE, FALL))
    (finding,) = yields(loop(student), Yields(inflation=16))
    assert finding.verdict == "found"
    least = int(finding.value.removeprefix("least "))
    assert run(student, context_of(finding.witness), 16 * 8192, LINE_RATE_Q30 // 8192 + 1) == least
    (finding,) = yields(loop(student), Yields(inflation=2))
    assert finding.verdict in ("fails", "found")
    assert not finding.value.startswith("least")


SPLITS = st.tuples(
    st.integers(0, 3), st.sampled_from([-500, 0, 5, 300, 9000]), st.integers(1, 4000), st.integers(-900, 4000)
)


@given(st.lists(SPLITS, max_size=5), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=examples(30))
def test_the_witness_takes_longest(splits: list[tuple[int, int, int, int]], seed: int) -> None:
    student = policy(*(split(*each) for each in splits), bias=4000)
    (finding,) = recovers(loop(student), Recovers())
    least = int(finding.value.removeprefix("least "))
    contexts = [context_of(finding.witness)]
    random = np.random.default_rng(seed)
    for _ in range(5):
        context = {"rate_q30": 1074, "congestion_q20_1": int(random.integers(0, 2**32))}
        contexts.append(context | {name: int(random.integers(-(2**15), 2**15)) for name in ("action_1", "action_2")})
    of_witness, *others = run_all(student, contexts, 8192, LINE_RATE_Q30)
    assert of_witness == least
    assert max(others) <= least


@pytest.mark.parametrize("share", [1, 64, 8192])
def test_the_least_inflation_above_which_it_never_rises(share: int) -> None:
    """Each RTT beside it, run: there it rises in some history, one ns later in none."""
    threshold = 3_000
    student = policy(split(1, threshold, RISE, FALL), split(0, 100, 0, -RISE))
    of, rate = loop(student), LINE_RATE_Q30 // share
    (finding,) = no_rise_above(of, NoRiseAbove.model_validate({"rate": f"{rate / 2**30!r} line"}))
    rtt = finding.witness["event.response_ns"]
    past = dict.fromkeys(["action_1", "action_2", "congestion_q20_1"], np.asarray([0]))
    at = of.values(np.asarray([rtt, rtt + 1]), {**past, "rate_q30": np.asarray([rate])})
    column = of.decision.columns[of.decision.names.index("congestion_q20")]
    assert at[column].tolist()[0] <= threshold < at[column].tolist()[1]
    assert at[of.decision.node].tolist()[0] > 2**16 >= at[of.decision.node].tolist()[1]
    just, below = rtt / 8192, (rtt - 1) / 8192
    assert no_rise_above(of, NoRiseAbove(rate=f"{rate / 2**30!r} line", inflation=just))[0].verdict == "holds"  # type: ignore[arg-type]
    assert no_rise_above(of, NoRiseAbove(rate=f"{rate / 2**30!r} line", inflation=below))[0].verdict == "fails"  # type: ignore[arg-type]


def test_what_never_rises_and_what_always_does() -> None:
    assert no_rise_above(loop(policy(bias=FALL)), NoRiseAbove())[0].value == "it never rises"
    (finding,) = no_rise_above(loop(policy(bias=RISE)), NoRiseAbove())
    assert "longest RTT" in finding.value
    assert no_rise_above(loop(policy(bias=RISE)), NoRiseAbove(inflation=100))[0].verdict == "fails"


def test_a_policy_that_turns_at_its_target_rests_where_theory_has_it() -> None:
    student = policy(split(1, TARGET_SQUARED, RISE, FALL))
    of = loop(student)
    (finding,) = fixed_point(of, circles(of.decision), FixedPoint(within=0.01))
    assert finding.verdict == "holds"
    twice = loop(policy(split(1, 4 * TARGET_SQUARED, RISE, FALL)))  # at twice the excess
    (finding,) = fixed_point(twice, circles(twice.decision), FixedPoint(within=0.01))
    assert finding.verdict == "fails"
    assert finding.value.startswith("off by 79")  # (2 * .064 * sqrt(N) + 1.5) for (.064 * sqrt(N) + 1.5)


def test_rest_is_as_wide_as_the_levels_that_neither_rise_nor_fall() -> None:
    wide = loop(policy(split(1, TARGET_SQUARED, RISE, 0), split(1, 4 * TARGET_SQUARED, 0, FALL)))
    (finding,) = fixed_point(wide, circles(wide.decision), FixedPoint(flows=(4, 4)))
    low, high = (float(word) for word in finding.value.split(" at ")[-1].split(" for ")[0].split(" to "))
    assert low == pytest.approx(1.5 + 0.064 * 2, abs=0.01)
    assert high == pytest.approx(1.5 + 0.128 * 2, abs=0.01)


def test_no_fixed_point_and_no_theory() -> None:
    of = loop(policy(bias=RISE))
    with pytest.raises(InputError, match="alone"):
        fixed_point(of, circles(of.decision), FixedPoint())
    always = loop(policy(split(1, 10, RISE, RISE - 1)))
    assert fixed_point(always, circles(always.decision), FixedPoint())[0].verdict == "fails"
    other = make_student([FEATURES["rtt_inflation"]], {"kind": "tanh_map", "step": 0.2}, (split(0, 10, RISE, FALL),))
    with pytest.raises(InputError, match="theory"):
        fixed_point(loop(other), circles(decision(other)), FixedPoint())


def test_what_does_not_only_rise_with_the_rtt_is_said() -> None:
    of = loop(policy(split(1, 10, RISE, FALL)))
    (node,) = of.decision.seen
    assert of.least_rtt_ns(node, np.asarray([10]), np.asarray([LINE_RATE_Q30]))[0] > 8192
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_RATE)
    rtt = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.event("request_sent_ns")))
    less, more = b.add(Op.SUB, (b.const(2**32), rtt)), b.add(Op.MUL_SHR, (rtt, b.const(3)), 1)
    program = b.finish(b.const(1))
    assert [_rises(program, node) for node in (rtt, less, more)] == [True, False, True]


def of_features(*features: dict[str, Any], splits: tuple[tuple[int, int, int, int], ...], **path: str) -> Student:
    student = make_student(list(features), {"kind": "tanh_map", "step": 0.2}, tuple(split(*each) for each in splits))
    return student.with_parts(observation=student.observation.model_copy(update=path))


@pytest.mark.parametrize(
    ("feature", "key"),
    [
        ({"kind": "difference", "signal": "queue_bytes"}, "context.queue_bytes_level_1"),
        ({"kind": "level", "signal": "sent_bytes"}, "event.sent_bytes"),
        (FEATURES["cnp_ratio"], "event.cnp_count"),
    ],
)
def test_what_an_rtt_does_not_tell_is_refused(feature: dict[str, Any], key: str) -> None:
    """One event would stand for others that decide otherwise."""
    of = loop(of_features(feature, splits=((0, 100, FALL, RISE),)))
    with pytest.raises(InputError, match=re.escape(key)):
        no_rise_above(of, NoRiseAbove(inflation=4.0))


def test_an_rtt_beyond_the_longest_that_is_told_apart_counts_too() -> None:
    """rtt_max bounds what features tell apart, not what a flow can meet."""
    student = of_features(FEATURES["rl_cc_congestion"], splits=((0, (1 << 24) - 2, FALL, RISE),), rtt_max=40_000)  # type: ignore[arg-type]
    assert run(student, {"rate_q30": 1 << 29}, 60_000, (1 << 29) + 1) == 1
    assert no_rise_above(loop(student), NoRiseAbove(inflation=4.0, rate="0.5 line"))[0].verdict == "fails"  # type: ignore[arg-type]
    rests = of_features(FEATURES["rl_cc_congestion"], splits=((0, TARGET_SQUARED, RISE, 0),), rtt_max=60_000)  # type: ignore[arg-type]
    of = loop(rests)
    (finding,) = fixed_point(of, circles(of.decision), FixedPoint(flows=(8192, 8192), within=0.02))
    assert finding.verdict == "fails"


def test_the_least_that_is_printed_holds() -> None:
    of = loop(of_features(FEATURES["rtt_inflation"], splits=((0, 446, RISE, FALL),)))
    (finding,) = no_rise_above(of, NoRiseAbove())
    least = float(finding.value.removeprefix("least ").split(",")[0])
    assert no_rise_above(of, NoRiseAbove(inflation=least))[0].verdict == "holds"
    rtt = finding.witness["event.response_ns"]
    assert no_rise_above(of, NoRiseAbove(inflation=(rtt - 0.4) / 8192))[0].verdict == "fails"


def test_rates_and_rtts_that_no_flow_has_are_refused() -> None:
    of = loop(policy(bias=FALL))
    for asked in (Yields(to="1 line"), Yields(to="0.0000001 line")):  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"highest rate|within the limits"):
            yields(of, asked)
    with pytest.raises(InputError, match="within the limits"):
        no_rise_above(of, NoRiseAbove(rate="0.0000001 line"))  # type: ignore[arg-type]
    slow = of_features(FEATURES["rtt_inflation"], splits=((0, 2000, RISE, FALL),), base_rtt=300_000)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no timestamps tell"):
        yields(loop(slow), Yields(inflation=2.0**14))
    fast = of_features(FEATURES["queue_inflation"], splits=((0, 2000, RISE, FALL),), line_rate=10**13)  # type: ignore[arg-type]
    assert yields(loop(fast), Yields(inflation=2.0**14))[0].verdict == "found"  # the queue's counter is full


def test_the_theory_is_that_of_the_congestion_that_is_seen() -> None:
    both = (FEATURES["rl_cc_congestion"], FEATURES["pcc_rl_congestion"])
    other = of_features(*both, splits=((1, 4 << 16, RISE, FALL),))  # pcc_rl's own target of 2, squared
    of = loop(other)
    (finding,) = fixed_point(of, circles(of.decision), FixedPoint(flows=(2, 64), within=0.05))
    assert finding.verdict == "holds", finding.value
    unseen = of_features(FEATURES["rl_cc_congestion"], FEATURES["rtt_inflation"], splits=((1, 5929, RISE, FALL),))
    with pytest.raises(InputError, match="theory"):
        fixed_point(loop(unseen), circles(decision(unseen)), FixedPoint())
