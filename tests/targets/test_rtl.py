"""The emitted AXI-Lite wrapper, by the emitted cocotb test.

Slow: both tests, which take a minute of Verilator; the fast suite simulates the logic without the wrapper.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from decision.artefact.output import writing
from decision.ir.forest import oblivious

SAID = re.compile(r"^(\d+) of (\d+) tests failed$", re.MULTILINE)


@pytest.fixture(scope="module")
def logic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("axi")
    tree = oblivious(((0, 100), (1, 4000)), (-5000, 20, 300, 5999))
    features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
    with writing(folder / "student", "student") as work:
        make_student(features, ACTIONS[0], (tree,), window=2, bias=12).save(work)
    emit(folder / "student", folder / "firmware", target="rtl")
    return folder / "firmware" / "rtl"


def run(logic: Path, vectors: int) -> tuple[int, int]:
    """How many of the emitted tests fail, and how many there are. cocotb exits early if it sees that pytest runs."""
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    done = subprocess.run(
        [sys.executable, "test_rlcc_policy.py"],
        cwd=logic,
        env=env | {"VECTORS": str(vectors)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = SAID.search(done.stdout)
    assert found, (done.stdout + done.stderr)[-2000:]
    return int(found[1]), int(found[2])


@pytest.mark.slow
def test_vectors_go_through_the_wrapper_and_what_is_no_register_is_refused(logic):
    assert run(logic, 12) == (0, 2)


@pytest.mark.slow
def test_a_wrapper_that_swaps_two_registers_is_seen(logic):
    file = logic / "rlcc_axi_lite.v"
    text = file.read_text()
    changed = (
        text.replace("10'h040: event_request_sent_ns", "10'h041: other")
        .replace("10'h041: event_response_ns", "10'h040: event_response_ns")
        .replace("10'h041: other", "10'h041: event_request_sent_ns")
    )
    assert changed != text
    file.write_text(changed)
    try:
        assert run(logic, 12)[0] == 1
    finally:
        file.write_text(text)
