"""What a value means to a simulation, as plain data."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim import baselines
from netsim.content import content


@dataclass(frozen=True)
class Point:
    x: float
    label: str = field(default="", compare=False)


@dataclass(frozen=True)
class Other:
    x: float


def test_every_field_counts_that_is_compared_and_the_type_too() -> None:
    assert content(Point(1.0)) == content(Point(1.0, "a")) != content(Point(1.5))
    assert content(Point(1.0)) != content(Other(1.0))


@pytest.mark.parametrize(
    ("one", "another"),
    [
        (np.arange(3), np.arange(4)),
        (np.arange(3), np.arange(3.0)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        ({"a": 1}, {"a": 2}),
        ((1, 2), (2, 1)),
        (0.1, 0.1 + 2**-56),
        (1, 1.0),
        (baselines.by_name("dcqcn"), baselines.by_name("dctcp")),
    ],
)
def test_what_differs_differs(one: Any, another: Any) -> None:
    assert content(one) != content(another)


def test_the_order_of_a_mapping_does_not_count() -> None:
    assert content({"a": 1, "b": 2}) == content({"b": 2, "a": 1})


def test_a_file_is_its_bytes(tmp_path: Path) -> None:
    for name, text in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / name).write_text(text)
    assert content(tmp_path / "a") == content(tmp_path / "b") != content(tmp_path / "c")


def test_what_has_no_content_is_told() -> None:
    with pytest.raises(InputError, match=r"object .*no content"):
        content(object())
