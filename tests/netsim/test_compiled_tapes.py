"""The tapes that a simulation spends its time on are compiled steps: the usual policies' are, and they give what the
generic evaluator and NumPy give, to the bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decision.ir.tape import FloatOp, Reading, Step, Tape, evaluate
from netsim import _core
from netsim.policies import _tape
from teachers.load import load

TEACHERS = Path("fixtures/teachers")
USUAL = ("previous_action", "congestion", "action", "knob")
U32 = st.one_of(st.integers(0, 2**32 - 1), st.integers(0, 9000), st.sampled_from([0, 1, 2**32 - 1]))
OUTPUTS = st.one_of(st.floats(-1, 1, width=32), st.sampled_from([-1.0, -0.0, 0.0, 1.0]))


def tapes(teacher: str) -> dict[str, Tape]:
    """A teacher's tapes, as the simulator gets them (netsim.policies)."""
    policy = load(TEACHERS / teacher).policy
    observation, action, limits = policy.observation, policy.action, policy.limits
    assert limits is not None
    config = {"action": action.tape(), "knob": action.knob_tape((limits.rate_min, limits.rate_max))}
    for feature in observation.features:
        name = "congestion" if "congestion" in feature.kind else feature.kind
        names = replace(config["action"].names, event=observation.agents.event_names, known=tuple(observation.known))
        config[name] = feature.tape(replace(names, decided=action.values), observation.place)
    return config


def longer(tape: Tape) -> Tape:
    """The same with a step that nothing reads, so that its shape is none of the compiled ones."""
    return replace(tape, steps=(*tape.steps, Step(FloatOp.IN_FORCE)))


@pytest.mark.parametrize("teacher", ["rl-cc-mlp", "rl-cc-lstm-small", "pcc-rl-lstm"])
def test_what_the_usual_policies_observe_and_decide_is_compiled(teacher: str) -> None:
    config = tapes(teacher)
    assert set(USUAL) <= config.keys()
    for name, tape in config.items():
        assert _tape(tape).compiled is (name in USUAL), name
        assert not _tape(longer(tape)).compiled


@pytest.mark.parametrize("teacher", ["rl-cc-mlp", "pcc-rl-lstm"])
@pytest.mark.parametrize("name", USUAL)
@given(data=st.data())
def test_compiled_steps_give_what_the_evaluators_give(teacher: str, name: str, data: st.DataObject) -> None:
    tape = tapes_of(teacher)[name]
    event = [data.draw(U32) for _ in tape.names.event]
    known = [data.draw(st.floats(1.0, 1e9)) for _ in tape.names.known]
    decided = [float(data.draw(st.integers(-(2**16), 2**31))) for _ in tape.names.decided]
    in_force = float(data.draw(st.integers(1, 2**30)))
    output = data.draw(OUTPUTS)
    read = Reading(
        {n: np.array([float(value)]) for n, value in zip(tape.names.event, event, strict=True)},
        dict(zip(tape.names.known, known, strict=True)),
        in_force,
        dict(zip(tape.names.decided, decided, strict=True)),
        np.array([[output]]),
    )
    registers = evaluate(tape, read)
    here = [float(np.broadcast_to(registers[result], 1)[0]) for result in tape.results]
    assume(all(np.isfinite(here)))
    fast, generic = (_tape(t).run(event, known, in_force, decided, [output]) for t in (tape, longer(tape)))
    assert fast == generic == here
    assert [np.signbit(value) for value in fast] == [np.signbit(value) for value in here]


KEPT: dict[str, dict[str, Tape]] = {}


def tapes_of(teacher: str) -> dict[str, Tape]:
    if teacher not in KEPT:
        KEPT[teacher] = tapes(teacher)
    return KEPT[teacher]


def test_another_constant_is_compiled_too_and_another_step_is_not() -> None:
    """What is compiled is a shape: its numbers are each policy's own."""
    tape = tapes_of("rl-cc-mlp")["knob"]
    assert _tape(replace(tape, constants=tuple(2 * c for c in tape.constants))).compiled
    for wrong in (
        replace(tape, constants=(*tape.constants, 1.0)),
        replace(tape, steps=(*tape.steps[:-1], replace(tape.steps[-1], op=FloatOp.MAX))),
        replace(tape, steps=(*tape.steps[:-1], replace(tape.steps[-1], a=0))),
        replace(tape, results=(0,)),
    ):
        assert not _tape(wrong).compiled


def test_a_tape_that_looks_back_is_not_run_by_itself() -> None:
    tape = _core.TapeConfig([0.0], [(int(FloatOp.PAST), 0, 0, 0)], [1], [(0, 1, 0.0)])
    assert not tape.compiled
    with pytest.raises(ValueError, match="looks back"):
        tape.run([], [], 0.0, [], [])
