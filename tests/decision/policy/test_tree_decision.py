"""The whole decision against RL-CC's decision written down again in plain Python integers, line by line."""

from dataclasses import replace

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, drawn_students, make_student, random_inputs
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, branches, oblivious, unrolled
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.ir.program import STORAGE_RANGE, Op, ProgramBuilder
from decision.policy.rate import Multiplied, multiplied
from decision.policy.tree_decision import build, build_observer, feature_names

RL_CC = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]


def rl_cc_student(seed=0, trees=8):
    """All four inputs used: action_1, congestion, action_2, congestion_1."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(trees):
        splits = []
        for feature in rng.permutation(4).tolist():
            threshold = rng.integers(-9000, 11_000) if feature % 2 == 0 else np.exp(rng.uniform(2, 12))
            splits.append((feature, int(threshold)))
        drawn.append(oblivious(tuple(splits), tuple(rng.integers(-6000, 7000, size=16).tolist())))
    return make_student(RL_CC, ACTIONS[0], tuple(drawn), window=2, bias=-77)


def rl_cc_decision(ensemble, event, params, flow):
    """RL-CC sections 2 to 3 in integers, independent of decision.ir.program. Returns the rate and the new context."""
    # Rate in force, Q0.30: a zeroed context is a new flow.
    rate = flow["rate_q30"] if flow["rate_q30"] != 0 else params["rate_initial_q30"]
    rate %= 1 << 30
    # RTT in ns: uint32 timestamps wrap every 4.29 s.
    rtt = (event["response_ns"] - event["request_sent_ns"]) % (1 << 32)
    inflation_q10 = rtt * params["base_rtt_recip_q42"] >> 32
    # delta = 0.064 - max(inflation - 1.5, 0) sqrt(rate): ordered by (inflation - 1.5)^2 rate.
    excess_q10 = min(max(inflation_q10 - 1536, 0), 65535)
    congestion_q20 = (excess_q10 * excess_q10 * rate) >> 30
    x = [flow["action_1"], congestion_q20, flow["action_2"], flow["congestion_q20_1"]]
    (action,) = ensemble.bias
    for tree in ensemble.trees:
        splits, leaves = unrolled(tree)
        leaf = 0
        for level, (feature, threshold) in enumerate(splits):
            leaf |= int(x[feature] > threshold) << level
        action += leaves[leaf].value[0]
    action = min(max(action, round((1 / 1.2 - 1) * 65536)), round(0.2 * 65536))
    new = (rate * (65536 + action)) >> 16
    new = min(max(new, params["rate_min_q30"]), params["rate_max_q30"])
    context = {
        "rate_q30": new,
        "action_1": action,
        "action_2": flow["action_1"],
        "congestion_q20_1": congestion_q20,
    }
    return (new >> 10) + 1, context


def both(student, event, params, flow):
    (rate,), context = evaluate(student.program(), event, params, flow)
    got = int(rate[0]), {name: int(values[0]) for name, values in context.items()}
    return got, rl_cc_decision(student.forest, event, params, flow)


def field(storage):
    low, high = STORAGE_RANGE[storage]
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0, 1, max(low, -1)]), st.integers(0, 5000))


u32 = field("uint32")
events = st.fixed_dictionaries(dict.fromkeys(FLOW_RATE.event_names, u32))
near = st.builds(
    lambda event, rtt: event | {"response_ns": (event["request_sent_ns"] + rtt) % 2**32}, events, st.integers(0, 10**6)
)
parameters = st.one_of(
    st.just(
        {"base_rtt_recip_q42": 2**29, "rate_min_q30": 1074, "rate_max_q30": 2**30 - 1, "rate_initial_q30": 2**30 - 1}
    ),
    st.fixed_dictionaries(dict.fromkeys(FLOW_RATE.param_names, u32)),
)
contexts = st.fixed_dictionaries(
    {"rate_q30": u32, "congestion_q20_1": u32, "action_1": field("int16"), "action_2": field("int16")}
)
ZERO = {"rate_q30": 0, "congestion_q20_1": 0, "action_1": 0, "action_2": 0}
DEFAULT = {"base_rtt_recip_q42": 2**29, "rate_min_q30": 1074, "rate_max_q30": 2**30 - 1, "rate_initial_q30": 2**30 - 1}


@settings(max_examples=examples(500))
@given(seed=st.integers(0, 3), event=st.one_of(near, events), params=parameters, flow=contexts)
@example(0, dict.fromkeys(FLOW_RATE.event_names, 0), DEFAULT, ZERO)
@example(
    0,
    dict.fromkeys(FLOW_RATE.event_names, U32_MAX),
    dict.fromkeys(FLOW_RATE.param_names, U32_MAX),
    ZERO | {"rate_q30": U32_MAX},
)
@example(0, dict.fromkeys(FLOW_RATE.event_names, 0) | {"response_ns": U32_MAX}, DEFAULT, ZERO | {"rate_q30": 1})
@example(0, dict.fromkeys(FLOW_RATE.event_names, 0), dict.fromkeys(FLOW_RATE.param_names, 0), ZERO)
def test_the_decision_is_rl_ccs(seed, event, params, flow):
    got, wanted = both(rl_cc_student(seed), event, params, flow)
    assert got == wanted


@pytest.mark.parametrize("seed", range(3))
def test_a_flow_of_200_decisions_keeps_its_history(seed):
    """The context written by one decision is read by the next, as it is by the reference."""
    student, rng = rl_cc_student(seed), np.random.default_rng(seed)
    flow = reference = dict(ZERO)
    actions = []
    for _ in range(200):
        sent = int(rng.integers(0, 2**32))
        event = dict.fromkeys(FLOW_RATE.event_names, 0) | {"request_sent_ns": sent}
        event["response_ns"] = (sent + int(rng.integers(8000, 60_000))) % 2**32
        (rate,), context = evaluate(student.program(), event, DEFAULT, flow)
        wanted, reference = rl_cc_decision(student.forest, event, DEFAULT, reference)
        flow = {name: int(values[0]) for name, values in context.items()}
        actions.append(flow["action_1"])
        assert (int(rate[0]), flow) == (wanted, reference)
        assert len(actions) < 2 or flow["action_2"] == actions[-2]


def test_the_device_gets_the_next_step_above_never_zero_and_at_most_line_rate():
    student = make_student(RL_CC, ACTIONS[0], ())
    params = DEFAULT | {"rate_min_q30": 1}
    for rate in (1, 511, 512, 1023, 1024, 1535, 2**30 - 1025, 2**30 - 1024, 2**30 - 1, 2**30 + 1, 2**32 - 1):
        (got,), _ = evaluate(student.program(), dict.fromkeys(FLOW_RATE.event_names, 0), params, {"rate_q30": rate})
        assert int(got[0]) == rate % 2**30 // 1024 + 1


def test_parameters_of_zero_give_the_least_rate_not_the_greatest():
    """What an operator's zeroed structure does must be harmless."""
    student = make_student(RL_CC, ACTIONS[0], ())
    (got,), _ = evaluate(
        student.program(),
        dict.fromkeys(FLOW_RATE.event_names, 0),
        dict.fromkeys(FLOW_RATE.param_names, 0),
        {"rate_q30": 0},
    )
    assert int(got[0]) == 1


@settings(max_examples=examples(60))
@given(drawn_students(), st.integers(0, 2**32))
def test_whatever_the_context_holds_the_new_one_is_in_range(student, seed):
    """A context corrupted by a bit flip heals: within the operator's limits the rate is, always."""
    program = student.program()
    event, params, state = random_inputs(program, 200, seed)
    params |= {"rate_min_q30": np.clip(params["rate_min_q30"], 1, 2**20)}
    params |= {"rate_max_q30": np.clip(params["rate_max_q30"], 2**20, 2**30 - 1)}
    (rate,), context = evaluate(program, event, params, state)
    assert rate.min() >= 1
    assert rate.max() <= 2**20
    assert (context["rate_q30"] >= params["rate_min_q30"]).all()
    assert (context["rate_q30"] <= params["rate_max_q30"]).all()
    low, high = student.action.limits_q16()
    if "action_1" in context:
        assert low <= context["action_1"].min() <= context["action_1"].max() <= high
    for s in program.state:
        least, most = STORAGE_RANGE[s.storage]
        assert least <= context[s.name].min() <= context[s.name].max() <= most


@settings(max_examples=examples(60))
@given(drawn_students())
def test_features_that_no_tree_looks_at_are_neither_computed_nor_stored(student):
    program = student.program()
    names = student.forest.features
    used = {names[branch.feature] for tree in student.forest.trees for branch in branches(tree)}
    assert set(program.forest.features) == used
    oldest = {}
    for lag in range(student.observation.window):
        for feature, name in zip(
            student.observation.features, names[lag * len(student.observation.features) :], strict=False
        ):
            if name in used:
                oldest[feature.kind] = lag
    stored = {
        name
        for feature in student.observation.features
        for lag in range(oldest.get(feature.kind, -1) + 1)
        if (name := names[lag * len(student.observation.features) + student.observation.features.index(feature)])
        and (lag > 0 or feature.kind == "previous_action")
    }
    assert {s.name for s in program.state} == stored | {"rate_q30"}
    signals = {
        "rl_cc_congestion": {"request_sent_ns", "response_ns"},
        "pcc_rl_congestion": {"request_sent_ns", "response_ns"},
        "rtt_inflation": {"request_sent_ns", "response_ns"},
        "queue_inflation": {"queue_bytes"},
        "cnp_ratio": {"cnp_count", "sent_bytes"},
        "nack_ratio": {"nack_count", "sent_bytes"},
    }
    wanted = set().union(*(signals.get(kind, set()) for kind in oldest))
    assert {FLOW_RATE.event_names[n.imm] for n in program.nodes if n.op is Op.EVENT} == wanted


def test_a_multiplier_beyond_int16_can_be_remembered():
    """PCC-RL's action is the multiplier itself: 3 is 131072 in Q16."""
    action = {"kind": "multiplier", "low": 0.5, "high": 3.0}
    student = make_student([FEATURES["previous_action"]], action, (oblivious(((0, 100_000),), (131072, 5)),))
    program = student.program()
    assert {s.name: s.storage for s in program.state} == {"rate_q30": "uint32", "action_1": "int32"}
    _, context = evaluate(program, dict.fromkeys(FLOW_RATE.event_names, 0), DEFAULT, {"rate_q30": 2**20, "action_1": 0})
    assert int(context["action_1"][0]) == 131072


def test_the_rate_changes_by_small_multipliers_at_low_rates():
    """1.001 at 1/8192 of line rate: 128 in Q0.20, where the step would be lost."""
    student = make_student(RL_CC, ACTIONS[0], (), bias=66)
    _, context = evaluate(student.program(), dict.fromkeys(FLOW_RATE.event_names, 0), DEFAULT, {"rate_q30": 2**17})
    assert int(context["rate_q30"][0]) == 2**17 * (65536 + 66) >> 16 > 2**17


def test_parts_that_do_not_fit_are_refused():
    student = rl_cc_student()
    other = student.observation.with_window(1)
    with pytest.raises(InputError, match="action_1, congestion_q20, action_2"):
        build(other, student.action, student.forest)
    table = make_student(RL_CC, ACTIONS[3], ()).action
    with pytest.raises(InputError, match=r"16 fraction bits, .*10"):
        build(student.observation, table, student.forest)


def test_names_are_newest_first_and_the_action_is_always_a_past_one():
    student = make_student(RL_CC, ACTIONS[0], (), window=3)
    assert feature_names(student.observation) == (
        *("action_1", "congestion_q20"),
        *("action_2", "congestion_q20_1"),
        *("action_3", "congestion_q20_2"),
    )


def test_the_observer_computes_what_the_decision_computes():
    observation = make_student(list(FEATURES.values()), ACTIONS[0], ()).observation
    program, nodes, past, _ = build_observer(observation)
    assert [program.nodes[n].name for n in nodes] == ["action", *feature_names(observation)[1:]]
    assert past == {}


def test_an_ensemble_without_features_can_be_evaluated():
    assert Forest((), (oblivious((), (5,)),), (2,), 16).evaluate(np.empty((3, 0), dtype=np.int64)).tolist() == [[7]] * 3
    student = make_student(RL_CC, ACTIONS[0], (oblivious((), (655,)),))
    (rate,), _ = evaluate(
        student.program(), dict.fromkeys(FLOW_RATE.event_names, 0), DEFAULT, {"rate_q30": [2**20, 2**21]}
    )
    assert rate.tolist() == [1035, 2069]


def test_the_multiplier_is_known_by_what_it_does_not_by_its_name():
    made = make_student(RL_CC, ACTIONS[0], (oblivious((), (655,)),)).program()
    (named,) = (n for n, node in enumerate(made.nodes) if node.name == "multiplier_q16")
    assert multiplied(made) == Multiplied(named, None)
    nameless = replace(made, nodes=tuple(replace(node, name="") for node in made.nodes))
    assert multiplied(nameless) == Multiplied(named, None)
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    b.state_out("rate_q30", b.state_in("rate_q30", "uint32"))
    assert multiplied(b.finish(b.const(1))) is None
