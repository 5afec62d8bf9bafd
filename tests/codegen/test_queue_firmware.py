"""Firmware of a decider at a switch's queue: three knobs from shared trees, without a word of flows in its C."""

import numpy as np
import pytest
from pydantic import TypeAdapter
from queue_actions import LEVEL, choice

from codegen.differences import differences
from codegen.emit import emit
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.forest import Forest, oblivious
from decision.policy.actions import Action, AnyAction
from decision.policy.policy import Header, Observation
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names

ACTIONS = {"choice": choice(((5_000, 655), (40_000, 13_107), (320_000, 9))), "level": LEVEL}


def student(kind: str) -> Student:
    observation = Observation.model_validate(
        {
            "interface": "queue_marking",
            "window": 2,
            "params": {"capacity_bytes": 625_000},
            "features": [
                {"kind": "level", "signal": "queue_bytes", "unit": 65_536, "fraction_bits": 8},
                {"kind": "level", "signal": "marked_bytes", "unit": 65_536, "fraction_bits": 8},
            ],
        }
    )
    action: Action = TypeAdapter(AnyAction).validate_python(ACTIONS[kind])
    rng, names = np.random.default_rng(3), feature_names(observation)
    trees = []
    for _ in range(5):
        questions = [(int(f), int(rng.integers(0, 300))) for f in rng.integers(0, len(names), 3)]
        trees.append(oblivious(questions, [tuple(map(int, row)) for row in rng.integers(-900, 900, (8, action.sums))]))
    forest = Forest(names, tuple(trees), (7,) * action.sums, action.leaf_bits)
    return Student("queues", Header(observation=observation, action=action), forest, "0123456789abcdef" * 4)


@pytest.mark.slow_except("gcc-*")
@pytest.mark.parametrize("kind", ACTIONS)
def test_it_compiles_passes_its_vectors_and_is_as_emitted(kind, emitted, tmp_path, compiler, run):
    folder = emitted(student(kind), tmp_path, target="bare")
    done = run("make", "-s", "-f", folder / "rlcc_policy.mk", "check", f"CC={' '.join(compiler)}")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert differences(folder) == []
    text = (folder / "rlcc_policy.h").read_text() + (folder / "rlcc_policy.c").read_text()
    assert "flow" not in text.replace("overflow", "")
    assert "void rlcc_decide(rlcc_queue *queue, const rlcc_event *event" in text
    assert text.count("static const") <= 1  # one place and one array of tables for all sums


@pytest.mark.slow_except("level")
@pytest.mark.parametrize("kind", ACTIONS)
def test_it_is_proved(kind, emitted, tmp_path):
    from emulator.firmware_folder import built
    from emulator.profile import load_profile
    from verify.prover.certify import certify

    done = certify(built(emitted(student(kind), tmp_path, target="bare"), profile=load_profile("ibex-small")))
    assert done.certificate is not None, done.problem


def test_a_target_of_flows_is_refused(tmp_path):
    with writing(tmp_path / "student", "student") as work:
        student("choice").save(work)
    with pytest.raises(InputError, match=r"connectx6dx .*site flow, .*--target bare"):
        emit(tmp_path / "student", tmp_path / "firmware")
