"""`rlcc verify` from firmware to certificate and back: what it prints, writes and returns.

Slow: the same path on the other two engines.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator.profile import PROFILE_FOLDER
from rlcc.commands.verify import command
from tests.stage_output import figures
from verify.trusted.certificate import MEANS, content_hash

TREES = (oblivious(((0, 4376), (1, 37_000)), (-1949, 896, 1879, 2476)), oblivious(((1, 900),), (-700, 431)))


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trees over RL-CC's features."""
    folder = tmp_path_factory.mktemp("small")
    features = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]
    with writing(folder / "student", "student") as work:
        make_student(features, ACTIONS[0], TREES).save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return folder / "firmware"


def verify(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.output


@pytest.mark.slow_except("ibex-small")
@pytest.mark.parametrize("profile", ["ibex-small", "ibex-maxperf", "connectx6dx-proxy"])
def test_a_firmware_is_proved_certified_and_checked(firmware: Path, tmp_path: Path, profile: str) -> None:
    path = tmp_path / "certificate.json"
    code, output = verify(firmware, "--profile", profile, "--out", path)
    assert code == 0
    assert {"proved", "WCET"} <= figures(output, "verify").keys()
    written = json.loads(path.read_text())
    worst = written["claims"]["worst_case"]
    assert worst["exact"] == worst["rtl_cycles"] <= worst["bound"]
    assert written["engine"]["calibration"]["above"] == written["engine"]["calibration"]["below"] == 0
    assert str(tmp_path) not in path.read_text()
    assert (tmp_path / "certificate.queries.gz").is_file()
    code, output = verify(firmware, "--check", path)
    assert code == 0
    shown = figures(output, "verify")
    assert shown["stack"] == f"{written['claims']['stack_bytes']} B"
    assert shown["WCET"] == f"{worst['exact']} cycles exactly"
    assert shown["certificate"] == f"{written['hash'][:12]} holds"


@pytest.fixture(scope="module")
def shared_certificate(firmware: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The firmware's certificate, proved once. Tests that change it take a copy."""
    path = tmp_path_factory.mktemp("certified") / "certificate.json"
    assert verify(firmware, "--out", path)[0] == 0
    return path


@pytest.fixture
def certificate(shared_certificate: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(shared_certificate.parent, tmp_path / "certified") / shared_certificate.name


@pytest.mark.usefixtures("calibrated_anew")
def test_a_second_proof_writes_the_same_bytes(firmware: Path, certificate: Path, tmp_path: Path) -> None:
    path = tmp_path / "again" / "certificate.json"
    assert verify(firmware, "--out", path)[0] == 0
    assert path.read_bytes() == certificate.read_bytes()


def test_an_edited_certificate_is_bad_input(firmware: Path, certificate: Path) -> None:
    path = certificate
    path.write_text(path.read_text().replace('"safety": true', '"safety": true '))
    assert verify(firmware, "--check", path)[0] == 0  # the same content
    path.write_text(path.read_text().replace('"stack_bytes": 0', '"stack_bytes": 4'))
    with pytest.raises(InputError, match="changed after"):
        verify(firmware, "--check", path)


def test_another_folders_certificate_is_refused(certificate: Path, tmp_path: Path) -> None:
    with writing(tmp_path / "student", "student") as work:
        make_student([FEATURES["previous_action"], FEATURES["rl_cc_congestion"]], ACTIONS[0], TREES[:1]).save(work)
    emit(tmp_path / "student", tmp_path / "firmware", target="generic", seed=0)
    code, output = verify(tmp_path / "firmware", "--check", certificate)
    assert code == 1
    assert "for another firmware" in " ".join(output.split())


def test_a_wrong_policy_is_refuted_with_an_input(firmware: Path, tmp_path: Path) -> None:
    """The clamp to the least rate lost in the C, behind the manifest's back."""
    with writing(
        tmp_path / "wrong", "firmware", details=json.loads((firmware / "manifest.json").read_text())["details"]
    ) as work:
        for file in firmware.iterdir():
            if file.name != "manifest.json":
                text = file.read_text()
                if file.name == "rlcc_policy.c":
                    changed = text.replace("rate_raised_q30 < rate_max_q30", "rate_scaled_q30 < rate_max_q30")
                    assert changed != text
                    text = changed
                (work / file.name).write_text(text)
    code, output = verify(tmp_path / "wrong", "--foreign-sources", "--out", tmp_path / "certificate.json")
    assert code == 1
    assert "refuted" in output
    assert "input: event." in output or "input: context." in output
    assert "core: rate_q20=" in output
    assert "program: rate_q20=" in output
    assert not (tmp_path / "certificate.json").exists()


def test_compressed_instructions_are_refused_by_name(firmware: Path, tmp_path: Path) -> None:
    profile = tmp_path / "engine.toml"
    profile.write_text((PROFILE_FOLDER / "ibex-small.toml").read_text().replace('isa = "rv32im"', 'isa = "rv32imc"'))
    with pytest.raises(InputError, match="rv32imc"):
        verify(firmware, "--profile", profile)


def leaves(data: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value that is no table and no list."""
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [leaf for key, value in parts for leaf in leaves(value, (*place, key))] or [place]


def changed(data: Any, path: tuple[Any, ...]) -> Any:
    if not path:
        return f"{data}, another"
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = changed(copy[path[0]], path[1:])
    return copy


def test_the_hash_is_of_what_is_claimed_and_of_nothing_else(certificate: Path) -> None:
    """Another processor, version of a tool or witness changes no hash; another claim, program or image does."""
    content = json.loads(certificate.read_text())
    content["teacher"] = {"teacher": "t", "bound": 0.1, "reached": 0.05, "witness": {"x": 1}, "student": 0.2}
    means, stated = set(), set()
    for leaf in leaves(content):
        same = content_hash(changed(content, leaf)) == content_hash(content)
        (means if same else stated).add(".".join(str(key) for key in leaf if isinstance(key, str)))
    assert stated >= {
        *("format", "assumptions", "engine.profile.name", "engine.model", "engine.calibration.above"),
        *("subject.files.program", "subject.image", "subject.entry", "subject.compiler", "subject.flags"),
        *("claims.equality", "claims.safety", "claims.stack_bytes", "claims.worst_case.bound"),
        *("claims.worst_case.exact", "teacher.teacher", "teacher.bound"),
    }
    assert {name.split(".")[0] for name in means} <= {name.split(".")[0] for name in MEANS}
    assert {name for name in means if name.startswith("subject")} == {
        *("subject.firmware", "subject.files.source", "subject.files.header", "subject.files.student")
    }
