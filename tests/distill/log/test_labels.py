"""Functions that label: found by name, held to the shape and range of their outputs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.policy.policy import Header
from distill.log.labels import FunctionLabels, first_impossible

MODULE = """\
import numpy as np

def decide(rows, state):
    return np.zeros(len(rows)), state

value = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "labels_of_the_test.py").write_text(MODULE)
    (tmp_path / "broken_labels_of_the_test.py").write_text("import a_module_that_is_not_there\n")
    (tmp_path / "failing_labels_of_the_test.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    return "labels_of_the_test"


def test_a_function_is_found_in_the_current_folder_and_its_source_is_hashed(header: Header, module: str) -> None:
    found = FunctionLabels.named(f"{module}:decide", header)
    assert found.name == "labels_of_the_test:decide"
    assert len(found.hash) == 64
    assert found.details() == {"from": "function", "name": found.name, "sha256": found.hash}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("decide", "MODULE:FUNCTION"),
        (":decide", "MODULE:FUNCTION"),
        ("labels_of_the_test:", "MODULE:FUNCTION"),
        ("labels_of_the_test:value", "it has decide"),
        ("labels_of_the_test:decided", "no function decided"),
        ("nowhere_of_the_test:decide", "nowhere_of_the_test"),
        ("broken_labels_of_the_test:decide", "a_module_that_is_not_there"),
        ("failing_labels_of_the_test:decide", "ZeroDivisionError"),
    ],
)
def test_what_is_no_function_is_refused(header: Header, module: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        FunctionLabels.named(text, header)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.zeros(3), "ndarray"),
        ((np.zeros(4), None), "[4]"),
        ((np.zeros((3, 2)), None), "[3, 2]"),
        ((np.array([0, np.nan, 0]), None), "not finite"),
        ((np.array([0, 1.5, 0]), None), "1.5"),
        ((["a", "b", "c"], None), "no array"),
        (ZeroDivisionError("x"), "ZeroDivisionError"),
    ],
)
def test_an_answer_of_another_shape_or_range_is_refused(header: Header, answer: Any, said: str) -> None:
    def decide(rows: Any, state: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(InputError) as error:
        FunctionLabels.of(decide, header)._outputs(np.zeros((3, 2)), None)
    assert said in str(error.value)


def test_labels_between_the_rows_of_a_table_are_found(queue_header: Header) -> None:
    rows = np.array([[20000, 200000, 6553], [2560000, 10240000, 655], [20000, 200000, 655]])
    assert first_impossible(rows[:2], queue_header) is None
    assert first_impossible(rows, queue_header) == 2
