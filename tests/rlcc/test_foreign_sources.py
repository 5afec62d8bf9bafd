"""No compiler sees C that is not as rlcc emits it, in any command, unless it was asked for in so many words."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlcc import cli, core_policy

COMMANDS: dict[str, tuple[str, ...]] = {
    "emulate": ("emulate", "FIRMWARE"),
    "cycles": ("cycles", "FIRMWARE"),
    "verify": ("verify", "FIRMWARE"),
    "verify --check": ("verify", "FIRMWARE", "--check", "CERTIFICATE"),
    "evaluate": ("evaluate", "dcqcn", "x=FIRMWARE@0.9us", "--scenario", "many-to-one:2", "--duration", "1 ms"),
    "evaluate, the time not said": ("evaluate", "FIRMWARE", "--scenario", "many-to-one:2", "--duration", "1 ms"),
    "evaluate on a core": ("evaluate", "FIRMWARE@ibex-small", "--scenario", "many-to-one:2", "--duration", "1 ms"),
}


class CompilerStarted(Exception):
    """What this page is about happened."""


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever compiles or runs anything is found out; compilers may say their version."""
    real = subprocess.run

    def run(command: list[str], **options: Any) -> Any:
        if command[-1] != "--version":
            raise CompilerStarted(command)
        return real(command, **options)

    def apart(*given: Any, **options: Any) -> Any:
        raise CompilerStarted("in the checker's own process")

    core_policy._fast.cache_clear()  # what an earlier test of this process compiled
    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr("verify.check.boundary.get_context", apart)  # of the process in which it compiles


def slower(folder: Path) -> None:
    """Other C of the same meaning: neither vectors nor hashes tell."""
    text = (folder / "rlcc_policy.c").read_text()
    (folder / "rlcc_policy.c").write_text(
        text.replace("uint32_t rlcc_decide(", "/* faster */ uint32_t rlcc_decide(", 1)
    )


@pytest.fixture
def foreign(good: Path, tmp_path: Path, resealed: Any) -> Path:
    """A firmware folder whose manifest is right and whose C is somebody else's."""
    made: Path = resealed(good / "firmware", tmp_path / "foreign", slower)
    return made


def arguments(command: str, firmware: Path, good: Path) -> list[str]:
    places = {"FIRMWARE": str(firmware), "CERTIFICATE": str(good / "certificate/certificate.json")}
    found = list(COMMANDS[command])
    for name, place in places.items():
        found = [argument.replace(name, place) for argument in found]
    return found


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("command", list(COMMANDS))
def test_foreign_c_is_refused_before_a_compiler_starts(
    command: str, good: Path, foreign: Path, refused: Callable[..., str]
) -> None:
    told = refused(*arguments(command, foreign, good))
    assert ": rlcc_policy.c; " in told
    assert "--foreign-sources" in told


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("command", list(COMMANDS))
@pytest.mark.parametrize("whose", ["foreign", "ours"])
def test_a_compiler_starts_where_it_was_asked_for_and_where_the_c_is_ours(
    whose: str, command: str, good: Path, foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same commands without the refusal: so the page above can fail."""
    folder, more = (foreign, ["--foreign-sources"]) if whose == "foreign" else (good / "firmware", [])
    assert cli.main([*arguments(command, folder, good), *more]) == 2
    assert "CompilerStarted" in capsys.readouterr().err


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("command", list(COMMANDS))
def test_the_commands_ask_where_they_say_that_they_do(
    command: str, good: Path, foreign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the question taken out, foreign C is compiled: it is this question that keeps it out, not another."""
    monkeypatch.setattr("rlcc.gate.emission_check.differences", lambda *_: [])
    assert cli.main(arguments(command, foreign, good)) == 2
    assert "CompilerStarted" in capsys.readouterr().err


def test_foreign_c_that_is_plain_runs_and_smuggled_assembly_does_not(
    foreign: Path, tmp_path: Path, resealed: Any, refused: Callable[..., str]
) -> None:
    assert cli.main(["emulate", str(foreign), "--foreign-sources"]) == 0

    def smuggle(folder: Path) -> None:
        with (folder / "rlcc_policy.c").open("ab") as file:
            file.write(b'_\\\r_asm__(".inc" "bin \\"/etc/hostname\\"");\n')

    told = refused("emulate", resealed(foreign, tmp_path / "smuggled", smuggle), "--foreign-sources")
    assert "the byte 0x0d" in told


def test_a_folder_without_a_student_says_what_else_can_be_done(
    good: Path, tmp_path: Path, resealed: Any, refused: Callable[..., str]
) -> None:
    firmware = resealed(good / "firmware", tmp_path / "bare", lambda folder: (folder / "student.json").unlink())
    told = refused("emulate", firmware)
    assert "student.json" in told
    assert "--foreign-sources" in told
    assert "--foreign-sources" not in refused("emulate", tmp_path)
