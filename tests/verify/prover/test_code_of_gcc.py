"""Products and comparisons that GCC writes in its own way: taken for the program's, where they surely are.

Slow: the student with a start and its mutant, which the cap finds too, and a product in another place; one product of
the cap stays.
"""

from pathlib import Path

import pytest
from options_by_hand import linked, without_example

from bench.drawn.students import drawn
from codegen.emit import emit
from decision.artefact.output import writing
from emulator.build import Build
from emulator.firmware_folder import built
from verify.prover import forks
from verify.prover.equality import Returns
from verify.prover.expressions import UNKNOWN
from verify.prover.intervals import truth
from verify.prover.prove import Attempt, Limits, Proof, prove

LIMITS = Limits(solver_seconds=1.0, worst_seconds=0.0, inputs=1)
START, CAP = 41, 28
"""Students: of the first the congestion of a start's rate is one product for both branches; of the second the cap
multiplies x | 1."""


@pytest.fixture(scope="module", params=[START, CAP], ids=["start", "cap"])
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    return emitted(request.param, tmp_path_factory.mktemp("gcc"))


def emitted(number: int, folder: Path) -> Build:
    with writing(folder / "student", "student") as work:
        drawn(number).save(work)
    emit(folder / "student", folder / "firmware", target="generic")
    return built(folder / "firmware", profile="ibex-small", compiler="gcc")


def proof(build: Build, source: str, folder: Path) -> Proof:
    image = linked(build.firmware, source, folder, "gcc")
    with without_example():
        return prove(image, build.program, build.firmware.layouts, build.engine, limits=LIMITS)


@pytest.mark.slow_except("cap")
def test_they_are_proved_by_what_the_code_has_compared(build: Build, tmp_path: Path) -> None:
    source = (build.firmware.folder / "rlcc_policy.c").read_text()
    assert proof(build, source, tmp_path).proved


@pytest.mark.slow_except("cap")
def test_they_are_not_proved_where_what_is_compared_is_forgotten(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (build.firmware.folder / "rlcc_policy.c").read_text()
    monkeypatch.setattr(Returns, "_as_written", lambda *_: UNKNOWN)
    assert not proof(build, source, tmp_path).proved


@pytest.mark.slow_except("cap-0")
@pytest.mark.parametrize("at", [0, 3])
def test_a_product_that_is_shifted_by_another_number_is_not(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(Attempt, "search", lambda *_: [])
    parts = (build.firmware.folder / "rlcc_policy.c").read_text().split(") >> 32U)")
    assert at < len(parts) - 1
    wrong = ") >> 32U)".join(parts[: at + 1]) + ") >> 33U)" + ") >> 32U)".join(parts[at + 1 :])
    assert not proof(build, wrong, tmp_path).proved


TURNED = 24
"""A student with a value that is compared with < as x - y and with = as y - x."""


def test_a_difference_is_compared_in_either_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = emitted(TURNED, tmp_path)
    source = (build.firmware.folder / "rlcc_policy.c").read_text()
    assert proof(build, source, tmp_path).proved
    monkeypatch.setattr(forks, "truth", lambda pool, op, a, b, known=(): truth(pool, op, a, b))
    assert not proof(build, source, tmp_path).proved


def test_a_threshold_beside_an_equality_is_not_off_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Attempt, "search", lambda *_: [])  # the proof has to see it, not an input that was run
    build = emitted(TURNED, tmp_path)
    source = (build.firmware.folder / "rlcc_policy.c").read_text()
    for right, wrong in (("> 189)", "> 190)"), ("> 188)", "> 187)")):
        assert source.count(right) == 1
        assert not proof(build, source.replace(right, wrong), tmp_path).proved
