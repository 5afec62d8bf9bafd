"""student.json: what is saved is loaded, exactly; what is not a student is refused before any C is made of it."""

import json
from dataclasses import replace

import pytest
from drawing import FEATURES, drawn_students, make_student
from hypothesis import HealthCheck, given, settings
from reproducible import examples

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.ir.forest import oblivious
from decision.policy import student as module
from decision.policy.student import NAME, load_student


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn_students())
def test_round_trip(tmp_path, student):
    student.save(tmp_path)
    first = (tmp_path / NAME).read_bytes()
    loaded = load_student(tmp_path / NAME)
    assert loaded == student
    assert loaded.program() == student.program()
    loaded.save(tmp_path)
    assert (tmp_path / NAME).read_bytes() == first


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(format=2), "format 2, .*1"),
        (lambda d: d.pop("ensemble"), "not a student"),
        (lambda d: d["ensemble"]["trees"][0]["leaves"].append(1), "it needs 2"),
        (lambda d: d["ensemble"]["features"].reverse(), "congestion_q20, action_1"),
        (lambda d: d["ensemble"].update(leaf_bits=10), "10 fraction bits"),
        (lambda d: d["observation"].update(window=2), "offers action_1, congestion_q20, action_2"),
        (lambda d: d["observation"].update(window=0), "observation.window: "),
        (lambda d: d["action"].update(kind="tanh"), "action.kind: 'tanh' is unknown"),
        (lambda d: d["limits"].update(rate_min="2 line"), "limits.rate_min: "),
        (lambda d: d.update(name="x */ int evil; /*"), "name or .*hash"),
        (lambda d: d.update(teacher="*/ #error /*"), "name or .*hash"),
        (lambda d: d.update(report=3), "not a student"),
    ],
)
def test_refused_in_one_sentence(change, says, tmp_path):
    features = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]
    make_student(features, {"kind": "tanh_map", "step": 0.2}, (oblivious(((1, 9),), (-5, 5)),)).save(tmp_path)
    data = json.loads((tmp_path / NAME).read_text())
    change(data)
    (tmp_path / NAME).write_text(json.dumps(data))
    with pytest.raises(InputError, match=says) as caught:
        load_student(tmp_path / NAME)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["[]", "null", '"x"', "{}", "not json"])
def test_other_json_is_refused(content, tmp_path):
    (tmp_path / NAME).write_text(content)
    with pytest.raises(InputError):
        load_student(tmp_path / NAME)


def test_json_is_readable_and_differs_line_by_line():
    text = dump_json({"a": {"b": [1, 2, 3]}, "trees": [{"splits": [[0, 5]], "leaves": [1, 2]}] * 2, "empty": {}})
    assert text == (
        '{\n  "a": {\n    "b": [1, 2, 3]\n  },\n  "trees": [\n    {"splits": [[0, 5]], "leaves": [1, 2]},\n'
        '    {"splits": [[0, 5]], "leaves": [1, 2]}\n  ],\n  "empty": {}\n}\n'
    )


def test_not_a_number_is_never_written():
    with pytest.raises(ValueError, match="JSON"):
        dump_json({"loss": [float("nan")]})


def test_a_students_program_is_built_once_and_anew_for_another_forest(monkeypatch):
    built, program_of = [], module.build
    monkeypatch.setattr(module, "build", lambda *parts: built.append(parts) or program_of(*parts))
    student = make_student(
        [FEATURES["rl_cc_congestion"]], {"kind": "tanh_map", "step": 0.2}, (oblivious(((0, 5),), (-4, 9)),)
    )
    assert student.program() is student.program()
    assert len(built) == 1
    other = replace(student, forest=replace(student.forest, bias=(7,)))
    assert other.program() != student.program()
    assert len(built) == 2
