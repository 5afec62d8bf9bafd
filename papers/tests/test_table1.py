"""The fit of connectx6dx-proxy: cycles are affine in the waits, and what is known to fit is found."""

from pathlib import Path

import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from codegen.lower import Options
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator.profile import load_profile
from papers.table1 import fit, page
from papers.table1.cycles import mean_cycles
from papers.table1.fit import PAPER_US, Affine, Engine, Fit, affine, fits

TREES = (
    oblivious(((0, 100), (1, 5000)), (-3000, -100, 40, 2000)),
    oblivious(((1, 700), (1, 90000)), (1, 20, 300, 4000)),
)


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table1")
    with writing(folder / "student", "student") as work:
        make_student([FEATURES["previous_action"], FEATURES["rl_cc_congestion"]], ACTIONS[0], TREES).save(work)
    emit(folder / "student", folder / "firmware", target="generic", options=Options(form="index"))
    return folder / "firmware"


@pytest.mark.parametrize("multiplier", ["fast", "slow"])
def test_cycles_are_affine_in_the_waits(firmware: Path, multiplier: str) -> None:
    cost = affine(firmware, multiplier)
    assert cost.table == len(TREES)  # a look-up each
    assert cost.data > 5  # event, context, parameters, stores
    for waits in ((7, 0), (0, 54), (3, 200), (32, 255)):
        assert mean_cycles(firmware, Engine(multiplier, *waits).profile(), fit.VECTORS) == cost.at(*waits)


def test_an_engine_that_fits_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs made so that 300 MHz, 40 waits of the tables and none of scratch give the paper's times."""
    tables = {"LSTM": 1000.0, "MLP": 70.0, "trees": 0.0}

    def made(folder: Path, multiplier: str) -> Affine:
        wanted = 300 * PAPER_US[folder.name]
        scale = 1.0 if multiplier == "fast" else 1.7 if folder.name == "MLP" else 1.0
        return Affine((wanted - 40 * tables[folder.name]) * scale, 11.0, tables[folder.name])

    monkeypatch.setattr(fit, "affine", made)
    found = fits({name: Path(name) for name in PAPER_US})
    best = min(found, key=lambda f: f.error)
    assert best.engine == Engine("fast", 0, 40)
    assert best.mhz == pytest.approx(300)
    assert best.error == pytest.approx(0, abs=1e-12)
    assert best.microseconds("MLP") == pytest.approx(17)
    clock_only = next(f for f in found if f.engine.multiplier == "fast" and f.free == "clock")
    assert clock_only.error > 0.1
    for multiplier in fit.MULTIPLIERS:
        errors = [f.error for f in found if f.engine.multiplier == multiplier]
        assert errors == sorted(errors, reverse=True)  # more that is free fits no worse


def test_a_candidate_is_the_proxy_but_for_its_clock() -> None:
    proxy = load_profile("connectx6dx-proxy")
    assert proxy.table_memory is not None
    candidate = Engine("fast", 0, proxy.table_memory.wait_states).profile()
    for part in ("core", "instruction_memory", "data_memory", "table_memory"):
        assert candidate.meaning()[part] == proxy.meaning()[part], part


def test_the_page_says_whether_a_row_is_the_profile() -> None:
    proxy = load_profile("connectx6dx-proxy")
    assert proxy.table_memory is not None
    cycles = {"LSTM": 92_934.0, "MLP": 4_981.0, "trees": 222.0}
    clock = Fit("clock", Engine("fast", 0, 0), 78.0, cycles, 0.9)
    shipped = Fit(
        "clock, tables", Engine("fast", 0, proxy.table_memory.wait_states), float(proxy.clock.mhz), cycles, 0.12
    )
    text = page._fit([clock, shipped], proxy)
    assert "The bold row" in text
    assert "| **fast** |" in text
    assert "22 to 22 (MLP) and 419 to 419 (LSTM)" in text
    text = page._fit([clock], proxy)
    assert "54 wait states and 252 MHz" in text
    assert "**fast**" not in text
