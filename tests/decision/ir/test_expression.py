"""Generic features: the float and the integer of one expression, to the bit where the integer is exact."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.formats import FEATURE_LIMIT, U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.interpret import trace
from decision.ir.tape import Reading
from decision.policy.features import Bucket, Change, Level, Place, Present, PreviousKnob, Ratio
from decision.policy.policy import Observation
from decision.policy.tree_decision import build_observer

SIGNALS = QUEUE_MARKING.event_names
U32 = st.one_of(st.integers(0, U32_MAX), st.integers(0, 32).flatmap(lambda n: st.integers(0, min(2**n, U32_MAX))))
POWERS = st.integers(0, 31).map(lambda n: 1 << n)
UNITS = st.one_of(POWERS, st.integers(1, 2**31), st.sampled_from([3, 2**31 - 1]))


def observation(*features):
    return Observation.model_validate(
        {
            "interface": "queue_marking",
            "window": 1,
            "params": {"capacity_bytes": 1_250_000},
            "features": [f.model_dump() for f in features],
        }
    )


def both(feature, event, capacity=1_250_000, **context):
    """The integer, and the float, of one event; ``context``: what was decided before, or past values."""
    obs = observation(feature)
    program, (node,), *_ = build_observer(obs)
    integer = int(trace(program, event, {"capacity_bytes": capacity}, context)[node][0])
    read = Reading(
        {name: np.array([float(value)]) for name, value in event.items()},
        {"capacity_bytes": float(capacity)},
        decided={name: np.array([float(value)]) for name, value in context.items()},
    )
    return integer, float(np.broadcast_to(feature.float_value(read, obs.place), (1,))[0])


def event(**signals):
    return dict.fromkeys(SIGNALS, 0) | signals


@settings(max_examples=examples(300))
@given(U32, UNITS, st.integers(0, 16))
@example(U32_MAX, 1, 16)
@example(U32_MAX, 2**31, 16)
@example(U32_MAX, 3, 0)
@example(2**24 - 1, 1, 0)
@example(2**24, 1, 0)
def test_a_level_is_the_floor_of_its_float(value, unit, bits):
    feature = Level(kind="level", signal="queue_bytes", unit=unit, fraction_bits=bits)
    k, f = both(feature, event(queue_bytes=value))
    assert f == value / unit
    exact = Fraction(value << bits, unit)
    if unit & (unit - 1) == 0:
        assert k == min(int(exact), FEATURE_LIMIT - 1)
    else:
        assert k - min(int(exact), FEATURE_LIMIT - 1) in (0, int(value >= 2**28))
    below, _ = both(feature, event(queue_bytes=max(value - 1, 0)))
    assert below <= k  # a larger signal is never a smaller level
    if k < FEATURE_LIMIT - 1 and k <= exact:
        assert feature.float_of(np.array([float(k)]))[0] <= f


@given(POWERS, st.integers(0, 16))
@example(512, 0)
def test_the_greatest_signal_gives_the_highest_level_in_units_of_a_power_of_two(unit, bits):
    feature = Level(kind="level", signal="queue_bytes", unit=unit, fraction_bits=bits)
    k, _ = both(feature, event(queue_bytes=U32_MAX))
    assert feature.expression(observation(feature).place).highest == k


@settings(max_examples=examples(300))
@given(U32, U32, st.integers(0, 12), st.integers(1, 12), st.booleans())
@example(U32_MAX, U32_MAX, 0, 1, False)
@example(0, 0, 0, 8, False)
@example(255, 256, 0, 8, True)
@example(U32_MAX - 256, U32_MAX, 8, 8, False)
@example(U32_MAX, 1, 0, 12, True)
def test_a_ratio_is_the_exact_floor_of_its_float(of, over, of_bits, bits, parameter):
    unit = 1 << bits
    denominator = "capacity_bytes" if parameter else "sent_bytes"
    feature = Ratio(
        kind="ratio", of="marked_bytes", over=denominator, of_unit=1 << of_bits, over_unit=unit, fraction_bits=bits
    )
    k, f = both(feature, event(marked_bytes=of, sent_bytes=over), capacity=over)
    quotient = Fraction(of >> of_bits, max(over // unit, 1))
    assert k == min(int(quotient * 2**bits), 2**bits)
    assert f == min((of >> of_bits) / max(over // unit, 1), 1.0)


@settings(max_examples=examples(200))
@given(U32, st.integers(1, 2**12), st.integers(2, 20))
@example(20_000, 20_000, 10)
@example(20_001, 20_000, 10)
@example(U32_MAX, 4096, 20)
def test_a_bucket_counts_doublings_in_both(value, first, count):
    feature = Bucket(kind="bucket", signal="queue_bytes", first=first, count=count)
    k, f = both(feature, event(queue_bytes=value))
    assert k == sum(value > first << n for n in range(count))
    assert f == k / count
    assert feature.physical(k - 1) == f"queue_bytes > {first << max(k - 1, 0)}"


@given(st.one_of(st.integers(0, 2), U32))
def test_a_bit_says_whether_there_was_any(value):
    feature = Present(kind="present", signal="queue_bytes")
    assert both(feature, event(queue_bytes=value)) == (value > 0, value > 0)
    assert feature.name == "queue_bytes_present"
    assert feature.physical(0) == "queue_bytes above 0"


@given(U32, U32, UNITS, st.integers(0, 8))
def test_a_difference_is_of_two_levels(now, then, unit, bits):
    feature = Change(kind="difference", signal="queue_bytes", unit=unit, fraction_bits=bits)
    level = Level(kind="level", signal="queue_bytes", unit=unit, fraction_bits=bits)
    k_now, k_then = (both(level, event(queue_bytes=value))[0] for value in (now, then))
    observer = build_observer(observation(feature))
    ((name, (node, back)),) = observer.past.items()
    assert (name, back) == (f"{level.name}_1", 1)
    values = trace(observer.program, event(queue_bytes=now), {"capacity_bytes": 1}, {name: k_then})
    assert int(values[observer.nodes[0]][0]) == k_now - k_then
    assert int(values[node][0]) == k_now


@given(st.integers(0, 2**31 - 1), UNITS, st.integers(0, 8))
def test_a_previous_knob_is_the_level_of_what_was_set(knob, unit, bits):
    feature = PreviousKnob(kind="previous_knob", knob="kmin_bytes", unit=unit, fraction_bits=bits)
    level = Level(kind="level", signal="queue_bytes", unit=unit, fraction_bits=bits)
    assert both(feature, event(), kmin_bytes=knob) == both(level, event(queue_bytes=knob))


def test_a_level_can_be_of_a_parameter_or_of_the_knob_in_force():
    capacity = Level(kind="level", signal="capacity_bytes", unit=1000)
    assert both(capacity, event(), capacity=1_250_000) == (1250, 1250.0)
    rate = Level(kind="level", signal="rate_q30", unit=1 << 20)
    read = Reading(in_force=np.array([2.0**29]))
    assert rate.float_value(read, Place(FLOW_RATE)).tolist() == [512.0]


@pytest.mark.parametrize(
    ("feature", "says"),
    [
        (
            {"kind": "level", "signal": "rtt"},
            "queue_marking .*rtt; .*queue_bytes",
        ),
        ({"kind": "level", "signal": "queue_bytes", "unit": 0}, r"greater .*equal to 1"),
        ({"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes", "of_unit": 3}, "3 .*power of two"),
        ({"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes", "over_unit": 128}, "8 fraction bits need 256"),
        ({"kind": "bucket", "signal": "queue_bytes", "first": 2**31, "count": 2}, "last bucket"),
        ({"kind": "difference", "signal": "queue_bytes", "back": 17}, "less than .*16"),
        ({"kind": "previous_knob", "knob": "rate_q20"}, "agents of queue_marking set kmin_bytes, kmax_bytes, pmax_q16"),
        ({"kind": "previous_action"}, "agents of queue_marking set kmin_bytes"),
        ({"kind": "rtt_inflation"}, "base_rtt, line_rate and rtt_max .*path"),
        ({"kind": "rate"}, "queue_marking .*knob in force"),
        ({"kind": "cnp_ratio"}, "queue_marking .*cnp_count"),
    ],
)
def test_a_feature_of_what_is_not_there_is_refused(feature, says):
    base = {"interface": "queue_marking", "window": 1, "params": {"capacity_bytes": 1}}
    with pytest.raises(ValueError, match=says):
        Observation.model_validate(base | {"features": [feature]})


def test_a_difference_of_one_decision_alone_is_refused():
    feature = Change(kind="difference", signal="queue_bytes")
    read = Reading({"queue_bytes": np.zeros(1)})
    with pytest.raises(InputError, match=r"difference .*decisions before"):
        feature.float_value(read, Place(QUEUE_MARKING))


def test_two_features_of_a_name_are_refused():
    same = {"kind": "level", "signal": "queue_bytes", "unit": 2}
    base = {"interface": "queue_marking", "window": 1, "params": {"capacity_bytes": 1}}
    with pytest.raises(ValueError, match=r"queue_bytes_level .*twice"):
        Observation.model_validate(base | {"features": [same, same | {"unit": 4}]})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"interface": "queues"},
            "'queues'; .* flow_rate, flow_start, .*, queue_marking",
        ),
        ({"params": {}}, "params .*none; .*capacity_bytes"),
        ({"params": {"capacity_bytes": True}}, "valid integer"),
        ({"params": {"capacity_bytes": 0}}, "capacity_bytes .*0, .*1 to 2147483647"),
        ({"base_rtt": "8192 ns"}, "base_rtt, line_rate and rtt_max .*flows; queue_marking .*params"),
        ({"interface": "flow_rate", "params": {}}, "base_rtt, line_rate and rtt_max are needed"),
    ],
)
def test_an_observation_that_does_not_fit_its_interface_is_refused(change, says):
    base = {"interface": "queue_marking", "window": 1, "params": {"capacity_bytes": 1}}
    with pytest.raises(ValueError, match=says):
        Observation.model_validate(base | {"features": [{"kind": "level", "signal": "queue_bytes"}]} | change)
