"""The cycle model's figures, which engines it refuses, and that a wrong figure is found by the calibration."""

from dataclasses import replace
from pathlib import Path

import pytest
from other_interfaces import PROGRAMS, emitted

from decision.artefact.errors import InputError
from emulator.core import core_executable
from emulator.firmware_folder import built
from emulator.profile import PROFILE_FOLDER, Profile, load_profile
from verify.prover.certify import certify
from verify.trusted.calibrate import Calibration, calibrate
from verify.trusted.calibrate_programs import encode
from verify.trusted.costs import CycleModel, cycle_model
from verify.trusted.machine import Instruction, decode


def i(name: str, rd: int = 0, rs1: int = 0, rs2: int = 0, imm: int = 0) -> Instruction:
    return decode(encode(name, rd, rs1, rs2, imm), 0)


LOAD, USE, STORE = i("lw", 5, 10), i("add", 6, 7, 5), i("sw", rs1=10, rs2=5)


def calibrated(profile: Profile, *, programs: int, calls: int, model: CycleModel | None = None) -> Calibration:
    return calibrate(profile, core_executable(profile.core), programs=programs, calls=calls, model=model)


SMALL, MAXPERF = (cycle_model(load_profile(name)) for name in ("ibex-small", "ibex-maxperf"))


@pytest.mark.parametrize(
    ("instruction", "taken", "before", "small", "maxperf"),
    [
        (i("addi", 5, 5, imm=1), False, None, 1, 1),
        (i("lui", 5, imm=4096), False, LOAD, 1, 1),
        (LOAD, False, None, 2, 1),
        (LOAD, False, LOAD, 2, 1),
        (USE, False, LOAD, 1, 2),
        (USE, False, STORE, 1, 1),
        (i("add", 6, 7, 0), False, i("lw", 0, 10), 1, 1),  # nobody waits for x0
        (STORE, False, LOAD, 2, 2),
        (i("beq", rs1=5), False, None, 1, 1),
        (i("beq", rs1=5), True, None, 3, 2),
        (i("beq", rs1=5), True, LOAD, 3, 3),
        (i("jal", 1, imm=8), False, LOAD, 2, 2),
        (i("jalr", 0, 5), False, LOAD, 2, 3),
        (i("mul", 5, 5, 5), False, None, 3, 1),
        (i("mulhu", 5, 5, 5), False, None, 4, 2),
        (i("mulh", 5, 5, 5), False, LOAD, 4, 3),
    ],
)
def test_an_instruction_costs_what_the_core_takes(
    instruction: Instruction, taken: bool, before: Instruction | None, small: int, maxperf: int
) -> None:
    assert SMALL.step(instruction, taken, before) == small
    assert MAXPERF.step(instruction, taken, before) == maxperf


def profile_with(folder: Path, name: str, fetch: int = 0, data: int = 0, **core: str) -> Profile:
    """A shipped profile with other wait states or another core."""
    first, second = (PROFILE_FOLDER / f"{name}.toml").read_text().split("[data_memory]")
    for key, value in core.items():
        line = next(line for line in first.splitlines() if line.startswith(f"{key} ="))
        first = first.replace(line, f"{key} = {value}")
    path = folder / "engine.toml"
    first = first.replace("wait_states = 0", f"wait_states = {fetch}")
    path.write_text(first + "[data_memory]" + second.replace("wait_states = 0", f"wait_states = {data}"))
    return load_profile(path)


def test_compressed_instructions_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rv32imc.*rv32im"):
        cycle_model(profile_with(tmp_path, "ibex-small", isa='"rv32imc"'))


@pytest.mark.parametrize(
    ("name", "fetch", "data", "core", "exact"),
    [
        ("ibex-small", 0, 0, {}, True),
        ("ibex-maxperf", 0, 0, {}, True),
        ("ibex-small", 0, 3, {}, True),
        ("ibex-maxperf", 0, 3, {}, True),
        ("ibex-small", 1, 0, {}, False),
        ("ibex-small", 0, 0, {"multiplier": '"slow"'}, False),
    ],
)
def test_a_model_says_whether_it_is_exact(
    tmp_path: Path, name: str, fetch: int, data: int, core: dict[str, str], exact: bool
) -> None:
    assert cycle_model(profile_with(tmp_path, name, fetch, data, **core)).exact is exact


@pytest.mark.parametrize("name", ["ibex-small", "ibex-maxperf", "connectx6dx-proxy"])
def test_the_shipped_engines_take_exactly_what_the_model_says(name: str) -> None:
    found = calibrated(load_profile(name), programs=12, calls=12)
    assert (found.model, found.above, found.below, found.wrong) == ("exact", 0, 0, 0)
    assert found.holds
    assert found.instructions > 5000


@pytest.mark.parametrize(
    ("name", "fetch", "data"), [("ibex-small", 0, 2), ("ibex-maxperf", 0, 2), ("ibex-small", 1, 1)]
)
def test_wait_states_are_exact_or_bounded(tmp_path: Path, name: str, fetch: int, data: int) -> None:
    found = calibrated(profile_with(tmp_path, name, fetch, data), programs=6, calls=8)
    assert found.holds
    assert (found.model == "exact") == (fetch == 0)


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("ibex-small", {"branch_taken": 2}),
        ("ibex-small", {"product": 2}),
        ("ibex-small", {"overhead": -1}),
        ("ibex-maxperf", {"writeback_stage": False}),
        ("ibex-maxperf", {"high_product": 1}),
        ("connectx6dx-proxy", {"table_wait": 53}),
        ("connectx6dx-proxy", {"table_wait": 55}),
    ],
)
def test_a_wrong_figure_is_found(name: str, figure: dict[str, int]) -> None:
    model: CycleModel = replace(cycle_model(load_profile(name)), **figure)  # type: ignore[arg-type]
    assert not calibrated(load_profile(name), programs=3, calls=4, model=model).holds


OWN = """
alu = 1
jump = 2
branch = 1
branch_taken = {branch_taken}
access = 2
product = 1
high_product = 2
"""


@pytest.mark.parametrize(("branch_taken", "holds"), [(2, True), (3, False)])
def test_another_pipeline_is_provable_by_its_figures_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, branch_taken: int, holds: bool
) -> None:
    """A core as if nobody had known it: two stages, a branch-target ALU, a multiplier of one cycle; a file of data."""
    other = profile_with(tmp_path, "ibex-small", branch_target_alu="true", multiplier='"single-cycle"')
    (tmp_path / "ibex.toml").write_text(OWN.format(branch_taken=branch_taken))
    monkeypatch.setattr("decision.cores.FOLDER", tmp_path)
    model = cycle_model(other)
    assert (model.branch_taken, model.product, model.exact) == (branch_taken, 1, True)
    assert calibrated(other, programs=6, calls=8).holds is holds
    if holds:
        done = certify(built(emitted(PROGRAMS["queue without memory"], tmp_path / "firmware"), profile=other))
        assert done.certificate is not None, done.problem
        worst = done.certificate.claims.worst_case
        assert worst.exact == worst.rtl_cycles == worst.bound


def test_a_core_whose_figures_nobody_has_held_to_its_rtl_is_refused() -> None:
    with pytest.raises(InputError, match=r"decision/cores/picorv32\.toml .*RTL"):
        cycle_model(load_profile("picorv32"))


def test_tables_behind_a_write_back_stage_have_no_model(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    tables = '[table_memory]\nwait_states = 3\nreason = "a test of waits"\n'
    path.write_text((PROFILE_FOLDER / "ibex-maxperf.toml").read_text() + tables)
    with pytest.raises(InputError, match=r"tables .*write-back stage"):
        cycle_model(load_profile(path))


def test_the_same_seed_makes_the_same_calibration() -> None:
    engine = load_profile("ibex-small")
    assert calibrated(engine, programs=2, calls=2) == calibrated(engine, programs=2, calls=2)
    assert calibrated(engine, programs=2, calls=2).to_json()["core"] == "pythondata-cpu-ibex 0.0.post2937"
