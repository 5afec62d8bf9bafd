"""docs/example-switch: the loop over a switch's ports compiles as it is shipped, and writes what each queue decides."""

import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from queue_actions import FOUR

from decision.ir.forest import Forest, oblivious
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "example-switch"
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror")
POLICY = {
    "format": 1,
    "name": "queues",
    "architecture": {"kind": "mlp", "hidden": [4], "bias": True},
    "observation": {
        "interface": "queue_marking",
        "window": 2,
        "params": {"capacity_bytes": 156_250},
        "features": [
            {"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"},
            {"kind": "ratio", "of": "marked_bytes", "over": "capacity_bytes"},
        ],
    },
    "action": FOUR,
}


def student() -> Student:
    """Four trees, each for a row: of two ratios now and of the decision before."""
    policy = Policy.model_validate(POLICY)
    observation = policy.observation
    names = feature_names(observation)
    trees = []
    for row in range(4):
        leaves = [tuple(90 * (leaf == row) + 7 * row if at == row else 0 for at in range(4)) for leaf in range(4)]
        trees.append(oblivious([(row, 60 + 20 * row), ((row + 1) % 4, 100)], leaves))
    forest = Forest(names, tuple(trees), (7,) * 4, policy.action.leaf_bits)
    return Student("queues", policy.header, forest, "0123456789abcdef" * 4)


@pytest.mark.parametrize(("classes", "idle_after"), [(1, 0), (2, 0), (1, 2)])
def test_the_loop_over_ports_and_classes(
    classes: int,
    idle_after: int,
    emitted: Callable[..., Path],
    tmp_path: Path,
    host_compiler: list[str],
    run: Callable[..., CompletedProcess[str]],
) -> None:
    firmware = emitted(student(), tmp_path, target="bare")
    sources = (EXAMPLE / "marking.c", firmware / "rlcc_policy.c", Path(__file__).with_name("switch_platform.c"))
    program = tmp_path / "switch"
    folders = (f"-I{firmware}", f"-I{EXAMPLE}", f"-DMARKING_CLASSES={classes}U", f"-DMARKING_IDLE_AFTER={idle_after}U")
    done = run(*host_compiler, *FLAGS, *folders, "-o", program, *sources)
    assert (done.returncode, done.stderr) == (0, "")
    said = run(program).stdout
    changes = re.fullmatch(r"(\d+) changes, (\d+) asked, 0 wrong\n", said)
    assert changes, said
    assert (int(changes[2]) == 40 * 48 * classes) == (idle_after == 0)
    assert 48 * classes < int(changes[1]) < 40 * 48 * classes  # not only at first, and not every time
