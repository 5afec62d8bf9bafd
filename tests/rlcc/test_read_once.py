"""Every file of a folder is read once: what was hashed is what is judged, whatever the folder becomes meanwhile.

Slow: more rounds of a second process that swaps the folder all the time.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from codegen.differences import differences
from decision.artefact import manifest, output
from decision.artefact.errors import InputError
from decision.artefact.folder import Folder
from decision.artefact.manifest import Opened, opened, sha256
from decision.ir.forest import oblivious
from decision.policy.deciders import load_decider
from decision.policy.input_layout import InputLayout
from decision.policy.policy import Policy
from decision.policy.student import NAME, load_student
from emulator.firmware_folder import read_firmware
from rlcc import cli
from rlcc.gate import gate
from rlcc.gate.emission_check import emitted
from teachers.load import load, load_with_layout
from teachers.teacher import Teacher
from verify.check.boundary import checked
from verify.trusted.certificate import read_certificate

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def copy(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "copy"))


def vanishing(folders: list[Path]) -> Callable[[Path, str], Opened]:
    """``opened``, after which the folder is not there any more; a second look finds what the first found."""
    seen: dict[Path, Opened] = {}

    def open_and_remove(folder: Path, kind: str) -> Opened:
        if folder not in seen:
            seen[folder] = opened(folder, kind)
            shutil.rmtree(folder)
            folders.append(folder)
        return seen[folder]

    return open_and_remove


@pytest.mark.slow_except("gate", "check", "cycles", "emulate", "evaluate")
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("rlcc.gate.gate", ("gate", "firmware", "--recipe", "good.toml", "--run-on-host", "--out", "verdict")),
        ("rlcc.gate.emission_check", ("emulate", "firmware")),
        ("rlcc.gate.emission_check", ("cycles", "firmware")),
        (
            "rlcc.gate.emission_check",
            ("verify", "firmware", "--teacher", "teacher", "--properties", "all", "--out", "c.json"),
        ),
        ("rlcc.gate.emission_check", ("verify", "firmware", "--check", "certificate/certificate.json")),
        ("rlcc.gate.emission_check", ("verify", "firmware", "--bound")),
        ("rlcc.gate.emission_check", ("evaluate", "firmware", "--scenario", "many-to-one:2", "--duration", "2 ms")),
    ],
    ids=["gate", "emulate", "cycles", "prove", "check", "bound", "evaluate"],
)
def test_a_command_reads_nothing_of_a_folder_after_it_was_hashed(
    module: str, arguments: tuple[str, ...], copy: Path, rlcc: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[Path] = []
    teachers: list[Path | str] = []

    def read_teacher(path: Path | str, policy: Path | Policy | None = None) -> tuple[Teacher, InputLayout]:
        teachers.append(path)
        return load_with_layout(path, policy)

    monkeypatch.chdir(copy)
    monkeypatch.setattr(f"{module}.opened", vanishing(gone))
    monkeypatch.setattr(import_module("teachers.load"), "load_with_layout", read_teacher)
    code, said, error = rlcc(*arguments)
    assert (code, gone) == (0, [Path("firmware")]), said + error
    assert not (copy / "firmware").exists()
    assert len(teachers) == (arguments[0] == "gate" or "--teacher" in arguments)


@pytest.mark.slow
def test_the_checkers_process_gets_the_bytes(copy: Path) -> None:
    artefact = opened(copy / "firmware", "firmware")
    shutil.rmtree(copy / "firmware")
    certificate = read_certificate(copy / "certificate/certificate.json")
    assert checked(certificate, artefact).bound == certificate.claims.worst_case.bound


def test_an_attestation_is_of_the_bytes_that_were_hashed(copy: Path) -> None:
    from rlcc.attestation import statement

    artefact = opened(copy / "firmware", "firmware")
    shutil.rmtree(copy / "firmware")
    subject = statement(artefact, read_certificate(copy / "certificate/certificate.json"))["subject"]
    digests = {one["name"]: one["digest"]["sha256"] for one in subject}
    assert digests == {name: sha256(content) for name, content in artefact.contents.items()}


# --- a folder that is swapped for another, and back ------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(good: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two firmware folders, ``firmware`` and ``other``: the second raises the rate by 20 % in 40 values."""
    root = tmp_path_factory.mktemp("pair")
    shutil.copytree(good / "firmware", root / "firmware")
    student = load_student(good / "student" / NAME)
    now = student.forest.features.index("congestion_q20")
    tree = oblivious(((now, 9_000_000), (now, 9_000_040)), (0, 24_000, 0, 0))
    forest = replace(student.forest, trees=(*student.forest.trees, tree))
    with output.writing(root / "student", "student", parents={"teacher": student.teacher}) as work:
        replace(student, forest=forest).save(work)
    assert cli.main(["emit", str(root / "student"), "--target", "generic", "--out", str(root / "other")]) == 0
    return root


def swap(root: Path) -> None:
    """Each takes the other's place."""
    (root / "firmware").rename(root / "aside")
    (root / "other").rename(root / "firmware")
    (root / "aside").rename(root / "other")


@pytest.fixture
def hashes(pair: Path) -> Iterator[dict[str, str]]:
    """The hash of each student.json by that of its folder; both folders are in their places afterwards."""
    before = {name: opened(pair / name, "firmware") for name in ("firmware", "other")}
    yield {one.hash: one.files[NAME] for one in before.values()}
    if opened(pair / "firmware", "firmware").hash != before["firmware"].hash:
        swap(pair)


def consistent(artefact: Opened, hashes: dict[str, str]) -> None:
    """All that is judged of it is of one folder, that of its hash."""
    assert artefact.files[NAME] == hashes[artefact.hash]
    assert {name: sha256(artefact.contents[name]) for name in artefact.files} == artefact.files
    firmware = read_firmware(artefact)
    assert all(sha256(text) == artefact.files[name] for name, text in firmware.sources.texts.items())
    assert load_decider(artefact).program() == firmware.program
    assert differences(artefact) == []


@pytest.mark.slow
def test_a_swap_before_any_file_is_read_and_back_changes_nothing_that_is_judged(
    pair: Path, hashes: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = len(opened(pair / "firmware", "firmware").contents)
    outcomes = []
    for at in range(files):
        count, read = [0], Folder.read

        def reading(
            self: Folder, name: str, limit: int, *, at: int = at, count: Any = count, read: Any = read
        ) -> bytes:
            count[0] += 1
            if count[0] - 1 in (at, at + 1):
                swap(pair)
            return read(self, name, limit)

        with monkeypatch.context() as patch:
            patch.setattr(Folder, "read", reading)
            artefact = emitted(pair / "firmware", foreign=False)
        if at == files - 1:
            swap(pair)
        outcomes.append(artefact.hash)
        consistent(artefact, hashes)
    assert len(outcomes) == files


FLIP = """
import os, sys
os.chdir(sys.argv[1])
print("ready", flush=True)
while True:
    os.rename("firmware", "aside"); os.rename("other", "firmware"); os.rename("aside", "other")
"""


@pytest.mark.slow_except("10")
@pytest.mark.parametrize("rounds", [10, 40])
def test_a_second_process_that_swaps_the_folder_all_the_time_is_refused_or_judged_by_what_was_hashed(
    rounds: int, pair: Path, hashes: dict[str, str]
) -> None:
    flipping = subprocess.Popen([sys.executable, "-c", FLIP, str(pair)], stdout=subprocess.PIPE)
    judged, refused = 0, 0
    try:
        assert flipping.stdout is not None
        flipping.stdout.readline()
        for _ in range(rounds):
            try:
                artefact = emitted(pair / "firmware", foreign=False)
            except InputError:
                refused += 1
                continue
            consistent(artefact, hashes)
            judged += 1
    finally:
        flipping.kill()
        flipping.wait()
        if (pair / "aside").exists():  # killed between two renames
            place = "other" if (pair / "firmware").exists() else "firmware"
            (pair / "aside").rename(pair / place)
    assert judged + refused == rounds
    consistent(emitted(pair / "firmware", foreign=False), hashes)  # left alone, it is judged


def test_the_gate_judges_what_it_has_hashed_though_a_backdoor_took_its_place(
    pair: Path, hashes: dict[str, str], good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is the other one from the moment on that it was opened until it is looked at for the last time."""
    seen: list[Opened] = []

    def open_and_swap(folder: Path, kind: str) -> Opened:
        if seen:
            swap(pair)
            return opened(folder, kind)
        seen.append(opened(folder, kind))
        swap(pair)
        return seen[0]

    monkeypatch.setattr(gate, "opened", open_and_swap)
    built: list[Any] = []
    monkeypatch.setattr(gate, "build_firmware", lambda firmware, tools: built.append(firmware) or _Stop.stop())
    with pytest.raises(_Stop):
        gate.judge(pair / "firmware", good / "teacher", gate.EmulateOptions(), gate.GateOptions(budget="20 us"))
    consistent(built[0].manifest, hashes)
    assert built[0].manifest is seen[0]


class _Stop(Exception):
    @staticmethod
    def stop() -> None:
        raise _Stop


def test_a_teacher_is_what_its_manifest_was_held_to(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone: list[Path] = []
    expected = load(copy / "teacher").hash
    monkeypatch.setattr(manifest, "opened", vanishing(gone))
    assert load(copy / "teacher").hash == expected
    assert gone == [copy / "teacher"]
