"""Errors become exit codes in one place, and nothing heavy is imported for a command that does not need it.

Slow: further light commands.
"""

import json
import os
import subprocess
import sys
import sysconfig
import types
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from decision.artefact.errors import InputError
from rlcc import cli

HEAVY = {"torch", "catboost", "sklearn", "matplotlib", "pandas", "optuna"}
# Stages that must start fast and run where PyTorch is not installed.
LIGHT_COMMANDS = {"doctor", "emit", "emulate", "gate"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run a command `probe` with the given body through main(); exit code and stderr."""

    def run_body(body: Callable[[], object], *options: str) -> tuple[int, str]:
        module = types.ModuleType("rlcc.commands.probe")
        module.command = click.command("probe")(body)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "rlcc.commands.probe", module)
        monkeypatch.setitem(cli.COMMANDS, "probe", "A probe.")
        code = cli.main([*options, "probe"])
        return code, capsys.readouterr().err

    return run_body


def raising(error: BaseException) -> Callable[[], object]:
    def body() -> None:
        raise error

    return body


def test_input_error_is_one_sentence_and_exit_2(run):
    assert run(raising(InputError("policy.toml: no unit"))) == (2, "error: policy.toml: no unit\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_interrupt_is_one_line_and_exit_130(run, error):
    code, err = run(raising(error))
    assert (code, err.strip()) == (130, "interrupted")  # click ends the terminal's "^C" line first


def test_unexpected_error_is_one_line_that_names_the_way_to_the_traceback(run):
    code, err = run(raising(KeyError("a\nb")))
    assert code == 2
    assert err.count("\n") == 1
    assert "unexpected KeyError" in err
    assert "rlcc --debug probe" in err


def test_debug_shows_the_traceback(run):
    code, err = run(raising(ValueError("wrong")), "--debug")
    assert code == 2
    assert "Traceback (most recent" in err
    assert err.endswith("shows where)\n")


def test_a_missing_package_names_the_extra_that_brings_it(run):
    code, err = run(raising(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")))
    assert code == 2
    assert err.startswith("error: torch ")
    assert "pip install 'rlcc[train]' " in err
    assert err.count("\n") == 1


def test_other_missing_module_is_unexpected(run):
    assert "unexpected ModuleNotFoundError" in run(raising(ModuleNotFoundError("no x", name="x")))[1]


def test_click_errors_exit_2_because_1_means_fail(run):
    # click's own code for this error is 1
    assert run(raising(click.FileError("x.json", "cannot open")))[0] == 2


@pytest.mark.parametrize("code", [0, 1, 2])
def test_a_command_returns_its_exit_code(run, code):
    assert run(lambda: code) == (code, "")


def test_context_exit_keeps_its_code(run):
    assert run(lambda: click.get_current_context().exit(1))[0] == 1


def test_nothing_returned_is_success(run):
    assert run(lambda: None)[0] == 0


@pytest.mark.parametrize("arguments", [["no-such-command"], ["doctor", "--no-such-option"], ["--no-such-option"], []])
def test_usage_errors_exit_2(arguments, capsys):
    assert cli.main(arguments) == 2
    assert "Usage: rlcc" in capsys.readouterr().err


def test_help_names_every_command(capsys):
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, summary in cli.COMMANDS.items():
        assert name in out
        assert summary in out


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"rlcc, version {cli.__version__}\n"


@pytest.mark.parametrize(("line", "offered"), [("rlcc ver", "verify"), ("rlcc gate --max-cod", "--max-code")])
def test_bash_completes_commands_and_options_by_the_line_of_the_docs(line, offered):
    """The script that docs/how-to/install.md evaluates, asked by a real bash for what stands behind the cursor."""
    scripts = sysconfig.get_path("scripts")
    assert "_RLCC_COMPLETE=bash_source rlcc" in (Path(__file__).parents[2] / "docs/how-to/install.md").read_text()
    words = line.split()
    shell = (
        'eval "$(_RLCC_COMPLETE=bash_source rlcc)"; complete -p rlcc >/dev/null || exit 3; '
        f'COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _rlcc_completion rlcc; echo "${{COMPREPLY[@]}}"'
    )
    environment = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "--norc", "-c", shell], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [offered], done.stderr


def test_broken_pipe_is_silent():
    program = "from rlcc.cli import main; raise SystemExit(main(['doctor']))"
    shell = f'{sys.executable} -c "{program}" | true'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def modules_after(statement: str) -> set[str]:
    program = f"import json, sys\n{statement}\njson.dump(sorted(sys.modules), sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


@pytest.mark.slow_except("emit", "gate")
@pytest.mark.parametrize("name", sorted(LIGHT_COMMANDS & set(cli.COMMANDS)))
def test_light_commands_import_no_training_package_at_all(name):
    loaded = modules_after(f"import rlcc.handlers.{name}")
    assert not loaded & HEAVY
