"""Judges of a forgery: commands of rlcc, called in this process as the command line calls them.

An answer is "accepted" (exit code 0), "refused" (1, 2), or "crashed": a traceback, a sentence about a defect in rlcc,
or no end. ``memory`` says what is remembered between calls; ``in_a_process`` asks the installed command line for the
same answer without it.
"""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from rlcc import cli

Words = list[str | Path]
"""A command line."""
Outcome = Literal["accepted", "refused", "crashed"]
PATIENCE_S = 300
"""Seconds of one judgement by the clock; a judge that takes longer has no end."""
DEFECT = re.compile(r"a defect in rlcc|Traceback \(most recent call last\)")
SAID = 600
"""Characters of an answer that are kept."""


class NoEnd(BaseException):
    """A judge that did not answer; no handler of errors catches it."""


@dataclass(frozen=True)
class Files:
    """Files of a subject's documents: a folder that holds one set of them, true or forged."""

    root: Path

    @property
    def firmware(self) -> Path:
        return self.root / "firmware"

    @property
    def certificate(self) -> Path:
        return self.root / "certificate" / "certificate.json"

    @property
    def student(self) -> Path:
        return self.root / "student"

    @property
    def teacher(self) -> Path:
        return self.root / "teacher"

    @property
    def recipe(self) -> Path:
        return self.root / "recipe.toml"

    @property
    def verdict(self) -> Path:
        return self.root / "verdict" / "verdict.json"

    @property
    def attestation(self) -> Path:
        return self.root / "attestation.json"

    @property
    def key(self) -> Path:
        return self.root / "signer.pem"

    @property
    def public_key(self) -> Path:
        return self.root / "signer.pub"


@dataclass(frozen=True)
class JudgeAnswer:
    """Answer of a judge. ``rows``: a verdict's checks by id, where there is one."""

    judge: str
    outcome: Outcome
    said: str
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)


def commanded(judge: str, arguments: Sequence[str | Path]) -> JudgeAnswer:
    """The answer of a command of rlcc."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with patient(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main([str(a) for a in arguments])
    except NoEnd as error:
        return JudgeAnswer(judge, "crashed", str(error))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return JudgeAnswer(judge, "crashed", traceback.format_exc()[-SAID:])
    return _answer(judge, code, out.getvalue() + err.getvalue())


def _answer(judge: str, code: int, text: str) -> JudgeAnswer:
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    outcome: Outcome = "crashed" if DEFECT.search(text) or code not in (0, 1, 2) else "refused" if code else "accepted"
    return JudgeAnswer(judge, outcome, " ".join(text.split())[-SAID:])


def read(judge: str, reader: Callable[[], object]) -> JudgeAnswer:
    """The answer of a reader: accepted unless it raises InputError, or returns False."""
    try:
        with patient():
            found = reader()
    except InputError as error:
        return JudgeAnswer(judge, "refused", str(error)[-SAID:])
    except NoEnd as error:
        return JudgeAnswer(judge, "crashed", str(error))
    except Exception:
        return JudgeAnswer(judge, "crashed", traceback.format_exc()[-SAID:])
    return JudgeAnswer(judge, "refused" if found is False else "accepted", str(found)[:SAID])


@contextlib.contextmanager
def patient() -> Iterator[None]:
    """NoEnd after a time."""

    def stop(*_: object) -> None:
        raise NoEnd(f"no answer after {PATIENCE_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# --- the judges ------------------------------------------------------------------------------------------------------


def check(files: Files) -> JudgeAnswer:
    """`rlcc verify --check`, of C as rlcc emits it."""
    return commanded("check", check_command(files))


def check_foreign(files: Files) -> JudgeAnswer:
    """`rlcc verify --check --foreign-sources`: of any C."""
    return commanded("check, foreign", foreign_command(files))


def check_command(files: Files) -> Words:
    teacher: Words = ["--teacher", files.teacher] if _speaks_of_a_teacher(files.certificate) else []
    return ["verify", files.firmware, "--check", files.certificate, *teacher]


def foreign_command(files: Files) -> Words:
    return [*check_command(files), "--foreign-sources"]


def _speaks_of_a_teacher(certificate: Path) -> bool:
    with contextlib.suppress(Exception):
        return load_json(certificate).get("teacher") is not None
    return False


def gate(files: Files) -> JudgeAnswer:
    """`rlcc gate`, with the signed attestation where there is one."""
    signed: Words = (
        ["--attestation", files.attestation, "--key", files.public_key] if files.attestation.is_file() else []
    )
    return _gated("gate", [*gate_command(files), *signed], files)


def gate_unsigned(files: Files) -> JudgeAnswer:
    """`rlcc gate` of a folder that nobody signed."""
    return _gated("gate, unsigned", gate_command(files), files)


def gate_command(files: Files) -> Words:
    limits: Words = ["--recipe", files.recipe] if files.recipe.exists() else ["--budget", "20 us"]
    if not files.recipe.exists() and not files.certificate.exists():  # a recipe says so itself
        limits.append("--no-certificate")
    return ["gate", files.firmware, *limits, "--out", files.root / "gated"]


def _gated(judge: str, command: Sequence[str | Path], files: Files) -> JudgeAnswer:
    answer = commanded(judge, command)
    return JudgeAnswer(answer.judge, answer.outcome, answer.said, _rows(files.root / "gated" / "verdict.json"))


def _rows(verdict: Path) -> dict[str, dict[str, Any]]:
    with contextlib.suppress(OSError, ValueError, KeyError):
        checks = json.loads(verdict.read_bytes())["checks"]
        return {row["id"]: row for row in checks}
    return {}


def failed(answer: JudgeAnswer) -> list[str]:
    """Names of the rows that do not pass."""
    return [name for name, row in answer.rows.items() if not row["passed"]]


def attest(files: Files) -> JudgeAnswer:
    """`rlcc attest`: does it sign?"""
    command: Words = ["attest", files.firmware, "--certificate", files.certificate, "--key", files.key]
    command += ["--teacher", files.teacher] if files.teacher.is_dir() else []
    return commanded("attest", [*command, "--out", files.root / "signed.json"])


def attestation(files: Files) -> JudgeAnswer:
    """The gate's row on an attestation."""
    from rlcc.attestation import attested

    def row() -> object:
        found = attested(files.firmware, files.certificate, files.attestation, files.public_key)
        return found.passed and found.value

    return read("attestation", row)


def vouched(files: Files) -> JudgeAnswer:
    """`rlcc attest`, then `rlcc gate --attestation`: a forged certificate that someone signs unchecked."""
    answer = attest(files)
    if answer.outcome != "accepted":
        return JudgeAnswer("attest and gate", answer.outcome, answer.said)
    (files.root / "signed.json").replace(files.attestation)
    return replace(gate(files), judge="attest and gate")


FURTHER = (vouched,)
"""Judges that are asked only where the one before has accepted."""


def reference(files: Files) -> JudgeAnswer:
    """Returns the answer of `rlcc gate --reference` to an earlier verdict."""
    from rlcc.gate.reference import read_reference

    return read("reference", lambda: read_reference(files.verdict))


def recipe(files: Files) -> JudgeAnswer:
    """All that `rlcc run` and `rlcc gate` read of a recipe before they begin."""
    from rlcc.recipe import deployment_of, load_recipe, teacher_path

    def whole() -> object:
        loaded = load_recipe(files.recipe)
        teacher_path(loaded, files.recipe)
        deployment_of(loaded, files.recipe)
        loaded.emit.compiler()
        return loaded.emulate.toolchain().profile.name

    return read("recipe", whole)


def student(files: Files) -> JudgeAnswer:
    """Returns the answer of `rlcc emit` to a student folder."""
    from decision.artefact.manifest import opened
    from decision.policy.student import NAME, load_student

    def whole() -> object:
        opened(files.student, "student")
        load_student(files.student / NAME).params()
        return True

    return read("student", whole)


COMMANDS: Mapping[Callable[[Files], JudgeAnswer], Callable[[Files], Words]] = {
    check: check_command,
    check_foreign: foreign_command,
    gate_unsigned: gate_command,
}
"""Judges that are one command line each."""


def in_a_process(arguments: Sequence[str | Path], judge: str, cache: Path) -> JudgeAnswer:
    """The same command by the command line, in a process that remembers nothing of this one: with a cache of its
    own."""
    command = [sys.executable, "-m", "rlcc", *map(str, arguments)]
    environment = os.environ | {"XDG_CACHE_HOME": str(cache.resolve())}
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False, env=environment)
    return _answer(judge, done.returncode, done.stdout + done.stderr)
