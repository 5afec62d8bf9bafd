"""A student of two trees over the observation of docs/bring-your-own, and its simulator in C++, compiled once."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_log import FOLDER

from decision.ir.forest import Forest, oblivious
from decision.policy.policy_header import load_policy_header
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from rlcc.simulator.student_library import DrivenStudent, driven


@pytest.fixture(scope="session")
def own_student() -> Student:
    name, header = load_policy_header(FOLDER / "policy.toml")
    names = feature_names(header.observation)
    trees = (
        oblivious(((0, 700_000), (1, 900_000)), (700, 300, -1800, -4000)),
        oblivious(((0, 5_134_823),), (0, -4000)),
    )
    return Student(name, header, Forest(names, trees, (600,), header.action.leaf_bits), "0" * 64)


@pytest.fixture(scope="session")
def given(own_student: Student) -> Iterator[DrivenStudent]:
    with driven(own_student) as student:
        yield student


@pytest.fixture(scope="session")
def cpp_simulator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("simulator") / "simulator"
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["c++", *flags, "-o", program, FOLDER / "simulator.cpp", "-ldl"], check=True)
    return program
