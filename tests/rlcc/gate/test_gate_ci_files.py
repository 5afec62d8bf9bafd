"""The action, the hooks and the example repository: their scripts run as written, and name only what there is."""

import importlib
import os
import re
import shlex
import subprocess
import textwrap
from pathlib import Path

import click
import pytest

from rlcc import cli
from rlcc.recipe import load_recipe

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "docs/example-firmware"
ACTION, HOOKS = ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"
YAML = [ACTION, HOOKS, EXAMPLE / ".pre-commit-config.yaml", EXAMPLE / ".github/workflows/firmware.yml"]


def options_of(command: str) -> set[str]:
    parameters = importlib.import_module(f"rlcc.commands.{command}").command.params
    return {option for p in parameters if isinstance(p, click.Option) for option in p.opts}


def judge_script() -> str:
    """The action's last script, as GitHub would write it to a file."""
    text = ACTION.read_text()
    return textwrap.dedent(text[text.rindex("      run: |\n") + len("      run: |\n") :])


def run_action(
    tmp_path: Path, code: int = 0, stated: str = "PASS", **inputs: str
) -> tuple[int, list[str], dict[str, str]]:
    """The script with an rlcc that writes down its arguments, and a verdict that states this: exit code, arguments,
    outputs."""
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin/rlcc"
    verdict = f'mkdir -p verdict && echo \'{{"verdict": "{stated}"}}\' > verdict/verdict.json'
    stub.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/arguments"\n{verdict}\nexit {code}\n')
    stub.chmod(0o755)
    declared = re.findall(r"^        (RLCC_[A-Z_]+): ", ACTION.read_text(), re.MULTILINE)
    environment = dict.fromkeys(declared, "") | {f"RLCC_{name.upper()}": value for name, value in inputs.items()}
    environment |= {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(tmp_path / "outputs")}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", judge_script()]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    outputs = dict(line.split("=", 1) for line in (tmp_path / "outputs").read_text().splitlines())
    return done.returncode, (tmp_path / "arguments").read_text().splitlines(), outputs


GIVEN = {"firmware": "firmware", "teacher": "teacher", "out": "verdict", "sarif": "gate.sarif"}


@pytest.mark.parametrize("quick", ["true", "false", ""])
@pytest.mark.parametrize(("code", "outcome"), [(0, "PASS"), (1, "FAIL"), (2, ""), (130, "")])
def test_the_action_tells_the_gates_exit_code(tmp_path: Path, code: int, outcome: str, quick: str) -> None:
    asked = ["--quick"] if quick == "true" else []
    outcome = f"QUICK {outcome}" if asked and outcome == "PASS" else outcome
    found, arguments, outputs = run_action(tmp_path, code, outcome, **GIVEN, quick=quick)
    assert found == code
    given = ["--out", "verdict", "--sarif", "gate.sarif", "--teacher", "teacher", *asked]
    assert arguments == ["gate", *given, "--", "firmware"]
    assert outputs == {"verdict": outcome, "json": "verdict/verdict.json", "sarif": "gate.sarif"}


def test_the_action_passes_every_input_as_it_is(tmp_path: Path) -> None:
    """Quotes, dollars and line breaks of an input are text, never code."""
    odd = "a b'\"; $(touch pwned) `touch pwned`"
    more = "--scenario\nmany-to-one:8\n\n--seed\n7\n" + odd
    _, arguments, _ = run_action(
        tmp_path, **GIVEN | {"firmware": f"-{odd}", "budget": "0.9us", "max_regression": "5 %", "arguments": more}
    )
    assert arguments[-2:] == ["--", f"-{odd}"]
    assert arguments[7:] == [
        *("--budget", "0.9us", "--max-regression", "5 %", "--scenario", "many-to-one:8", "--seed", "7", odd),
        *("--", f"-{odd}"),
    ]
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("given", "teacher"),
    [
        ({}, ["--teacher", "teacher"]),
        ({"recipe": "recipe.toml"}, ["--recipe", "recipe.toml"]),
        ({"recipe": "recipe.toml", "teacher": "other"}, ["--teacher", "other", "--recipe", "recipe.toml"]),
    ],
)
def test_the_recipes_teacher_holds_where_no_other_is_given(
    tmp_path: Path, given: dict[str, str], teacher: list[str]
) -> None:
    default = re.findall(r"^  teacher:\n.*\n    default: (\S+)$", ACTION.read_text(), re.MULTILINE)[0].strip('"')
    _, arguments, _ = run_action(tmp_path, **GIVEN | {"teacher": default} | given)
    assert arguments[5:-2] == teacher


def test_no_input_stands_in_a_script() -> None:
    for path in (ACTION, EXAMPLE / ".github/workflows/firmware.yml"):
        for script in re.findall(r"run: (?:\|\n((?:\s{8,}.*\n)+)|(.*))", path.read_text()):
            assert "${{" not in "".join(script)


def test_every_input_is_handed_on_and_every_option_is_one() -> None:
    text = ACTION.read_text()
    declared = set(re.findall(r"^  ([a-z-]+):$", text.split("\noutputs:")[0].split("inputs:")[1], re.MULTILINE))
    used = set(re.findall(r"inputs\.([a-z-]+)", text))
    assert declared == used
    handed = set(re.findall(r"\$RLCC_([A-Z_]+)", judge_script()))
    assert {f"RLCC_{name}" for name in handed} == set(re.findall(r"^        (RLCC_[A-Z_]+): ", text, re.MULTILINE))
    assert set(re.findall(r"(--[a-z-]+) \"", judge_script())) <= options_of("gate")
    documented = {name for row in re.findall(r"^\| (`[^|]*) \|", (ROOT / "docs/how-to/ci.md").read_text(), re.MULTILINE)
                  for name in re.findall(r"`([a-z-]+)`", row)}  # fmt: skip
    assert declared <= documented


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_the_yaml_is_plain(path: Path) -> None:
    """Two spaces a level, no tabs, no key twice in a mapping: what every parser reads alike."""
    seen: dict[int, set[str]] = {}
    block: int | None = None
    for line in path.read_text().splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if block is not None and indent > block:
            continue
        block = None
        assert "\t" not in line
        assert indent % 2 == 0, line
        item = line.lstrip().startswith("- ")
        level = indent + 2 if item else indent
        seen = {at: keys for at, keys in seen.items() if at < level or (at == level and not item)}
        key = re.match(r"\s*(?:- )?([\w-]+):( |$)", line)
        if key:
            assert key[1] not in seen.setdefault(level, set()), line
            seen[level].add(key[1])
        if line.endswith(": |"):
            block = level


def commands_in(path: Path) -> list[list[str]]:
    """Every `rlcc ...` of a page, a Makefile, a workflow."""
    text = path.read_text().replace("\\\n", " ")
    return [shlex.split(line) for line in re.findall(r"^[ \t]+(rlcc [^\n#]+)$", text, re.MULTILINE)]


def test_commands_in_the_examples_makefile_are_those_there_are() -> None:
    """Those of its pages tests/rlcc/test_doc_commands.py runs."""
    found = commands_in(EXAMPLE / "Makefile")
    assert found
    for _, command, *arguments in found:
        assert command in cli.COMMANDS
        importlib.import_module(f"rlcc.commands.{command}").command.make_context(command, list(arguments))


def test_the_hooks_of_the_example_are_ours_and_parse() -> None:
    hooks = re.findall(r"- id: (\S+)", HOOKS.read_text())
    used = re.findall(r"- id: (\S+)\n\s+args: \[(.*)\]", (EXAMPLE / ".pre-commit-config.yaml").read_text())
    assert used
    for hook, arguments in used:
        assert hook in hooks
        command = importlib.import_module("rlcc.commands.gate").command
        command.make_context("gate", [argument.strip() for argument in arguments.split(",")])


def test_the_inputs_of_the_examples_workflow_are_the_actions() -> None:
    workflow = (EXAMPLE / ".github/workflows/firmware.yml").read_text()
    given = re.search(r"id: gate\n        with:\n((?:          .*\n)+)", workflow)
    assert given is not None
    names = re.findall(r"^          ([a-z-]+):", given[1], re.MULTILINE)
    assert names
    for name in names:
        assert f"\n  {name}:\n" in ACTION.read_text()
    outputs = set(re.findall(r"steps\.gate\.outputs\.(\w+)", workflow))
    assert outputs
    assert all(f"\n  {name}:\n" in ACTION.read_text().split("\noutputs:")[1] for name in outputs)


def test_the_example_names_its_files_and_its_recipe_loads() -> None:
    readme = (EXAMPLE / "README.md").read_text()
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and path.name not in ("README.md", ".gitignore"):
            assert str(path.relative_to(EXAMPLE)) in readme
    assert load_recipe(EXAMPLE / "recipe.toml").gate.sizes.context == 48


def test_the_examples_steps_run_one_after_the_other(tmp_path: Path) -> None:
    """In a repository that has only the teacher and the student, with an rlcc that writes what is asked."""
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin/rlcc"
    stub.write_text("#!/bin/sh\nmkdir -p verdict && echo {} > verdict/verdict.json\n")
    stub.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    for step in ("firmware", "reference", "gate"):
        command = ["make", "-f", str(EXAMPLE / "Makefile"), step]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "reference/verdict.json").is_file()
