"""Help, completion and refused arguments import the standard library, click and names: nothing that computes."""

import importlib
import inspect
import json
import os
import subprocess
import sys

import click
import pytest

from rlcc import cli

REFUSED = {
    "no such option": ["emit", "student", "--no-such-option"],
    "no argument": ["cycles"],
    "no value": ["gate", "firmware", "--recipe"],
    "no choice": ["emulate", "firmware", "--compiler", "cc"],
    "out of range": ["distill", "teacher", "rollouts", "--out", "student", "--trees", "0"],
    "no unit": ["gate", "firmware", "--budget", "9"],
    "no share": ["verify", "firmware", "--around", "20"],
    "no command": ["emits"],
    "no number": ["train", "recipe", "--out", "teacher", "--jobs", "many"],
    "an old name": ["emit", "student", "--out", "firmware", "--without", "idle"],
}
ALLOWED = {"click", "rlcc", "decision", "netsim", "codegen"}
"""Packages that may be imported besides the standard library."""
LOADED = """
import importlib.util, json, sys
from rlcc.cli import main
start = set(sys.modules)
answers = []
for arguments in json.load(sys.stdin):
    sys.stdout = sys.stderr
    answers.append((main(arguments), sorted(sys.modules)))
    for name in set(sys.modules) - start:
        del sys.modules[name]
json.dump(answers, sys.__stdout__)
"""


def packages(modules: list[str]) -> set[str]:
    """Returns top-level packages outside the standard library that were not there when Python started."""
    there = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    return {name for name in there if not name.startswith(("_", "sitecustomize"))}


def loaded(commands: list[list[str]], environment: dict[str, str] | None = None) -> list[tuple[int, list[str]]]:
    """Returns exit code and modules of each command, run one after the other in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        input=json.dumps(commands),
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        check=True,
    )
    return [(code, modules) for code, modules in json.loads(done.stdout)]


def options_of(name: str) -> click.Command:
    command = importlib.import_module(f"rlcc.commands.{name}").command
    assert isinstance(command, click.Command)
    return command


def test_help_of_every_command_imports_names_only() -> None:
    asked = [["--version"], ["--help"], *([name, "--help"] for name in cli.COMMANDS)]
    for arguments, (code, modules) in zip(asked, loaded(asked), strict=True):
        assert code == 0, arguments
        assert packages(modules) <= ALLOWED, arguments
        assert not [name for name in modules if name.startswith("rlcc.handlers")], arguments
        assert (f"rlcc.commands.{arguments[0]}" in modules) == (arguments[0] in cli.COMMANDS), arguments


def test_a_refused_argument_imports_names_only() -> None:
    for reason, (code, modules) in zip(REFUSED, loaded(list(REFUSED.values())), strict=True):
        assert code == cli.COULD_NOT_RUN, reason
        assert packages(modules) <= ALLOWED, reason


@pytest.mark.parametrize(("words", "word"), [("rlcc g", 1), ("rlcc gate --max-", 2), ("rlcc verify fw --solver b", 4)])
def test_completion_imports_names_only(words: str, word: int) -> None:
    program = (
        "import sys\nfrom rlcc.cli import main\ntry:\n    main([])\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    environment = {"_RLCC_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(word)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.count("plain,") >= 1
    assert packages(done.stderr.split()) <= ALLOWED


def test_an_imported_handler_is_found() -> None:
    ((code, modules),) = loaded([["check", "fixtures/teachers/no-such-teacher"]])
    assert code == cli.COULD_NOT_RUN
    assert packages(modules) - ALLOWED >= {"numpy", "pydantic"}
    assert "rlcc.handlers.check" in modules


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_a_handler_takes_the_options_of_its_command(name: str) -> None:
    handle = importlib.import_module(f"rlcc.handlers.{name}").handle
    signature = inspect.signature(handle)
    options = [option.name for option in options_of(name).params if option.expose_value]
    signature.bind(**{str(option): None for option in options if option not in ("where", "jobs")})
