"""The workflows of .github/ are pinned, ask for little, run what there is; the action runs as GitHub runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from rlcc.gate.names import NAMES

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTION = ROOT / "action.yml"
EXAMPLE = ROOT / "docs/example-firmware/.github/workflows/firmware.yml"
PINNED = re.compile(r"uses: (?P<action>[\w./-]+)@(?P<hash>[0-9a-f]{40}) # (?P<version>v\d+\.\d+\.\d+)")
MORE_RIGHTS = {
    ("docs.yml", "publish"): {"pages": "write", "id-token": "write"},
    ("wheels.yml", "release"): {"contents": "read", "id-token": "write", "attestations": "write"},
}
"""What a job may besides reading the sources: to publish by its own identity."""


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


def test_there_is_one_for_each_thing() -> None:
    assert {path.stem for path in WORKFLOWS} == {
        *("aarch64", "doca", "docs", "gate", "lint", "slow", "test", "versions", "wheels")
    }


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION, EXAMPLE], ids=lambda path: path.name)
def test_every_action_is_pinned_by_the_hash_of_its_commit(path: Path) -> None:
    """But this repository's own, and the example's place where rlcc is taken from, which its reader writes."""
    used = [line.strip().removeprefix("- ") for line in path.read_text().splitlines() if "uses:" in line]
    assert used
    for line in used:
        assert PINNED.fullmatch(line) or line in ("uses: ./", "uses: example/rlcc@v0.1.0"), line
    assert "uses: example/" not in path.read_text() or path == EXAMPLE


def test_an_action_has_one_version_everywhere() -> None:
    pins = {
        (m["action"].split("/upload-sarif")[0], m["hash"], m["version"])
        for path in [*WORKFLOWS, ACTION, EXAMPLE]
        for m in PINNED.finditer(path.read_text())
    }
    assert len(pins) == len({action for action, _, _ in pins})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_rights_are_the_least(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    of_all = {"contents": "read", "security-events": "write"} if path.name == "gate.yml" else {"contents": "read"}
    assert workflow["permissions"] == of_all
    for name, job in workflow["jobs"].items():
        assert job.get("permissions") == MORE_RIGHTS.get((path.name, name))
        assert job["timeout-minutes"] <= (240 if path.name == "slow.yml" else 60)
    assert "secrets." not in path.read_text()
    assert "pull_request_target" not in path.read_text()
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_they_run_is_a_target_of_the_makefile(path: Path) -> None:
    """Or .ci/run: what CI does, anyone can do. No expression stands in a script."""
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for script in (step["run"] for step in steps(path) if "run" in step):
        run = re.fullmatch(r'(?:make (?P<target>[\w-]+)(?: >> "\$GITHUB_ENV")?|(?P<file>\.ci/run))', script)
        assert run, script
        assert run["target"] in targets if run["target"] else os.access(ROOT / run["file"], os.X_OK)


def test_the_slow_suite_runs_every_night() -> None:
    """`.ci/run` takes the target from CI_SUITE (test_ci_run.py)."""
    slow = yaml.safe_load((ROOT / ".github/workflows/slow.yml").read_text())
    assert list(slow[True]) == ["schedule", "workflow_dispatch"]  # YAML 1.1 reads `on` as true
    (run,) = [step for step in steps(ROOT / ".github/workflows/slow.yml") if "run" in step]
    assert (run["run"], run["env"]) == (".ci/run", {"CI_SUITE": "test-slow"})
    assert re.search(r"^test-slow:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_what_is_handed_on_is_what_the_next_step_takes() -> None:
    wheels = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text())
    made, taken = (
        [step["with"] for step in wheels["jobs"][job]["steps"] if f"actions/{kind}-artifact" in step.get("uses", "")]
        for job, kind in (("build", "upload"), ("release", "download"))
    )
    assert made == [{"name": "dist-${{ matrix.runner }}", "path": "dist"}]
    assert taken == [{"pattern": "dist-*", "merge-multiple": True, "path": "dist"}]
    runners = wheels["jobs"]["build"]["strategy"]["matrix"]["runner"]
    assert runners == ["ubuntu-24.04", "ubuntu-24.04-arm"]
    assert wheels["jobs"]["release"]["needs"] == "build"
    assert wheels["jobs"]["release"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    inputs = yaml.safe_load(ACTION.read_text())["inputs"]
    (gate,) = [step for step in steps(ROOT / ".github/workflows/gate.yml") if step.get("uses") == "./"]
    assert set(gate["with"]) <= set(inputs)


def test_the_job_that_needs_a_licence_is_started_by_hand() -> None:
    """And hands the emitted firmware to where the SDK is."""
    doca = yaml.safe_load((ROOT / ".github/workflows/doca.yml").read_text())
    assert list(doca[True]) == ["workflow_dispatch"]  # "on" is a truth value to YAML 1.1
    assert doca["jobs"]["compile"]["needs"] == "emit"
    handed = [
        step["with"] for job in doca["jobs"].values() for step in job["steps"] if "artifact" in step.get("uses", "")
    ]
    assert handed == [{"name": "doca-pcc", "path": "build/doca-pcc"}] * 2


def test_the_epoch_goes_into_the_environment_file() -> None:
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    command = ["make", "--no-print-directory", "epoch"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "SOURCE_DATE_EPOCH=1700000000\n"


# --- the action, as GitHub runs it ------------------------------------------------------------------------------------


class Ran(NamedTuple):
    code: int
    outputs: dict[str, str]
    summary: str
    said: str


def expression(text: str, context: dict[str, str]) -> str:
    """With each ${{ ... }} replaced by its value; one that is not known is an error."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda m: context[m[1]], text)


def run_action(folder: Path, **given: str) -> Ran:
    """The action's steps in a job whose workspace is ``folder``: the first that fails ends it. Others' actions, which
    bring Python and a cache, are not there; pip only says what it is asked."""
    action = yaml.safe_load(ACTION.read_text())
    (folder / "bin").mkdir()
    pip = folder / "bin/python"
    pip.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> "{folder}/pip"\n')
    pip.chmod(0o755)
    files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")}
    for file in files.values():
        file.touch()
    context = {f"inputs.{name}": given.get(name.replace("-", "_"), each["default"])
               for name, each in action["inputs"].items()}  # fmt: skip
    runner = {
        **{name: str(file) for name, file in files.items()},
        "GITHUB_ACTIONS": "true",
        "CI": "true",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_WORKSPACE": str(folder),
        "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    code, said = 0, ""
    for number, step in enumerate(action["runs"]["steps"]):
        if "uses" in step:
            assert step["uses"].split("@")[0] in ("actions/setup-python", "actions/cache")
            continue
        assert step["shell"] == "bash"
        script = folder / f"{number}.sh"
        script.write_text(expression(step["run"], {}))
        environment = os.environ | runner | {k: expression(v, context) for k, v in step.get("env", {}).items()}
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        code, said = done.returncode, said + done.stdout + done.stderr
        lines = (line.partition("=") for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        context |= {f"steps.{step.get('id')}.outputs.{name}": value for name, _, value in lines}
        if code:
            break
    outputs = {name: expression(each["value"], context) for name, each in action["outputs"].items()}
    return Ran(code, outputs, files["GITHUB_STEP_SUMMARY"].read_text(), said)


PATHS = {"json": "verdict/verdict.json", "sarif": "gate.sarif"}


def test_the_action_passes_a_firmware_and_says_so_in_outputs_and_summary(pipeline: Any, tmp_path: Path) -> None:
    ran = run_action(tmp_path, firmware=str(pipeline.firmware), recipe=str(pipeline.recipe))
    assert (ran.code, ran.outputs) == (0, {"verdict": "PASS", **PATHS}), ran.said
    assert "PASS" in ran.summary
    assert NAMES["proof.certificate"] in ran.summary
    assert "::error" not in ran.said
    assert all((tmp_path / file).is_file() for file in PATHS.values())
    assert (tmp_path / "pip").read_text() == f"-m pip install --disable-pip-version-check {ROOT}[verify]\n"


def test_the_action_fails_one_that_is_too_slow_at_its_line(pipeline: Any, tmp_path: Path) -> None:
    ran = run_action(tmp_path, firmware=str(pipeline.firmware), recipe=str(pipeline.recipe), budget="1 ns")
    assert (ran.code, ran.outputs) == (1, {"verdict": "FAIL", **PATHS}), ran.said
    assert "FAIL" in ran.summary
    assert re.search(r"^::error file=[^,]*rlcc_policy\.c,line=\d+,title=rlcc gate%3A budget::", ran.said, re.MULTILINE)


def test_the_action_cannot_run_without_a_firmware_and_says_why(tmp_path: Path) -> None:
    ran = run_action(tmp_path, budget="1 us")
    assert (ran.code, ran.outputs["verdict"]) == (2, "")
    assert "::error title=rlcc" in ran.said
    assert not (tmp_path / PATHS["json"]).exists()
