"""Features that carry values, in whole students: their pasts fit the context, their thresholds have words."""

import numpy as np
import pytest
from drawing import make_student

from decision.ir.forest import oblivious
from decision.policy.tree_decision import feature_names

KINDS = [
    {"kind": "average", "signal": "rtt_ns", "shift": 2},
    {"kind": "average", "signal": "sent_bytes", "shift": 7, "unit": 16, "fraction_bits": 4},
    {"kind": "minimum", "signal": "rtt_ns"},
    {"kind": "minimum", "signal": "rtt_ns", "rise": 5},
    {"kind": "maximum", "signal": "sent_bytes", "unit": 64},
    {"kind": "maximum", "signal": "sent_bytes", "unit": 64, "fall": 9},
    {"kind": "above_minimum", "signal": "rtt_ns"},
    {"kind": "over_minimum", "signal": "rtt_ns"},
    {"kind": "over_minimum", "signal": "rtt_ns", "unit": 131072, "share_bits": 16},
    {"kind": "streak", "signal": "cnp_count"},
    {"kind": "streak", "signal": "nack_count", "above": 3, "most": 65535},
    {"kind": "decaying_count", "signal": "cnp_count", "shift": 7, "most": 1 << 20},
    {"kind": "interval", "signal": "response_ns"},
    {"kind": "level", "signal": "rtt_ns", "unit": 8},
    {"kind": "difference", "signal": "rtt_ns", "back": 2},
]
ACTION = {"kind": "multiplier", "low": 0.75, "high": 1.25}


def student(feature, thresholds=(1, 2)):
    names = feature_names(make_student([feature], ACTION, (), window=2).observation)
    trees = tuple(oblivious(((place, t),), (-90, 70)) for place in range(len(names)) for t in thresholds)
    return make_student([feature], ACTION, trees, window=2)


@pytest.mark.parametrize("feature", KINDS, ids=str)
def test_a_feature_and_its_past_fit_their_fields(feature):
    program = student(feature).program()
    assert len(program.forest.features) == 2
    assert len({field.name for field in program.state}) == len(program.state)


@pytest.mark.parametrize("feature", KINDS, ids=str)
def test_thresholds_are_said_in_words(feature):
    (made,) = student(feature).observation.features
    assert made.meaning().startswith(made.name)
    assert made.physical(3)
    assert np.isfinite(made.initial)
