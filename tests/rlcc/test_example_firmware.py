"""The example repository as it is shipped, with the rlcc that is here: its firmware passes by its own files.

Slow: its job on a push and at night; the fast suite compares job, hook, page and Makefile.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact import output
from decision.ir.forest import Forest, oblivious
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from rlcc.commands.gate import command
from teachers.save import save
from teachers.teacher import make_teacher

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs/example-firmware"
PAGE, ACTION = ROOT / "docs/how-to/ci.md", ROOT / "action.yml"
WORKFLOW, HOOK = EXAMPLE / ".github/workflows/firmware.yml", EXAMPLE / ".pre-commit-config.yaml"
BRAKES_ABOVE = 4294
"""The congestion feature's integer (Q20) of a flow at RL-CC's target."""
STEP = 0.05


def in_two_steps(folder: Path) -> None:
    """A teacher that speeds up below its target and brakes above, and a student of one split, which is just that."""
    features = [
        {"kind": "previous_action"},
        {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
    ]
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    table: dict[str, Any] = {
        "format": 1,
        "name": "two-steps",
        "architecture": {"kind": "mlp", "hidden": [2], "bias": False},
        "observation": {"window": 2, **path, "features": features},
        "action": {"kind": "tanh_map", "step": STEP},
        "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
    }
    policy = Policy.model_validate(table)
    weights = {"fc0.weight": np.zeros((2, 4), np.float32), "out.weight": np.array([[-500, 500]], np.float32)}
    weights["fc0.weight"][:, 1] = 1, -1
    teacher = make_teacher(policy, weights, "the test")
    save(teacher, folder / "teacher")
    names, leaf = feature_names(policy.observation), round(STEP * 2**policy.action.leaf_bits)
    at = next(n for n, name in enumerate(names) if name.startswith("congestion"))
    forest = Forest(names, (oblivious(((at, BRAKES_ABOVE),), (leaf, -leaf)),), (0,), policy.action.leaf_bits)
    made = Student(policy.name, policy.header, forest, teacher.hash)
    with output.writing(folder / "student", "student", parents={"teacher": teacher.hash}) as work:
        made.save(work)


def inputs(text: str, event: str = "push") -> dict[str, str]:
    """Returns the inputs that a workflow hands to the action on an event."""
    given = re.search(r"id: gate\n( *)with:\n((?:\1  .*\n)+)", text)
    assert given is not None
    named = dict(line.strip().split(": ", 1) for line in given[2].splitlines())
    if "quick" in named:
        events = re.findall(r"github\.event_name == '(\w+)'", named["quick"])
        assert re.sub(r"github\.event_name == '\w+'|\|\|| ", "", named["quick"]) == "${{}}"
        named["quick"] = "true" if event in events else "false"
    return {name: re.sub(r"\$\{\{.*\|\| '(.*)' \}\}", r"\1", value) for name, value in named.items()}


def by_the_action(given: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Its last script, and the environment that it runs in."""
    text = ACTION.read_text()
    defaults = dict(re.findall(r'^  ([a-z-]+):\n    description: .*\n    default: "?([^"\n]*)"?$', text, re.MULTILINE))
    variables = dict(re.findall(r"^        (RLCC_[A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$", text, re.MULTILINE))
    assert given.keys() <= defaults.keys()
    script = text[text.rindex("      run: |\n") + len("      run: |\n") :]
    return re.sub(r"^ {8}", "", script, flags=re.MULTILINE), {
        variable: given.get(name, defaults[name]) for variable, name in variables.items()
    }


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example with nothing in it but a teacher and a student."""
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "my-firmware"))
    in_two_steps(folder)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return folder


def run(*words: str, there: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(words, cwd=there, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(("event", "verdict"), [("push", "QUICK PASS"), ("schedule", "PASS")])
def test_its_job_passes_its_own_firmware(repository: Path, tmp_path: Path, event: str, verdict: str) -> None:
    """Emitted and proved as its Makefile says, judged as its workflow says; the reference is of one short network, by
    the whole gate."""
    assert (done := run("make", "firmware", there=repository)).returncode == 0, done.stderr
    short = ["--scenario", "many-to-one:2", "--seed", "1", "--out", "first"]
    done = run("rlcc", "gate", "firmware", "--recipe", "recipe.toml", *short, there=repository)
    assert done.returncode == 0, done.stdout
    (repository / "reference").mkdir()
    shutil.copy(repository / "first/verdict.json", repository / "reference")
    script, variables = by_the_action(inputs(WORKFLOW.read_text(), event))
    outputs = {"GITHUB_OUTPUT": str(tmp_path / "outputs"), "GITHUB_ACTIONS": ""}
    judged = run("bash", "-eo", "pipefail", "-c", script, there=repository, **variables, **outputs)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert f"verdict={verdict}" in (tmp_path / "outputs").read_text().splitlines()
    assert json.loads((repository / "verdict/verdict.json").read_text())["verdict"] == verdict
    assert (repository / "gate.sarif").is_file()


def options(arguments: list[str]) -> dict[str, Any]:
    """What is asked of the gate; what only says where results go is left out."""
    found = command.make_context("gate", arguments).params
    return {name: value for name, value in found.items() if name not in ("out", "sarif_file", "reference")}


def test_job_hook_page_and_makefile_judge_alike() -> None:
    """By the recipe: without it default networks judge, where the demo's student fails."""
    hook = re.search(r"args: \[(.*)\]", HOOK.read_text())
    assert hook is not None
    hooked = [word.strip() for word in hook[1].split(",")]
    entries = re.findall(r"^  entry: rlcc gate (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)
    assert len(entries) == 2
    for target, event in (("quick", "push"), ("gate", "schedule")):
        makefile = re.search(rf"^{target}:\n\trlcc gate (.*)$", (EXAMPLE / "Makefile").read_text(), re.MULTILINE)
        assert makefile is not None
        judged = options(shlex.split(makefile[1]))
        assert judged["recipe_file"] == Path("recipe.toml")
        assert judged["quick"] == (target == "quick")
        if judged["quick"]:
            assert [options([*entry.split(), *hooked]) for entry in entries] == [judged] * 2
        for text in (WORKFLOW.read_text(), PAGE.read_text()):
            given = inputs(text, event)
            words = [given.pop("firmware"), *(["--quick"] if given.pop("quick") == "true" else [])]
            assert (
                options([*words, *(word for name, value in given.items() for word in (f"--{name}", value))]) == judged
            )
