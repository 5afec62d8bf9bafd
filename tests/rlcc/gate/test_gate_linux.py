"""The gate's checks on a real kernel: netsim must predict what the firmware did there. The guests are replaced; what
they do is in tests/rlcc/evaluation and on docs/results/linux.md."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rlcc import cli
from rlcc.evaluation import prediction
from rlcc.evaluation.grid import Grid
from rlcc.evaluation.prediction import Compared, Figures

PATH = "50 Mb/s, 4 ms, 60 KB"
PREDICTED = Figures(0.95, 8000.0, 17_000.0)


@pytest.fixture(scope="module")
def firmware(pipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate-linux") / "firmware"
    assert cli.main(["emit", str(pipeline.student), "--target", "linux-bpf", "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(("seen", "code"), [(PREDICTED, 0), (replace(PREDICTED, queue_bytes=20_029.0), 1)])
def test_a_kernel_that_does_otherwise_fails(
    seen: Figures, code: int, pipeline, firmware: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Grid] = []

    def hold(grid: Grid, _: Callable[[str], None]) -> list[Compared]:
        asked.append(grid)
        return [Compared(cell.name, "rlcc", PREDICTED, seen, "a reason") for cell in grid.cells]

    monkeypatch.setattr(prediction, "hold", hold)
    arguments = ["gate", str(firmware), "--recipe", str(pipeline.recipe), "--no-certificate", "--linux", PATH]
    assert cli.main([*arguments, "--out", str(tmp_path / "verdict")]) == code
    (grid,) = asked
    assert [str(c.policy) for c in grid.contenders] == [str(firmware)]
    assert [(cell.scenario, cell.path.rate_bps) for cell in grid.cells if cell.path] == [("many-to-one:8", 50_000_000)]
    checks = json.loads((tmp_path / "verdict" / "verdict.json").read_text())["checks"]
    (check,) = [one for one in checks if one["id"].startswith("network.linux[")]
    assert check["passed"] == (code == 0)
    assert check["limit"] == "1%, 5%, 2 packets"
    assert ("queue: a reason" in check["detail"]) == (code == 1)


def test_without_it_no_guest_boots(pipeline, firmware: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "hold", lambda *_: pytest.fail("a guest"))
    arguments = ["gate", str(firmware), "--recipe", str(pipeline.recipe), "--no-certificate"]
    assert cli.main([*arguments, "--out", str(tmp_path / "verdict")]) == 0


@pytest.mark.parametrize(
    ("path", "table", "words"),
    [
        ("50 Mb/s", "", "rate, RTT and queue"),
        ("500 Mb/s, 1 ms, 60 KB", "", "carries 1 to 400 Mb/s"),
        (PATH, 'scenarios = ["incast:4x50KB"]', "do not end"),
        (PATH, "scenarios = []", "at least 1"),
        (PATH, 'duration = "1 ms"', "gate.linux.duration"),
    ],
)
def test_what_no_kernel_can_be_asked_is_said_at_once(
    path: str, table: str, words: str, pipeline, firmware: Path, tmp_path: Path, refused, monkeypatch
) -> None:
    monkeypatch.setattr(prediction, "hold", lambda *_: pytest.fail("a guest"))
    for name in ("teacher", "other-teacher"):
        (tmp_path / name).symlink_to(pipeline.root / name)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f"{pipeline.recipe.read_text()}\n[gate.linux]\n{table}\n")
    assert words in refused("gate", firmware, "--recipe", recipe, "--linux", path, "--out", tmp_path / "verdict")
    assert not (tmp_path / "verdict").exists()


def test_firmware_of_another_target_is_refused(pipeline, refused, tmp_path: Path) -> None:
    arguments = ["gate", pipeline.firmware, "--recipe", pipeline.recipe, "--linux", PATH, "--out", tmp_path / "verdict"]
    assert "--target linux-bpf" in refused(*arguments)
